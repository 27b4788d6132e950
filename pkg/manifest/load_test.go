package manifest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// sourcesOf are the documents a.yaml, b.yaml and so on.
func sourcesOf(docs ...string) []Source {
	var sources []Source
	for i, doc := range docs {
		sources = append(sources, Source{Name: string(rune('a'+i)) + ".yaml", Reader: strings.NewReader(doc), Local: true})
	}
	return sources
}

// places is a finding in one line: file, position, code and document path.
func places(list []Finding) []string {
	var lines []string
	for _, f := range list {
		lines = append(lines, fmt.Sprintf("%s:%d:%d %s %s", f.File, f.Line, f.Column, f.Code, f.Path))
	}
	return lines
}

// merged loads documents and returns the canonical form without the version.
func merged(t *testing.T, opts LoadOptions, docs ...string) string {
	t.Helper()
	m, _, err := Load(sourcesOf(docs...), opts)
	if err != nil {
		t.Fatalf("Load failed on\n%s\n%v", strings.Join(docs, "---\n"), err)
	}
	out, err := m.CanonicalYAML()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(out), "\n")
	return rest
}

func TestMerge(t *testing.T) {
	tests := []struct {
		name, under, over, want string
	}{
		{"a later scalar wins", "name: a\nbase: b:1\n", "base: b:2\n", "name: a\nbase: b:2\n"},
		{"null takes an earlier value back", "name: a\nhealthcheck: {test: x}\n", "healthcheck: null\n", "name: a\n"},
		{"null is a value of depth", "entries: {r: {type: git_repo, repo: a/b, depth: 2}}\n", "entries: {r: {depth: null}}\n", `
entries:
  r:
    type: git_repo
    repo: a/b
    depth: null
`},
		{"mappings merge", "resources: {cpus: 1, memory: 1g}\nlabels: {a: '1', b: '1'}\n", "resources: {cpus: 2}\nlabels: {b: '2', c: '2'}\n", `
resources:
  cpus: 2
  memory: 1073741824
labels:
  a: "1"
  b: "2"
  c: "2"
`},
		{"lists are replaced", "ports: [1, 2]\ncommand: [a, b]\n", "ports: [3]\ncommand: [c]\n", "ports:\n  - port: 3\ncommand:\n  - c\n"},
		{"users and groups by name", "users: [{name: a, uid: 1, groups: [g]}, {name: b}]\ngroups: [{name: g, gid: 1}]\n", "users: [{name: c}, {name: a, shell: /bin/sh, groups: [h]}]\ngroups: [{name: g, users: [a]}]\n", `
users:
  - name: a
    uid: 1
    shell: /bin/sh
    groups:
      - h
  - name: b
  - name: c
groups:
  - name: g
    gid: 1
    users:
      - a
`},
		{"grants by path", "extra_path_grants: [{path: /a, read_only: true}]\n", "extra_path_grants: [{path: /b}, {path: /a, description: d}]\n", `
extra_path_grants:
  - path: /a
    read_only: true
    description: d
  - path: /b
`},
		{"environment across dialects", "environment: {variables: {A: '1', B: {value: '1', ephemeral: true}}}\n", "environment: {value: {B: '2', C: '2'}}\n", `
environment:
  A: "1"
  B: "2"
  C: "2"
`},
		{"a variable called value", "environment: {value: {value: {description: d, value: x}}}\n", "environment: {}\n", `
environment:
  value:
    value: x
    description: d
`},
		{"secrets as a whole", "secrets: {s: {env: A}}\n", "secrets: {s: {file: f}, t: {env: B}}\n", `
secrets:
  s:
    file: f
  t:
    env: B
`},
		{"entries of one type", "entries: {f: {type: file, content: a, mode: '0600'}, g: {type: file}}\n", "entries: {h: {type: file}, ./f: {type: file, content: b}}\n", `
entries:
  f:
    type: file
    mode: "0600"
    content: b
  g:
    type: file
  h:
    type: file
`},
		{"an entry of another type", "entries: {f: {type: file, content: a, mode: '0600'}}\n", "entries: {f: {type: dir}}\n", "entries:\n  f:\n    type: dir\n"},
		{"an entry without a type", "entries: {f: {type: local_file, src: a}}\n", "entries: {f: {src: b}}\n", "entries:\n  f:\n    type: local_file\n    src: b\n"},
		{"the other dialect's mode", "entries: {f: {type: file, mode: '0600'}}\n", "entries: {f: {permissions: rw-r--r--}}\n", "entries:\n  f:\n    type: file\n    mode: \"0644\"\n"},
		{"our mode over the other dialect's", "entries: {f: {type: file, permissions: rw-r--r--}}\n", "entries: {f: {mode: '0600'}}\n", "entries:\n  f:\n    type: file\n    mode: \"0600\"\n"},
		{"content in base64", "entries: {f: {type: file, content: a}}\n", "entries: {f: {content_base64: Yg==}}\n", "entries:\n  f:\n    type: file\n    content: b\n"},
		{"a label called mode stays", "labels: {mode: a}\n", "labels: {permissions: b}\n", "labels:\n  mode: a\n  permissions: b\n"},
		{"a strategy of one type", "entries: {m: {type: s3_mount, bucket: b, mount_strategy: {type: docker_volume, driver: d, driver_options: {a: '1'}}}}\n", "entries: {m: {mount_strategy: {driver_options: {b: '2'}}}}\n", `
entries:
  m:
    type: s3_mount
    mount_strategy:
      type: docker_volume
      driver: d
      driver_options:
        a: "1"
        b: "2"
    bucket: b
`},
		{"a pattern of another type", "entries: {m: {type: s3_mount, bucket: b, mount_strategy: {type: in_container, pattern: {type: rclone, extra_args: [x]}}}}\n", "entries: {m: {mount_strategy: {pattern: {type: mountpoint}}}}\n", `
entries:
  m:
    type: s3_mount
    mount_strategy:
      type: in_container
      pattern:
        type: mountpoint
    bucket: b
`},
		{"children", "entries: {d: {type: dir, children: {a: {type: file}, b: {type: file}}}}\n", "entries: {d: {mode: '0700', children: {b: {content: x}, c: {type: file}}}}\n", `
entries:
  d:
    type: dir
    mode: "0700"
    children:
      a:
        type: file
      b:
        type: file
        content: x
      c:
        type: file
`},
		{"a child by its whole path", "entries: {d: {type: dir, children: {e/f: {type: file, mode: '0600'}}}}\n", "entries: {d/e/f: {content: x}}\n", `
entries:
  d:
    type: dir
    children:
      e/f:
        type: file
        mode: "0600"
        content: x
`},
		{"a whole path by its directory", "entries: {d/f: {type: file, mode: '0600'}}\n", "entries: {d: {type: dir, children: {f: {content: x}, g: {type: file}}}}\n", `
entries:
  d/f:
    type: file
    mode: "0600"
    content: x
  d:
    type: dir
    children:
      g:
        type: file
`},
		{"a new directory with children", "entries: {a: {type: file}}\n", "entries: {d: {type: dir, children: {e: {type: dir, children: {f: {type: file}}}}}}\n", `
entries:
  a:
    type: file
  d:
    type: dir
    children:
      e:
        type: dir
        children:
          f:
            type: file
`},
		{"children are taken back", "entries: {d: {type: dir, children: {f: {type: file, content: x}}}}\n", "entries: {d: {children: null}, d/f: {type: file}}\n", "entries:\n  d:\n    type: dir\n  d/f:\n    type: file\n"},
		{"x-keys are nothing", "x-a: 1\nname: a\n", "x-a: {b: c}\n", "name: a\n"},
		{"JSON over YAML", "name: a\n", `{"name": "b"}`, "name: b\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := merged(t, LoadOptions{}, tt.under, tt.over)
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if again := merged(t, LoadOptions{}, tt.under, tt.over, "{}"); again != got {
				t.Errorf("an empty document changes it to\n%s", again)
			}
		})
	}
}

