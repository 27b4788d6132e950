package oci

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	dockerspec "github.com/moby/docker-image-spec/specs-go/v1"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// createdBy is what the history of an image says about our layers.
const createdBy = "docker-workspace"

// BaseImage is what the image that layers are put on says about itself.
type BaseImage struct {
	OS, Architecture, Variant string

	DiffIDs []digest.Digest // bottom first
	History []v1.History    // empty when unknown

	// Config has Docker's fields too: an image that loses its health check is not the same image.
	Config dockerspec.DockerOCIImageConfig
}

// Changes says how an image's configuration differs from its base's. Zero values keep what the base has.
type Changes struct {
	Env        []string          // NAME=value; replaces the base's value of NAME
	Labels     map[string]string // replace the base's labels of the same name
	WorkingDir string
	User       string
	Entrypoint []string // drops the base's Cmd, as in a Dockerfile
	Cmd        []string
}

// BuildConfig returns the image configuration (image-spec, config.md) of base with layers on top and ch applied, and its
// digest, which is the image's id in an engine's classic store. Equal arguments give equal bytes. The history is the base's
// with an entry for each layer, or absent when the base's is unknown or does not fit its layers.
func BuildConfig(base BaseImage, layers []digest.Digest, ch Changes) (raw []byte, id digest.Digest, err error) {
	config, err := ch.apply(base.Config)
	if err != nil {
		return nil, "", fmt.Errorf("build image config: %w", err)
	}
	img := dockerspec.DockerOCIImage{Config: config}
	img.Created = &epoch
	img.Platform = v1.Platform{OS: base.OS, Architecture: base.Architecture, Variant: base.Variant}
	img.RootFS = v1.RootFS{Type: "layers", DiffIDs: slices.Concat(base.DiffIDs, layers)}
	img.History = base.history(len(layers))
	raw, err = json.Marshal(img)
	if err != nil {
		return nil, "", fmt.Errorf("encode image config: %w", err)
	}
	return raw, digest.FromBytes(raw), nil
}

// history returns the base's history and n entries more, or nothing when the base's does not account for its layers.
func (b *BaseImage) history(n int) []v1.History {
	known := 0
	for _, h := range b.History {
		if !h.EmptyLayer {
			known++
		}
	}
	if known != len(b.DiffIDs) {
		return nil
	}
	ours := v1.History{Created: &epoch, CreatedBy: createdBy}
	return slices.Concat(b.History, slices.Repeat([]v1.History{ours}, n))
}

// apply returns c with the changes, and leaves c's slices and maps as they are.
func (ch *Changes) apply(c dockerspec.DockerOCIImageConfig) (dockerspec.DockerOCIImageConfig, error) {
	env, err := mergeEnv(c.Env, ch.Env)
	if err != nil {
		return c, err
	}
	c.Env = env
	if len(ch.Labels) > 0 {
		labels := maps.Clone(ch.Labels)
		for k, v := range c.Labels {
			if _, ok := labels[k]; !ok {
				labels[k] = v
			}
		}
		c.Labels = labels
	}
	if ch.WorkingDir != "" {
		c.WorkingDir = ch.WorkingDir
	}
	if ch.User != "" {
		c.User = ch.User
	}
	if ch.Entrypoint != nil {
		c.Entrypoint, c.Cmd = ch.Entrypoint, nil
	}
	if ch.Cmd != nil {
		c.Cmd = ch.Cmd
	}
	return c, nil
}

// mergeEnv replaces variables of base where they are, and appends new ones in their order.
func mergeEnv(base, changes []string) ([]string, error) {
	env := slices.Clone(base)
	for _, kv := range changes {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("environment variable %q is not NAME=value", name)
		}
		same := func(old string) bool { return strings.HasPrefix(old, name+"=") }
		if i := slices.IndexFunc(env, same); i >= 0 {
			env[i] = kv
		} else {
			env = append(env, kv)
		}
	}
	return env, nil
}
