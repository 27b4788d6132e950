package manifest

import (
	"reflect"
	"sync"
)

// structInfo is what the tags of a struct say about its keys.
type structInfo struct {
	fields []fieldInfo // in canonical order
	byName map[string]*fieldInfo
}

// fieldInfo is one key. The "manifest" tag is one of
//
//	nonempty  an empty string is refused instead of taken for no string
//	positive  zero is refused, for it would mean that the key is absent
//	version   zero is refused as any other version that does not exist
//	nullzero  positive, and null is how documents write zero
//	account   a name, or {name: NAME}
//	text      a string, or a number as written
//	commas    a string, or a list that is joined with commas
//	test      the test of a health check
type fieldInfo struct {
	name  string
	rule  string
	index []int
}

var structInfos sync.Map // reflect.Type → *structInfo

func infoOf(t reflect.Type) *structInfo {
	if info, ok := structInfos.Load(t); ok {
		return info.(*structInfo)
	}
	info := &structInfo{byName: map[string]*fieldInfo{}}
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("json"); name != "" {
			info.fields = append(info.fields, fieldInfo{name, f.Tag.Get("manifest"), f.Index})
		}
	}
	for i := range info.fields {
		info.byName[info.fields[i].name] = &info.fields[i]
	}
	structInfos.Store(t, info)
	return info
}

// alias is a key of another dialect that ends up in our fields.
type alias struct {
	name string
	// replaces are our own keys, which must not be there too.
	replaces []string
	decode   func(d *decoder, n *node, at *docPath)
}

// aliaser is implemented by pointers to structs that have aliases.
type aliaser interface{ aliases() []alias }

// names are all keys that a struct understands.
func (i *structInfo) names(aliases []alias) []string {
	names := make([]string, 0, len(i.fields)+len(aliases))
	for _, f := range i.fields {
		names = append(names, f.name)
	}
	for _, a := range aliases {
		names = append(names, a.name)
	}
	return names
}
