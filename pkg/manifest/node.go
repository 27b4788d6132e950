package manifest

import (
	"fmt"
	"regexp"
)

// node is a document as both front ends read it: what was written and where,
// before anything is known about its meaning.
type node struct {
	kind kind
	pos  Position
	// text of a scalar, as written but for quotes and escapes.
	text string
	// plain scalars have no quotes; interpolation may change their kind.
	plain bool
	// verbatim text is never interpolated. Only encoders set it.
	verbatim bool

	items []*node
	pairs []pair
}

// pair is a key of a mapping, where it stands, and its value.
type pair struct {
	key   string
	pos   Position
	value *node
}

type kind uint8

const (
	nullNode kind = iota
	boolNode
	intNode
	floatNode
	stringNode
	listNode
	mapNode
)

// String names the kind with its article, for messages.
func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a number", "a string", "a list", "a mapping"}[k]
}

// get returns the value of a key, or nil.
func (n *node) get(key string) *node {
	for _, p := range n.pairs {
		if p.key == key {
			return p.value
		}
	}
	return nil
}

// docError ends the reading of a document: there is no tree to go on with.
type docError struct {
	code       string
	pos        Position
	message    string
	suggestion string
}

// maxDepth is how deep a document may nest, its root being level 1.
const maxDepth = 100

func tooDeep(pos Position) *docError {
	return &docError{code: CodeTooDeep, pos: pos, message: fmt.Sprintf("nesting is deeper than %d levels", maxDepth)}
}

var (
	intPattern   = regexp.MustCompile(`^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$`)
	floatPattern = regexp.MustCompile(`^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
)

// plainKind resolves a plain scalar by the core schema, YAML 1.2.2 section
// 10.3.2.
func plainKind(text string) kind {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return nullNode
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return boolNode
	}
	switch c := text[0]; {
	case c != '.' && c != '-' && c != '+' && (c < '0' || c > '9'):
		return stringNode
	case intPattern.MatchString(text):
		return intNode
	case floatPattern.MatchString(text):
		return floatNode
	}
	return stringNode
}
