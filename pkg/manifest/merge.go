package manifest

import (
	"reflect"
	"slices"
)

// mergeDocuments merges the tree of a document over that of earlier ones, of
// which nothing else may be left. Either may be nil.
//
// A node keeps its position, so that a finding is about the document that the
// node comes from; what two documents make together stands where the later one
// has it. What one document says twice stays there twice, for the decoder to
// report.
func mergeDocuments(under, over *node) *node {
	switch {
	case under == nil:
		return over
	case over == nil:
		return under
	}
	return mergeNodes(reflect.TypeFor[Manifest](), under, over)
}

// mergeNodes merges two spellings of a value of type t.
func mergeNodes(t reflect.Type, under, over *node) *node {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if over.kind != under.kind || over.kind != mapNode && over.kind != listNode {
		return over
	}
	switch t {
	case reflect.TypeFor[[]User](), reflect.TypeFor[[]Group]():
		return mergeNamed(t.Elem(), "name", under, over)
	case reflect.TypeFor[[]PathGrant]():
		return mergeNamed(t.Elem(), "path", under, over)
	case reflect.TypeFor[Entries]():
		return mergeEntries(under, over)
	case reflect.TypeFor[[]EnvVar]():
		return mergeEnvironment(under, over)
	case reflect.TypeFor[MountStrategy]():
		return mergeUnion(strategyTypes, under, over)
	case reflect.TypeFor[MountPattern]():
		return mergeUnion(patternTypes, under, over)
	}
	switch {
	case over.kind != mapNode:
		return over
	case t.Kind() == reflect.Struct:
		return mergeFields(t, under, over)
	case t.Kind() == reflect.Map:
		return overlay(under, over, replace)
	}
	return over
}

// overlay puts the pairs of over in the places of those of the same key under
// it, and the others at the end.
func overlay(under, over *node, merge func(key string, under, over *node) *node) *node {
	places := make(map[string]int, len(under.pairs))
	for i, p := range slices.Backward(under.pairs) {
		places[p.key] = i
	}
	for _, p := range over.pairs {
		i, ok := places[p.key]
		if !ok {
			under.pairs = append(under.pairs, p)
			continue
		}
		delete(places, p.key)
		p.value = merge(p.key, under.pairs[i].value, p.value)
		under.pairs[i] = p
	}
	under.pos = over.pos
	return under
}

func replace(_ string, _, over *node) *node { return over }

// mergeFields merges the keys of a struct.
func mergeFields(t reflect.Type, under, over *node) *node {
	for _, a := range aliasesOf(reflect.New(t).Elem()) {
		if len(a.replaces) == 1 { // an alias of several keys says more than any of them
			takeBack(under, over, a.name, a.replaces[0])
			takeBack(under, over, a.replaces[0], a.name)
		}
	}
	info := infoOf(t)
	return overlay(under, over, func(key string, under, over *node) *node {
		if f := info.byName[key]; f != nil {
			return mergeNodes(t.FieldByIndex(f.index).Type, under, over)
		}
		return over
	})
}

// takeBack removes a key that a later document spells in another way.
func takeBack(under, over *node, key, other string) {
	if over.get(other) != nil {
		under.pairs = slices.DeleteFunc(under.pairs, func(p pair) bool { return p.key == key })
	}
}

// mergeUnion merges the fields of two values of one type. Another type
// replaces the value; no type leaves it as it is.
func mergeUnion[T typed](u union[T], under, over *node) *node {
	t := under.get("type")
	if other := over.get("type"); t == nil || other != nil && other.text != t.text {
		return over
	}
	value, ok := u.create(t.text)
	if !ok {
		return over
	}
	return mergeFields(reflect.TypeOf(value).Elem(), under, over)
}

// mergeNamed merges the items of two lists that have the same name.
func mergeNamed(t reflect.Type, key string, under, over *node) *node {
	nameOf := func(item *node) (string, bool) {
		name := item.get(key)
		return textOf(name), name != nil
	}
	places := map[string]int{}
	for i, item := range slices.Backward(under.items) {
		if name, ok := nameOf(item); ok {
			places[name] = i
		}
	}
	for _, item := range over.items {
		name, named := nameOf(item)
		if i, ok := places[name]; ok && named {
			delete(places, name)
			under.items[i] = mergeNodes(t, under.items[i], item)
			continue
		}
		under.items = append(under.items, item)
	}
	under.pos = over.pos
	return under
}

func textOf(n *node) string {
	if n == nil {
		return ""
	}
	return n.text
}

// mergeEnvironment merges by name whatever the dialects are. The result is in
// the SDK's, in which no variable's name can be taken for a wrapping.
func mergeEnvironment(under, over *node) *node {
	vars := overlay(environmentMap(under), environmentMap(over), replace)
	return &node{kind: mapNode, pos: over.pos, pairs: []pair{{"value", over.pos, vars}}}
}

// entryMerger merges entries by their whole paths, for a path can be one key
// or spread over the children of directories.
type entryMerger struct {
	places map[string]entryPlace
}

// entryPlace is where the entry of a path is declared.
type entryPlace struct {
	in    *node
	index int
}

func mergeEntries(under, over *node) *node {
	m := entryMerger{places: map[string]entryPlace{}}
	m.index(under, "")
	m.put(under, over.pairs, "")
	under.pos = over.pos
	return under
}

func (m *entryMerger) index(entries *node, dir string) {
	for i, p := range entries.pairs {
		name := wholePath(dir, p.key)
		if _, ok := m.places[name]; !ok {
			m.places[name] = entryPlace{entries, i}
		}
		if children := childrenOf(p.value); children != nil {
			m.index(children, name)
		}
	}
}

// wholePath is the path of a child. A key that is no path stays recognizable,
// so that it is not taken for another.
func wholePath(dir, key string) string {
	if dir == "" {
		return cleanOrSame(key)
	}
	return dir + "/" + cleanOrSame(key)
}

// childrenOf returns the children of a directory, or of an entry that may be
// one; nil if it has none.
func childrenOf(entry *node) *node {
	if t := textOf(entry.get("type")); t != "" && t != TypeDir {
		return nil
	}
	if children := entry.get("children"); children != nil && children.kind == mapNode {
		return children
	}
	return nil
}

// put merges entries over those that are there. New ones go into a container.
func (m *entryMerger) put(into *node, entries []pair, dir string) {
	for _, p := range entries {
		name := wholePath(dir, p.key)
		children := childrenOf(p.value)
		var below []pair
		if children != nil {
			below, children.pairs = children.pairs, nil
		}
		if place, ok := m.places[name]; ok {
			delete(m.places, name)
			children = m.merge(&place.in.pairs[place.index], p, name)
		} else {
			into.pairs = append(into.pairs, p)
		}
		if children != nil {
			m.put(children, below, name)
		}
	}
}

// merge merges an entry, whose children are put aside, over another. It returns
// where the children go.
func (m *entryMerger) merge(under *pair, over pair, name string) *node {
	before := childrenOf(under.value)
	if under.value.kind == mapNode && over.value.kind == mapNode {
		over.value = mergeUnion(entryTypes, under.value, over.value)
	}
	under.pos, under.value = over.pos, over.value
	after := childrenOf(over.value)
	if before != nil && before != after {
		m.forget(before, name)
	}
	return after
}

// forget drops the places in what was replaced.
func (m *entryMerger) forget(entries *node, dir string) {
	for _, p := range entries.pairs {
		name := wholePath(dir, p.key)
		if m.places[name].in == entries {
			delete(m.places, name)
		}
		if children := childrenOf(p.value); children != nil {
			m.forget(children, name)
		}
	}
}
