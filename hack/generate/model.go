package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

// model is all that there is to say about documents.
type model struct {
	comments *comments
	rules    *rules
	sections []*section
	byName   map[string]*section
}

// section is one kind of object in a document.
type section struct {
	name   string // of the definition in the schema
	goType string
	kind   kind
	doc    string
	fields []field
	rule   *typeRule
	// example is the value that the rule's example shows, below key.
	example any
	key     string
}

type kind int

const (
	objectKind kind = iota
	rootKind
	entryKind
	strategyKind
	patternKind
)

// field is one key of an object.
type field struct {
	key    string
	doc    string
	schema *jsonschema.Schema // of the value, if there is one
	// absent is the definition of what may stand for no value.
	absent   string
	required bool
	// depth is above 0 for the keys that the type shares with others.
	depth int
}

func newModel(c *comments, r *rules) (*model, error) {
	m := &model{comments: c, rules: r, byName: map[string]*section{}}
	if err := m.add("manifest", rootKind, new(manifest.Manifest)); err != nil {
		return nil, err
	}
	for _, e := range manifest.EntryTypes() {
		if err := m.add(e.Type(), entryKind, e); err != nil {
			return nil, err
		}
	}
	for _, s := range manifest.StrategyTypes() {
		if err := m.add(s.Type(), strategyKind, s); err != nil {
			return nil, err
		}
	}
	for _, p := range manifest.PatternTypes() {
		if err := m.add(p.Type()+"_pattern", patternKind, p); err != nil {
			return nil, err
		}
	}
	if unused := r.unused(); len(unused) > 0 {
		return nil, fmt.Errorf("rules.yaml: no type or key is called %s", strings.Join(unused, ", "))
	}
	return m, nil
}

// add describes the type that p points to, and those that it is made of.
func (m *model) add(name string, k kind, p any) error {
	if m.byName[name] != nil {
		return nil
	}
	t := reflect.TypeOf(p).Elem()
	s := &section{name: name, goType: t.Name(), kind: k, rule: m.rules.typeRule(t.Name())}
	m.byName[name] = s
	m.sections = append(m.sections, s)
	s.doc = s.rule.schema.Description
	if s.doc == "" {
		s.doc = m.comments.typeDoc(t.Name())
	}
	if err := s.readExample(); err != nil {
		return err
	}
	manifest.SetDefaults(p)
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || f.Tag.Get("json") == "" {
			continue
		}
		if err := m.addField(s, t, f, reflect.ValueOf(p).Elem().FieldByIndex(f.Index)); err != nil {
			return err
		}
	}
	m.addAliases(s, t)
	slices.SortStableFunc(s.fields, func(a, b field) int { return a.depth - b.depth })
	return nil
}

// readExample parses the example, whose first key is where the value stands.
func (s *section) readExample() error {
	var tree map[string]any
	if err := yaml.Unmarshal([]byte(s.rule.Example), &tree); err != nil {
		return fmt.Errorf("rules.yaml: example of %s: %w", s.goType, err)
	}
	for s.key, s.example = range tree {
		return nil
	}
	return nil
}

func (m *model) addField(s *section, t reflect.Type, f reflect.StructField, byDefault reflect.Value) error {
	owner := t
	for _, i := range f.Index[:len(f.Index)-1] {
		owner = owner.Field(i).Type
	}
	key, tag := f.Tag.Get("json"), f.Tag.Get("manifest")
	value, err := m.value(f.Type, tag)
	if err != nil {
		return fmt.Errorf("%s.%s: %w", t.Name(), f.Name, err)
	}
	value = overlay(value, m.rules.field(t.Name(), owner.Name(), key))
	doc := value.Description
	if doc == "" {
		doc = m.comments.field(owner.Name(), f.Name)
	}
	if doc == "" {
		return fmt.Errorf("%s.%s has neither a doc comment nor a description in rules.yaml", owner.Name(), f.Name)
	}
	if value.Default == nil {
		value.Default = defaultOf(byDefault)
	}
	isText := f.Type.Kind() == reflect.String
	absent := "absent"
	if isText && tag != "nonempty" && value.MinLength == nil {
		absent = "blank"
	}
	required := slices.Contains(s.rule.schema.Required, key)
	if required && isText && value.Ref == "" && value.Enum == nil {
		value.MinLength = new(1)
	}
	s.fields = append(s.fields, field{
		key: key, doc: doc, schema: value, absent: absent, required: required, depth: len(f.Index) - 1,
	})
	return nil
}

