package materialize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/moby/patternmatcher"
)

// walker visits a tree of the host. Each directory is opened through its
// parent, which stays open meanwhile, so that no component can be exchanged
// for a link between look and open.
type walker struct {
	sources *Sources
	src     string
	opts    WalkOptions
	matcher *patternmatcher.PatternMatcher
	fn      func(*HostFile) error

	// pending are the excluded directories above the current one: they are
	// visited once a pattern re-includes something below them.
	pending []*HostFile
}

func (w *walker) dir(ctx context.Context, dir *os.Root, d *HostFile, parent patternmatcher.MatchInfo) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	names, err := readNames(dir)
	if err != nil {
		return &LocalSourceError{Src: w.src, Child: d.Rel, Reason: Unreadable, Hint: "it cannot be listed", Err: err}
	}
	for _, name := range names {
		rel := path.Join(d.Rel, name)
		excluded, match, err := w.matcher.MatchesUsingParentResults(rel, parent)
		if err != nil {
			return fmt.Errorf("match exclude patterns of host source %q: %w", w.src, err)
		}
		// Below an excluded directory only a pattern that re-includes can match.
		if excluded && !w.matcher.Exclusions() {
			continue
		}
		f, err := w.sources.stat(w.src, rel, dir, d.at.join(name))
		switch {
		case err != nil && excluded:
			continue
		case err != nil:
			return err
		case f.Mode.IsDir():
			err = w.subdir(ctx, dir, f, excluded, match)
		case !excluded:
			err = w.visit(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) subdir(ctx context.Context, parent *os.Root, f *HostFile, excluded bool, match patternmatcher.MatchInfo) error {
	if excluded {
		depth := len(w.pending)
		w.pending = append(w.pending, f)
		defer func() { w.pending = w.pending[:min(depth, len(w.pending))] }()
	} else if err := w.visit(f); err != nil {
		return err
	}
	dir, err := openChild(parent, path.Base(f.at.rel), f.info)
	if err != nil {
		return f.changed(err)
	}
	defer dir.Close()
	return w.dir(ctx, dir, f, match)
}

func (w *walker) visit(f *HostFile) error {
	if f.Mode&fs.ModeSymlink != 0 && w.opts.RejectLinks {
		return linkRefused(w.src, f.Rel)
	}
	for _, d := range w.pending {
		if err := w.fn(d); err != nil {
			return err
		}
	}
	w.pending = nil
	return w.fn(f)
}

var errSymlink = errors.New("is a symbolic link")

// openDir opens a directory below an allowed one, component by component.
func openDir(src string, at location) (*os.Root, error) {
	dir, err := os.OpenRoot(at.root)
	if err != nil {
		return nil, sourceError(src, location{at.root, "."}, err)
	}
	if at.rel == "." {
		return dir, nil
	}
	components := strings.Split(at.rel, "/")
	for i, name := range components {
		child, err := openComponent(dir, name)
		_ = dir.Close() // only read from
		if err != nil {
			return nil, sourceError(src, location{at.root, path.Join(components[:i+1]...)}, err)
		}
		dir = child
	}
	return dir, nil
}

func openComponent(dir *os.Root, name string) (*os.Root, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil, errSymlink
	}
	return openChild(dir, name, info)
}

// openChild opens the directory that info describes; os.Root would follow a
// link that has taken its place since.
func openChild(dir *os.Root, name string, info fs.FileInfo) (*os.Root, error) {
	child, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	now, err := child.Stat(".")
	if err == nil && !os.SameFile(info, now) {
		err = errSymlink
	}
	if err != nil {
		return nil, errors.Join(err, child.Close())
	}
	return child, nil
}

func readNames(dir *os.Root) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, errors.Join(err, f.Close())
}

func sourceError(src string, at location, err error) error {
	switch {
	case errors.Is(err, errSymlink):
		return linkRefused(src, at.rel)
	case errors.Is(err, fs.ErrNotExist):
		return &LocalSourceError{Src: src, Reason: PathNotFound, Hint: fmt.Sprintf("%q does not exist in %q", at.rel, at.root)}
	case errors.Is(err, fs.ErrPermission):
		return &LocalSourceError{Src: src, Reason: Unreadable, Hint: fmt.Sprintf("%q cannot be read", at.rel), Err: err}
	default:
		return &LocalSourceError{Src: src, Reason: PathNotFound, Hint: fmt.Sprintf("%q cannot be opened in %q", at.rel, at.root), Err: err}
	}
}

func linkRefused(src, component string) error {
	return &LocalSourceError{
		Src: src, Reason: SymlinkNotSupported,
		Hint: fmt.Sprintf("%q is a symbolic link, which could lead anywhere; name the file that it points to", component),
	}
}

func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	default:
		return "device"
	}
}
