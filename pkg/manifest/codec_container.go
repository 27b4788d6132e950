package manifest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/docker/go-units"
)

// environmentMap unwraps the SDKs' spellings of the environment.
func environmentMap(n *node) *node {
	if len(n.pairs) == 1 && n.pairs[0].value.kind == mapNode {
		if key := n.pairs[0].key; key == "value" || key == "variables" {
			return n.pairs[0].value
		}
	}
	return n
}

func (d *decoder) environment(n *node, at *docPath) []EnvVar {
	if n.kind != mapNode {
		d.wrongType(n, at, mapNode.String())
		return nil
	}
	var vars []EnvVar
	for _, p := range d.pairs(environmentMap(n), at.key) {
		v := EnvVar{Name: p.key, Pos: p.pos}
		d.envVar(&v, p.value, at.key(p.key))
		vars = append(vars, v)
	}
	return sortedEnvironment(vars)
}

func sortedEnvironment(vars []EnvVar) []EnvVar {
	return slices.SortedStableFunc(slices.Values(vars), func(a, b EnvVar) int { return cmp.Compare(a.Name, b.Name) })
}

func (d *decoder) envVar(v *EnvVar, n *node, at *docPath) {
	switch n.kind {
	case stringNode, intNode, floatNode:
		v.Value = &n.text
	case mapNode:
		d.envObject(v, n, at)
	case nullNode, boolNode:
		message := fmt.Sprintf("environment variable %s is %s, not a string", v.Name, n.kind)
		d.report(n.pos, at, CodeWrongType, message, "quote it: "+strconv.Quote(n.text))
	default:
		d.wrongType(n, at, stringNode.String())
	}
}

// envObject is the object form of a variable. A value may be an object again.
type envObject struct {
	Type        string   `json:"type"`
	Value       *envNode `json:"value"`
	Secret      string   `json:"secret" manifest:"nonempty"`
	Name        string   `json:"name" manifest:"nonempty"`
	Default     *envText `json:"default"`
	Description string   `json:"description"`
	Ephemeral   bool     `json:"ephemeral"`
}

type envNode struct {
	n  *node
	at *docPath
}

func (e *envNode) decodeNode(_ *decoder, n *node, at *docPath) { e.n, e.at = n, at }

type envText string

func (t *envText) decodeNode(d *decoder, n *node, at *docPath) { *t = envText(d.text(n, at, "text")) }

func (d *decoder) envObject(v *EnvVar, n *node, at *docPath) {
	var o envObject
	before := len(d.failed)
	d.object(n, at, reflect.ValueOf(&o).Elem())
	v.Description, v.Ephemeral = o.Description, o.Ephemeral
	if o.Type == "env" {
		v.FromEnv, v.Default = o.Name, (*string)(o.Default)
	} else if o.Name != "" || o.Default != nil {
		d.report(n.pos, at, CodeConflict, `"name" and "default" need type "env"`, "")
	}
	v.Secret = o.Secret
	if o.Value != nil && (o.Secret != "" || o.Type == "env") {
		d.report(n.pos, at, CodeConflict, fmt.Sprintf("variable %s needs one of a value, a secret and a variable of the caller", v.Name), "")
	} else if o.Value != nil {
		inner := EnvVar{Name: v.Name}
		d.envVar(&inner, o.Value.n, o.Value.at)
		v.Value = inner.Value
		v.Secret, v.FromEnv, v.Default = inner.Secret, inner.FromEnv, inner.Default
		v.Description = cmp.Or(v.Description, inner.Description)
		v.Ephemeral = v.Ephemeral || inner.Ephemeral
	}
	if types := []string{"", "str", "env"}; !slices.Contains(types, o.Type) {
		d.report(n.get("type").pos, at.field("type"), CodeUnknownType, fmt.Sprintf("unknown type %q", o.Type), "one of str, env")
	} else if len(d.failed) == before && (o.Type == "str" && o.Value == nil || o.Type == "env" && o.Name == "") {
		missing := map[string]string{"str": "value", "env": "name"}[o.Type]
		d.report(n.pos, at, CodeMissing, strconv.Quote(missing)+" is missing", "")
	}
}

func encodeEnvironment(vars []EnvVar) *node {
	m := &node{kind: mapNode}
	for _, v := range sortedEnvironment(vars) {
		m.pairs = append(m.pairs, pair{key: v.Name, value: v.encodeNode()})
	}
	return m
}

func (v EnvVar) encodeNode() *node {
	m := &node{kind: mapNode}
	add := func(key string, n *node) { m.pairs = append(m.pairs, pair{key: key, value: n}) }
	switch {
	case v.Value != nil && v.Description == "" && !v.Ephemeral:
		return newText(*v.Value)
	case v.Value != nil:
		add("value", newText(*v.Value))
	case v.Secret != "":
		add("secret", newText(v.Secret))
	default:
		add("type", newText("env"))
		add("name", newText(v.FromEnv))
		if v.Default != nil {
			add("default", newText(*v.Default))
		}
	}
	if v.Description != "" {
		add("description", newText(v.Description))
	}
	if v.Ephemeral {
		add("ephemeral", newBool(true))
	}
	return m
}

func (b *Bytes) decodeNode(d *decoder, n *node, at *docPath) {
	switch n.kind {
	case intNode:
		*b = Bytes(d.integer(n, at))
	case stringNode:
		size, err := units.RAMInBytes(n.text)
		if err != nil {
			d.report(n.pos, at, CodeInvalidValue, fmt.Sprintf("%q is not a size", n.text), "write bytes or a size such as 512m or 2g")
		}
		*b = Bytes(size)
	default:
		d.wrongType(n, at, "a size")
	}
}

func (u *Ulimit) decodeNode(d *decoder, n *node, at *docPath) {
	if n.kind == intNode {
		u.Soft = int(d.integer(n, at))
		u.Hard = u.Soft
		return
	}
	d.object(n, at, reflect.ValueOf(u).Elem())
	for _, key := range []string{"soft", "hard"} {
		if v := n.get(key); n.kind == mapNode && (v == nil || v.kind == nullNode) {
			d.report(n.pos, at.field(key), CodeMissing, strconv.Quote(key)+" is missing", "")
		}
	}
}

func (u Ulimit) encodeNode() *node {
	return &node{kind: mapNode, pairs: []pair{{key: "soft", value: newInt(int64(u.Soft))}, {key: "hard", value: newInt(int64(u.Hard))}}}
}

func (c *Command) decodeNode(d *decoder, n *node, at *docPath) {
	if n.kind != stringNode {
		d.value(n, at, reflect.ValueOf(&c.Words).Elem())
		return
	}
	if c.Image = n.text == "image"; !c.Image {
		d.report(n.pos, at, CodeWrongType, "is a string, not a list of words", `write ["word", "word"], or image for the image's own command`)
	}
}

func (c Command) encodeNode() *node {
	if c.Image {
		return newText("image")
	}
	return encodeValue(reflect.ValueOf(c.Words))
}

// healthTest reads the test of a health check; a string is for the shell.
func (d *decoder) healthTest(n *node, at *docPath) (test []string) {
	if n.kind == stringNode {
		return []string{"CMD-SHELL", n.text}
	}
	d.value(n, at, reflect.ValueOf(&test).Elem())
	return test
}

func (h *Healthcheck) aliases() []alias {
	return []alias{{name: "disable", replaces: []string{"test"}, decode: func(d *decoder, n *node, at *docPath) {
		var disable bool
		d.value(n, at, reflect.ValueOf(&disable).Elem())
		if disable {
			h.Test = []string{"NONE"}
		}
	}}}
}
