package manifest

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

func resolvedSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	s := new(jsonschema.Schema)
	if err := json.Unmarshal([]byte(Schema()), s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// jsonValue is what a document says in the terms of JSON.
func jsonValue(n *node) any {
	switch n.kind {
	case nullNode:
		return nil
	case boolNode:
		return isTrue(n)
	case intNode:
		if i, err := strconv.ParseInt(strings.Replace(n.text, "0o", "0", 1), 0, 64); err == nil && !strings.HasPrefix(n.text, "0") {
			return i
		}
		fallthrough
	case floatNode:
		f, _ := strconv.ParseFloat(n.text, 64)
		return f
	case listNode:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = jsonValue(item)
		}
		return list
	case mapNode:
		m := make(map[string]any, len(n.pairs))
		for _, p := range n.pairs {
			m[p.key] = jsonValue(p.value)
		}
		return m
	default:
		return n.text
	}
}

// judge says what the decoder and the schema think of a document.
func judge(t *testing.T, schema *jsonschema.Resolved, name string, doc []byte) (decoder, editor error) {
	t.Helper()
	root, _, docErr := readDocument(doc, Source{Name: name})
	if docErr != nil {
		t.Fatalf("%s has no tree that a schema could check: %s", name, docErr.message)
	}
	_, _, decoder = Decode(bytes.NewReader(doc), DecodeOptions{Filename: name})
	return decoder, schema.Validate(jsonValue(root))
}

// TestSchemaAgreesWithDecoder has a corpus of documents, which say in their
// first line what is special about them. Those of decoder-only break rules that
// a schema cannot know.
func TestSchemaAgreesWithDecoder(t *testing.T) {
	schema := resolvedSchema(t)
	for _, tt := range []struct {
		dir            string
		decoder, valid bool
	}{
		{"valid", true, true},
		{"invalid", false, false},
		{"decoder-only", false, true},
	} {
		files, err := filepath.Glob(filepath.Join("testdata", "schema", tt.dir, "*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", tt.dir, len(files), err)
		}
		for _, file := range files {
			t.Run(tt.dir+"/"+filepath.Base(file), func(t *testing.T) {
				doc, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(string(doc), "# ") {
					t.Error("the first line does not say why")
				}
				decoder, editor := judge(t, schema, file, doc)
				if (decoder == nil) != tt.decoder {
					t.Errorf("the decoder says %v", decoder)
				}
				if (editor == nil) != tt.valid {
					t.Errorf("the schema says %v", editor)
				}
			})
		}
	}
}

// TestSchemaKnowsRealDocuments: what the SDKs write and what we show people.
func TestSchemaKnowsRealDocuments(t *testing.T) {
	schema := resolvedSchema(t)
	files := []string{filepath.Join("..", "..", "plugin", "starter.yaml")}
	for _, pattern := range []string{filepath.Join("testdata", "*-manifest.*"), filepath.Join("..", "..", "examples", "*", "workspace.yaml")} {
		more, err := filepath.Glob(pattern)
		if err != nil || len(more) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(more), err)
		}
		files = append(files, more...)
	}
	for _, file := range files {
		if ext := filepath.Ext(file); ext != ".yaml" && ext != ".json" {
			continue
		}
		t.Run(file, func(t *testing.T) {
			doc, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if decoder, editor := judge(t, schema, file, doc); decoder != nil || editor != nil {
				t.Errorf("the decoder says %v, the schema %v", decoder, editor)
			}
		})
	}
}

// TestSchemaKnowsEveryKey: the canonical form of any manifest is valid.
func TestSchemaKnowsEveryKey(t *testing.T) {
	schema := resolvedSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		doc, err := drawManifest(t).Canonical()
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(doc, &v); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
	})
}

// TestSchemaHasEveryAlias looks for the keys of other dialects.
func TestSchemaHasEveryAlias(t *testing.T) {
	root := new(jsonschema.Schema)
	if err := json.Unmarshal([]byte(Schema()), root); err != nil {
		t.Fatal(err)
	}
	objects := map[string]any{"healthcheck": new(Healthcheck)}
	for _, e := range EntryTypes() {
		objects[e.Type()] = e
	}
	for _, s := range StrategyTypes() {
		objects[s.Type()] = s
	}
	for _, p := range PatternTypes() {
		objects[p.Type()+"_pattern"] = p
	}
	for name, o := range objects {
		a, ok := o.(aliaser)
		if !ok {
			continue
		}
		for _, alias := range a.aliases() {
			if root.Defs[name].Properties[alias.name] == nil {
				t.Errorf("%s has no key %q", name, alias.name)
			}
		}
	}
}

