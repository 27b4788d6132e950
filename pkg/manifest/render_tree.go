package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// DefaultTreeLimit is how long a tree gets when TreeOptions do not say, in
// characters.
const DefaultTreeLimit = 5000

// TreeOptions say how much of a tree is drawn. The zero value is fine.
type TreeOptions struct {
	// Depth is the number of levels below the root; 0 draws all.
	Depth int
	// Limit is the most characters of the tree, what says that something was
	// left out included; 0 means DefaultTreeLimit. The root is always there.
	Limit int
}

// Tree draws what a valid manifest puts below its root: sorted by name,
// directories with a slash, each with its full path, its description and
// where it comes from. The host is not looked at and no mount is entered, so
// that what is copied, cloned or mounted is one line. Characters that cannot
// be seen are escaped. The tree ends with a newline.
func (m *Manifest) Tree(o TreeOptions) string {
	return m.tree(o, true)
}

// tree names paths of the host only if showHost: they do not concern readers
// in the workspace.
func (m *Manifest) tree(o TreeOptions, showHost bool) string {
	if o.Limit <= 0 {
		o.Limit = DefaultTreeLimit
	}
	root := &treeNode{}
	for _, e := range m.Flatten() {
		n := root.below(target(e))
		n.dir = n.dir || e.Entry.Type() != TypeFile && e.Entry.Type() != TypeLocalFile
		n.say(e.Entry.Attrs().Description)
		n.say(origin(e.Entry, showHost))
	}
	at := cmp.Or(m.Root, DefaultRoot)
	d := drawing{options: o}
	d.children(root, at, "", 1)
	return d.text(printable(at)+"/\n", root.count())
}

// origin says where the content of an entry comes from, unless the manifest
// has it itself.
func origin(e Entry, showHost bool) string {
	switch e := e.(type) {
	case *LocalFile:
		return copyOrigin(e.Src, showHost)
	case *LocalDir:
		return copyOrigin(e.Src, showHost)
	case *GitRepo:
		return cloneOrigin(e)
	case mounter:
		kind := e.Type()
		if v, ok := e.(*VolumeMount); ok && v.Tmpfs != nil {
			kind = "tmpfs"
		}
		return kind + ", " + access(e.mount().ReadOnly)
	default:
		return ""
	}
}

func copyOrigin(src string, showHost bool) string {
	switch {
	case src == "":
		return ""
	case showHost:
		return "copy of " + src + " on the host"
	default:
		return "copied from the host"
	}
}

func cloneOrigin(e *GitRepo) string {
	s := "clone of " + e.CloneURL()
	if e.Ref != "" {
		s += " at " + e.Ref
	}
	if e.Subpath != "" && e.Subpath != "." {
		s += ", only " + e.Subpath
	}
	return s
}

func access(readOnly bool) string {
	if readOnly {
		return "read-only"
	}
	return "read-write"
}

// treeNode is a file or directory of the workspace.
type treeNode struct {
	dir      bool
	remarks  []string
	children map[string]*treeNode
}

// below returns the node at a relative path, which it makes.
func (n *treeNode) below(p string) *treeNode {
	for name := range strings.SplitSeq(p, "/") {
		child := n.children[name]
		if child == nil {
			child = &treeNode{}
			if n.children == nil {
				n.children = map[string]*treeNode{}
			}
			n.children[name] = child
		}
		n.dir = true
		n = child
	}
	return n
}

func (n *treeNode) say(remark string) {
	if words := strings.Fields(remark); len(words) > 0 {
		n.remarks = append(n.remarks, strings.Join(words, " "))
	}
}

func (n *treeNode) slash() string {
	if n.dir {
		return "/"
	}
	return ""
}

// count is the number of nodes below this one.
func (n *treeNode) count() int {
	count := len(n.children)
	for _, c := range n.children {
		count += c.count()
	}
	return count
}

// maxNameColumn keeps one long name from moving all comments to the right.
const maxNameColumn = 48

// drawing is a tree on its way to text.
type drawing struct {
	options TreeOptions
	lines   []treeLine
	size    int // characters of the lines before they are aligned
}

type treeLine struct{ name, comment string }

// children draws what is below n, until there is more than may be shown.
func (d *drawing) children(n *treeNode, dir, indent string, depth int) {
	names := slices.Sorted(maps.Keys(n.children))
	for i, name := range names {
		if d.size > d.options.Limit {
			return
		}
		branch, inner := "├── ", "│   "
		if i == len(names)-1 {
			branch, inner = "└── ", "    "
		}
		child, p := n.children[name], path.Join(dir, name)
		remarks := child.remarks
		closed := depth == d.options.Depth
		if closed && child.children != nil {
			remarks = append(slices.Clip(remarks), fmt.Sprintf("%d below it not shown", child.count()))
		}
		d.line(indent+branch+printable(name)+child.slash(), p, remarks)
		if !closed {
			d.children(child, p, indent+inner, depth+1)
		}
	}
}

func (d *drawing) line(name, p string, remarks []string) {
	comment := "# " + printable(p)
	if len(remarks) > 0 {
		comment += " — " + printable(strings.Join(remarks, "; "))
	}
	d.lines = append(d.lines, treeLine{name, comment})
	d.size += utf8.RuneCountInString(name) + utf8.RuneCountInString(comment)
}

// text aligns the comments below the root's line and keeps to the limit. The
// tree has so many paths in all.
func (d *drawing) text(root string, paths int) string {
	column := 0
	for _, l := range d.lines {
		column = max(column, min(utf8.RuneCountInString(l.name), maxNameColumn))
	}
	lines := []string{root}
	size := utf8.RuneCountInString(root)
	for _, l := range d.lines {
		line := fmt.Sprintf("%-*s  %s\n", column, l.name, l.comment)
		lines = append(lines, line)
		size += utf8.RuneCountInString(line)
	}
	if size <= d.options.Limit {
		return strings.Join(lines, "")
	}
	mark := func(hidden int) string {
		return fmt.Sprintf("… %d of %d paths not shown: a tree has at most %d characters\n", hidden, paths, d.options.Limit)
	}
	for size += utf8.RuneCountInString(mark(paths)); size > d.options.Limit && len(lines) > 1; lines = lines[:len(lines)-1] {
		size -= utf8.RuneCountInString(lines[len(lines)-1])
	}
	return strings.Join(lines, "") + mark(paths-len(lines)+1)
}

// printable escapes, as Go does, what cannot be seen in s.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
