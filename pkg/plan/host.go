package plan

import (
	"fmt"
	"io"
	"strconv"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

// Grant is a path outside the root that the manifest asks for.
type Grant struct {
	Path string `json:"path"`
	// HostPath is mounted at Path; empty for a grant that mounts nothing and
	// lets entries copy from that path of the caller's host.
	HostPath string `json:"host_path,omitempty"`
	ReadOnly bool   `json:"read_only"`
}

func (g Grant) String() string {
	s := "grant " + g.Path
	if g.HostPath != "" {
		s += " <- " + g.HostPath
	}
	if g.ReadOnly {
		s += " (read-only)"
	}
	return s
}

// Secret is a variable of the container whose value is a secret. A plan knows
// where the value will come from, not the value.
type Secret struct {
	Variable string `json:"variable"`
	Secret   string `json:"secret"`
	Source   string `json:"source"`
}

func (s Secret) String() string {
	return fmt.Sprintf("secret %s <- %s from %s", s.Variable, s.Secret, s.Source)
}

// SecretSource says where the caller finds a secret: env NAME, or file "PATH".
func SecretSource(s manifest.Secret) string {
	if s.Env != "" {
		return "env " + s.Env
	}
	return "file " + strconv.Quote(s.File)
}

// host notes what the workspace takes from the caller's host.
func (p *Plan) host(m *manifest.Manifest) {
	for _, g := range m.ExtraPathGrants {
		p.Grants = append(p.Grants, Grant{Path: g.Path, HostPath: g.HostPath, ReadOnly: g.ReadOnly})
	}
	for _, v := range m.Environment {
		if v.Secret != "" {
			p.Secrets = append(p.Secrets, Secret{v.Name, v.Secret, SecretSource(m.Secrets[v.Secret])})
		}
	}
}

func (p *Plan) writeHost(w io.Writer) {
	for _, g := range p.Grants {
		fmt.Fprintln(w, g)
	}
	for i, s := range p.Secrets {
		note := ""
		if i == 0 {
			note = "  # whoever may use the engine can read it in the container's environment"
		}
		fmt.Fprintf(w, "%s%s\n", s, note)
	}
}
