package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var repository = filepath.Join("..", "..")

func TestGeneratedFilesAreFresh(t *testing.T) {
	if err := run(repository, true); err != nil {
		t.Error(err)
	}
}

func TestCheckFindsStaleFiles(t *testing.T) {
	root := t.TempDir()
	copyDir(t, filepath.Join(root, "pkg", "manifest"), filepath.Join(repository, "pkg", "manifest"))
	if err := os.Mkdir(filepath.Join(root, "docs"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); err == nil {
		t.Error("a missing file is not noticed")
	}
	if err := run(root, false); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); err != nil {
		t.Errorf("what was just written is stale: %v", err)
	}
	doc := filepath.Join(root, "docs", "manifest.md")
	if err := os.WriteFile(doc, []byte("edited\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); err == nil || !strings.Contains(err.Error(), "make generate") {
		t.Errorf("got %v, want advice on the edited file", err)
	}
}

func copyDir(t *testing.T, to, from string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o777); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWithoutSubject(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"Ref", "Ref is a tag", "A tag"},
		{"Words", "Words are arguments", "Arguments"},
		{"Ref", "Ref names a tag", "Names a tag"},
		{"Version", "Version of the contract", "Version of the contract"},
		{"Labels", "Labels as in docker create", "Labels as in docker create"},
		{"UID", "UID and GID are chosen", "UID and GID are chosen"},
		{"Ref", "Refs is something else", "Refs is something else"},
	} {
		if got := withoutSubject(tt.name, tt.text); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestTranslate(t *testing.T) {
	c, err := readComments(filepath.Join(repository, "pkg", "manifest"))
	if err != nil {
		t.Fatal(err)
	}
	got := c.translate("GitRepo", "Ref goes\nwith URL, nil means DefaultGitHost.")
	if want := "`ref` goes with `url`, null means `github.com`."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
