package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// assignment reads KEY=VALUE as a document that says just that. What is wrong
// is reported, and there is no document then.
func (l *loader) assignment(s string) *node {
	path, text, err := splitAssignment(s)
	pos := Position{File: "--set " + path}
	l.d.findings.files = append(l.d.findings.files, pos.File)
	var value *node
	if err == nil {
		value, err = assignedValue(text)
	}
	var steps []string
	if err == nil {
		steps, err = assignedKeys(path)
	}
	if err != nil {
		l.refuse(pos, nil, CodeSet, err.Error(), "")
		return nil
	}
	l.in.literal[pos.File] = true
	n := value
	n.pos = pos
	for _, key := range slices.Backward(steps) {
		n = &node{kind: mapNode, pos: pos, pairs: []pair{{key, pos, n}}}
	}
	n.pairs = withoutExtensions(n.pairs)
	return n
}

// splitAssignment cuts at the first equals sign that is not part of a quoted
// key.
func splitAssignment(s string) (path, value string, err error) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '=' && !quoted:
			return s[:i], s[i+1:], nil
		}
	}
	return s, "", errors.New("has no value; write KEY=VALUE")
}

// assignedValue reads a scalar as it would stand in a YAML document.
func assignedValue(s string) (*node, error) {
	if !strings.HasPrefix(s, `"`) && !strings.HasPrefix(s, "'") {
		return &node{kind: plainKind(s), text: s, plain: true}, nil
	}
	n, err := readYAML([]byte(s), "")
	if err != nil || n.kind != stringNode || n.plain {
		return nil, fmt.Errorf("%s is not one string in quotes", s)
	}
	return n, nil
}

// assignedKeys splits a path such as entries["a/b"].mode.
func assignedKeys(path string) (keys []string, err error) {
	for rest := "." + path; rest != ""; {
		var key string
		if key, rest, err = nextKey(rest); err != nil {
			return nil, err
		}
		if keys = append(keys, key); len(keys) >= maxDepth {
			return nil, fmt.Errorf("nesting is deeper than %d levels", maxDepth)
		}
	}
	return keys, nil
}

// nextKey cuts .key or ["key"] from the start of a path.
func nextKey(path string) (key, rest string, err error) {
	if name, dotted := strings.CutPrefix(path, "."); dotted {
		end := strings.IndexAny(name, ".[")
		if end < 0 {
			end = len(name)
		}
		if end == 0 {
			return "", "", errors.New("has an empty key; write KEY=VALUE with a key such as resources.cpus")
		}
		return name[:end], name[end:], nil
	}
	if quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(path, "[")); err == nil {
		if key, err = strconv.Unquote(quoted); err == nil && strings.HasPrefix(path[1+len(quoted):], "]") {
			return key, path[len(quoted)+2:], nil
		}
	}
	return "", "", fmt.Errorf("%q is not a key in brackets and double quotes; elements of lists cannot be set", path)
}
