package manifest

import (
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Validate checks a manifest that was built in Go, by the rules that Decode
// applies to documents. The error is an *InvalidError without positions.
func (m *Manifest) Validate() error {
	var fs findings
	v := &validator{manifest: m, report: func(at *docPath, f Finding) {
		f.Path = at.String()
		fs.add(f, Position{})
	}}
	v.run()
	_, err := fs.sorted()
	return err
}

// validator checks what the types alone cannot.
type validator struct {
	manifest *Manifest
	report   func(at *docPath, f Finding)
}

func (v *validator) fail(at *docPath, code, message, suggestion string) {
	v.report(at, Finding{Severity: SeverityError, Code: code, Message: message, Suggestion: suggestion})
}

func (v *validator) warn(at *docPath, code, message, suggestion string) {
	v.report(at, Finding{Severity: SeverityWarning, Code: code, Message: message, Suggestion: suggestion})
}

func (v *validator) invalid(at *docPath, format string, args ...any) {
	v.fail(at, CodeInvalidValue, fmt.Sprintf(format, args...), "")
}

// require reports an empty required field.
func (v *validator) require(at *docPath, name, value string) {
	if value == "" {
		v.fail(at.field(name), CodeMissing, fmt.Sprintf("%q is missing", name), "")
	}
}

func top(name string) *docPath { return (*docPath)(nil).field(name) }

func (v *validator) run() {
	v.document()
	v.entries()
	v.accounts()
	v.environment()
	v.secrets()
	v.grants()
	v.ports()
	v.container()
	v.resources()
	v.healthcheck()
	v.iac()
}

func (v *validator) document() {
	m := v.manifest
	if m.Version != 0 && m.Version != Version {
		v.fail(top("version"), CodeUnsupportedVersion, fmt.Sprintf("version %d is not known", m.Version), "1 is the only version")
	}
	if m.Name != "" && (len(m.Name) > maxName || !namePattern.MatchString(m.Name)) {
		v.invalid(top("name"), "%q is not a name: up to %d of a-z, 0-9, _, . and -, a letter or digit first", m.Name, maxName)
	}
	if m.Base != "" && !isWord(m.Base) {
		v.invalid(top("base"), "%q is not an image reference", m.Base)
	}
	if m.Root != "" {
		v.cleanAbsolute(top("root"), m.Root)
	}
	for i, p := range m.Include {
		if p == "" {
			v.fail(top("include").at(i), ReasonEmpty, "is empty", "")
		}
	}
	for i, p := range m.Remove {
		at := top("remove").at(i)
		if v.cleanAbsolute(at, p) && (within(p, v.root()) || within(v.root(), p)) {
			v.fail(at, CodeConflict, fmt.Sprintf("%q overlaps the root %q", p, v.root()), "")
		}
	}
}

// root is the root of the workspace with its default.
func (v *validator) root() string {
	if v.manifest.Root == "" {
		return DefaultRoot
	}
	return v.manifest.Root
}

// cleanAbsolute reports a path of the container that is not absolute, clean
// and below the root of the file system.
func (v *validator) cleanAbsolute(at *docPath, p string) bool {
	switch {
	case p == "":
		v.fail(at, ReasonEmpty, "path is empty", "")
	case strings.ContainsRune(p, 0):
		v.fail(at, ReasonNUL, fmt.Sprintf("path %q has a NUL byte", p), "")
	case slices.Contains(strings.Split(p, "/"), ".."):
		v.fail(at, ReasonEscapeRoot, fmt.Sprintf("path %q has a \"..\" component", p), "")
	case p[0] != '/':
		v.invalid(at, "path %q is not absolute", p)
	case path.Clean(p) != p:
		v.fail(at, CodeInvalidValue, fmt.Sprintf("path %q is not clean", p), "write "+path.Clean(p))
	case p == "/":
		v.invalid(at, "path is the root of the file system")
	case len(p) > maxPath:
		v.fail(at, ReasonTooLong, fmt.Sprintf("path is longer than %d bytes", maxPath), "")
	default:
		return true
	}
	return false
}

// sortedMap ranges over a map in the order of its keys, so that findings
// have one order.
func sortedMap[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// within reports whether p is dir or below it; both are clean.
func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// isWord reports whether s can stand as one argument that is no option.
func isWord(s string) bool {
	return s != "" && s[0] != '-' && !hasBlank(s)
}

func hasBlank(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}
