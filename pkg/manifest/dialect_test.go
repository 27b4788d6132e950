package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestDialectFields makes a table of what each key of an SDK's dump becomes. A
// row is found by changing one value of the dump to others of any type: the
// fields of ours that change with it are what the key became. A key is ignored
// if a change changes nothing, and checked if every change is refused. The keys
// named type are left out, for they say which fields there are.
func TestDialectFields(t *testing.T) {
	for _, name := range []string{"openai-agents-0.22-manifest", "augments-adk-manifest"} {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			dump := dialectDump{t: t, rows: map[string]map[string]bool{}}
			if err := json.Unmarshal(raw, &dump.doc); err != nil {
				t.Fatal(err)
			}
			before, ok := dump.leaves()
			if !ok {
				t.Fatal("the dump is refused")
			}
			dump.walk(dump.doc, nil, func(keys []string, value any, set func(any)) {
				dump.try(before, keys, value, set)
			})
			golden(t, name+".fields.golden.txt", dump.table())
		})
	}
}

type dialectDump struct {
	t    *testing.T
	doc  any
	rows map[string]map[string]bool // key → what it became
}

// leaves are the values of the canonical form of the dump by their keys; not
// ok if the dump is refused.
func (d *dialectDump) leaves() (map[string]string, bool) {
	d.t.Helper()
	raw, err := json.Marshal(d.doc)
	if err != nil {
		d.t.Fatal(err)
	}
	m, _, err := Decode(bytes.NewReader(raw), DecodeOptions{Format: FormatJSON})
	if err != nil {
		return nil, false
	}
	canonical, err := m.Canonical()
	if err != nil {
		d.t.Fatal(err)
	}
	var ours any
	if err := json.Unmarshal(canonical, &ours); err != nil {
		d.t.Fatal(err)
	}
	leaves := map[string]string{}
	d.walk(ours, nil, func(keys []string, value any, _ func(any)) {
		leaves[fieldName(keys)] += fmt.Sprintf("%v\n", value)
	})
	return leaves, true
}

// walk visits the values that have nothing inside, with the keys that lead
// there. An entry's type stands for its key.
func (d *dialectDump) walk(v any, keys []string, visit func(keys []string, value any, set func(any))) {
	step := func(key string, value any, set func(any)) {
		keys := append(slices.Clip(keys), key)
		if v := reflect.ValueOf(value); (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() > 0 {
			d.walk(value, keys, visit)
		} else if key != "type" {
			visit(keys, value, set)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			shown := key
			if entry, ok := v[key].(map[string]any); ok && len(keys) > 0 && (keys[len(keys)-1] == "entries" || keys[len(keys)-1] == "children") {
				shown = "(" + entry["type"].(string) + ")"
			}
			step(shown, v[key], func(x any) { v[key] = x })
		}
	case []any:
		for i := range v {
			step("[]", v[i], func(x any) { v[i] = x })
		}
	}
}

// fieldName starts at the entry, if there is one.
func fieldName(keys []string) string {
	for i, k := range slices.Backward(keys) {
		if strings.HasPrefix(k, "(") {
			keys = append([]string{strings.Trim(k, "()")}, keys[i+1:]...)
			break
		}
	}
	return strings.ReplaceAll(strings.Join(keys, "."), ".[]", "[]")
}

// try puts other values in the place of one and notes what they change.
func (d *dialectDump) try(before map[string]string, keys []string, value any, set func(any)) {
	became := "checked"
	for _, other := range []any{"v", "v/w", "/v", "nfs", "file_cache", 5.0, 6.0, true, false, []any{"v"}, map[string]any{"KEY": "v"}} {
		if reflect.DeepEqual(other, value) {
			continue
		}
		set(other)
		after, ok := d.leaves()
		if !ok {
			continue
		}
		if changed := changes(before, after); len(changed) > 0 {
			became = strings.Join(changed, ", ")
			break
		}
		became = "ignored"
	}
	set(value)
	name := fieldName(keys)
	if became == name {
		became = "the same"
	}
	if d.rows[name] == nil {
		d.rows[name] = map[string]bool{}
	}
	d.rows[name][became] = true
}

func changes(before, after map[string]string) []string {
	var changed []string
	for _, fields := range []map[string]string{before, after} {
		for name := range fields {
			if before[name] != after[name] && !slices.Contains(changed, name) {
				changed = append(changed, name)
			}
		}
	}
	slices.Sort(changed)
	return changed
}

func (d *dialectDump) table() []byte {
	width := 0
	for name := range d.rows {
		width = max(width, len(name))
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(d.rows)) {
		fmt.Fprintf(&b, "%-*s  %s\n", width, name, strings.Join(slices.Sorted(maps.Keys(d.rows[name])), " or "))
	}
	return b.Bytes()
}
