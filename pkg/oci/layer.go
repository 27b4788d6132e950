package oci

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// LayerFormat is the version of the layer bytes. A change that gives any entry other bytes is a new version, because the
// bytes are the layer's address.
const LayerFormat = 1

// Layer is a list of entries in the order and under the names of its tar. It is immutable and safe for concurrent use.
type Layer struct {
	entries []Entry
	size    int64
	first   atomic.Pointer[Written] // what the first complete write gave
}

// NewLayer lays entries over base, one after the other: the later of two that land at one name wins, and a directory over
// a directory merges with it. The result holds every parent of every entry, with the mode and owner that base has for it,
// else 0755 and root. Links of base on the way to an entry are followed, and stay. Entries of the tar are sorted by the
// bytes of their names, which puts parents first.
//
// Errors name the entry; they wrap NameError, NotDirError, LinkError, or what base returned.
func NewLayer(ctx context.Context, base Base, entries []Entry) (*Layer, error) {
	t := newTree(base)
	for i := range entries {
		e := entries[i]
		err := e.check()
		if err == nil {
			err = t.place(ctx, e)
		}
		if err != nil {
			return nil, fmt.Errorf("add %q to layer: %w", e.Name, err)
		}
	}
	l := &Layer{}
	t.root.collect(&l.entries)
	slices.SortFunc(l.entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	if err := l.measure(); err != nil {
		return nil, err
	}
	return l, nil
}

// Len returns the number of entries in the tar.
func (l *Layer) Len() int { return len(l.entries) }

// Size returns the exact length in bytes of the tar, known without reading any content.
func (l *Layer) Size() int64 { return l.size }

// Entries returns a copy of the entries as they are written.
func (l *Layer) Entries() []Entry { return slices.Clone(l.entries) }
