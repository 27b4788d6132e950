package enginetest

import (
	"archive/tar"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// typeWhiteout marks a deletion in the tree of a single layer.
const typeWhiteout = 'w'

// maxLinks is the kernel's limit of symbolic links in one path.
const maxLinks = 40

// node is one inode of a file system tree. Hard links share a node.
type node struct {
	kind     byte // a tar type flag, or typeWhiteout
	mode     int64
	uid, gid int
	modTime  time.Time
	content  []byte
	link     string // target of a symbolic link
	children map[string]*node
	opaque   bool // in a layer: hides what lower layers have in this directory
}

func newDir() *node {
	return &node{kind: tar.TypeDir, mode: 0o755, modTime: time.Unix(0, 0), children: map[string]*node{}}
}

func (n *node) isDir() bool { return n != nil && n.kind == tar.TypeDir }

// place is where a path leads: the directory, the name in it, and the node,
// which is nil when only the last element is missing. path has no links left.
type place struct {
	dir  *node
	name string
	node *node
	path string
}

// walk resolves a path as the kernel does with root as "/", and follows a
// symbolic link at its end only when told to.
func (n *node) walk(name string, follow bool) (place, error) {
	root := place{node: n, path: "/"}
	at, above := root, []place(nil)
	todo := elements(name)
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch {
		case at.node == nil:
			return place{}, syscall.ENOENT
		case !at.node.isDir():
			return place{}, syscall.ENOTDIR
		case part == "..":
			if len(above) > 0 {
				at, above = above[len(above)-1], above[:len(above)-1]
			}
			continue
		}
		child := at.node.children[part]
		if child != nil && child.kind == tar.TypeSymlink && (follow || len(todo) > 0) {
			if links++; links > maxLinks {
				return place{}, syscall.ELOOP
			}
			todo = append(elements(child.link), todo...)
			if path.IsAbs(child.link) {
				at, above = root, nil
			}
			continue
		}
		above = append(above, at)
		at = place{dir: at.node, name: part, node: child, path: path.Join(at.path, part)}
	}
	return at, nil
}

// elements splits a path and drops what means nothing.
func elements(name string) []string {
	return slices.DeleteFunc(strings.Split(name, "/"), func(e string) bool { return e == "" || e == "." })
}

// mkdirAll creates the missing directories of a path, owned by root.
func (n *node) mkdirAll(name string) error {
	at := "/"
	for _, element := range elements(name) {
		at = path.Join(at, element)
		p, err := n.walk(at, true)
		if err != nil {
			return fmt.Errorf("mkdir %s: %w", at, err)
		}
		if p.node != nil {
			continue
		}
		if link, _ := n.walk(at, false); link.node != nil {
			return fmt.Errorf("mkdir %s: %w", at, syscall.EEXIST)
		}
		p.dir.children[p.name] = newDir()
	}
	return nil
}

// each visits the tree below n in the order of names, parents first.
func (n *node) each(prefix string, visit func(name string, n *node)) {
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		child := n.children[name]
		visit(prefix+name, child)
		child.each(prefix+name+"/", visit)
	}
}

// overlay merges the tree of a layer over lower as overlayfs does: directories
// merge and take the upper's metadata, everything else is replaced, whiteouts
// delete. It consumes both and returns nil for nothing.
func overlay(lower, upper *node) *node {
	if upper.kind == typeWhiteout {
		return nil
	}
	if !upper.isDir() {
		return upper
	}
	merged := *upper
	merged.opaque = false
	merged.children = map[string]*node{}
	if lower.isDir() && !upper.opaque {
		maps.Copy(merged.children, lower.children)
	}
	for name, child := range upper.children {
		if result := overlay(merged.children[name], child); result != nil {
			merged.children[name] = result
		} else {
			delete(merged.children, name)
		}
	}
	return &merged
}
