package enginetest

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"syscall"
)

// extraction unpacks a tar as Docker Engine 20.10 was seen to do.
type extraction struct {
	root *node
	// dest is the clean path of the directory to extract below, "/" for a layer.
	dest string
	// keepKinds refuses to replace a directory by something else and vice versa.
	keepKinds bool
	// layer gives whiteouts their meaning and refuses duplicate names.
	layer bool
}

// errTar is how the engine words every failure of its unpacking process.
func errTar(format string, args ...any) error {
	return fmt.Errorf("Error processing tar file(exit status 1): "+format, args...)
}

// run extracts the archive; what precedes an error stays.
func (x extraction) run(archive []byte) error {
	seen := map[string]bool{}
	reader := tar.NewReader(bytes.NewReader(archive))
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errTar("%w", err)
		}
		name := path.Clean("/" + header.Name)
		if x.layer && seen[name] {
			return errors.New("Error processing tar file(duplicates of file paths not supported): ")
		}
		seen[name] = true
		content, readErr := io.ReadAll(reader)
		if err := x.entry(header, content); err != nil {
			return err
		}
		if readErr != nil {
			return errTar("%w", readErr)
		}
	}
}

func (x extraction) entry(header *tar.Header, content []byte) error {
	target := path.Join(x.dest, header.Name) //nolint:gosec // checked below, and the tree is in memory
	if !within(x.dest, target) {
		return errTar("%q is outside of %q", path.Clean(header.Name), x.dest)
	}
	if target == x.dest {
		return nil // the metadata of the destination itself is ignored
	}
	if x.missing(path.Dir(target)) {
		if err := x.root.mkdirAll(path.Dir(target)); err != nil {
			return errTar("%w", err)
		}
	}
	if x.layer && strings.HasPrefix(path.Base(target), ".wh.") {
		return x.whiteout(target)
	}
	at, err := x.root.walk(target, false)
	if err != nil {
		return errTar("open %s: %w", target, err)
	}
	isDir := header.Typeflag == tar.TypeDir
	if at.node != nil && x.keepKinds && at.node.isDir() != isDir {
		if isDir {
			return errTar("cannot overwrite non-directory %q with directory %q", target, x.dest)
		}
		return errTar("cannot overwrite directory %q with non-directory %q", target, x.dest)
	}
	return x.create(at, target, header, content)
}

// missing reports that nothing is at name, not even a dangling link.
func (x extraction) missing(name string) bool {
	at, err := x.root.walk(name, false)
	return errors.Is(err, syscall.ENOENT) || err == nil && at.node == nil
}

func (x extraction) create(at place, target string, header *tar.Header, content []byte) error {
	n := &node{kind: header.Typeflag}
	switch header.Typeflag {
	case tar.TypeDir:
		n = newDir()
		if at.node.isDir() {
			n = at.node
		}
	case tar.TypeSymlink:
		if !within(x.dest, path.Join(path.Dir(target), header.Linkname)) { //nolint:gosec // this is the check
			return errTar("invalid symlink %q -> %q", target, header.Linkname)
		}
		n.link = header.Linkname
	case tar.TypeLink:
		source := path.Join(x.dest, header.Linkname) //nolint:gosec // checked below, and the tree is in memory
		if !within(x.dest, source) {
			return errTar("invalid hardlink %q -> %q", source, header.Linkname)
		}
		linked, err := x.root.walk(source, false)
		if err != nil || linked.node == nil {
			return errTar("link %s %s: %w", source, target, syscall.ENOENT)
		}
		n = linked.node
	default:
		n.content = content
	}
	// The header of a hard link, too, sets the metadata of the shared inode.
	n.mode, n.uid, n.gid, n.modTime = header.Mode&0o7777, header.Uid, header.Gid, header.ModTime
	if n.kind == tar.TypeSymlink {
		n.mode = 0o777
	}
	at.dir.children[at.name] = n
	return nil
}

func (x extraction) whiteout(target string) error {
	parent, err := x.root.walk(path.Dir(target), true)
	if err != nil || !parent.node.isDir() {
		return errTar("open %s: %w", target, syscall.ENOTDIR)
	}
	name := strings.TrimPrefix(path.Base(target), ".wh.")
	if name == ".wh..opq" {
		parent.node.opaque = true
	} else if parent.node.children[name] == nil {
		parent.node.children[name] = &node{kind: typeWhiteout}
	}
	return nil
}

// within reports whether name is dir or below it, both being clean paths.
func within(dir, name string) bool {
	return dir == "/" || name == dir || strings.HasPrefix(name, dir+"/")
}

// layerTree unpacks one layer into a tree of its own, as the engine does before
// it stacks them.
func layerTree(layer []byte) (*node, error) {
	root := newDir()
	return root, extraction{root: root, dest: "/", layer: true}.run(layer)
}
