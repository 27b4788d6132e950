package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func addDocuments(f *testing.F, pattern string) {
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

// checkDecode decodes anything. What is refused has an error at a place in
// the document; what is accepted survives its canonical form and has a tree.
func checkDecode(t *testing.T, data []byte, format Format) {
	lookup := func(name string) (string, bool) { return "v", name == "V" }
	m, list, err := Decode(bytes.NewReader(data), DecodeOptions{Format: format, Lookup: lookup})
	if err != nil {
		var invalid *InvalidError
		if !errors.As(err, &invalid) || len(invalid.Findings) == 0 {
			t.Fatalf("error without findings: %v", err)
		}
		lines := 1
		for _, r := range string(data) {
			if strings.ContainsRune("\n\r\u0085\u2028\u2029", r) { // what YAML 1.1 knows
				lines++
			}
		}
		for _, f := range list {
			if f.Line < 1 || f.Column < 1 || f.Line > lines {
				t.Fatalf("finding outside of the document: %v", f)
			}
		}
		return
	}
	if tree := m.Tree(TreeOptions{}); utf8.RuneCountInString(tree) > DefaultTreeLimit || !utf8.ValidString(tree) {
		t.Fatalf("tree is not bounded text: %q", tree)
	}
	before, err := m.Digest()
	if err != nil {
		t.Fatalf("digest: %v", err)
	}
	for _, write := range []func() ([]byte, error){m.Canonical, m.CanonicalYAML} {
		doc, err := write()
		if err != nil {
			t.Fatalf("write: %v", err)
		}
		again, _, err := Decode(bytes.NewReader(doc), DecodeOptions{})
		if err != nil {
			t.Fatalf("read again: %v in\n%s", err, doc)
		}
		if after, err := again.Digest(); after != before || err != nil {
			t.Fatalf("digest %s became %s, error %v, through\n%s", before, after, err, doc)
		}
	}
}

func FuzzDecodeYAML(f *testing.F) {
	addDocuments(f, "*.yaml")
	f.Add([]byte("x-a: &a {type: file, content: \"${V:-d}\"}\nentries: {a: *a, b: {type: dir, children: {c: *a}}}\n"))
	f.Add([]byte("ports: [1, '2:3/udp']\nresources: {cpus: .5, memory: 1g, exec_timeout: 5m}\ncommand: image\n"))
	f.Fuzz(func(t *testing.T, data []byte) { checkDecode(t, data, FormatYAML) })
}

func FuzzDecodeJSON(f *testing.F) {
	addDocuments(f, "*.json")
	f.Add([]byte(`{"environment": {"value": {"A": 1e3}}, "labels": {"a": "\ud83d\ude00\\"}, "init": false}`))
	f.Fuzz(func(t *testing.T, data []byte) { checkDecode(t, data, FormatJSON) })
}

func FuzzCleanPath(f *testing.F) {
	for _, s := range []string{"a/b", `a\b`, "./c:x", "a//../b", "C:x", "\x00", "..a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		clean, err := CleanPath(s)
		if err != nil {
			var pe *PathError
			if !errors.As(err, &pe) || pe.Error() == "" {
				t.Fatalf("CleanPath(%q) failed with %v", s, err)
			}
			return
		}
		if !filepath.IsLocal(clean) || clean == "." {
			t.Fatalf("CleanPath(%q) = %q is not below the root", s, clean)
		}
		if again, err := CleanPath(clean); again != clean || err != nil {
			t.Fatalf("CleanPath(%q) = %q, then %q, %v", s, clean, again, err)
		}
	})
}

func FuzzPermissions(f *testing.F) {
	for _, s := range []string{"rwxr-xr-x", "-rw-r-----", "drwxrwxrwt", "-rwsr-xr-x", "0644", "750", "04755", "lrwxrwxrwx", "-rwxr-xr-x+"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		mode, err := parsePermissions(s)
		if err != nil {
			if mode != 0 || err.Error() == "" {
				t.Fatalf("parsePermissions(%q) = %O, %v", s, uint32(mode), err)
			}
			return
		}
		if mode&^0o777 != 0 {
			t.Fatalf("parsePermissions(%q) = %O has more than permission bits", s, uint32(mode))
		}
		// String has the form of ls, for a file.
		for _, form := range []string{mode.String(), mode.String()[1:], fmt.Sprintf("%04o", uint32(mode))} {
			if again, err := parsePermissions(form); again != mode || err != nil {
				t.Fatalf("parsePermissions(%q) = %O, which as %q is %O, %v", s, uint32(mode), form, uint32(again), err)
			}
		}
	})
}
