package materialize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/moby/patternmatcher"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

// Reasons of a LocalSourceError.
const (
	OutsideBaseDir        = "outside_base_dir"
	SymlinkNotSupported   = "symlink_not_supported"
	PathNotFound          = "path_not_found"
	PathChangedDuringCopy = "path_changed_during_copy"
	SpecialFile           = "special_file"
	Unreadable            = "unreadable"
)

// LocalSourceError says why a host source cannot be copied.
type LocalSourceError struct {
	Src    string // as declared
	Child  string // what inside of it, "" for the source itself
	Reason string // one of the reason codes
	Hint   string // what to do
	Err    error  // the cause, may be nil
}

func (e *LocalSourceError) Error() string {
	what := fmt.Sprintf("copy host source %q", e.Src)
	if e.Child != "" && e.Child != "." {
		what = fmt.Sprintf("copy %q of host source %q", e.Child, e.Src)
	}
	msg := what + ": " + e.Hint
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg + " (" + e.Reason + ")"
}

func (e *LocalSourceError) Unwrap() error { return e.Err }

// Sources reads host files below a base directory and granted paths. Every
// component of a path is checked: a symbolic link anywhere between an allowed
// directory and a source is refused, and what was checked is what is opened.
type Sources struct {
	allowed []string // absolute; the base directory first

	dirs dirCache
}

// OpenSources guards the host's files for one manifest. Relative sources start
// at baseDir. A grant that links lead to the root of the file system gives a
// *GrantError. Close it when the layers that read from it are written.
func OpenSources(baseDir string, grants []manifest.PathGrant) (*Sources, error) {
	base, err := filepath.Abs(baseDir)
	if err != nil {
		return nil, fmt.Errorf("find base directory %q: %w", baseDir, err)
	}
	info, err := os.Stat(base)
	if err != nil {
		return nil, fmt.Errorf("open base directory: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open base directory %q: not a directory", base)
	}
	s := &Sources{allowed: []string{base}}
	for _, g := range grants {
		_, err := ResolveGrant(g)
		if bad, ok := errors.AsType[*GrantError](err); ok && bad.Reason == GrantIsRoot {
			return nil, err
		}
		if host := grantedPath(g); filepath.IsAbs(host) {
			s.allowed = append(s.allowed, filepath.Clean(host))
		}
	}
	return s, nil
}

// Close releases the directories that are held open.
func (s *Sources) Close() error { return s.dirs.close() }

// HostFile is one file, directory or link of the host, as it was when it was
// looked at.
type HostFile struct {
	Rel  string // slash-separated, relative to the source; "." is the source
	Mode fs.FileMode
	Size int64
	Link string // target of a symbolic link, verbatim

	src     string
	sources *Sources
	at      location
	info    fs.FileInfo
}

// location is a path below an allowed directory.
type location struct {
	root string // absolute
	rel  string // slash-separated, "." is the root
}

func (l location) dir() location { return location{l.root, path.Dir(l.rel)} }

func (l location) join(name string) location { return location{l.root, path.Join(l.rel, name)} }

// Open opens the content. It fails with PathChangedDuringCopy when the file is
// no longer the one that was looked at. The caller closes it.
func (f *HostFile) Open() (io.ReadCloser, error) {
	file, err := f.sources.openFile(f)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil || !os.SameFile(info, f.info) || info.Size() != f.Size || !info.ModTime().Equal(f.info.ModTime()) {
		return nil, f.changed(errors.Join(err, file.Close()))
	}
	return file, nil
}

func (f *HostFile) changed(err error) error {
	return &LocalSourceError{
		Src: f.src, Child: f.Rel, Reason: PathChangedDuringCopy, Err: err,
		Hint: "it changed while it was read; try again when nothing writes to it",
	}
}

func (s *Sources) openFile(f *HostFile) (*os.File, error) {
	file, err := s.dirs.open(f.src, f.at.dir(), path.Base(f.at.rel))
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, &LocalSourceError{Src: f.src, Child: f.Rel, Reason: Unreadable, Hint: "it cannot be read", Err: err}
	case err != nil:
		return nil, f.changed(err)
	}
	return file, nil
}