// TestSchemaExamples: what an editor offers is valid.
func TestSchemaExamples(t *testing.T) {
	root := new(jsonschema.Schema)
	if err := json.Unmarshal([]byte(Schema()), root); err != nil {
		t.Fatal(err)
	}
	schema := resolvedSchema(t)
	valid := func(document any, what string) {
		if err := schema.Validate(document); err != nil {
			t.Errorf("example of %s: %v", what, err)
		}
		doc, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Decode(bytes.NewReader(doc), DecodeOptions{Filename: what + ".json"}); err != nil {
			t.Errorf("example: %v", err)
		}
	}
	for key, s := range root.Properties {
		for _, example := range s.Examples {
			valid(map[string]any{key: example}, key)
		}
	}
	for _, name := range entryTypes.names() {
		if len(root.Defs[name].Examples) == 0 {
			t.Errorf("%s has no example", name)
		}
		for _, example := range root.Defs[name].Examples {
			valid(map[string]any{"entries": map[string]any{"e": example}}, name)
		}
	}
}

// oddValues are put anywhere in a document.
var oddValues = []any{
	nil, true, false, 0, 1, -1, 0.5, 70000, "", " ", "-", "a", "a b", "/", "/a", "/a/", "/a/..", "../a", "a/b", ".", "1", "010", "5m", "1g",
	"0755", "CMD", "none", "image", "env", "rwxr-xr-x", "https://h/x", "ssh://u@h/x", "h:x", "127.0.0.1:1:2/udp", "::1", "\x00", "é",
	[]any{},
	[]any{"a"},
	[]any{nil},
	map[string]any{},
	map[string]any{"secret": "s"},
	map[string]any{"name": "a"},
	map[string]any{"type": "rclone"},
}

// TestSchemaRefusesNothingThatDecodes: an editor must not complain about a
// document that is fine, however odd it is.
func TestSchemaRefusesNothingThatDecodes(t *testing.T) {
	schema := resolvedSchema(t)
	files, err := filepath.Glob(filepath.Join("testdata", "schema", "valid", "*"))
	if err != nil {
		t.Fatal(err)
	}
	roots := map[string]*node{}
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		root, _, docErr := readDocument(doc, Source{Name: file})
		if docErr != nil {
			t.Fatalf("%s: %s", file, docErr.message)
		}
		roots[file] = root
	}
	rapid.Check(t, func(t *rapid.T) {
		document := jsonValue(roots[rapid.SampledFrom(files).Draw(t, "file")])
		odd := rapid.SampledFrom(oddValues).Draw(t, "odd")
		at := mutate(t, document, odd)
		doc, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Decode(bytes.NewReader(doc), DecodeOptions{Format: FormatJSON}); err != nil {
			return
		}
		if err := schema.Validate(document); err != nil {
			t.Fatalf("with %#v at %s: %v", odd, at, err)
		}
	})
}

// mutate replaces some value below v, or in a mapping, and says where.
func mutate(t *rapid.T, v, odd any) string {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return ""
		}
		key := rapid.SampledFrom(slices.Sorted(maps.Keys(v))).Draw(t, "key")
		if at := descend(t, v[key], odd); at != "" {
			return key + "." + at
		}
		v[key] = odd
		return key
	case []any:
		if len(v) == 0 {
			return ""
		}
		i := rapid.IntRange(0, len(v)-1).Draw(t, "index")
		if at := descend(t, v[i], odd); at != "" {
			return strconv.Itoa(i) + "." + at
		}
		v[i] = odd
		return strconv.Itoa(i)
	}
	return ""
}

// descend goes deeper most of the time.
func descend(t *rapid.T, v, odd any) string {
	if rapid.IntRange(0, 5).Draw(t, "stop") == 0 {
		return ""
	}
	return mutate(t, v, odd)
}
