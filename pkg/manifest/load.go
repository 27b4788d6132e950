package manifest

import (
	"errors"
	"fmt"
	"io"
)

// Source is one document for Load.
type Source struct {
	// Name is shown in findings. What the document includes is relative to
	// its directory.
	Name   string
	Reader io.Reader
	Format Format
	// Local says that the document is a file that the caller named, which may
	// include others.
	Local bool
}

// LoadOptions say how to process documents. The zero value is fine.
type LoadOptions struct {
	// Lookup is the environment for interpolation; nil has no variables.
	Lookup func(name string) (string, bool)
	// Interpolate JSON documents too. YAML documents always are.
	Interpolate bool
	// Open opens an included document by its path; Load closes it. Nil refuses
	// include.
	Open func(path string) (io.ReadCloser, error)
	// Set has assignments to merge last: see Load.
	Set []string
}

// Load reads documents and merges them into one manifest, which it validates.
// Findings and error are those of Decode; a finding names the document that
// the value in question came from.
//
// Each document is interpolated by itself, then merged over those that it
// includes, in their order. Sources are merged over those before them. A later
// value wins, and null takes an earlier one back:
//
//   - Mappings merge key by key, and so do users and groups of one name and
//     grants of one path. All other lists are replaced.
//   - Entries merge by path, whether it is declared as one key or through the
//     children of directories. An entry, strategy or pattern of another type
//     replaces the earlier one; without a type it adds to it.
//   - Environment variables, secrets and ulimits are replaced as a whole, and
//     so is a field that two dialects spell differently.
//
// An assignment of opts.Set is KEY=VALUE, the key being a path as findings
// have it, such as resources.cpus or entries["a/b"].mode. It is merged
// over all documents as if it were one more. The value is a YAML scalar, plain
// or in quotes, and is not interpolated.
//
// All documents together have at most MaxSize bytes.
func Load(sources []Source, opts LoadOptions) (*Manifest, []Finding, error) {
	l := newLoader(opts)
	var merged *node
	for _, s := range sources {
		root, err := l.document(s, Position{})
		if err != nil {
			return nil, nil, err
		}
		merged = mergeDocuments(merged, root)
	}
	for _, s := range opts.Set {
		merged = mergeDocuments(merged, l.assignment(s))
	}
	if merged == nil && !l.incomplete {
		return nil, nil, errors.New("load manifest: no document is given")
	}
	return l.finish(merged)
}

// loader is the state of one Load.
type loader struct {
	opts     LoadOptions
	d        decoder
	in       interpolator
	budget   int // bytes that may still be read
	includes int
	chain    []including
	// incomplete says that there is nothing to decode, for what is missing
	// would only be reported again.
	incomplete bool
}

func newLoader(opts LoadOptions) *loader {
	l := &loader{opts: opts, budget: MaxSize}
	l.in = interpolator{lookup: opts.Lookup, d: &l.d, budget: MaxSize, literal: map[string]bool{}}
	return l
}

// read reads one document and interpolates it. What is wrong with it is a
// finding, and there is no tree then; the error is the reader's.
func (l *loader) read(s Source) (*node, error) {
	l.d.findings.files = append(l.d.findings.files, s.Name)
	data, err := io.ReadAll(io.LimitReader(s.Reader, int64(l.budget)+1))
	if err != nil {
		return nil, fmt.Errorf("read manifest %q: %w", s.Name, err)
	}
	if len(data) > l.budget {
		l.refuse(Position{s.Name, 1, 1}, nil, CodeTooLarge, fmt.Sprintf("the manifest is larger than %d bytes", MaxSize), "")
		return nil, nil
	}
	l.budget -= len(data)
	root, isYAML, derr := readDocument(data, s)
	if derr != nil {
		l.refuse(derr.pos, nil, derr.code, derr.message, derr.suggestion)
		return nil, nil
	}
	if root.kind != mapNode {
		l.d.wrongType(root, nil, mapNode.String())
		l.incomplete = true
		return nil, nil
	}
	root.pairs = withoutExtensions(root.pairs)
	if isYAML || l.opts.Interpolate {
		l.in.document(root)
	} else {
		l.in.literal[s.Name] = true
	}
	return root, nil
}

// refuse reports what makes it useless to decode anything.
func (l *loader) refuse(pos Position, at *docPath, code, message, suggestion string) {
	l.d.report(pos, at, code, message, suggestion)
	l.incomplete = true
}

// finish decodes what all documents say together.
func (l *loader) finish(root *node) (*Manifest, []Finding, error) {
	var m *Manifest
	if !l.incomplete {
		l.in.contents(root.get("entries"), top("entries"))
		m = l.d.manifest(root)
	}
	list, err := l.d.findings.sorted()
	if err != nil {
		return nil, list, err
	}
	return m, list, nil
}
