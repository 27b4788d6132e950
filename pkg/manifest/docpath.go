package manifest

import (
	"strconv"
	"strings"
)

// docPath is a place in a document, linked towards the root so that walking
// a document costs no strings. The root is nil.
type docPath struct {
	parent *docPath
	kind   stepKind
	name   string
	index  int
	// pos is where the key stands, if that is known. It tells keys apart
	// that are equal only after cleaning.
	pos Position
}

type stepKind uint8

const (
	fieldStep stepKind = iota // a key that the contract defines
	keyStep                   // a key that the document chooses
	indexStep                 // an element of a list
)

func (p *docPath) field(name string) *docPath {
	return &docPath{parent: p, kind: fieldStep, name: name}
}

func (p *docPath) key(name string) *docPath { return &docPath{parent: p, kind: keyStep, name: name} }

func (p *docPath) at(i int) *docPath { return &docPath{parent: p, kind: indexStep, index: i} }

// child is a step to a key of any mapping.
func (p *docPath) child(name string) *docPath {
	if p != nil && p.parent == nil {
		switch p.name {
		case "environment", "labels", "secrets":
			return p.key(name)
		}
	}
	return p.field(name)
}

// String is the path as people read it: entries["a/b"].mode.
func (p *docPath) String() string {
	var b strings.Builder
	p.write(&b)
	return b.String()
}

func (p *docPath) write(b *strings.Builder) {
	if p == nil {
		return
	}
	p.parent.write(b)
	switch p.kind {
	case fieldStep:
		if p.parent != nil {
			b.WriteByte('.')
		}
		b.WriteString(p.name)
	case keyStep:
		b.WriteString("[" + strconv.Quote(p.name) + "]")
	case indexStep:
		b.WriteString("[" + strconv.Itoa(p.index) + "]")
	}
}

// locate returns the position of what p names, or else of the nearest thing
// around it that the document does have; in that case without a node. Keys
// that the document chooses are meant themselves, other keys stand for their
// values.
func locate(root *node, p *docPath) (Position, *node) {
	if p == nil {
		return root.pos, root
	}
	pos, n := locate(root, p.parent)
	if n == nil {
		return pos, nil
	}
	if p.kind == indexStep {
		if n.kind != listNode || p.index >= len(n.items) {
			return pos, nil
		}
		return n.items[p.index].pos, n.items[p.index]
	}
	if p.kind == keyStep && p.parent.kind == fieldStep && p.parent.parent == nil && p.parent.name == "environment" {
		n = environmentMap(n)
	}
	for _, pair := range n.pairs {
		switch {
		case p.kind == fieldStep && pair.key == p.name:
			return pair.value.pos, pair.value
		case p.kind == keyStep && (pair.pos == p.pos || p.pos == Position{} && pair.key == p.name):
			return pair.pos, pair.value
		}
	}
	return pos, nil
}
