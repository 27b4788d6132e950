package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// comments are the doc comments of a package in the words of documents: keys
// for Go fields, values for constants.
type comments struct {
	types     map[string]string            // Go type → its comment
	fields    map[string]map[string]string // Go type → Go field → its comment
	keys      map[string]map[string]string // Go type → Go field → key
	constants map[string]string            // constant → its text
}

// readComments reads the Go files of a directory.
func readComments(dir string) (*comments, error) {
	c := &comments{
		types: map[string]string{}, fields: map[string]map[string]string{},
		keys: map[string]map[string]string{}, constants: map[string]string{},
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("read doc comments: %w", err)
		}
		for _, decl := range f.Decls {
			if g, ok := decl.(*ast.GenDecl); ok {
				c.declaration(g)
			}
		}
	}
	return c, nil
}

func (c *comments) declaration(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			c.constant(spec)
		case *ast.TypeSpec:
			doc := spec.Doc.Text()
			if doc == "" {
				doc = g.Doc.Text()
			}
			c.types[spec.Name.Name] = doc
			if s, ok := spec.Type.(*ast.StructType); ok {
				c.structFields(spec.Name.Name, s)
			}
		}
	}
}

func (c *comments) constant(spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		if i < len(spec.Values) {
			if lit, ok := spec.Values[i].(*ast.BasicLit); ok {
				c.constants[name.Name] = strings.Trim(lit.Value, `"`)
			}
		}
	}
}

// structFields reads the comments of fields. A field without one shares the
// comment before it if that names the field.
func (c *comments) structFields(name string, s *ast.StructType) {
	c.fields[name], c.keys[name] = map[string]string{}, map[string]string{}
	last := ""
	for _, f := range s.Fields.List {
		if doc := f.Doc.Text(); doc != "" {
			last = doc
		}
		for _, id := range f.Names {
			if f.Doc != nil || hasWord(last, id.Name) {
				c.fields[name][id.Name] = last
			}
			if f.Tag == nil {
				continue
			}
			if tag, err := strconv.Unquote(f.Tag.Value); err == nil {
				c.keys[name][id.Name] = reflect.StructTag(tag).Get("json")
			}
		}
	}
}

var identifier = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)

func hasWord(text, word string) bool {
	return slices.Contains(identifier.FindAllString(text, -1), word)
}

// field is the comment of a field, empty if it has none.
func (c *comments) field(typeName, field string) string {
	text, shared := c.fields[typeName][field], 0
	for _, other := range c.fields[typeName] {
		if other == text {
			shared++
		}
	}
	if shared > 1 {
		return c.translate(typeName, text)
	}
	// A field that is called what it is: "Name of the account".
	if rest, ok := strings.CutPrefix(text, field+" "); ok && slices.Contains([]string{"of", "for", "by", "as"}, strings.Fields(rest)[0]) {
		return field + " " + c.translate(typeName, rest)
	}
	return c.translate(typeName, withoutSubject(field, text))
}

// typeDoc is the comment of a type.
func (c *comments) typeDoc(name string) string {
	return c.translate(name, withoutSubject(name, c.types[name]))
}

// withoutSubject drops the name that a doc comment starts with, which the
// reader sees anyway: of "Ref is a tag" it leaves "A tag", of "Ref names a tag"
// "Names a tag".
func withoutSubject(name, text string) string {
	rest, ok := strings.CutPrefix(text, name+" ")
	if !ok {
		return text
	}
	verb, object, _ := strings.Cut(rest, " ")
	switch {
	case verb == "is", verb == "are":
		return capitalize(object)
	case verb != "as" && strings.HasSuffix(verb, "s"), verb == "go":
		return capitalize(rest)
	}
	return text
}

// translate puts a comment into the words of documents.
func (c *comments) translate(typeName, text string) string {
	text = identifier.ReplaceAllStringFunc(text, func(word string) string {
		if key := c.keys[typeName][word]; key != "" {
			return "`" + key + "`"
		}
		if value, ok := c.constants[word]; ok {
			return "`" + value + "`"
		}
		if word == "nil" {
			return "null"
		}
		return word
	})
	return strings.TrimSpace(strings.Join(strings.Fields(text), " "))
}

func capitalize(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
