package manifest

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// readJSON reads one value of RFC 8259. encoding/json does not do: it knows
// no positions, folds duplicate keys and replaces lone surrogates.
func readJSON(data []byte, file string) (*node, *docError) {
	r := jsonReader{data: data, pos: Position{file, 1, 1}}
	r.space()
	if r.end() {
		return nil, emptyDocument()
	}
	n, err := r.value(1)
	if err != nil {
		return nil, err
	}
	r.space()
	if !r.end() {
		return nil, r.errorf("nothing may follow the document")
	}
	return n, nil
}

// jsonReader is the state of a scan; data is valid UTF-8.
type jsonReader struct {
	data []byte
	off  int
	pos  Position
}

func (r *jsonReader) end() bool { return r.off == len(r.data) }

// peek is the next byte, 0 at the end.
func (r *jsonReader) peek() byte {
	if r.end() {
		return 0
	}
	return r.data[r.off]
}

// next consumes the next byte.
func (r *jsonReader) next() byte {
	c := r.data[r.off]
	r.off++
	switch {
	case c == '\n':
		r.pos.Line, r.pos.Column = r.pos.Line+1, 1
	case r.end() || utf8.RuneStart(r.data[r.off]):
		r.pos.Column++
	}
	return c
}

func (r *jsonReader) space() {
	for c := r.peek(); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = r.peek() {
		r.next()
	}
}

func (r *jsonReader) errorf(format string, args ...any) *docError {
	return &docError{code: CodeSyntax, pos: r.pos, message: fmt.Sprintf(format, args...)}
}

// unexpected is the error about the next character.
func (r *jsonReader) unexpected(want string) *docError {
	if r.end() {
		return r.errorf("the document ends where %s is expected", want)
	}
	c, _ := utf8.DecodeRune(r.data[r.off:])
	return r.errorf("%q is not %s", c, want)
}

func (r *jsonReader) value(depth int) (*node, *docError) {
	n := &node{pos: r.pos}
	var err *docError
	switch c := r.peek(); {
	case (c == '{' || c == '[') && depth > maxDepth:
		return nil, tooDeep(r.pos)
	case c == '{':
		n.kind = mapNode
		err = r.object(n, depth)
	case c == '[':
		n.kind = listNode
		err = r.array(n, depth)
	case c == '"':
		n.kind = stringNode
		n.text, err = r.str()
	case c == '-' || c >= '0' && c <= '9':
		err = r.number(n)
	default:
		err = r.literal(n)
	}
	return n, err
}

func (r *jsonReader) object(n *node, depth int) *docError {
	return r.list('}', func() *docError {
		if r.peek() != '"' {
			return r.unexpected("a key in double quotes")
		}
		p := pair{pos: r.pos}
		var err *docError
		if p.key, err = r.str(); err != nil {
			return err
		}
		r.space()
		if r.peek() != ':' {
			return r.unexpected("a colon")
		}
		r.next()
		r.space()
		if p.value, err = r.value(depth + 1); err != nil {
			return err
		}
		n.pairs = append(n.pairs, p)
		return nil
	})
}

func (r *jsonReader) array(n *node, depth int) *docError {
	return r.list(']', func() *docError {
		item, err := r.value(depth + 1)
		n.items = append(n.items, item)
		return err
	})
}

// list reads elements up to the closing bracket, the opening one being next.
func (r *jsonReader) list(closing byte, element func() *docError) *docError {
	r.next()
	r.space()
	if r.peek() == closing {
		r.next()
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		r.space()
		switch r.peek() {
		case closing:
			r.next()
			return nil
		case ',':
			r.next()
			r.space()
		default:
			return r.unexpected(fmt.Sprintf("a comma or %q", closing))
		}
	}
}

func (r *jsonReader) literal(n *node) *docError {
	for text, k := range map[string]kind{"null": nullNode, "true": boolNode, "false": boolNode} {
		if len(r.data)-r.off >= len(text) && string(r.data[r.off:r.off+len(text)]) == text {
			for range text {
				r.next()
			}
			n.kind, n.text = k, text
			return nil
		}
	}
	return r.unexpected("a value")
}

func (r *jsonReader) number(n *node) *docError {
	n.kind = intNode
	start := r.off
	if r.peek() == '-' {
		r.next()
	}
	if r.peek() == '0' {
		r.next()
	} else if err := r.digits(); err != nil {
		return err
	}
	if r.peek() == '.' {
		n.kind = floatNode
		r.next()
		if err := r.digits(); err != nil {
			return err
		}
	}
	if c := r.peek(); c == 'e' || c == 'E' {
		n.kind = floatNode
		r.next()
		if c := r.peek(); c == '+' || c == '-' {
			r.next()
		}
		if err := r.digits(); err != nil {
			return err
		}
	}
	n.text = string(r.data[start:r.off])
	return nil
}

func (r *jsonReader) digits() *docError {
	if c := r.peek(); c < '0' || c > '9' {
		return r.unexpected("a digit")
	}
	for c := r.peek(); c >= '0' && c <= '9'; c = r.peek() {
		r.next()
	}
	return nil
}

func (r *jsonReader) str() (string, *docError) {
	open := r.pos
	r.next()
	var b []byte
	for !r.end() {
		switch c := r.peek(); {
		case c == '"':
			r.next()
			return string(b), nil
		case c < ' ':
			return "", r.errorf("control character %U must be escaped", c)
		case c == '\\':
			var err *docError
			if b, err = r.escape(b); err != nil {
				return "", err
			}
		default:
			b = append(b, r.next())
		}
	}
	r.pos = open
	return "", r.errorf("the string that starts here has no end")
}

var jsonEscapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape appends what an escape sequence stands for.
func (r *jsonReader) escape(b []byte) ([]byte, *docError) {
	start := r.pos
	r.next()
	if c := r.peek(); c != 'u' {
		plain, ok := jsonEscapes[c]
		if !ok {
			return nil, r.unexpected("an escape")
		}
		r.next()
		return append(b, plain), nil
	}
	c, err := r.hex4()
	if err != nil {
		return nil, err
	}
	if utf16.IsSurrogate(c) {
		low := rune(utf8.RuneError)
		if r.off+1 < len(r.data) && r.data[r.off] == '\\' && r.data[r.off+1] == 'u' {
			r.next()
			if low, err = r.hex4(); err != nil {
				return nil, err
			}
		}
		if c = utf16.DecodeRune(c, low); c == utf8.RuneError {
			r.pos = start
			return nil, r.errorf("half of a surrogate pair stands alone")
		}
	}
	return utf8.AppendRune(b, c), nil
}

// hex4 reads the four digits of a \u escape, the u being next.
func (r *jsonReader) hex4() (rune, *docError) {
	r.next()
	if len(r.data)-r.off < 4 {
		return 0, r.errorf("\\u takes four hexadecimal digits")
	}
	v, err := strconv.ParseUint(string(r.data[r.off:r.off+4]), 16, 16)
	if err != nil {
		return 0, r.errorf("\\u takes four hexadecimal digits")
	}
	for range 4 {
		r.next()
	}
	return rune(v), nil
}