// addAliases adds the keys of other dialects, those of embedded types too.
func (m *model) addAliases(s *section, t reflect.Type) {
	add := func(rule *typeRule, depth int) {
		for _, key := range slices.Sorted(maps.Keys(rule.Aliases)) {
			value := rule.Aliases[key].CloneSchemas()
			doc := value.Description
			if name, ok := strings.CutPrefix(value.Ref, "#/$defs/"); ok && doc == "" {
				doc = m.rules.Definitions[name].Description
			}
			s.fields = append(s.fields, field{key: key, doc: doc, schema: value, absent: "absent", depth: depth})
		}
	}
	add(s.rule, 0)
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			rule := m.rules.typeRule(f.Type.Name())
			add(rule, len(f.Index))
			s.rule.Conflicts = append(slices.Clone(s.rule.Conflicts), rule.Conflicts...)
		}
	}
}

func ref(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

// value gives what the type and the tag of a field say. The tags are those of
// the decoder.
func (m *model) value(t reflect.Type, tag string) (*jsonschema.Schema, error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[[]manifest.EnvVar]():
		return ref("environment"), nil
	case t == reflect.TypeFor[[]byte]():
		return &jsonschema.Schema{Type: "string"}, nil
	case t == reflect.TypeFor[manifest.MountStrategy]():
		return ref("mount_strategy"), nil
	case t == reflect.TypeFor[manifest.MountPattern]():
		return ref("mount_pattern"), nil
	case tag == "text": // a rule says what it may be
		return new(jsonschema.Schema), nil
	case tag == "test":
		return ref("health_test"), nil
	case tag == "commas":
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "array", Items: &jsonschema.Schema{Type: "string"}}}}, nil
	case tag == "account" && t.Kind() == reflect.String:
		return ref("account"), nil
	case tag == "positive" && t == reflect.TypeFor[time.Duration]():
		return ref("positive_duration"), nil
	}
	if name := snakeCase(t.Name()); m.rules.Definitions[name] != nil {
		return ref(name), nil
	}
	return m.kindOf(t, tag)
}

func (m *model) kindOf(t reflect.Type, tag string) (*jsonschema.Schema, error) {
	switch t.Kind() {
	case reflect.String:
		return &jsonschema.Schema{Type: "string", MinLength: minLength(tag)}, nil
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}, nil
	case reflect.Int:
		if tag == "positive" || tag == "nullzero" {
			return &jsonschema.Schema{Type: "integer", Minimum: new(1.0)}, nil
		}
		return &jsonschema.Schema{Type: "integer"}, nil
	case reflect.Float64:
		return ref("positive_number"), nil
	case reflect.Slice:
		items, err := m.value(t.Elem(), tag)
		return &jsonschema.Schema{Type: "array", Items: items}, err
	case reflect.Map:
		value, err := m.value(t.Elem(), "")
		if t.Elem().Kind() == reflect.Pointer { // null is a value there
			value = orNull(value)
		}
		return &jsonschema.Schema{Type: "object", AdditionalProperties: value}, err
	case reflect.Struct:
		name := snakeCase(t.Name())
		return ref(name), m.add(name, objectKind, reflect.New(t).Interface())
	default:
		return nil, fmt.Errorf("no schema for %s", t)
	}
}

func minLength(tag string) *int {
	if tag == "nonempty" {
		return new(1)
	}
	return nil
}

// defaultOf is the default as documents write it, nil if it says nothing.
func defaultOf(v reflect.Value) json.RawMessage {
	switch x := v.Interface().(type) {
	case bool:
		// Also false is worth knowing.
	case time.Duration:
		if x == 0 {
			return nil
		}
		return mustJSON(x.Seconds())
	case fs.FileMode, manifest.MountStrategy, manifest.MountPattern:
		return nil
	}
	if v.IsZero() && v.Kind() != reflect.Bool || v.Kind() == reflect.Pointer {
		return nil
	}
	return mustJSON(v.Interface())
}

// mustJSON writes what is known to have a JSON form.
func mustJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

var wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])`)

func snakeCase(name string) string {
	if name == "IaC" {
		return "iac"
	}
	return strings.ToLower(wordStart.ReplaceAllString(name, "${1}_$2"))
}
