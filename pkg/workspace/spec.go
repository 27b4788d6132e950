package workspace

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"strings"

	"github.com/opencontainers/go-digest"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
)

// idle is what a workspace runs without a command of its own. Every sleep takes
// a number of seconds, and this one outlives the machine.
var idle = []string{"sleep", "2147483647"}

// checkSupported refuses what this version would otherwise ignore, before
// anything is created.
func checkSupported(m *manifest.Manifest) error {
	var problems []error
	refuse := func(used bool, what string) {
		if used {
			problems = append(problems, &materialize.UnsupportedError{What: what})
		}
	}
	refuse(m.Base == "scratch", `base "scratch", which has nothing to run,`)
	if len(m.Include) > 0 {
		problems = append(problems, fmt.Errorf("include %q is not read yet: use manifest.Load", m.Include))
	}
	refuse(m.IaC != nil, "iac")
	refuse(len(m.Remove) > 0, "remove")
	if r := m.Resources; r != nil {
		refuse(r.ExecTimeout != 0 || r.SessionTimeout != 0, "resources: exec_timeout and session_timeout")
	}
	for key := range m.Labels {
		refuse(strings.HasPrefix(key, labelPrefix), fmt.Sprintf("label %q in a namespace that is docker-workspace's own", key))
	}
	if err := materialize.Check(m); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// validate applies the rules for documents to what a program built or changed.
// The network alone is free to choose: here it is the caller who speaks.
func validate(m *manifest.Manifest) error {
	document := *m
	if document.Network == "host" || strings.HasPrefix(document.Network, "container:") {
		document.Network = ""
	}
	return document.Validate()
}

// containerSpec is the container that a manifest asks for.
func containerSpec(m *manifest.Manifest, image string, labels map[string]string, opts ApplyOptions) engine.ContainerSpec {
	spec := engine.ContainerSpec{
		Image:       image,
		Hostname:    m.Hostname,
		User:        m.RunAs,
		WorkingDir:  WorkingDir(m.Root, opts.WorkingDir),
		NetworkMode: networkMode(m.Network),
		Runtime:     m.Runtime,
		Entrypoint:  idle[:1],
		Cmd:         idle[1:],
		Labels:      labels,
		Init:        initProcess(m),
		GPUs:        opts.GPUs,
		Devices:     m.Devices,
	}
	switch {
	case m.Command == nil:
	case m.Command.Image:
		spec.Entrypoint, spec.Cmd = nil, nil
	default:
		spec.Entrypoint, spec.Cmd = m.Command.Words[:1], m.Command.Words[1:]
	}
	for _, p := range m.Ports {
		spec.Ports = append(spec.Ports, portBinding(p))
	}
	if r := m.Resources; r != nil {
		limits(&spec, r)
	}
	if h := m.Healthcheck; h != nil {
		spec.Healthcheck = healthcheck(h)
	}
	return spec
}

// WorkingDir resolves a directory of the sandbox relative to a workspace's root.
func WorkingDir(root, dir string) string {
	if path.IsAbs(dir) {
		return path.Clean(dir)
	}
	return path.Join(root, dir)
}

// environment is that of the container, with the values that are not written in
// the manifest.
func environment(m *manifest.Manifest, values variables) []string {
	var env []string
	for _, v := range m.Environment {
		value := values[v.Name]
		if v.Value != nil {
			value = *v.Value
		}
		env = append(env, v.Name+"="+value)
	}
	return env
}

// durableEnvironment leaves out what must not outlive the container, and what
// only its caller knows.
func durableEnvironment(m *manifest.Manifest) []string {
	var env []string
	for _, v := range m.Environment {
		if v.Value != nil && !v.Ephemeral {
			env = append(env, v.Name+"="+*v.Value)
		}
	}
	return env
}

// An init makes stop immediate and leaves no zombies.
func initProcess(m *manifest.Manifest) *bool {
	if m.Init != nil {
		return m.Init
	}
	yes := true
	return &yes
}

func networkMode(network string) string {
	if network == "default" {
		return ""
	}
	return network
}

// labels are those of the manifest and what apply has to find again.
func labels(m *manifest.Manifest, name, manifestDigest, strategy, image string, prints map[string]string) (map[string]string, error) {
	packed, err := packFingerprints(prints)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(m.Labels)
	if out == nil {
		out = map[string]string{}
	}
	out[LabelName] = name
	out[LabelManifest] = manifestDigest
	out[LabelFingerprints] = packed
	out[LabelRoot] = m.Root
	out[LabelBase] = m.Base
	out[LabelStrategy] = strategy
	if image != "" {
		out[LabelImage] = image
	}
	return out, nil
}

// packFingerprints makes a label of them that stays small with many entries.
func packFingerprints(prints map[string]string) (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(z).Encode(prints), z.Close()); err != nil {
		return "", fmt.Errorf("pack fingerprints: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// unpackFingerprints reads the label back; an unreadable one knows nothing.
func unpackFingerprints(label string) map[string]string {
	raw, err := base64.StdEncoding.DecodeString(label)
	if err != nil {
		return nil
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil
	}
	var prints map[string]string
	if json.NewDecoder(io.LimitReader(z, manifest.MaxSize)).Decode(&prints) != nil {
		return nil
	}
	return prints
}

var repositoryName = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$`)

// imageReference names the image of a workspace. The tag follows the content,
// so that a workspace that did not change finds its image.
func imageReference(name string, config digest.Digest) string {
	if !repositoryName.MatchString(name) {
		name = "name-" + digest.FromString(name).Encoded()[:12]
	}
	return "docker-workspace/" + name + ":" + config.Encoded()[:12]
}
