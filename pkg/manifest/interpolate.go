package manifest

import (
	"fmt"
	"regexp"
	"strings"
)

// interpolator replaces ${VAR}, ${VAR:-default}, ${VAR:?message} and $$ in
// the scalar values of documents. Keys and a bare $NAME stay as they are.
type interpolator struct {
	lookup func(string) (string, bool)
	d      *decoder
	budget int
	// literal has the names of the documents that are taken as written.
	literal map[string]bool
}

// document interpolates everything but the contents of files.
func (in *interpolator) document(root *node) {
	for _, p := range root.pairs {
		at := (*docPath)(nil).field(p.key)
		if p.key == "entries" {
			in.entries(p.value, at)
			continue
		}
		in.tree(p.value, at)
	}
}

func (in *interpolator) entries(n *node, at *docPath) {
	for _, e := range n.pairs {
		at := at.key(e.key)
		for _, p := range e.value.pairs {
			switch p.key {
			case "content":
			case "children":
				in.entries(p.value, at.field(p.key))
			default:
				in.tree(p.value, at.field(p.key))
			}
		}
	}
}

// contents interpolates the contents of files that ask for it. That is known
// once all documents are merged.
func (in *interpolator) contents(entries *node, at *docPath) {
	if entries == nil {
		return
	}
	for _, e := range entries.pairs {
		at := at.key(e.key)
		content, wish := e.value.get("content"), e.value.get("interpolate")
		if content != nil && wish != nil && isTrue(wish) && !in.literal[content.pos.File] {
			in.tree(content, at.field("content"))
		}
		in.contents(e.value.get("children"), at.field("children"))
	}
}

func (in *interpolator) tree(n *node, at *docPath) {
	for i, item := range n.items {
		in.tree(item, at.at(i))
	}
	for _, p := range n.pairs {
		in.tree(p.value, at.child(p.key))
	}
	if n.kind != listNode && n.kind != mapNode {
		in.scalar(n, at)
	}
}

func (in *interpolator) scalar(n *node, at *docPath) {
	if !strings.Contains(n.text, "$") {
		return
	}
	text, err := in.expand(n.text)
	if err != nil {
		in.d.report(n.pos, at, err.code, err.message, err.suggestion)
		return
	}
	n.text = text
	if n.plain {
		n.kind = plainKind(text)
	}
}

// reference is what stands between the braces of ${...}.
var reference = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)(?:(:[-?])((?s:.*)))?$`)

func (in *interpolator) expand(s string) (string, *docError) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "$")
		b.WriteString(before)
		switch {
		case !found:
			return b.String(), nil
		case strings.HasPrefix(rest, "$"):
			b.WriteByte('$')
			s = rest[1:]
			continue
		case !strings.HasPrefix(rest, "{"):
			b.WriteByte('$')
			s = rest
			continue
		}
		body, after, closed := strings.Cut(rest[1:], "}")
		m := reference.FindStringSubmatch(body)
		if !closed || m == nil || strings.Contains(body, "${") {
			return "", malformed(body, closed)
		}
		value, err := in.value(m[1], m[2], m[3])
		if err != nil {
			return "", err
		}
		if in.budget -= len(value); in.budget < 0 {
			return "", &docError{code: CodeTooLarge, message: fmt.Sprintf("interpolation makes the document larger than %d bytes", MaxSize)}
		}
		b.WriteString(value)
		s = after
	}
}

func malformed(body string, closed bool) *docError {
	e := &docError{code: CodeInterpolation, suggestion: "write $$ for a literal $"}
	switch {
	case !closed:
		e.message = "${ without a closing brace"
	default:
		e.message = fmt.Sprintf("${%s} is not ${VAR}, ${VAR:-default} or ${VAR:?message}", body)
	}
	return e
}

// value of a reference. As in the shell, the forms with a colon take an
// empty variable for an unset one.
func (in *interpolator) value(name, form, word string) (string, *docError) {
	v, set := "", false
	if in.lookup != nil {
		v, set = in.lookup(name)
	}
	switch {
	case form == ":-" && v == "":
		return word, nil
	case form == ":?" && v == "":
		if word == "" {
			word = "is not set"
		}
		return "", &docError{code: CodeUnsetVariable, message: fmt.Sprintf("variable %s: %s", name, word)}
	case !set:
		return "", &docError{
			code: CodeUnsetVariable, message: fmt.Sprintf("variable %s is not set", name),
			suggestion: fmt.Sprintf("set it, or write ${%s:-default}", name),
		}
	}
	return v, nil
}
