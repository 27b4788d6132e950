package manifest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSet(t *testing.T) {
	const doc = `
base: a:1
environment: {variables: {A: x}}
resources: {memory: 1g}
labels: {l: x}
entries:
  a/b: {type: file, content: ab, interpolate: true}
  d: {type: dir, children: {f: {type: file, content: df}}}
`
	tests := []struct {
		name string
		set  []string
		want string // lines that are gone and new, without blanks
	}{
		{"a key", []string{"base=debian:12"}, "-base: a:1 +base: debian:12"},
		{"the last one counts", []string{"base=b:1", "base=b:2"}, "-base: a:1 +base: b:2"},
		{"a value with an equals sign", []string{"base=a=b"}, "-base: a:1 +base: a=b"},
		{"a number", []string{"resources.cpus=2.5"}, "+cpus: 2.5"},
		{"a boolean", []string{"init=false"}, "+init: false"},
		{"a string in quotes", []string{`labels.l="1"`}, `-l: x +l: "1"`},
		{"in single quotes", []string{"labels.l='it''s'"}, "-l: x +l: it's"},
		{"an empty string", []string{"labels.l=''"}, `-l: x +l: ""`},
		{"nothing takes a value back", []string{"base="}, "-base: a:1"},
		{"a new key", []string{"labels.m=y"}, "+m: y"},
		{"a new mapping", []string{"healthcheck.retries=3"}, "+healthcheck: +retries: 3"},
		{"a variable in another dialect", []string{"environment.A=010"}, `-A: x +A: "010"`},
		{"a new variable", []string{`environment["B.c"]=y`}, "+B.c: y"},
		{"an entry", []string{`entries["a/b"].content=y`}, "-content: ab +content: y"},
		{"in another spelling", []string{`entries["./a//b"].content=y`}, "-content: ab +content: y"},
		{"a child", []string{"entries.d.children.f.content=y"}, "-content: df +content: y"},
		{"a child by its whole path", []string{`entries["d/f"].content=y`}, "-content: df +content: y"},
		{"a whole entry", []string{`entries["n"].type=git_repo`, `entries["n"].repo=a/b`}, "+n: +type: git_repo +repo: a/b"},
		{"no interpolation", []string{`entries["a/b"].content=${V}`, "labels.l=${V}"}, "-content: ab -l: x +content: $${V} +l: $${V}"},
		{"an extension", []string{"x-a.b=c"}, ""},
	}
	before := linesOf(merged(t, LoadOptions{}, doc))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			after := linesOf(merged(t, LoadOptions{Set: tt.set}, doc))
			var got []string
			for _, line := range before {
				if !slices.Contains(after, line) {
					got = append(got, "-"+line)
				}
			}
			for _, line := range after {
				if !slices.Contains(before, line) {
					got = append(got, "+"+line)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func linesOf(s string) []string {
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func TestSetFindings(t *testing.T) {
	deep := strings.Repeat("a.", 100) + "a"
	tests := []struct{ set, want string }{
		{"base", "--set base: has no value; write KEY=VALUE"},
		{`entries["a=b"]`, `--set entries["a=b"]: has no value; write KEY=VALUE`},
		{"=x", "--set : has an empty key; write KEY=VALUE with a key such as resources.cpus"},
		{"labels..a=x", "--set labels..a: has an empty key; write KEY=VALUE with a key such as resources.cpus"},
		{"labels.=x", "--set labels.: has an empty key; write KEY=VALUE with a key such as resources.cpus"},
		{"ports[0]=1", `--set ports[0]: "[0]" is not a key in brackets and double quotes; elements of lists cannot be set`},
		{`entries["a`, `--set entries["a: has no value; write KEY=VALUE`},
		{`labels["a"=1`, `--set labels["a": "[\"a\"" is not a key in brackets and double quotes; elements of lists cannot be set`},
		{`labels["a"]b=1`, `--set labels["a"]b: "b" is not a key in brackets and double quotes; elements of lists cannot be set`},
		{`base="a" b`, `--set base: "a" b is not one string in quotes`},
		{deep + "=1", "--set " + deep + ": nesting is deeper than 100 levels"},
		{"bsae=x", `--set bsae: bsae: unknown key "bsae" (did you mean "base"?)`},
		{"labels.l=1", `--set labels.l: labels["l"]: is a number, not a string (quote it: "1")`},
		{"name=A", `--set name: name: "A" is not a name: up to 63 of a-z, 0-9, _, . and -, a letter or digit first`},
		{`entries["n"].content=x`, `--set entries["n"].content: entries["n"]: "type" is missing (one of file, dir, local_file, local_dir, git_repo, s3_mount, gcs_mount, r2_mount, azure_blob_mount, box_mount, s3_files_mount, volume_mount)`},
	}
	for _, tt := range tests {
		t.Run(tt.set, func(t *testing.T) {
			_, list, err := Load(sourcesOf("name: a\nlabels: {l: x}\n"), LoadOptions{Set: []string{tt.set}})
			if !errors.Is(err, ErrInvalid) || len(list) != 1 {
				t.Fatalf("findings %v, error %v", list, err)
			}
			if diff := cmp.Diff(tt.want, list[0].String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
