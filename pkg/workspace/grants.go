package workspace

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
)

// bindGrants settles what the grants mount, without asking the engine. On an
// engine of this machine the sources are looked at; those of another one only
// that engine can see. Warnings say which these are.
func bindGrants(m *manifest.Manifest, eng *engine.Client, allowed bool) (binds []engine.Bind, warnings []string, err error) {
	var problems []error
	for _, g := range m.ExtraPathGrants {
		if g.HostPath == "" {
			continue
		}
		source := g.HostPath
		switch {
		case !allowed:
			problems = append(problems, &materialize.GrantError{
				Path: g.Path, Host: g.HostPath, Reason: materialize.HostAccessDenied, Hint: "the manifest may not use paths of the host",
			})
		case eng.Local():
			if source, err = materialize.ResolveGrant(g); err != nil {
				problems = append(problems, err)
			}
		default:
			warnings = append(warnings, fmt.Sprintf("grant %q: host path %q is a path of the host of engine %s, not of this one", g.Path, g.HostPath, eng.Host()))
		}
		binds = append(binds, engine.Bind{Source: source, Target: g.Path, ReadOnly: g.ReadOnly})
	}
	return binds, warnings, errors.Join(problems...)
}

// checkTargets refuses mounts that would hide the workspace, or what apply
// writes beside it. Links of the base image may lead a target anywhere.
func (a *apply) checkTargets(ctx context.Context) error {
	if len(a.binds) == 0 || a.baseFS == nil {
		return nil
	}
	root, err := follow(ctx, a.baseFS, a.manifest.Root)
	if err != nil {
		return err
	}
	for _, b := range a.binds {
		target, err := follow(ctx, a.baseFS, b.Target)
		if err != nil {
			return err
		}
		refused := &materialize.GrantError{Path: b.Target, Host: b.Source, Reason: materialize.GrantConflict}
		written := a.writtenBelow(target)
		switch {
		case target == "/":
			refused.Reason, refused.Hint = materialize.GrantIsRoot, "links of the base image make it the root of the file system"
		case within(target, root) || within(root, target):
			refused.Hint = fmt.Sprintf("links of the base image make it %s, which overlaps the root %s", target, root)
		case written != "":
			refused.Hint = fmt.Sprintf("the workspace needs a %s of its own there", written)
		default:
			continue
		}
		return refused
	}
	return nil
}

// writtenBelow names something that apply writes at or below dir.
func (a *apply) writtenBelow(dir string) string {
	for _, stage := range a.prepared.stages {
		for _, e := range stage {
			if name := "/" + e.Name; within(name, dir) {
				return name
			}
		}
	}
	return ""
}

// maxLinks is how many symbolic links a path may lead through.
const maxLinks = 64

// follow is where an absolute path of a file system leads. What does not exist
// leads where it says.
func follow(ctx context.Context, in fileSystem, p string) (string, error) {
	at, rest := "/", strings.Split(p, "/")
	for links := 0; len(rest) > 0; {
		next := path.Join(at, rest[0])
		rest = rest[1:]
		if len(next) <= len(at) { // "..", "." or nothing
			at = next
			continue
		}
		header, err := in.Lstat(ctx, strings.TrimPrefix(next, "/"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return path.Join(append([]string{next}, rest...)...), nil
		case err != nil:
			return "", err
		case header.Typeflag != tar.TypeSymlink:
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("follow %q in the base image: more than %d links", p, maxLinks)
		}
		if path.IsAbs(header.Linkname) {
			at = "/"
		}
		rest = append(strings.Split(header.Linkname, "/"), rest...)
	}
	return at, nil
}

// within reports whether p is dir or below it; both are clean.
func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}
