package manifest

import (
	"bytes"
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
// what reading from r returned. Decode does not follow include: see Load.
func Decode(r io.Reader, opts DecodeOptions) (*Manifest, []Finding, error) {
	l := newLoader(LoadOptions{Lookup: opts.Lookup, Interpolate: opts.Interpolate})
	root, err := l.read(Source{Name: opts.Filename, Reader: r, Format: opts.Format})
	if err != nil {
		return nil, nil, err
	}
	return l.finish(root)
}

// decoder collects findings while it fills a manifest from a tree.
type decoder struct {
	findings findings
	failed   []*docPath // where something could not be decoded
}

// manifest decodes everything that can be decoded, and validates it.
func (d *decoder) manifest(root *node) *Manifest {
	m := new(Manifest)
	m.setDefaults()
	d.object(root, nil, reflect.ValueOf(m).Elem())
	m.normalize()
	v := &validator{manifest: m, report: d.reportValidation(root)}
	v.run()
	return m
}

// readDocument picks the front end.
func readDocument(data []byte, s Source) (root *node, isYAML bool, err *docError) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	isYAML = s.isYAML(data)
	if err = checkEncoding(data); err == nil {
		if isYAML {
			root, err = readYAML(data, s.Name)
		} else {
			root, err = readJSON(data, s.Name)
		}
	}
	if err == nil && root.kind == nullNode {
		err = emptyDocument()
	}
	if err != nil {
		err.pos.File = s.Name
	}
	return root, isYAML, err
}

func checkEncoding(data []byte) *docError {
	e := &docError{code: CodeEncoding, pos: Position{Line: 1, Column: 1}, message: "the document is not UTF-8", suggestion: "save it as UTF-8"}
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

func (s Source) isYAML(data []byte) bool {
	switch {
	case s.Format != FormatAuto:
		return s.Format == FormatYAML
	case strings.HasSuffix(s.Name, ".json"):
		return false
	case strings.HasSuffix(s.Name, ".yaml"), strings.HasSuffix(s.Name, ".yml"):
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
