package manifest

import _ "embed"

//go:generate go run -C ../.. ./hack/generate

//go:embed schema.json
var schema string

// Schema returns the JSON Schema of documents, draft 2020-12, which is
// generated from the types of this package. It is for editors: it accepts
// every document that Decode accepts, and cannot know some of the rules that
// Decode checks besides, such as two paths being equal after cleaning.
func Schema() string { return schema }

// SetDefaults sets those fields to their defaults that documents may leave
// out and whose default is not the zero value. p points to a type of this
// package.
func SetDefaults(p any) { setDefaults(p) }

// EntryTypes returns an entry of each type with its defaults, in the order in
// which types are listed to people.
func EntryTypes() []Entry { return entryTypes.all() }

// StrategyTypes returns a mount strategy of each type with its defaults.
func StrategyTypes() []MountStrategy { return strategyTypes.all() }

// PatternTypes returns a mount pattern of each type with its defaults.
func PatternTypes() []MountPattern { return patternTypes.all() }