// File looks at one regular file.
func (s *Sources) File(src string) (*HostFile, error) {
	f, err := s.look(src)
	if err != nil {
		return nil, err
	}
	if f.Mode.IsDir() {
		return nil, &LocalSourceError{Src: src, Reason: SpecialFile, Hint: "it is a directory; a local_dir copies directories"}
	}
	return f, nil
}

// WalkOptions selects what of a directory is copied.
type WalkOptions struct {
	Exclude     []string // patterns of the .dockerignore dialect
	RejectLinks bool     // a symbolic link is an error; otherwise it is kept verbatim
}

// Walk calls fn for the directory src and everything below it, parents before
// children, in byte order of names. Sockets, pipes and devices are errors.
func (s *Sources) Walk(ctx context.Context, src string, opts WalkOptions, fn func(*HostFile) error) error {
	matcher, err := patternmatcher.New(opts.Exclude)
	if err != nil {
		return fmt.Errorf("read exclude patterns of host source %q: %w", src, err)
	}
	top, err := s.look(src)
	if err != nil {
		return err
	}
	if !top.Mode.IsDir() {
		return &LocalSourceError{Src: src, Reason: SpecialFile, Hint: "it is not a directory; a local_file copies files"}
	}
	root, err := openDir(src, top.at)
	if err != nil {
		return err
	}
	defer root.Close()
	w := walker{sources: s, src: src, opts: opts, matcher: matcher, fn: fn}
	if err := fn(top); err != nil {
		return err
	}
	return w.dir(ctx, root, top, patternmatcher.MatchInfo{})
}

// look examines the source itself, component by component.
func (s *Sources) look(src string) (*HostFile, error) {
	at, err := s.locate(src)
	if err != nil {
		return nil, err
	}
	dir, err := openDir(src, at.dir())
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := s.stat(src, ".", dir, at)
	if err != nil {
		return nil, err
	}
	if f.Mode&fs.ModeSymlink != 0 {
		return nil, linkRefused(src, at.rel)
	}
	return f, nil
}

// locate finds the allowed directory that holds src, the most specific one.
func (s *Sources) locate(src string) (location, error) {
	abs := filepath.FromSlash(src)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(s.allowed[0], abs)
	}
	abs = filepath.Clean(abs)
	var best location
	for _, root := range s.allowed {
		rel, err := filepath.Rel(root, abs)
		if err == nil && filepath.IsLocal(rel) && len(root) > len(best.root) {
			best = location{root: root, rel: filepath.ToSlash(rel)}
		}
	}
	if best.root == "" {
		return best, &LocalSourceError{
			Src: src, Reason: OutsideBaseDir,
			Hint: fmt.Sprintf("it lies outside the base directory %q; move it there, choose another --base-dir, or grant its path in extra_path_grants", s.allowed[0]),
		}
	}
	// A grant may be of a single file, which no directory within it holds.
	if info, err := os.Stat(best.root); best.rel == "." && err == nil && !info.IsDir() {
		best = location{filepath.Dir(best.root), filepath.Base(best.root)}
	}
	return best, nil
}

func (s *Sources) stat(src, rel string, dir *os.Root, at location) (*HostFile, error) {
	name := path.Base(at.rel)
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, sourceError(src, at, err)
	}
	f := &HostFile{Rel: rel, Mode: info.Mode(), src: src, sources: s, at: at, info: info}
	switch {
	case info.Mode().IsRegular():
		f.Size = info.Size()
	case info.Mode()&fs.ModeSymlink != 0:
		if f.Link, err = dir.Readlink(name); err != nil {
			return nil, f.changed(err)
		}
	case !info.IsDir():
		return nil, &LocalSourceError{Src: src, Child: rel, Reason: SpecialFile, Hint: "it is a " + kind(info.Mode()) + ", which cannot be copied; exclude it"}
	}
	return f, nil
}

// Check looks at the host source of an entry as a copy would, and copies
// nothing. Entries without one are fine.
func (s *Sources) Check(ctx context.Context, e manifest.Entry) error {
	switch e := e.(type) {
	case *manifest.LocalFile:
		_, err := s.File(e.Src)
		return err
	case *manifest.LocalDir:
		if e.Src == "" {
			return nil
		}
		return s.Walk(ctx, e.Src, walkOptions(e), func(*HostFile) error { return nil })
	}
	return nil
}