func TestMergeFindings(t *testing.T) {
	tests := []struct {
		name string
		docs []string
		want []string
	}{
		{"each in its document", []string{"nmae: a\nname: A\n", "\nbsae: a\nroot: /a/\n"}, []string{
			"a.yaml:1:1 unknown_key nmae", "a.yaml:2:7 invalid_value name", "b.yaml:2:1 unknown_key bsae", "b.yaml:3:7 invalid_value root",
		}},
		{"what is replaced is nothing", []string{"name: A\n", "name: b\n"}, nil},
		{"a field of a merged entry", []string{"entries:\n  f: {type: file, content: a}\n", "entries:\n\n  f: {contents: b}\n"}, []string{`b.yaml:3:7 unknown_key entries["f"].contents`}},
		{"a field below a later one", []string{"entries:\n  f: {type: file, contents: a}\n", "entries:\n\n  f: {content: b}\n"}, []string{`a.yaml:2:19 unknown_key entries["f"].contents`}},
		{"an entry that nobody gives a type", []string{"{}", "entries:\n  f: {content: b}\n"}, []string{`b.yaml:2:6 missing entries["f"]`}},
		{"null is no entry", []string{"entries: {f: {type: file}}", "entries: {f: null}\n"}, []string{`b.yaml:1:14 wrong_type entries["f"]`}},
		{"duplicates of one document", []string{"name: a\nusers: [{name: u}, {name: u}]\n", "name: b\nname: c\nusers: [{name: u}]\n"}, []string{"a.yaml:2:27 duplicate users[1].name", "b.yaml:2:1 duplicate_key name"}},
		{"duplicates of a later document", []string{"users: [{name: u}]\nextra_path_grants: [{path: /a}]\n", "users: [{name: u}, {name: u}]\nextra_path_grants: [{path: /a}, {path: /a}]\n"}, []string{
			"b.yaml:1:27 duplicate users[1].name", "b.yaml:2:40 duplicate extra_path_grants[1].path",
		}},
		{"entries that are equal after cleaning", []string{"entries: {a/b: {type: file}}\n", "entries: {a/b: {content: x}, a//b: {type: file}}\n"}, []string{`b.yaml:1:30 duplicate_path entries["a/b"]`}},
		{"below what another document made a file", []string{"entries: {d: {type: dir}, d/f: {type: file}}\n", "entries: {d: {type: file}}\n"}, []string{`a.yaml:1:27 below_non_directory entries["d/f"]`}},
		{"a child of a file", []string{"entries: {d: {type: file}}\n", "entries: {d: {children: {f: {type: file}}}}\n"}, []string{`b.yaml:1:15 unknown_key entries["d"].children`}},
		{"a child with a path that leads elsewhere", []string{"entries: {x: {type: file}}\n", "entries: {d: {type: dir, children: {../x: {type: file}}}}\n"}, []string{`b.yaml:1:37 escape_root entries["d"].children["../x"]`}},
		{"another kind replaces", []string{"entries: {d: {type: file}}\nlabels: {a: b}\n", "entries: []\nlabels: x\n"}, []string{"b.yaml:1:10 wrong_type entries", "b.yaml:2:9 wrong_type labels"}},
		{"two halves that contradict each other", []string{"secrets: {s: {env: A}}\nnetwork: none\n", "ports: [80]\nenvironment: {E: {secret: t}}\n"}, []string{"a.yaml:2:10 conflict network", `b.yaml:2:15 undeclared_secret environment["E"]`}},
		{"a document that cannot be read", []string{"nmae: a\n", "a: [\n", "", "[]\n"}, []string{"b.yaml:1:4 syntax ", "c.yaml:1:1 empty_document ", "d.yaml:1:1 wrong_type "}},
		{"variables of both", []string{"name: ${A}\n", "name: ${B}\n"}, []string{"a.yaml:1:7 unset_variable name", "b.yaml:1:7 unset_variable name"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, list, err := Load(sourcesOf(tt.docs...), LoadOptions{})
			if diff := cmp.Diff(tt.want, places(list)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if errors.Is(err, ErrInvalid) != (len(tt.want) > 0) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestMergeMessages(t *testing.T) {
	_, list, _ := Load(sourcesOf("entries:\n  f: {type: file}\nname: a\nname: b\n", "entries:\n  f/g: {type: file}\nname: c\n"), LoadOptions{})
	want := `a.yaml:4:1: name: key "name" is already at b.yaml:3:1
b.yaml:2:3: entries["f/g"]: "f/g" lies below "f", a file at a.yaml:2:3, which cannot hold entries`
	var got []string
	for _, f := range list {
		got = append(got, f.String())
	}
	if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMergeInterpolates(t *testing.T) {
	opts := LoadOptions{Lookup: func(name string) (string, bool) { return name, name == "V" }}
	const asks = "entries: {f: {type: file, interpolate: true}}\n"
	content := func(c string) string {
		return fmt.Sprintf("entries:\n  f:\n    type: file\n    content: %s\n    interpolate: true\n", c)
	}
	tests := []struct {
		name        string
		interpolate bool
		docs        []string
		want        string
	}{
		{"YAML over JSON", false, []string{`{"name": "${V}", "base": "${V}"}`, "name: ${V:-x}\nroot: /${V}\n", "name: v"}, "name: v\nbase: ${V}\nroot: /V\n"},
		{"JSON on request", true, []string{`{"base": "${V}"}`}, "base: V\n"},
		{"content that another document asks for", false, []string{"entries: {f: {type: file, content: '${V}'}}\n", asks}, content("V")},
		{"content of JSON", false, []string{asks, `{"entries": {"f": {"content": "${V}"}}}`}, content("${V}")},
		{"content of a child", false, []string{"entries: {d: {type: dir, children: {f: {type: file, content: 'a${V}'}}}}\n", "entries: {d/f: {interpolate: true}}"}, `entries:
  d:
    type: dir
    children:
      f:
        type: file
        content: aV
        interpolate: true
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sources []Source
			for i, doc := range tt.docs {
				sources = append(sources, Source{Name: fmt.Sprint(i), Reader: strings.NewReader(doc)})
			}
			opts.Interpolate = tt.interpolate
			m, _, err := Load(sources, opts)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.CanonicalYAML()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("version: 1\n"+tt.want, strings.ReplaceAll(string(got), "$$", "$")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// files opens what a map has.
func files(docs map[string]string) func(string) (io.ReadCloser, error) {
	return func(name string) (io.ReadCloser, error) {
		doc, ok := docs[name]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return io.NopCloser(strings.NewReader(doc)), nil
	}
}

func TestInclude(t *testing.T) {
	docs := map[string]string{
		"dir/one.yaml":        "name: one\nbase: one\nlabels: {one: '', from: one}\ninclude: [sub/deep.yaml]\n",
		"dir/two.json":        `{"base": "two", "labels": {"two": "", "from": "two"}}`,
		"dir/sub/deep.yaml":   "name: deep\nlabels: {deep: ''}\ninclude: [../two.json, ../../outside.yaml]\n",
		"outside.yaml":        "labels: {outside: '', from: outside}\n",
		"/absolute/three.yml": "labels: {three: ''}\n",
	}
	m, _, err := Load([]Source{
		{Name: "dir/main.yaml", Reader: strings.NewReader("include: [one.yaml, two.json, '/absolute/${F}.yml']\nlabels: {main: ''}\n"), Local: true},
		{Name: "over.yaml", Reader: strings.NewReader("labels: {over: ''}\ninclude: []\n")},
	}, LoadOptions{Open: files(docs), Lookup: func(string) (string, bool) { return "three", true }})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"deep": "", "outside": "", "one": "", "two": "", "three": "", "main": "", "over": "", "from": "two"}
	if diff := cmp.Diff(want, m.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if m.Name != "one" || m.Base != "two" || m.Include != nil {
		t.Errorf("got name %q, base %q, include %q", m.Name, m.Base, m.Include)
	}
}

func TestIncludeFindings(t *testing.T) {
	chain := map[string]string{}
	for i := range 20 {
		chain[fmt.Sprintf("%d.yaml", i)] = fmt.Sprintf("include: [%d.yaml]\n", i+1)
	}
	tests := []struct {
		name, doc string
		files     map[string]string
		want      []string
	}{
		{"missing", "name: A\ninclude: [no.yaml]\n", nil, []string{"a.yaml:2:11: include[0]: open no.yaml: file does not exist"}},
		{"empty", "include: ['']\n", nil, []string{"a.yaml:1:11: include[0]: is empty"}},
		{"an address", "include: ['https://x/y.yaml']\n", nil, []string{`a.yaml:1:11: include[0]: "https://x/y.yaml" is not a local file`}},
		{"not a list", "include: b.yaml\n", nil, []string{"a.yaml:1:10: include: is a string, not a list"}},
		{"not strings", "include: [1]\n", nil, []string{`a.yaml:1:11: include[0]: is a number, not a string (quote it: "1")`}},
		{"twice", "include: [b.yaml]\ninclude: [b.yaml]\n", nil, []string{`a.yaml:2:1: include: key "include" is already at 1:1`}},
		{"itself", "include: [./a.yaml]\n", nil, []string{`a.yaml:1:11: include[0]: "a.yaml" would include itself`}},
		{"a cycle", "include: [b.yaml]\n", map[string]string{"b.yaml": "include:\n- d/c.yaml\n", "d/c.yaml": "include: [../b.yaml]\n"}, []string{
			`d/c.yaml:1:11: include[0]: "b.yaml" would include itself, by way of b.yaml:2:3`,
		}},
		{"one document twice is no cycle", "include: [b.yaml, b.yaml]\n", map[string]string{"b.yaml": "name: b\n"}, nil},
		{"invalid", "name: a\ninclude: [b.yaml]\n", map[string]string{"b.yaml": "\nbsae: b\nname: B\n"}, []string{`b.yaml:2:1: bsae: unknown key "bsae" (did you mean "base"?)`}},
		{"unreadable", "nmae: a\ninclude: [b.yaml]\n", map[string]string{"b.yaml": "a: [\n"}, []string{"b.yaml:1:4: did not find expected node content"}},
		{"too deep", "include: [0.yaml]\n", chain, []string{"15.yaml:1:11: include[0]: documents include each other through more than 16 levels"}},
		{"too many", "include: [" + strings.Repeat("b.yaml,", 101) + "]\n", map[string]string{"b.yaml": "{}"}, []string{"a.yaml:1:711: include[100]: more than 100 documents are included"}},
		{"too large", "include: [b.yaml, b.yaml]\n", map[string]string{"b.yaml": "name: b #" + strings.Repeat("x", MaxSize/2)}, []string{"b.yaml:1:1: the manifest is larger than 16777216 bytes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, list, err := Load(sourcesOf(tt.doc), LoadOptions{Open: files(tt.files)})
			var got []string
			for _, f := range list {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if errors.Is(err, ErrInvalid) != (len(tt.want) > 0) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestIncludeNeedsALocalFile(t *testing.T) {
	const doc = "include: [b.yaml]\n"
	for name, tt := range map[string]struct {
		source Source
		opts   LoadOptions
	}{
		"standard input": {Source{Name: "<stdin>", Reader: strings.NewReader(doc)}, LoadOptions{Open: files(map[string]string{"b.yaml": "{}"})}},
		"no files":       {Source{Name: "a.yaml", Reader: strings.NewReader(doc), Local: true}, LoadOptions{}},
	} {
		t.Run(name, func(t *testing.T) {
			_, list, err := Load([]Source{tt.source}, tt.opts)
			if want := []string{tt.source.Name + ":1:11 include include[0]"}; !cmp.Equal(want, places(list)) || !errors.Is(err, ErrInvalid) {
				t.Errorf("got %v, error %v; want %v", places(list), err, want)
			}
		})
	}
}

func TestLoadErrors(t *testing.T) {
	if _, _, err := Load(nil, LoadOptions{}); err == nil || errors.Is(err, ErrInvalid) {
		t.Errorf("without a document: error %v", err)
	}
	broken := errors.New("broken")
	_, _, err := Load([]Source{{Name: "a.yaml", Reader: iotest.ErrReader(broken)}}, LoadOptions{})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), `"a.yaml"`) {
		t.Errorf("with a broken reader: error %v", err)
	}
	_, list, err := Load(sourcesOf("include: [b.yaml]"), LoadOptions{Open: func(string) (io.ReadCloser, error) {
		return io.NopCloser(iotest.ErrReader(broken)), nil
	}})
	if want := []string{"a.yaml:1:11 include include[0]"}; !cmp.Equal(want, places(list)) || !errors.Is(err, ErrInvalid) {
		t.Errorf("with a broken include: got %v, error %v", places(list), err)
	}
}
