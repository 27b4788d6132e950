package plugin

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/go-units"
	"github.com/spf13/cobra"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

// overrides are the flags of docker create that users need most. Those that a
// manifest can say change it before it is applied, so that a later apply
// notices them.
type overrides struct {
	env, ports, labels []string
	user, workdir      string
	network, memory    string
	cpus               float64
	pids               int
	runtime, gpus      string
}

func (o *overrides) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVarP(&o.env, "env", "e", nil, "Set an environment variable (NAME=VALUE, or NAME to pass on yours)")
	f.StringArrayVarP(&o.ports, "publish", "p", nil, "Publish a port ([[IP:]HOST:]PORT[/PROTOCOL])")
	f.StringArrayVar(&o.labels, "label", nil, "Set a label (KEY=VALUE)")
	f.StringVarP(&o.user, "user", "u", "", "User that the workspace runs as (name or uid[:gid])")
	f.StringVarP(&o.workdir, "workdir", "w", "", "Working directory (default: the workspace's root)")
	f.StringVar(&o.network, "network", "", `Network to join ("host", "none", "container:NAME" or a network's name)`)
	f.StringVar(&o.memory, "memory", "", "Memory limit (bytes, or with a unit: 512m, 2g)")
	f.Float64Var(&o.cpus, "cpus", 0, "Number of CPUs")
	f.IntVar(&o.pids, "pids-limit", 0, "Number of processes")
	f.StringVar(&o.runtime, "runtime", "", "OCI runtime to use")
	f.StringVar(&o.gpus, "gpus", "", `GPUs to add ("all", or a count)`)
}

func (o *overrides) apply(m *manifest.Manifest) error {
	for _, env := range o.env {
		if err := setEnv(m, env); err != nil {
			return err
		}
	}
	for _, s := range o.ports {
		p, err := manifest.ParsePort(s)
		if err != nil {
			return fmt.Errorf("--publish %q: %w", s, err)
		}
		m.Ports = append(slices.DeleteFunc(m.Ports, func(have manifest.Port) bool {
			return have.Port == p.Port && have.Protocol == p.Protocol
		}), p)
	}
	for _, label := range o.labels {
		key, value, _ := strings.Cut(label, "=")
		if key == "" {
			return fmt.Errorf("--label %q has no key", label)
		}
		if m.Labels == nil {
			m.Labels = map[string]string{}
		}
		m.Labels[key] = value
	}
	m.RunAs = orElse(o.user, m.RunAs)
	m.Runtime = orElse(o.runtime, m.Runtime)
	if err := o.limits(m); err != nil {
		return err
	}
	if err := m.Validate(); err != nil {
		return err
	}
	// After the rules for documents, which may not ask for the network of the
	// host or of another container: the caller may.
	m.Network = orElse(o.network, m.Network)
	return nil
}

func (o *overrides) limits(m *manifest.Manifest) error {
	if o.memory == "" && o.cpus == 0 && o.pids == 0 {
		return nil
	}
	if m.Resources == nil {
		m.Resources = &manifest.Resources{}
	}
	if o.memory != "" {
		n, err := units.RAMInBytes(o.memory)
		if err != nil {
			return fmt.Errorf("--memory %q: %w", o.memory, err)
		}
		m.Resources.Memory = manifest.Bytes(n)
	}
	if o.cpus != 0 {
		m.Resources.CPUs = o.cpus
	}
	if o.pids != 0 {
		m.Resources.Pids = o.pids
	}
	return nil
}

func setEnv(m *manifest.Manifest, s string) error {
	name, value, given := strings.Cut(s, "=")
	if name == "" {
		return fmt.Errorf("--env %q has no name", s)
	}
	if !given {
		var ok bool
		if value, ok = os.LookupEnv(name); !ok {
			return fmt.Errorf("--env %s: the variable is not set here", name)
		}
	}
	i, found := slices.BinarySearchFunc(m.Environment, name, func(v manifest.EnvVar, name string) int { return strings.Compare(v.Name, name) })
	set := manifest.EnvVar{Name: name, Value: &value}
	if found {
		m.Environment[i] = set
	} else {
		m.Environment = slices.Insert(m.Environment, i, set)
	}
	return nil
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// oneOf makes a flag take one of a few words, and completes them.
func oneOf(cmd *cobra.Command, name string, words ...string) {
	flag := cmd.Flags().Lookup(name)
	flag.Value = &choice{words: words, value: flag.Value.String(), set: flag.Value.Set}
	// The flag exists: it was just looked up.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

type choice struct {
	words []string
	value string
	set   func(string) error
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return "string" }
func (c *choice) Set(s string) error {
	if !slices.Contains(c.words, s) {
		quoted := make([]string, len(c.words))
		for i, w := range c.words {
			quoted[i] = strconv.Quote(w)
		}
		return fmt.Errorf("must be one of %s", strings.Join(quoted, ", "))
	}
	c.value = s
	return c.set(s)
}

// to writes into a file, or to standard output when there is none.
func (a *app) to(file string, write func(io.Writer) error) error {
	if file == "" {
		return write(a.docker.Out())
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	err = write(f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
