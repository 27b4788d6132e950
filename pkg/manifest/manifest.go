package manifest

import (
	"bytes"
	"fmt"

	"github.com/opencontainers/go-digest"
)

const (
	// Version is the only version of the contract that exists.
	Version = 1
	// DefaultRoot is where the entries go when a manifest names no root.
	DefaultRoot = "/workspace"
	// DefaultBase is the sandbox image that callers use when neither the
	// manifest nor they themselves name one.
	DefaultBase = "buildpack-deps:bookworm-scm"
	// MaxSize is the largest document that Decode reads, in bytes.
	MaxSize = 16 << 20
)

// Manifest is one decoded document. The zero value of a field means that the
// document says nothing, except where its comment names a default: Decode
// fills those in, and Canonical leaves them out.
type Manifest struct {
	// Version of the contract, default and only value 1.
	Version int `json:"version" manifest:"version"`
	// Name of the workspace, [a-z0-9][a-z0-9_.-]{0,62}.
	Name string `json:"name"`
	// Base is the sandbox image. It stays empty when the document names none,
	// because the default is the caller's to choose. "scratch" means none.
	Base string `json:"base"`
	// Root is the absolute, clean directory that entries are relative to;
	// default DefaultRoot.
	Root string `json:"root" manifest:"nonempty"`
	// Include names further documents to merge. Load does so, and leaves it empty.
	Include []string `json:"include"`
	// Entries in declaration order.
	Entries Entries `json:"entries"`
	// Environment of the container, sorted by name.
	Environment []EnvVar `json:"environment"`
	// Users and Groups that the workspace needs besides those of the base.
	Users  []User  `json:"users"`
	Groups []Group `json:"groups"`
	// RunAs is a user name or uid[:gid]; empty means the image's user.
	RunAs string `json:"run_as" manifest:"text"`
	// ExtraPathGrants are paths outside the root that the workspace may use.
	ExtraPathGrants []PathGrant `json:"extra_path_grants"`
	// RemoteMountCommandAllowlist names the commands that are fine to run
	// against remote mounts; default DefaultMountCommands.
	RemoteMountCommandAllowlist []string `json:"remote_mount_command_allowlist"`
	// Ports that the workspace exposes.
	Ports []Port `json:"ports"`
	// Network is empty for the engine's default, "none", or the name of an
	// existing network.
	Network string `json:"network"`
	// Resources bound the workspace; nil means no bounds.
	Resources *Resources `json:"resources"`
	// Secrets says where the caller finds each secret that the document uses.
	Secrets map[string]Secret `json:"secrets"`
	// IaC is infrastructure to apply before the container is created.
	IaC *IaC `json:"iac"`
	// Command is the main process; nil means an idle one.
	Command *Command `json:"command"`
	// Init puts an init process in front of the command; nil means true.
	Init *bool `json:"init"`
	// Remove lists absolute paths of the base that the image must not have.
	Remove []string `json:"remove"`
	// Labels, Healthcheck, Hostname, Devices and Runtime as in docker create.
	Labels      map[string]string `json:"labels"`
	Healthcheck *Healthcheck      `json:"healthcheck"`
	Hostname    string            `json:"hostname"`
	Devices     []string          `json:"devices"`
	Runtime     string            `json:"runtime"`
}

// DefaultMountCommands returns the read-only commands that are fine to run
// against remote mounts when a manifest does not list its own.
func DefaultMountCommands() []string {
	return []string{"ls", "cat", "head", "tail", "find", "stat", "file", "rg", "grep", "wc", "du", "df"}
}

func (m *Manifest) setDefaults() {
	m.Version = Version
	m.Root = DefaultRoot
	m.RemoteMountCommandAllowlist = DefaultMountCommands()
}

// Digest returns the digest of the manifest's canonical form without its white
// space. Two documents that say the same have one digest, whatever their
// dialect, formatting or order of keys; the order of entries counts.
func (m *Manifest) Digest() (digest.Digest, error) {
	root, err := m.encode()
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := appendJSON(&b, root); err != nil {
		return "", fmt.Errorf("digest manifest: %w", err)
	}
	return digest.FromBytes(b.Bytes()), nil
}

// Part is a piece of a manifest that can differ on its own.
type Part struct {
	Field string // top-level key of the canonical form
	Path  string // of an entry, when Field is "entries"
	Value []byte // its canonical form, without white space
}

// Parts returns the pieces of the canonical form in its order: each top-level
// field but the entries, and each entry.
func (m *Manifest) Parts() ([]Part, error) {
	root, err := m.encode()
	if err != nil {
		return nil, err
	}
	var parts []Part
	add := func(field, path string, n *node) {
		var b bytes.Buffer
		if appendErr := appendJSON(&b, n); appendErr != nil {
			err = fmt.Errorf("encode manifest: %w", appendErr)
		}
		parts = append(parts, Part{field, path, b.Bytes()})
	}
	for _, p := range root.pairs {
		if p.key != "entries" {
			add(p.key, "", p.value)
			continue
		}
		for _, e := range p.value.pairs {
			add(p.key, e.key, e.value)
		}
	}
	return parts, err
}
