package manifest

import (
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Canonical returns the manifest as JSON in the one form that its digest is
// of: fixed order of fields, entries in their order, maps sorted by key,
// defaults left out except for the version, two spaces of indentation. It
// fails if something in a manifest built in Go has no JSON form. Literal
// credentials are part of it.
func (m *Manifest) Canonical() ([]byte, error) {
	root, err := m.encode()
	if err != nil {
		return nil, err
	}
	return writeJSON(root)
}

// CanonicalYAML returns the same document as YAML.
func (m *Manifest) CanonicalYAML() ([]byte, error) {
	root, err := m.encode()
	if err != nil {
		return nil, err
	}
	return writeYAML(root)
}

func (m *Manifest) encode() (*node, error) {
	for _, e := range m.Flatten() {
		if e.Entry == nil {
			return nil, fmt.Errorf("encode manifest: entry %q is nil", e.Path)
		}
	}
	body := encodeStruct(reflect.ValueOf(*m))
	version := pair{key: "version", value: newInt(Version)}
	if m.Version != 0 {
		version.value = newInt(int64(m.Version))
	}
	body.pairs = slices.DeleteFunc(body.pairs, func(p pair) bool { return p.key == version.key })
	body.pairs = slices.Insert(body.pairs, 0, version)
	return body, nil
}

// nodeEncoder is implemented by types that are not written field by field.
type nodeEncoder interface{ encodeNode() *node }

// finisher is implemented by entries that have something to add to what
// their fields give.
type finisher interface{ finish(n *node) }

func newText(s string) *node { return &node{kind: stringNode, text: s} }
func newInt(i int64) *node   { return &node{kind: intNode, text: strconv.FormatInt(i, 10)} }
func newBool(b bool) *node   { return &node{kind: boolNode, text: strconv.FormatBool(b)} }

// encodeStruct writes the fields that differ from the defaults of the type.
func encodeStruct(v reflect.Value) *node {
	defaults := reflect.New(v.Type())
	setDefaults(defaults.Interface())
	m := &node{kind: mapNode}
	for _, f := range infoOf(v.Type()).fields {
		value := v.FieldByIndex(f.index)
		if omitted(value, defaults.Elem().FieldByIndex(f.index)) {
			continue
		}
		n := encodeValue(value)
		if f.rule == "nullzero" && value.IsZero() {
			n = &node{kind: nullNode, text: "null"}
		}
		m.pairs = append(m.pairs, pair{key: f.name, value: n})
	}
	return m
}

// omitted reports whether a field says nothing beyond its default. Text that
// is empty where the default is not says nothing either.
func omitted(v, byDefault reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.IsNil() || v.Len() == 0 && byDefault.Len() == 0 || reflect.DeepEqual(v.Interface(), byDefault.Interface())
	case reflect.Interface:
		return v.IsNil() || !byDefault.IsNil() && reflect.DeepEqual(encodeValue(v), encodeValue(byDefault))
	case reflect.String, reflect.Pointer:
		if v.IsZero() {
			return true
		}
	default:
	}
	return reflect.DeepEqual(v.Interface(), byDefault.Interface())
}

// typed is what the members of all unions have.
type typed interface{ Type() string }

// encodeUnion writes the type first.
func encodeUnion(value typed) *node {
	n := encodeStruct(reflect.ValueOf(value).Elem())
	if f, ok := value.(finisher); ok {
		f.finish(n)
	}
	n.pairs = slices.Insert(n.pairs, 0, pair{key: "type", value: newText(value.Type())})
	return n
}

func encodeValue(v reflect.Value) *node {
	switch x := v.Interface().(type) {
	case nodeEncoder:
		if v.Kind() != reflect.Pointer {
			return x.encodeNode()
		}
	case typed:
		return encodeUnion(x)
	case []EnvVar:
		return encodeEnvironment(x)
	case time.Duration:
		return newText(x.String())
	case []byte:
		return newText(string(x))
	case fs.FileMode:
		return newText(fmt.Sprintf("%04o", uint32(x)))
	}
	switch v.Kind() {
	case reflect.String:
		return newText(v.String())
	case reflect.Bool:
		return newBool(v.Bool())
	case reflect.Int, reflect.Int64:
		return newInt(v.Int())
	case reflect.Float64:
		return &node{kind: floatNode, text: strconv.FormatFloat(v.Float(), 'g', -1, 64)}
	case reflect.Pointer:
		return encodeValue(v.Elem())
	case reflect.Struct:
		return encodeStruct(v)
	case reflect.Slice:
		list := &node{kind: listNode}
		for i := range v.Len() {
			list.items = append(list.items, encodeValue(v.Index(i)))
		}
		return list
	case reflect.Map:
		return encodeMap(v)
	default:
		panic("manifest: no way to encode " + v.Type().String())
	}
}

func encodeMap(v reflect.Value) *node {
	m := &node{kind: mapNode}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, k := range keys {
		value := v.MapIndex(k)
		n := &node{kind: nullNode, text: "null"}
		if value.Kind() != reflect.Pointer || !value.IsNil() {
			n = encodeValue(value)
		}
		m.pairs = append(m.pairs, pair{key: k.String(), value: n})
	}
	return m
}
