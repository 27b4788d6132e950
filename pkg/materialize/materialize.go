// Package materialize writes what a manifest declares: it turns entries into
// the objects of a layer, reads the host's files under a guard, assigns ids to
// accounts, and clones repositories inside the sandbox by exec.
package materialize

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/oci"
)

// ErrUnsupported means that the contract names something which this version
// cannot do.
var ErrUnsupported = errors.New("not supported")

// UnsupportedError names it.
type UnsupportedError struct{ What string }

func (e *UnsupportedError) Error() string { return e.What + " is not supported yet" }

// Is makes it an ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// UnsupportedManifestEntryError names an entry whose type has no materializer.
type UnsupportedManifestEntryError struct {
	Path      string
	Type      string
	Supported []string
}

func (e *UnsupportedManifestEntryError) Error() string {
	return fmt.Sprintf("entry %q: type %s is not supported yet (supported: %s)", e.Path, e.Type, strings.Join(e.Supported, ", "))
}

// Is makes every such error an ErrUnsupported.
func (e *UnsupportedManifestEntryError) Is(target error) bool { return target == ErrUnsupported }

var supported = []string{"file", "dir", "local_file", "local_dir", "git_repo"}

// Result is what a materialization wrote.
type Result struct {
	Files []File `json:"files"`
	// SkippedMounts are the keys of mounts: they are attached, not written.
	SkippedMounts []string `json:"skipped_mounts"`
}

// File is one regular file that was written.
type File struct {
	Path   string `json:"path"` // absolute
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"` // bytes
	Mode   string `json:"mode"` // "0644"
	UID    int    `json:"uid"`
	GID    int    `json:"gid"`
}

// DefaultConcurrency is how many entries are read at the same time.
const DefaultConcurrency = 4

// Compiler turns manifest entries into the objects of a layer.
type Compiler struct {
	// Root is the workspace's absolute path in the sandbox.
	Root string
	// Sources reads the host's files; nil when the manifest may not.
	Sources *Sources
	// Accounts resolves the names of owners and groups. While they are not known
	// it is nil, and everything belongs to Owner.
	Accounts *Accounts
	// Owner owns what the manifest gives to nobody.
	Owner Owner
	// Concurrency bounds how many entries are read at the same time;
	// 0 selects DefaultConcurrency.
	Concurrency int
}

// Owner is a numeric user and group.
type Owner struct{ UID, GID int }

// Compile returns the objects of entries in declaration order, implied parents
// included. Sources are examined now and read when the layer is written. The
// first failure cancels the rest. Warnings are about what was found on the way.
func (c *Compiler) Compile(ctx context.Context, entries []manifest.KeyedEntry) ([]oci.Entry, []string, error) {
	if c.Concurrency < 0 {
		return nil, nil, fmt.Errorf("compile entries: a concurrency of %d is below 1", c.Concurrency)
	}
	limit := c.Concurrency
	if limit == 0 {
		limit = DefaultConcurrency
	}
	parts := make([]compiled, len(entries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(limit)
	for i, e := range entries {
		group.Go(func() error {
			part, err := c.compile(ctx, e)
			parts[i] = part
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	var objects []oci.Entry
	var warnings []string
	for i, part := range parts {
		objects = append(objects, c.parents(entries[i].Path)...)
		objects = append(objects, part.objects...)
		warnings = append(warnings, part.warnings...)
	}
	return objects, warnings, nil
}

// RootEntry is the workspace's root directory. The base's own is kept, unless
// the workspace belongs to somebody in particular.
func (c *Compiler) RootEntry() oci.Entry {
	e := c.directory("", c.Owner)
	e.Implied = c.Owner == Owner{}
	return e
}

// parents are the directories between the root and path that nobody declared.
func (c *Compiler) parents(path string) []oci.Entry {
	var dirs []oci.Entry
	for i := range len(path) {
		if path[i] == '/' {
			dir := c.directory(path[:i], c.Owner)
			dir.Implied = true
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
