package e2e

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The manifest in README works, and its transcript is what the commands print.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	c := newCLI(t)
	write(t, c.dir, "workspace.yaml", fenced(t, string(readme), "yaml"))
	write(t, c.dir, "src/main.go", "package main\n")
	write(t, c.dir, "src/main_test.go", "package main // the slow test\n\nfunc x() {}\n")
	write(t, c.dir, "src/debug.log", "left out\n")
	removeLater(t, "review")
	var got strings.Builder
	transcript := fenced(t, string(readme), "console")
	for line := range strings.SplitSeq(transcript, "\n") {
		command, ok := strings.CutPrefix(line, "$ docker workspace ")
		if ok {
			got.WriteString(line + "\n")
			got.WriteString(c.must(t, strings.Fields(command)...))
		}
	}
	ids := regexp.MustCompile(`container [0-9a-f]{12}`)
	sizes := regexp.MustCompile(`\(\d+B\)`)
	normal := func(s string) string {
		return strings.TrimSpace(sizes.ReplaceAllString(ids.ReplaceAllString(s, "container ID"), "(SIZE)"))
	}
	if normal(got.String()) != normal(transcript) {
		t.Errorf("README says\n%s\nthe commands print\n%s", transcript, got.String())
	}
}

// fenced returns the first code block of a language.
func fenced(t *testing.T, text, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "```"+language+"\n")
	block, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("no %s block", language)
	}
	return block
}
