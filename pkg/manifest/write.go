package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// writeJSON writes a tree with two spaces of indentation and a final newline.
func writeJSON(n *node) ([]byte, error) {
	var b bytes.Buffer
	if err := appendJSON(&b, n); err != nil {
		return nil, fmt.Errorf("write manifest as JSON: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("write manifest as JSON: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func appendJSON(b *bytes.Buffer, n *node) error {
	switch n.kind {
	case stringNode:
		return appendJSONString(b, n.text)
	case listNode:
		return appendJSONList(b, n.items)
	case mapNode:
		return appendJSONMap(b, n.pairs)
	default:
		b.WriteString(n.text)
	}
	return nil
}

func appendJSONList(b *bytes.Buffer, items []*node) error {
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := appendJSON(b, item); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func appendJSONMap(b *bytes.Buffer, pairs []pair) error {
	b.WriteByte('{')
	for i, p := range pairs {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := appendJSONString(b, p.key); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := appendJSON(b, p.value); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func appendJSONString(b *bytes.Buffer, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%q is not UTF-8", s)
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the encoder ends lines
	return nil
}

// writeYAML writes a tree so that reading it back, with interpolation, gives
// the same.
func writeYAML(n *node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(yamlNode(n)); err != nil {
		return nil, fmt.Errorf("write manifest as YAML: %w", err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("write manifest as YAML: %w", err)
	}
	return b.Bytes(), nil
}

func yamlNode(n *node) *yaml.Node {
	switch n.kind {
	case listNode:
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range n.items {
			list.Content = append(list.Content, yamlNode(item))
		}
		return list
	case mapNode:
		m := &yaml.Node{Kind: yaml.MappingNode}
		for _, p := range n.pairs {
			m.Content = append(m.Content, yamlString(p.key), yamlNode(p.value))
		}
		return m
	case stringNode:
		s := n.text
		if !n.verbatim && (strings.Contains(s, "${") || strings.Contains(s, "$$")) {
			s = strings.ReplaceAll(s, "$", "$$")
		}
		return yamlString(s)
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: n.text}
	}
}

// yamlString leaves the style of short strings to the encoder, which quotes
// what another type could be read from, and puts text with lines in a block.
// A blank at the start of a block would be taken for its indentation.
func yamlString(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case !strings.Contains(s, "\n"):
	case strings.ContainsAny(s[:1], " \t\n"):
		n.Style = yaml.DoubleQuotedStyle
	default:
		n.Style = yaml.LiteralStyle
	}
	return n
}
