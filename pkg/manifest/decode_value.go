package manifest

import (
	"cmp"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// nodeDecoder is implemented by pointers to types that a document spells in
// more than one way.
type nodeDecoder interface {
	decodeNode(d *decoder, n *node, at *docPath)
}

// object fills a struct from a mapping. Keys in skip are the caller's; null
// means that a key is absent.
func (d *decoder) object(n *node, at *docPath, v reflect.Value, skip ...string) {
	if n.kind != mapNode {
		d.wrongType(n, at, mapNode.String())
		return
	}
	info := infoOf(v.Type())
	for _, p := range d.pairs(n, at.field) {
		if d.findings.full() {
			return
		}
		at := at.field(p.key)
		if slices.Contains(skip, p.key) {
			continue
		}
		if f := info.byName[p.key]; f != nil {
			d.field(p.value, at, v.FieldByIndex(f.index), f.rule)
			continue
		}
		aliases := aliasesOf(v)
		i := slices.IndexFunc(aliases, func(a alias) bool { return a.name == p.key })
		if i < 0 {
			d.unknownKey(p, at, info.names(aliases))
			continue
		}
		d.alias(n, p, at, aliases[i])
	}
}

func aliasesOf(v reflect.Value) []alias {
	if a, ok := reflect.TypeAssert[aliaser](v.Addr()); ok {
		return a.aliases()
	}
	return nil
}

func (d *decoder) unknownKey(p pair, at *docPath, known []string) {
	d.report(p.pos, at, CodeUnknownKey, fmt.Sprintf("unknown key %q", p.key), nearest(p.key, known))
}

func (d *decoder) alias(n *node, p pair, at *docPath, a alias) {
	if p.value.kind == nullNode {
		return
	}
	for _, own := range a.replaces {
		if v := n.get(own); v != nil && v.kind != nullNode {
			d.report(p.pos, at, CodeConflict, fmt.Sprintf("%q and %q say the same thing; keep one", own, a.name), "")
			return
		}
	}
	a.decode(d, p.value, at)
}

// pairs returns a mapping's pairs without repeated keys, which it reports.
func (d *decoder) pairs(n *node, step func(string) *docPath) []pair {
	seen := make(map[string]Position, len(n.pairs))
	unique := make([]pair, 0, len(n.pairs))
	for _, p := range n.pairs {
		if first, ok := seen[p.key]; ok {
			message := fmt.Sprintf("key %q is already at %s", p.key, first.seenFrom(p.pos))
			d.report(p.pos, step(p.key), CodeDuplicateKey, message, "")
			continue
		}
		seen[p.key] = p.pos
		unique = append(unique, p)
	}
	return unique
}

func (d *decoder) field(n *node, at *docPath, v reflect.Value, rule string) {
	if n.kind == nullNode {
		if rule == "nullzero" {
			v.SetZero()
		}
		return
	}
	switch rule {
	case "":
		d.value(n, at, v)
	case "nonempty":
		d.value(n, at, v)
		if n.kind == stringNode && n.text == "" {
			d.report(n.pos, at, ReasonEmpty, "is empty", "leave the key out")
		}
	case "positive", "nullzero":
		d.positive(n, at, v)
	case "version":
		d.value(n, at, v)
		if n.kind == intNode && v.IsZero() {
			d.report(n.pos, at, CodeUnsupportedVersion, "version 0 is not known", "1 is the only version")
		}
	case "commas":
		d.commas(n, at, v)
	case "test":
		v.Set(reflect.ValueOf(d.healthTest(n, at)))
	default:
		d.texts(n, at, v, rule)
	}
}

func (d *decoder) positive(n *node, at *docPath, v reflect.Value) {
	before := len(d.failed)
	d.value(n, at, v)
	if v.IsZero() && len(d.failed) == before {
		d.report(n.pos, at, CodeInvalidValue, "is not above 0", "leave the key out for no limit")
	}
}

// texts decodes a string or a list of them by a rule for single strings.
func (d *decoder) texts(n *node, at *docPath, v reflect.Value, rule string) {
	if v.Kind() != reflect.Slice {
		v.SetString(d.text(n, at, rule))
		return
	}
	if n.kind != listNode {
		d.wrongType(n, at, listNode.String())
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		list.Index(i).SetString(d.text(item, at.at(i), rule))
	}
	v.Set(list)
}

func (d *decoder) text(n *node, at *docPath, rule string) string {
	switch {
	case n.kind == stringNode:
		return n.text
	case rule == "account" && n.kind == mapNode:
		return d.account(n, at)
	case rule == "text" && (n.kind == intNode || n.kind == floatNode):
		return n.text
	}
	d.wrongType(n, at, stringNode.String())
	return ""
}

// account reads {name: NAME}. The SDK's dumps repeat a group's users there;
// membership is declared in "groups" alone.
func (d *decoder) account(n *node, at *docPath) string {
	var a struct {
		Name  string   `json:"name"`
		Users []string `json:"users" manifest:"account"`
	}
	before := len(d.failed)
	d.object(n, at, reflect.ValueOf(&a).Elem())
	if a.Name == "" && len(d.failed) == before {
		d.report(n.pos, at, CodeMissing, "\"name\" is missing", "")
	}
	return a.Name
}

func (d *decoder) commas(n *node, at *docPath, v reflect.Value) {
	if n.kind != listNode {
		d.value(n, at, v)
		return
	}
	var list []string
	d.value(n, at, reflect.ValueOf(&list).Elem())
	v.SetString(strings.Join(list, ","))
}

// value decodes by the Go type alone.
func (d *decoder) value(n *node, at *docPath, v reflect.Value) {
	switch p := v.Addr().Interface().(type) {
	case nodeDecoder:
		p.decodeNode(d, n, at)
	case *[]EnvVar:
		*p = d.environment(n, at)
	case *MountStrategy:
		*p = decodeUnion(d, n, at, strategyTypes)
	case *MountPattern:
		*p = decodeUnion(d, n, at, patternTypes)
	case *fs.FileMode:
		*p = d.mode(n, at)
	case *time.Duration:
		*p = d.duration(n, at)
	case *[]byte:
		*p = []byte(d.text(n, at, ""))
	default:
		d.kind(n, at, v)
	}
}

func (d *decoder) kind(n *node, at *docPath, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(d.text(n, at, ""))
	case reflect.Bool:
		if n.kind != boolNode {
			d.wrongType(n, at, boolNode.String())
		}
		v.SetBool(isTrue(n))
	case reflect.Int:
		v.SetInt(d.integer(n, at))
	case reflect.Float64:
		v.SetFloat(d.float(n, at))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setDefaults(v.Interface())
		d.value(n, at, v.Elem())
	case reflect.Struct:
		d.object(n, at, v)
	case reflect.Slice:
		d.slice(n, at, v)
	case reflect.Map:
		d.mapping(n, at, v)
	default:
		panic("manifest: no way to decode " + v.Type().String())
	}
}

