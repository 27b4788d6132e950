package oci

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// maxLinks is how many links may be followed on the way to one entry, as on Linux.
const maxLinks = 40

// kind says what a node stands for.
type kind uint8

const (
	dirNode   kind = iota // directory of the base, of the layer, or of both
	leafNode              // file or link of the layer
	linkNode              // link of the base, followed and never written
	otherNode             // anything else of the base
)

// rank orders the claims on a directory's mode and owner; a higher one wins.
type rank uint8

const (
	byDefault rank = iota
	byImplied
	byBase
	byEntry
)

// node is one name of the image, as far as placing the entries needs to know it.
type node struct {
	parent   *node // nil for the root
	children map[string]*node
	entry    Entry // as it will be written, under the name where it landed
	kind     kind
	rank     rank
	inBase   bool // the base has a directory here, so that looking below it makes sense
	wanted   bool // some entry asked for this directory
}

// tree is the base image with the entries placed so far laid over it.
type tree struct {
	base Base
	root *node
}

func newTree(base Base) *tree {
	return &tree{base: base, root: &node{inBase: true}}
}

// place lays e over what is there.
func (t *tree) place(ctx context.Context, e Entry) error {
	parent, leaf := path.Split(e.Name)
	dir, err := t.enter(ctx, e.Name, t.root, parent)
	if err != nil {
		return err
	}
	if e.Type != tar.TypeDir {
		dir.add(leaf, &node{kind: leafNode, entry: e})
		return nil
	}
	n, err := t.directory(ctx, e, dir, leaf)
	if err != nil {
		return err
	}
	n.claim(e)
	return nil
}

// directory returns the node at which the directory e, whose parent is dir, lands: a declared one replaces a file, but
// goes through a link of the base, as its content does.
func (t *tree) directory(ctx context.Context, e Entry, dir *node, leaf string) (*node, error) {
	if n := dir.children[leaf]; n != nil && n.kind == leafNode && !e.Implied {
		delete(dir.children, leaf) // the later entry wins, and the base shows again
	}
	n, err := t.child(ctx, dir, leaf)
	if err != nil {
		return nil, err
	}
	if n == nil || n.kind == otherNode && !e.Implied {
		return dir.mkdir(leaf), nil
	}
	return t.enter(ctx, e.Name, dir, leaf)
}

// enter returns the directory rel below from. It follows links of the base and makes what is missing.
func (t *tree) enter(ctx context.Context, name string, from *node, rel string) (*node, error) {
	at, links := from, 0
	var link *node // the last one followed
	for pending := strings.Split(rel, "/"); len(pending) > 0; {
		n, err := t.step(ctx, at, pending[0])
		if err != nil {
			return nil, err
		}
		pending = pending[1:]
		switch {
		case n == nil: // only a link's target has "..", names do not
			return nil, linkError(name, link, "leaves the image's root")
		case n.kind == dirNode:
			at = n
		case n.kind == linkNode && links == maxLinks:
			return nil, linkError(name, n, fmt.Sprintf("is one of more than %d links, perhaps a loop", maxLinks))
		case n.kind == linkNode:
			link, links = n, links+1
			if path.IsAbs(n.entry.Linkname) {
				at = t.root
			}
			pending = append(strings.Split(n.entry.Linkname, "/"), pending...)
		default:
			return nil, &NotDirError{Name: name, Parent: n.entry.Name, InBase: n.kind == otherNode}
		}
	}
	return at, nil
}

// step returns what is at part of dir, which it makes a directory if nobody has it; nil is above the root.
func (t *tree) step(ctx context.Context, dir *node, part string) (*node, error) {
	switch part {
	case "", ".":
		return dir, nil
	case "..":
		return dir.parent, nil
	}
	n, err := t.child(ctx, dir, part)
	if n != nil || err != nil {
		return n, err
	}
	if reason := checkComponent(part); reason != "" { // out of a link's target
		return nil, &NameError{Name: path.Join(dir.entry.Name, part), Reason: reason}
	}
	return dir.mkdir(part), nil
}

func linkError(name string, link *node, reason string) error {
	return &LinkError{Name: name, Link: link.entry.Name, Target: link.entry.Linkname, Reason: reason}
}

// child returns what is at part of dir: a placed entry, else what the base has, else nil.
func (t *tree) child(ctx context.Context, dir *node, part string) (*node, error) {
	if n := dir.children[part]; n != nil {
		return n, nil
	}
	if !dir.inBase {
		return nil, nil
	}
	name := path.Join(dir.entry.Name, part)
	h, err := t.base.Lstat(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up %q in the base image: %w", name, err)
	}
	n := &node{kind: otherNode}
	switch h.Typeflag {
	case tar.TypeDir:
		n.kind, n.rank, n.inBase = dirNode, byBase, true
		n.entry = Entry{Type: tar.TypeDir, Mode: h.Mode & modeBits, UID: h.Uid, GID: h.Gid}
	case tar.TypeSymlink:
		n.kind = linkNode
		n.entry = Entry{Type: tar.TypeSymlink, Linkname: h.Linkname}
	}
	return dir.add(part, n), nil
}

// add puts child at part of n, in place of whatever was there and below.
func (n *node) add(part string, child *node) *node {
	if n.children == nil {
		n.children = map[string]*node{}
	}
	child.parent = n
	child.entry.Name = path.Join(n.entry.Name, part)
	n.children[part] = child
	return child
}

// mkdir puts a directory that nobody described at part of n.
func (n *node) mkdir(part string) *node {
	return n.add(part, &node{entry: Entry{Type: tar.TypeDir, Mode: defaultPerm}})
}

// claim gives the directory the mode and owner of e, unless a stronger claim was there before.
func (n *node) claim(e Entry) {
	n.wanted = true
	r := byEntry
	if e.Implied {
		r = byImplied
	}
	// Of two declarations the later one counts, of two implied directories the earlier one.
	if r > n.rank || r == byEntry {
		n.rank = r
		n.entry.Mode, n.entry.UID, n.entry.GID = e.Mode, e.UID, e.GID
	}
}

// collect appends what must be written of n and below: the entries and all their parents, in no particular order. It
// leaves out directories that were only passed on the way through a link.
func (n *node) collect(out *[]Entry) (found bool) {
	if n.kind == leafNode {
		*out = append(*out, n.entry)
		return true
	}
	found = n.wanted
	for _, c := range n.children {
		if c.collect(out) {
			found = true
		}
	}
	if found && n.parent != nil {
		*out = append(*out, n.entry)
	}
	return found
}
