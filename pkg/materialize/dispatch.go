package materialize

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/oci"
)

const (
	defaultFileMode = 0o644
	defaultDirMode  = 0o755
)

type compiled struct {
	objects  []oci.Entry
	warnings []string
}

// Check reports every entry that could not be materialized, before anything is
// read or created. The error joins one per entry.
func Check(m *manifest.Manifest) error {
	var problems []error
	for _, e := range m.Flatten() {
		if err := checkEntry(e); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// compile is the one place that knows what each entry type becomes.
func (c *Compiler) compile(ctx context.Context, e manifest.KeyedEntry) (compiled, error) {
	owner, err := c.owner(e)
	if err != nil {
		return compiled{}, err
	}
	switch entry := e.Entry.(type) {
	case *manifest.File:
		return compiled{objects: []oci.Entry{c.inline(e.Path, entry, owner)}}, nil
	case *manifest.Dir:
		return compiled{objects: []oci.Entry{withMode(c.directory(e.Path, owner), entry.Mode)}}, nil
	case *manifest.LocalFile:
		return c.localFile(e.Path, entry, owner)
	case *manifest.LocalDir:
		return c.localDir(ctx, e.Path, entry, owner)
	case *manifest.GitRepo:
		// The clone goes straight into this directory, as its owner.
		return compiled{objects: []oci.Entry{withMode(c.directory(e.Path, owner), entry.Mode)}}, nil
	default:
		return compiled{}, &UnsupportedManifestEntryError{Path: e.Path, Type: e.Entry.Type(), Supported: supported}
	}
}

func checkEntry(e manifest.KeyedEntry) error {
	unsupported := func(field string) error {
		return &UnsupportedError{fmt.Sprintf("entry %q: %s of %s", e.Path, field, e.Entry.Type())}
	}
	switch entry := e.Entry.(type) {
	case *manifest.File, *manifest.Dir, *manifest.LocalFile:
	case *manifest.LocalDir:
		switch {
		case len(entry.Include) > 0:
			return unsupported("include")
		case entry.IgnoreFile != nil:
			return unsupported("ignore_file")
		case entry.Symlinks == manifest.SymlinksFollow:
			return unsupported("symlinks: follow")
		}
	case *manifest.GitRepo:
		switch {
		case entry.Submodules:
			return unsupported("submodules")
		case entry.LFS:
			return unsupported("lfs")
		case len(entry.Sparse) > 0:
			return unsupported("sparse")
		case entry.Filter != "":
			return unsupported("filter")
		case entry.Credential != nil:
			return unsupported("credential")
		}
	default:
		return &UnsupportedManifestEntryError{Path: e.Path, Type: e.Entry.Type(), Supported: supported}
	}
	return nil
}

func (c *Compiler) inline(p string, f *manifest.File, owner Owner) oci.Entry {
	return withMode(oci.Entry{
		Name: c.name(p), Type: tar.TypeReg, Mode: defaultFileMode, UID: owner.UID, GID: owner.GID,
		Size: int64(len(f.Content)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.Content)), nil },
	}, f.Mode)
}

func (c *Compiler) localFile(p string, f *manifest.LocalFile, owner Owner) (compiled, error) {
	if c.Sources == nil {
		return compiled{}, hostDenied(p)
	}
	src, err := c.Sources.File(f.Src)
	if err != nil {
		return compiled{}, fmt.Errorf("entry %q: %w", p, err)
	}
	return compiled{objects: []oci.Entry{withMode(c.host(c.name(p), src, owner), f.Mode)}}, nil
}

func (c *Compiler) localDir(ctx context.Context, p string, d *manifest.LocalDir, owner Owner) (compiled, error) {
	top := c.directory(p, owner)
	if d.Src == "" {
		return compiled{objects: []oci.Entry{withMode(top, d.Mode)}}, nil
	}
	if c.Sources == nil {
		return compiled{}, hostDenied(p)
	}
	var out compiled
	err := c.Sources.Walk(ctx, d.Src, walkOptions(d), func(f *HostFile) error {
		object := c.host(c.name(path.Join(p, f.Rel)), f, owner)
		if f.Rel == "." {
			object = withMode(object, d.Mode)
		}
		if object.Type == tar.TypeSymlink && leaves(f.Rel, f.Link) {
			out.warnings = append(out.warnings, fmt.Sprintf("entry %q: link %q points out of the tree to %q", p, f.Rel, f.Link))
		}
		out.objects = append(out.objects, object)
		return nil
	})
	if err != nil {
		return compiled{}, fmt.Errorf("entry %q: %w", p, err)
	}
	return out, nil
}

func walkOptions(d *manifest.LocalDir) WalkOptions {
	return WalkOptions{Exclude: d.Exclude, RejectLinks: d.Symlinks == manifest.SymlinksReject}
}

func (c *Compiler) host(name string, f *HostFile, owner Owner) oci.Entry {
	e := oci.Entry{Name: name, Mode: int64(f.Mode.Perm()), UID: owner.UID, GID: owner.GID}
	switch {
	case f.Mode.IsDir():
		e.Type = tar.TypeDir
	case f.Mode&fs.ModeSymlink != 0:
		e.Type, e.Linkname, e.Mode = tar.TypeSymlink, f.Link, 0o777
	default:
		e.Type, e.Size, e.Open = tar.TypeReg, f.Size, f.Open
	}
	return e
}

func (c *Compiler) directory(p string, owner Owner) oci.Entry {
	return oci.Entry{Name: c.name(p), Type: tar.TypeDir, Mode: defaultDirMode, UID: owner.UID, GID: owner.GID}
}

// name is the path of an entry relative to the image's root.
func (c *Compiler) name(p string) string {
	return strings.TrimPrefix(path.Join(c.Root, p), "/")
}

func (c *Compiler) owner(e manifest.KeyedEntry) (Owner, error) {
	if c.Accounts == nil {
		return c.Owner, nil
	}
	attrs := e.Entry.Attrs()
	owner, err := c.Accounts.Owner(c.Owner, attrs.Owner, attrs.Group)
	if err != nil {
		return Owner{}, fmt.Errorf("entry %q: %w", e.Path, err)
	}
	return owner, nil
}

// withMode applies declared permission bits. A directory gains x for each r:
// without it nobody who may list it could reach what is inside.
func withMode(e oci.Entry, mode *fs.FileMode) oci.Entry {
	if mode == nil {
		return e
	}
	e.Mode = int64(mode.Perm())
	if e.Type == tar.TypeDir {
		e.Mode |= e.Mode & 0o444 >> 2
	}
	return e
}

func leaves(rel, link string) bool {
	if path.IsAbs(link) {
		return true
	}
	target := path.Join(path.Dir(rel), link)
	return target == ".." || strings.HasPrefix(target, "../")
}

func hostDenied(p string) error {
	return fmt.Errorf("entry %q: this manifest may not read host files", p)
}
