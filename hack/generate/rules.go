package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"
)

//go:embed rules.yaml
var rulesText []byte

//go:embed values.yaml
var valuesText []byte

// rules say about documents what Go types cannot.
type rules struct {
	// Types are rules by Go type, Fields by Go type and key.
	Types  map[string]*typeRule          `json:"types"`
	Fields map[string]*jsonschema.Schema `json:"fields"`
	// Definitions are whole schemas of values.
	Definitions map[string]*jsonschema.Schema `json:"-"`
	used        map[string]bool
}

// typeRule is about one Go type.
type typeRule struct {
	// Short are other spellings of the whole value.
	Short []*jsonschema.Schema `json:"short"`
	// Aliases are keys of other dialects.
	Aliases map[string]*jsonschema.Schema `json:"aliases"`
	// Conflicts are keys of which one at most may be given.
	Conflicts [][2]string `json:"conflicts"`
	// Patterns are the only ones that serve a mount.
	Patterns []string `json:"patterns"`
	// RefusedDrivers do not serve a mount.
	RefusedDrivers []string `json:"refused_drivers"`
	// Example is YAML: the value below its key.
	Example string `json:"example"`
	// schema has the keywords.
	schema *jsonschema.Schema
}

// UnmarshalJSON takes all other keys for keywords of the schema.
func (r *typeRule) UnmarshalJSON(data []byte) error {
	type plain typeRule
	if err := json.Unmarshal(data, (*plain)(r)); err != nil {
		return err
	}
	r.schema = new(jsonschema.Schema)
	if err := json.Unmarshal(data, r.schema); err != nil {
		return err
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[typeRule]()) {
		delete(r.schema.Extra, f.Tag.Get("json"))
	}
	if len(r.schema.Extra) > 0 {
		return fmt.Errorf("unknown keywords %v", r.schema.Extra)
	}
	return nil
}

func readRules() (*rules, error) {
	r := &rules{used: map[string]bool{}}
	if err := readYAML(rulesText, r); err != nil {
		return nil, fmt.Errorf("read rules.yaml: %w", err)
	}
	if err := readYAML(valuesText, &r.Definitions); err != nil {
		return nil, fmt.Errorf("read values.yaml: %w", err)
	}
	return r, nil
}

// readYAML goes through JSON, which schemas know how to read.
func readYAML(text []byte, v any) error {
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return err
	}
	data, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// typeRule is never nil.
func (r *rules) typeRule(name string) *typeRule {
	r.used[name] = true
	if t := r.Types[name]; t != nil {
		return t
	}
	return &typeRule{schema: new(jsonschema.Schema)}
}

// field finds the rule for a key of a type, or of the type that it embeds.
func (r *rules) field(outer, owner, key string) *jsonschema.Schema {
	for _, name := range []string{outer + "." + key, owner + "." + key} {
		if s := r.Fields[name]; s != nil {
			r.used[name] = true
			return s.CloneSchemas()
		}
	}
	return new(jsonschema.Schema)
}

// unused lists the rules for what does not exist.
func (r *rules) unused() []string {
	var names []string
	for name := range r.Types {
		if !r.used[name] {
			names = append(names, name)
		}
	}
	for name := range r.Fields {
		if !r.used[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// overlay sets what a rule says over what a type gives. A rule with a type of
// its own replaces all of it.
func overlay(s, rule *jsonschema.Schema) *jsonschema.Schema {
	if rule.Type != "" {
		return rule
	}
	dst, src := reflect.ValueOf(s).Elem(), reflect.ValueOf(rule).Elem()
	for i := range src.NumField() {
		if f := src.Field(i); dst.Field(i).CanSet() && !f.IsZero() {
			dst.Field(i).Set(f)
		}
	}
	return s
}
