package manifest

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Format is the syntax of a document.
type Format int

const (
	// FormatAuto goes by the extension of the file name. Without a known one
	// a document is JSON if it starts with a brace and a quoted key.
	FormatAuto Format = iota
	// FormatYAML is YAML 1.2 with its core schema.
	FormatYAML
	// FormatJSON is RFC 8259.
	FormatJSON
)

// DecodeOptions say how to read a document. The zero value is fine.
type DecodeOptions struct {
	// Filename is shown in findings.
	Filename string
	Format   Format
	// Lookup is the environment for interpolation; nil has no variables.
	Lookup func(name string) (string, bool)
	// Interpolate JSON documents too. YAML documents always are.
	Interpolate bool
}

// Decode reads one document of at most MaxSize bytes and validates it. All
// findings come back in the order of the document, warnings also when the
// manifest is valid. The error is an *InvalidError if it is not, or else
// what reading from r returned.
func Decode(r io.Reader, opts DecodeOptions) (*Manifest, []Finding, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read manifest %q: %w", opts.Filename, err)
	}
	d := &decoder{findings: findings{file: opts.Filename}}
	m, root := d.document(data, opts)
	if m != nil {
		v := &validator{manifest: m, report: d.reportValidation(root)}
		v.run()
	}
	list, err := d.findings.sorted()
	if err != nil {
		return nil, list, err
	}
	return m, list, nil
}

// decoder collects findings while it fills a manifest from a tree.
type decoder struct {
	findings findings
	failed   []*docPath // where something could not be decoded
}

// document decodes everything that can be decoded; nil means nothing can.
func (d *decoder) document(data []byte, opts DecodeOptions) (*Manifest, *node) {
	root, isYAML, derr := readDocument(data, opts)
	if derr == nil && root.kind == nullNode {
		derr = emptyDocument()
	}
	if derr != nil {
		d.report(derr.pos, nil, derr.code, derr.message, derr.suggestion)
		return nil, nil
	}
	if root.kind != mapNode {
		d.wrongType(root, nil, mapNode.String())
		return nil, nil
	}
	root.pairs = withoutExtensions(root.pairs)
	if isYAML || opts.Interpolate {
		in := interpolator{lookup: opts.Lookup, d: d, budget: MaxSize}
		in.document(root)
	}
	m := new(Manifest)
	m.setDefaults()
	d.object(root, nil, reflect.ValueOf(m).Elem())
	m.normalize()
	return m, root
}

// readDocument picks the front end.
func readDocument(data []byte, opts DecodeOptions) (root *node, isYAML bool, err *docError) {
	if len(data) > MaxSize {
		return nil, false, &docError{code: CodeTooLarge, pos: Position{1, 1}, message: fmt.Sprintf("the document is larger than %d bytes", MaxSize)}
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if err := checkEncoding(data); err != nil {
		return nil, false, err
	}
	if opts.isYAML(data) {
		root, err = readYAML(data)
		return root, true, err
	}
	root, err = readJSON(data)
	return root, false, err
}

func checkEncoding(data []byte) *docError {
	e := &docError{code: CodeEncoding, pos: Position{1, 1}, message: "the document is not UTF-8", suggestion: "save it as UTF-8"}
	if bytes.HasPrefix(data, []byte{0xFE, 0xFF}) || bytes.HasPrefix(data, []byte{0xFF, 0xFE}) || bytes.IndexByte(data[:min(2, len(data))], 0) >= 0 {
		e.message = "the document is UTF-16"
		return e
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			e.pos = positionAt(data, i+1)
			return e
		}
		i += size
	}
	return nil
}

func (o DecodeOptions) isYAML(data []byte) bool {
	switch {
	case o.Format != FormatAuto:
		return o.Format == FormatYAML
	case strings.HasSuffix(o.Filename, ".json"):
		return false
	case strings.HasSuffix(o.Filename, ".yaml"), strings.HasSuffix(o.Filename, ".yml"):
		return true
	}
	const space = " \t\r\n"
	rest, brace := bytes.CutPrefix(bytes.TrimLeft(data, space), []byte("{"))
	rest = bytes.TrimLeft(rest, space)
	return !brace || len(rest) == 0 || rest[0] != '"' && rest[0] != '}'
}

// withoutExtensions drops the x-* keys of the top level.
func withoutExtensions(pairs []pair) []pair {
	var kept []pair
	for _, p := range pairs {
		if !strings.HasPrefix(p.key, "x-") {
			kept = append(kept, p)
		}
	}
	return kept
}

// normalize brings different spellings of one meaning together.
func (m *Manifest) normalize() {
	if m.Network == networkDefault {
		m.Network = ""
	}
	if m.Resources != nil && reflect.ValueOf(*m.Resources).IsZero() {
		m.Resources = nil
	}
	if m.Healthcheck != nil && reflect.ValueOf(*m.Healthcheck).IsZero() {
		m.Healthcheck = nil
	}
	for _, e := range m.Flatten() {
		if mt, ok := e.Entry.(mounter); ok {
			mt.mount().MountPath = relativeMountPath(mt.mount().MountPath, m.Root)
		}
	}
}

// relativeMountPath makes the absolute mount paths of the SDKs relative to
// the root, if they lie below it, and cleans relative ones.
func relativeMountPath(p, root string) string {
	if strings.HasPrefix(p, "/") && !strings.Contains(p, "..") {
		if rel, below := strings.CutPrefix(path.Clean(p), strings.TrimSuffix(root, "/")+"/"); below {
			return rel
		}
	}
	return cleanOrSame(p)
}

func (d *decoder) report(pos Position, at *docPath, code, message, suggestion string) {
	d.failed = append(d.failed, at)
	d.findings.add(Finding{
		Severity: SeverityError, Code: code, Message: message, Path: at.String(), Suggestion: suggestion,
	}, pos)
}

// reportValidation returns what the validator reports to. It drops what only
// follows from a value that could not be decoded.
func (d *decoder) reportValidation(root *node) func(*docPath, Finding) {
	failed := map[string]bool{} // places that could not be decoded
	around := map[string]bool{} // and what they are in
	for _, at := range d.failed {
		failed[at.String()] = true
		for p := at; p != nil; p = p.parent {
			around[p.String()] = true
		}
	}
	return func(at *docPath, f Finding) {
		for p := at; p != nil; p = p.parent {
			if failed[p.String()] {
				return
			}
		}
		f.Path = at.String()
		if around[f.Path] && (f.Code == CodeMissing || f.Code == CodeConflict) {
			return
		}
		pos, _ := locate(root, at)
		d.findings.add(f, pos)
	}
}