func (d *decoder) slice(n *node, at *docPath, v reflect.Value) {
	if n.kind != listNode {
		d.wrongType(n, at, listNode.String())
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
	for i, item := range n.items {
		setDefaults(v.Index(i).Addr().Interface())
		d.value(item, at.at(i), v.Index(i))
	}
}

func (d *decoder) mapping(n *node, at *docPath, v reflect.Value) {
	if n.kind != mapNode {
		d.wrongType(n, at, mapNode.String())
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, p := range d.pairs(n, at.key) {
		elem := reflect.New(v.Type().Elem()).Elem()
		if p.value.kind != nullNode || elem.Kind() != reflect.Pointer {
			d.value(p.value, at.key(p.key), elem)
		}
		v.SetMapIndex(reflect.ValueOf(p.key), elem)
	}
}

// decodeUnion reads a mapping whose "type" names one of the union's types.
func decodeUnion[T any](d *decoder, n *node, at *docPath, u union[T], skip ...string) (value T) {
	if n.kind != mapNode {
		d.wrongType(n, at, mapNode.String())
		return value
	}
	t := n.get("type")
	if t == nil || t.kind == nullNode {
		for _, p := range n.pairs {
			if known := []string{"type"}; nearest(p.key, known) != "" {
				d.unknownKey(p, at.field(p.key), known)
			}
		}
		d.report(n.pos, at, CodeMissing, "\"type\" is missing", anyOf(u.names()))
		return value
	}
	value, ok := u.create(d.text(t, at.field("type"), ""))
	if !ok {
		if t.kind == stringNode {
			suggestion := cmp.Or(nearest(t.text, u.names()), anyOf(u.names()))
			d.report(t.pos, at.field("type"), CodeUnknownType, fmt.Sprintf("unknown type %q", t.text), suggestion)
		}
		return value
	}
	d.object(n, at, reflect.ValueOf(value).Elem(), append(skip, "type")...)
	return value
}

func isTrue(n *node) bool { return n.kind == boolNode && strings.EqualFold(n.text, "true") }

func (d *decoder) wrongType(n *node, at *docPath, want string) {
	suggestion := ""
	switch {
	case want == stringNode.String() && n.kind < stringNode && n.kind != nullNode:
		suggestion = "quote it: " + strconv.Quote(n.text)
	case n.kind == stringNode && plainKind(n.text) != stringNode && want == plainKind(n.text).String():
		suggestion = "write it without quotes"
	}
	d.report(n.pos, at, CodeWrongType, "is "+n.kind.String()+", not "+want, suggestion)
}

func (d *decoder) integer(n *node, at *docPath) int64 {
	if n.kind != intNode {
		d.wrongType(n, at, intNode.String())
		return 0
	}
	digits, base := n.text, 10
	if rest, ok := strings.CutPrefix(digits, "0o"); ok {
		digits, base = rest, 8
	} else if rest, ok := strings.CutPrefix(digits, "0x"); ok {
		digits, base = rest, 16
	}
	i, err := strconv.ParseInt(digits, base, strconv.IntSize)
	if err != nil {
		d.report(n.pos, at, CodeInvalidValue, "is out of range", "")
	}
	return i
}

// float accepts numeric strings too, which Compose files use for CPUs.
func (d *decoder) float(n *node, at *docPath) float64 {
	k := n.kind
	if k == stringNode {
		k = plainKind(n.text)
	}
	if k != intNode && k != floatNode {
		d.wrongType(n, at, floatNode.String())
		return 0
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		d.report(n.pos, at, CodeInvalidValue, "is not a finite decimal number", "")
	}
	return f
}

func (d *decoder) duration(n *node, at *docPath) time.Duration {
	switch n.kind {
	case intNode, floatNode:
		seconds := d.float(n, at)
		const limit = float64(1<<63-1) / float64(time.Second)
		if seconds > -limit && seconds < limit {
			return time.Duration(seconds * float64(time.Second))
		}
	case stringNode:
		if t, err := time.ParseDuration(n.text); err == nil {
			return t
		}
	default:
		d.wrongType(n, at, "a duration")
		return 0
	}
	d.report(n.pos, at, CodeInvalidValue, fmt.Sprintf("%q is not a duration", n.text), "write 90s, 5m or a number of seconds")
	return 0
}
