package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// readYAML reads one document of YAML 1.2's core schema.
//
// The parser is go.yaml.in/yaml/v3 and not goccy/go-yaml, whose errors have
// better positions: contents must arrive byte by byte, and goccy/go-yaml
// 1.19 loses tabs inside scalars and blanks at the end of "|-" blocks. Its
// parser also recurses once per key of a mapping, so that a large document
// ends the process. Scalars are resolved here, because yaml.v3 still knows
// the types of YAML 1.1.
func readYAML(data []byte, file string) (*node, *docError) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return nil, yamlError(data, err)
	}
	switch err := dec.Decode(&next); {
	case err == nil:
		return nil, &docError{
			code: CodeMultipleDocuments, pos: Position{Line: next.Line, Column: next.Column},
			message: "a second document starts here; a manifest is one document",
		}
	case !errors.Is(err, io.EOF):
		return nil, yamlError(data, err)
	}
	r := yamlReader{file: file, open: map[*yaml.Node]bool{}, budget: maxAliasCost}
	return r.node(doc.Content[0], 1)
}

// maxAliasCost bounds what aliases expand to, in bytes; aliasNodeCost is
// what a node costs besides its text.
const (
	maxAliasCost  = MaxSize
	aliasNodeCost = 160
)

// yamlReader turns the parser's tree into ours.
type yamlReader struct {
	file    string
	open    map[*yaml.Node]bool // anchored nodes that are being read
	aliases int                 // how many aliases we are inside of
	budget  int
}

func (r *yamlReader) node(y *yaml.Node, depth int) (*node, *docError) {
	n := &node{pos: Position{r.file, y.Line, y.Column}}
	if r.aliases > 0 {
		if r.budget -= aliasNodeCost + len(y.Value); r.budget < 0 {
			return nil, &docError{code: CodeAliasExpansion, pos: n.pos, message: "aliases expand to too much; write the values out"}
		}
	}
	if depth > maxDepth && (y.Kind == yaml.MappingNode || y.Kind == yaml.SequenceNode) {
		return nil, tooDeep(n.pos)
	}
	if y.Anchor != "" && y.Kind != yaml.AliasNode {
		r.open[y] = true
		defer delete(r.open, y)
	}
	switch y.Kind {
	case yaml.AliasNode:
		return r.alias(y, depth)
	case yaml.MappingNode:
		return n, r.mapping(n, y, depth)
	case yaml.SequenceNode:
		return n, r.sequence(n, y, depth)
	default:
		return n, scalar(n, y)
	}
}

func (r *yamlReader) alias(y *yaml.Node, depth int) (*node, *docError) {
	pos := Position{r.file, y.Line, y.Column}
	if r.open[y.Alias] {
		return nil, &docError{code: CodeAliasExpansion, pos: pos, message: fmt.Sprintf("alias %q is part of what it stands for", y.Value)}
	}
	r.aliases++
	defer func() { r.aliases-- }()
	n, err := r.node(y.Alias, depth)
	if err != nil {
		return nil, err
	}
	n.pos = pos
	return n, nil
}

func (r *yamlReader) sequence(n *node, y *yaml.Node, depth int) *docError {
	n.kind = listNode
	if err := checkTag(y, "!!seq"); err != nil {
		return err
	}
	for _, c := range y.Content {
		item, err := r.node(c, depth+1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	return nil
}

func (r *yamlReader) mapping(n *node, y *yaml.Node, depth int) *docError {
	n.kind = mapNode
	if err := checkTag(y, "!!map"); err != nil {
		return err
	}
	n.pairs = make([]pair, 0, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, err := r.node(y.Content[i], depth+1)
		if err != nil {
			return err
		}
		if key.kind == listNode || key.kind == mapNode {
			return &docError{code: CodeWrongType, pos: key.pos, message: "keys are scalars, not " + key.kind.String()}
		}
		if key.text == "<<" && key.plain {
			return &docError{code: CodeSyntax, pos: key.pos, message: "merge keys are not part of YAML 1.2; write the keys out"}
		}
		value, err := r.node(y.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		n.pairs = append(n.pairs, pair{key.text, key.pos, value})
	}
	return nil
}

// scalar resolves a scalar by the core schema or by its tag.
func scalar(n *node, y *yaml.Node) *docError {
	n.text = y.Value
	n.kind = stringNode
	if y.Style&yaml.TaggedStyle == 0 {
		const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
		if n.plain = y.Style&quoted == 0; n.plain {
			n.kind = plainKind(n.text)
		}
		return nil
	}
	if err := checkTag(y, "!!str", "!!int", "!!float", "!!bool", "!!null"); err != nil {
		return err
	}
	want := map[string]kind{"!!int": intNode, "!!float": floatNode, "!!bool": boolNode, "!!null": nullNode}
	k, ok := want[y.ShortTag()]
	if !ok {
		return nil
	}
	got := plainKind(n.text)
	if got != k && (got != intNode || k != floatNode) {
		return &docError{code: CodeWrongType, pos: n.pos, message: fmt.Sprintf("%q is not a %s", n.text, y.ShortTag())}
	}
	n.kind = k
	return nil
}

// checkTag refuses tags that are not the core schema's for this kind of node.
func checkTag(y *yaml.Node, allowed ...string) *docError {
	if y.Style&yaml.TaggedStyle == 0 || y.Tag == "!" {
		return nil
	}
	tag := y.ShortTag()
	if slices.Contains(allowed, tag) {
		return nil
	}
	e := &docError{code: CodeSyntax, pos: Position{Line: y.Line, Column: y.Column}, message: fmt.Sprintf("tag %q is not one of YAML 1.2's core schema", tag)}
	if tag == "!!binary" {
		e.suggestion = "use content_base64"
	}
	return e
}

var yamlErrorText = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?((?s:.*))`)

// yamlError gives the parser's error a position. What the parser reports has
// no column, and for some errors the line where the surrounding collection
// starts. So we look for it: the shortest beginning of the document that
// fails in the same way ends where the error is.
func yamlError(data []byte, err error) *docError {
	if errors.Is(err, io.EOF) {
		return emptyDocument()
	}
	said := yamlErrorText.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(said[1])
	e := &docError{code: CodeSyntax, pos: Position{Line: max(line, 1), Column: 1}, message: said[2]}
	const searchable = 256 << 10 // each step parses again
	if len(data) <= searchable {
		n := sort.Search(len(data), func(i int) bool { return sameFailure(data[:i], err) })
		e.pos = positionAt(data, n)
	}
	return e
}

func sameFailure(data []byte, want error) bool {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var n yaml.Node
		if err := dec.Decode(&n); err != nil {
			return err.Error() == want.Error()
		}
	}
}

// positionAt is the position of the last character of data[:n].
func positionAt(data []byte, n int) Position {
	before := data[:max(n-1, 0)]
	for len(before) > 0 && len(before) < len(data) && !utf8.RuneStart(data[len(before)]) {
		before = before[:len(before)-1]
	}
	start := bytes.LastIndexByte(before, '\n') + 1
	return Position{
		Line:   1 + bytes.Count(before, []byte{'\n'}),
		Column: 1 + utf8.RuneCount(before[start:]),
	}
}

func emptyDocument() *docError {
	return &docError{
		code: CodeEmptyDocument, pos: Position{Line: 1, Column: 1},
		message: "the document is empty", suggestion: "{} is the smallest manifest",
	}
}
