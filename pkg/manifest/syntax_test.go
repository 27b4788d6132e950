package manifest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSyntaxPositions(t *testing.T) {
	tests := []struct {
		name, file, doc, want string
	}{
		{"YAML: value after value", "w.yaml", "a: b: c\n", "1:5 syntax"},
		{"YAML: deeper key", "w.yaml", "name: b\n  root: d\n", "2:7 syntax"},
		{"YAML: bad indentation", "w.yaml", "x: 1\na:\n  b: 1\n c: 2\nd: 4\n", "4:2 syntax"},
		{"YAML: item in a mapping", "w.yaml", "x: 1\na:\n  b: 1\n  - c\nd: 4\n", "4:3 syntax"},
		{"YAML: open list", "w.yaml", "x: 1\na: [1, 2\nb: 3\nc: 4\n", "2:8 syntax"},
		{"YAML: open quote", "w.yaml", "x: 1\na: \"foo\nb: c\n", "2:4 syntax"},
		{"YAML: bad escape", "w.yaml", "x: 1\na: \"f\\qo\"\nb: c\n", "2:6 syntax"},
		{"YAML: tab", "w.yaml", "x: 1\na:\n\tb: 2\n", "3:1 syntax"},
		{"YAML: reserved indicator", "w.yaml", "x: 1\na: @b\n", "2:4 syntax"},
		{"YAML: unknown alias", "w.yaml", "x: 1\na: *nope\nb: 2", "2:8 syntax"},
		{"YAML: key without value", "w.yaml", "é: 1\nfoo\nb: 2\n", "2:1 syntax"},
		{"YAML: control character", "w.yaml", "a: 1\nb: x\x01\n", "2:5 syntax"},
		{"YAML: second document", "w.yaml", "a: 1\n---\nb: 2\n", "2:1 multiple_documents"},
		{"YAML: binary", "w.yaml", "name: !!binary YQ==\n", "1:7 syntax"},
		{"YAML: own tag", "w.yaml", "name: !mine a\n", "1:7 syntax"},
		{"YAML: tag that does not fit", "w.yaml", "name: !!int a\n", "1:7 wrong_type"},
		{"YAML: key of a list", "w.yaml", "? [a]\n: b\n", "1:3 wrong_type"},
		{"YAML: alias of itself", "w.yaml", "a: &a [*a]\n", "1:8 alias_expansion"},
		{"JSON: comment", "w.json", "{\n// x\n}", "2:1 syntax"},
		{"JSON: trailing comma", "w.json", "{\"a\": 1,}", "1:9 syntax"},
		{"JSON: single quotes", "w.json", "{'a': 1}", "1:2 syntax"},
		{"JSON: no colon", "w.json", "{\"a\" 1}", "1:6 syntax"},
		{"JSON: no comma", "w.json", "[1 2]", "1:4 syntax"},
		{"JSON: leading zero", "w.json", "[01]", "1:3 syntax"},
		{"JSON: no digits", "w.json", "[-]", "1:3 syntax"},
		{"JSON: no fraction", "w.json", "[1.]", "1:4 syntax"},
		{"JSON: no exponent", "w.json", "[1e+]", "1:5 syntax"},
		{"JSON: not a number", "w.json", "[NaN]", "1:2 syntax"},
		{"JSON: raw line break", "w.json", "[\"a\nb\"]", "1:4 syntax"},
		{"JSON: bad escape", "w.json", "[\"é\\x\"]", "1:5 syntax"},
		{"JSON: short escape", "w.json", "[\"\\u12", "1:5 syntax"},
		{"JSON: lone high surrogate", "w.json", "[\"\\ud83d\"]", "1:3 syntax"},
		{"JSON: lone low surrogate", "w.json", "[\"\\ude00\"]", "1:3 syntax"},
		{"JSON: two high surrogates", "w.json", "[\"\\ud83d\\ud83d\"]", "1:3 syntax"},
		{"JSON: open string", "w.json", "{\n \"a", "2:2 syntax"},
		{"JSON: open object", "w.json", "{\"a\": 1", "1:8 syntax"},
		{"JSON: something after it", "w.json", "{}\n{}", "2:1 syntax"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, list, err := Decode(strings.NewReader(tt.doc), DecodeOptions{Filename: tt.file})
			var got []string
			for _, f := range list {
				got = append(got, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Code))
			}
			if diff := cmp.Diff([]string{tt.want}, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s%v", diff, err)
			}
		})
	}
}

