package manifest

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Bounds of what one document can make us read.
const (
	maxIncludeDepth = 16
	maxIncludes     = 100
)

// including is a document that is being read, and where it was included.
type including struct {
	path string
	by   Position
}

// document reads a document and merges it over those that it includes.
func (l *loader) document(s Source, by Position) (*node, error) {
	root, err := l.read(s)
	if root == nil {
		return nil, err
	}
	l.chain = append(l.chain, including{filepath.Clean(s.Name), by})
	defer func() { l.chain = l.chain[:len(l.chain)-1] }()
	var below *node
	for i, item := range cutIncludes(root) {
		below = mergeDocuments(below, l.include(s, item, top("include").at(i)))
	}
	return mergeDocuments(below, root), nil
}

// cutIncludes takes the list of includes out of a document. One that is not as
// it should be stays there, for the decoder to report.
func cutIncludes(root *node) []*node {
	found := -1
	for i, p := range root.pairs {
		if p.key != "include" {
			continue
		}
		if found >= 0 || p.value.kind != listNode {
			return nil
		}
		for _, item := range p.value.items {
			if item.kind != stringNode {
				return nil
			}
		}
		found = i
	}
	if found < 0 {
		return nil
	}
	items := root.pairs[found].value.items
	root.pairs = append(root.pairs[:found], root.pairs[found+1:]...)
	return items
}

// include reads one included document; nil means that it was refused.
func (l *loader) include(from Source, item *node, at *docPath) *node {
	refuse := func(code, format string, args ...any) *node {
		l.refuse(item.pos, at, code, fmt.Sprintf(format, args...), "")
		return nil
	}
	name := item.text
	switch {
	case name == "":
		return refuse(ReasonEmpty, "is empty")
	case !from.Local || l.opts.Open == nil:
		return refuse(CodeInclude, "only a manifest in a local file may include others")
	case strings.Contains(name, "://"):
		return refuse(CodeInclude, "%q is not a local file", name)
	case len(l.chain) > maxIncludeDepth:
		return refuse(CodeInclude, "documents include each other through more than %d levels", maxIncludeDepth)
	case l.includes == maxIncludes:
		return refuse(CodeInclude, "more than %d documents are included", maxIncludes)
	}
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(from.Name), path)
	}
	path = filepath.Clean(path)
	if way, ok := l.cycle(path); ok {
		return refuse(CodeInclude, "%q would include itself%s", path, way)
	}
	l.includes++
	r, err := l.opts.Open(path)
	if err != nil {
		return refuse(CodeInclude, "%v", err)
	}
	defer r.Close()
	root, err := l.document(Source{Name: path, Reader: r, Local: true}, item.pos)
	if err != nil {
		return refuse(CodeInclude, "%v", err)
	}
	return root
}

// cycle reports whether a document is being read already, and by which
// includes it led back to itself.
func (l *loader) cycle(path string) (way string, ok bool) {
	for i, open := range l.chain {
		if open.path != path {
			continue
		}
		for _, next := range l.chain[i+1:] {
			way += ", by way of " + next.by.seenFrom(Position{})
		}
		return way, true
	}
	return "", false
}
