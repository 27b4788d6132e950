// Command generate writes what is made from the types of pkg/manifest: the
// JSON Schema that the package embeds, and the reference in docs. It runs in
// the root of the repository; with -check it only says what is stale.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// file is one generated file; the path is relative to the repository.
type file struct {
	path string
	data []byte
}

func main() {
	check := flag.Bool("check", false, "fail if a file is not what would be written")
	flag.Parse()
	if err := run(".", *check); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(root, f.path)
		if !check {
			if err := os.WriteFile(path, f.data, 0o644); err != nil {
				return err
			}
			continue
		}
		have, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, f.data) {
			return fmt.Errorf("%s is stale: run 'make generate'", f.path)
		}
	}
	return nil
}

// generate makes all files from the sources below root.
func generate(root string) ([]file, error) {
	comments, err := readComments(filepath.Join(root, "pkg", "manifest"))
	if err != nil {
		return nil, err
	}
	rules, err := readRules()
	if err != nil {
		return nil, err
	}
	m, err := newModel(comments, rules)
	if err != nil {
		return nil, err
	}
	schema, err := m.schema()
	if err != nil {
		return nil, err
	}
	return []file{
		{filepath.Join("pkg", "manifest", "schema.json"), schema},
		{filepath.Join("docs", "manifest.md"), m.reference()},
	}, nil
}