// TestTextArrivesVerbatim is about characters that YAML parsers have lost.
func TestTextArrivesVerbatim(t *testing.T) {
	tests := []struct{ name, file, doc, want string }{
		{"tab in double quotes", "w.yaml", "\"a\tb\\t\"", "a\tb\t"},
		{"tab in single quotes", "w.yaml", "'a\tb'", "a\tb"},
		{"tab in a plain scalar", "w.yaml", "a\tb", "a\tb"},
		{"blanks at the end of a block", "w.yaml", "|-\n      a  \n      b  ", "a  \nb  "},
		{"empty lines in a block", "w.yaml", "|+\n      a\n\n       b\n", "a\n\n b\n\n"},
		{"indentation indicator", "w.yaml", "|2\n        a", "  a\n"},
		{"comment sign in a block", "w.yaml", "|\n      #!/bin/sh\n      # x", "#!/bin/sh\n# x\n"},
		{"dates", "w.yaml", "2001-01-01", "2001-01-01"},
		{"words that were booleans", "w.yaml", "off", "off"},
		{"base sixty", "w.yaml", "1:20", "1:20"},
		{"tagged number", "w.yaml", "!!str 0644", "0644"},
		{"escapes", "w.json", `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\u0000"`, "\"\\/\b\f\n\r\té😀\x00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := "entries:\n  f:\n    type: file\n    content: " + tt.doc + "\n"
			if tt.file == "w.json" {
				doc = `{"entries": {"f": {"type": "file", "content": ` + tt.doc + `}}}`
			}
			m := decodeString(t, doc, DecodeOptions{Filename: tt.file})
			if got := string(m.Entries[0].Entry.(*File).Content); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	var bomb strings.Builder
	bomb.WriteString("x-a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 9 {
		fmt.Fprintf(&bomb, "x-a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 9), i)
	}
	long := strings.Repeat("x", 1<<20)
	tests := []struct{ name, file, doc, code string }{
		{"YAML of 100 levels", "w.yaml", "x-a: " + nested(99) + "\n", ""},
		{"YAML of 101 levels", "w.yaml", "x-a: " + nested(100) + "\n", CodeTooDeep},
		{"JSON of 100 levels", "w.json", `{"x-a": ` + nested(99) + "}", ""},
		{"JSON of 101 levels", "w.json", `{"x-a": ` + nested(100) + "}", CodeTooDeep},
		{"JSON of a million levels", "w.json", strings.Repeat("[", 1<<20), CodeTooDeep},
		{"YAML of block sequences", "w.yaml", strings.Repeat("- ", 200) + "x\n", CodeTooDeep},
		{"nesting through aliases", "w.yaml", "x-a: &a " + nested(60) + "\nx-b: " + strings.Repeat("[", 60) + "*a" + strings.Repeat("]", 60) + "\n", CodeTooDeep},
		{"alias bomb", "w.yaml", bomb.String(), CodeAliasExpansion},
		{"alias bomb of one long text", "w.yaml", "x-a: &a " + long + "\nx-b: [" + strings.Repeat("*a, ", 20) + "]\n", CodeAliasExpansion},
		{"aliases in reason", "w.yaml", "x-a: &a {type: file}\nentries: {f: *a, g: *a}\n", ""},
		{"largest document", "w.yaml", "#" + strings.Repeat(" ", MaxSize-4) + "\n{}", ""},
		{"document too large", "w.yaml", "#" + strings.Repeat(" ", MaxSize-3) + "\n{}", CodeTooLarge},
		{"too large behind a byte order mark", "w.yaml", "\uFEFF{}" + strings.Repeat(" ", MaxSize-1), CodeTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, list, _ := Decode(strings.NewReader(tt.doc), DecodeOptions{Filename: tt.file})
			got := ""
			if len(list) > 0 {
				got = list[0].Code
			}
			if got != tt.code {
				t.Errorf("got %q, want %q", got, tt.code)
			}
		})
	}
}

func TestFindingsAreBounded(t *testing.T) {
	var warnings strings.Builder
	for i := range maxFindings + 5 {
		fmt.Fprintf(&warnings, "  .wh.%d: {type: file}\n", i)
	}
	tests := []struct {
		name, entries string
		want          int
		valid         bool
	}{
		{"errors", strings.Repeat("  a: {}\n", 5000), maxFindings + 1, false},
		{"warnings", warnings.String(), maxFindings + 1, true},
		{"an error after too many warnings", warnings.String() + "  x: {}\n", maxFindings + 2, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, list, err := Decode(strings.NewReader("entries:\n"+tt.entries), DecodeOptions{})
			if len(list) != tt.want || (err == nil) != tt.valid {
				t.Errorf("got %d findings and %v, want %d", len(list), err, tt.want)
			}
		})
	}
}

// TestLargeDocument guards against work that grows faster than the document,
// with a bound that only such growth can miss.
func TestLargeDocument(t *testing.T) {
	const entries = 20_000
	doc := "entries:\n"
	var b strings.Builder
	b.WriteString(doc)
	for i := range entries {
		fmt.Fprintf(&b, "  dir%d/file%d: {type: file, content: \"%d\"}\n", i%100, i, i)
	}
	start := time.Now()
	m := decodeString(t, b.String(), DecodeOptions{})
	if len(m.Entries) != entries {
		t.Errorf("got %d entries, want %d", len(m.Entries), entries)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}
