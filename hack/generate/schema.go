package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

type schema = jsonschema.Schema

// schema writes the JSON Schema.
func (m *model) schema() ([]byte, error) {
	m.shareExamples()
	root := m.object(m.byName["manifest"])
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "docker-workspace manifest, version 1"
	root.PatternProperties = map[string]*schema{"^x-": {Description: "Extensions, which are ignored."}}
	root.Defs = maps.Clone(m.rules.Definitions)
	for _, s := range m.sections[1:] {
		root.Defs[s.name] = m.definition(s)
	}
	root.Defs["entry"] = m.union(entryKind, "Something that must exist in the workspace.")
	root.Defs["mount_strategy"] = m.union(strategyKind, m.comments.typeDoc("MountStrategy"))
	root.Defs["mount_pattern"] = m.union(patternKind, m.comments.typeDoc("MountPattern"))
	var b bytes.Buffer
	data, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("write schema: %w", err)
	}
	if err := json.Indent(&b, data, "", " "); err != nil {
		return nil, fmt.Errorf("write schema: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// shareExamples gives the examples of whole sections to the top-level keys
// that they show.
func (m *model) shareExamples() {
	for i, f := range m.sections[0].fields {
		for _, s := range m.sections {
			if s.kind == objectKind && s.key == f.key {
				m.sections[0].fields[i].schema.Examples = []any{s.example}
			}
		}
	}
}

// definition is an object with its short forms.
func (m *model) definition(s *section) *schema {
	object := m.object(s)
	if len(s.rule.Short) == 0 {
		return object
	}
	object.Title, object.Description = "", ""
	return &schema{Title: title(s), Description: s.doc, AnyOf: append(s.rule.Short, object)}
}

func title(s *section) string {
	return strings.ReplaceAll(s.name, "_", " ")
}

func (m *model) object(s *section) *schema {
	o := s.rule.schema.CloneSchemas()
	o.Type, o.Title, o.Description = "object", title(s), s.doc
	o.Properties = map[string]*schema{}
	o.AdditionalProperties = &schema{Not: &schema{}}
	add := func(key string, value *schema) {
		o.Properties[key] = value
		o.PropertyOrder = append(o.PropertyOrder, key)
	}
	if typeName := s.typeName(); typeName != "" {
		add("type", &schema{Const: new(any(typeName)), Description: "The type, which says what the other keys are."})
		o.Required = append([]string{"type"}, o.Required...)
	}
	for _, f := range s.fields {
		add(f.key, m.property(f))
	}
	if s.kind == entryKind {
		isDir := s.name != manifest.TypeFile && s.name != manifest.TypeLocalFile
		add("is_dir", &schema{Description: "Repeats what the type says, as the SDKs do.", Enum: []any{isDir, nil}})
		if s.example != nil {
			o.Examples = []any{s.example}
		}
	}
	for _, keys := range s.rule.Conflicts {
		o.AllOf = append(o.AllOf, &schema{Not: &schema{
			Required:   keys[:],
			Properties: map[string]*schema{keys[0]: ref("given"), keys[1]: ref("given")},
		}})
	}
	o.AllOf = append(o.AllOf, s.rule.supported()...)
	return o
}

// typeName is what the "type" key of a member of a union says.
func (s *section) typeName() string {
	switch s.kind {
	case entryKind, strategyKind:
		return s.name
	case patternKind:
		return strings.TrimSuffix(s.name, "_pattern")
	default:
		return ""
	}
}

// supported is how a storage mount can be attached.
func (r *typeRule) supported() []*schema {
	var list []*schema
	strategy := func(key string, value *schema) {
		list = append(list, &schema{Properties: map[string]*schema{
			"mount_strategy": {Properties: map[string]*schema{key: value}},
		}})
	}
	if len(r.Patterns) > 0 {
		strategy("pattern", &schema{Properties: map[string]*schema{"type": {Enum: anyValues(r.Patterns)}}})
	}
	if len(r.RefusedDrivers) > 0 {
		strategy("driver", &schema{Not: &schema{Enum: anyValues(r.RefusedDrivers)}})
	}
	return list
}

func anyValues(list []string) []any {
	values := make([]any, len(list))
	for i, s := range list {
		values[i] = s
	}
	return values
}

// union tells objects apart by their type, so that an editor complains about
// the one that is meant.
func (m *model) union(k kind, description string) *schema {
	u := &schema{Type: "object", Description: description, Required: []string{"type"}}
	types := &schema{Description: "The type, which says what the other keys are."}
	for _, s := range m.sections {
		if s.kind != k {
			continue
		}
		name := any(s.typeName())
		types.Enum = append(types.Enum, name)
		u.AllOf = append(u.AllOf, &schema{
			If:   &schema{Required: []string{"type"}, Properties: map[string]*schema{"type": {Const: &name}}},
			Then: ref(s.name),
		})
	}
	u.Properties = map[string]*schema{"type": types}
	return u
}

// property is a field's value, or what may stand for no value.
func (m *model) property(f field) *schema {
	v := f.schema.CloneSchemas()
	outer := &schema{Description: f.doc, Default: v.Default, Examples: v.Examples}
	v.Description, v.Default, v.Examples = "", nil, nil
	if v.Items != nil {
		v.Items = m.interpolatable(v.Items)
	}
	if v.AdditionalProperties != nil {
		v.AdditionalProperties = m.interpolatable(v.AdditionalProperties)
	}
	switch {
	case v.Type == "null", f.required && (m.isContainer(v) || isPlainText(v)):
		return overlay(v, outer)
	case f.required:
		outer.AnyOf = []*schema{v, ref("interpolated")}
	case v.Type != "" && (m.isContainer(v) || isPlainText(v) && v.MinLength == nil):
		v.Types, v.Type = []string{v.Type, "null"}, ""
		return overlay(v, outer)
	case m.isContainer(v):
		outer.AnyOf = []*schema{v, {Type: "null"}}
	default:
		outer.AnyOf = []*schema{v, ref(f.absent)}
	}
	return outer
}

// interpolatable also accepts text that becomes such a value.
func (m *model) interpolatable(v *schema) *schema {
	if m.isContainer(v) || isPlainText(v) || v.AnyOf != nil {
		return v
	}
	return &schema{AnyOf: []*schema{v, ref("interpolated")}}
}

func orNull(v *schema) *schema {
	return &schema{Types: []string{v.Type, "null"}}
}

// isPlainText reports whether text is not bound in any way but its length.
func isPlainText(v *schema) bool {
	return v.Type == "string" && v.Pattern == "" && v.Enum == nil && v.Ref == "" && v.AnyOf == nil && v.AllOf == nil
}

// isContainer reports whether no scalar can stand for the value.
func (m *model) isContainer(v *schema) bool {
	name := strings.TrimPrefix(v.Ref, "#/$defs/")
	if s := m.byName[name]; s != nil {
		return len(s.rule.Short) == 0
	}
	if d := m.rules.Definitions[name]; d != nil {
		return d.Type == "object" || d.Type == "array"
	}
	return v.Type == "object" || v.Type == "array" || name == "mount_strategy" || name == "mount_pattern"
}
