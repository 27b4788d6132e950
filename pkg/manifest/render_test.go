package manifest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTree(t *testing.T) {
	const nested = `
  b: {type: file}
  a/z: {type: file}
  a/y/x: {type: file, description: "the\n  x"}
  a-: {type: dir, description: A, children: {c: {type: file}}}
`
	tests := []struct {
		name, entries string
		options       TreeOptions
		want          string
	}{
		{"nothing", " {}", TreeOptions{}, "/workspace/\n"},
		{"sorted, with the directories that are implied", nested, TreeOptions{}, `
/workspace/
├── a/         # /workspace/a
│   ├── y/     # /workspace/a/y
│   │   └── x  # /workspace/a/y/x — the x
│   └── z      # /workspace/a/z
├── a-/        # /workspace/a- — A
│   └── c      # /workspace/a-/c
└── b          # /workspace/b
`},
		{"one level", nested, TreeOptions{Depth: 1}, `
/workspace/
├── a/   # /workspace/a — 3 below it not shown
├── a-/  # /workspace/a- — A; 1 below it not shown
└── b    # /workspace/b
`},
		{"two levels", nested, TreeOptions{Depth: 2}, `
/workspace/
├── a/      # /workspace/a
│   ├── y/  # /workspace/a/y — 1 below it not shown
│   └── z   # /workspace/a/z
├── a-/     # /workspace/a- — A
│   └── c   # /workspace/a-/c
└── b       # /workspace/b
`},
		{"limit", nested, TreeOptions{Limit: 180}, `
/workspace/
├── a/         # /workspace/a
│   ├── y/     # /workspace/a/y
│   │   └── x  # /workspace/a/y/x — the x
… 4 of 7 paths not shown: a tree has at most 180 characters
`},
		{"limit below the mark", nested, TreeOptions{Limit: 1}, `
/workspace/
… 7 of 7 paths not shown: a tree has at most 1 characters
`},
		{"sources", `
  f: {type: local_file, src: x/f}
  d: {type: local_dir, src: x, description: D}
  e: {type: local_dir}
  g: {type: git_repo, repo: a/b}
  h: {type: git_repo, url: "file:///srv/r.git", ref: v1, subpath: s}
`, TreeOptions{}, `
/workspace/
├── d/  # /workspace/d — D; copy of x on the host
├── e/  # /workspace/e
├── f   # /workspace/f — copy of x/f on the host
├── g/  # /workspace/g — clone of https://github.com/a/b.git
└── h/  # /workspace/h — clone of file:///srv/r.git at v1, only s
`},
		{"mounts are where they are attached", `
  s: {type: s3_mount, bucket: b, mount_path: m/s, description: S}
  v: {type: volume_mount}
  w: {type: volume_mount, tmpfs: true, read_only: true}
  v/seed: {type: file}
  d: {type: dir, description: D, children: {b: {type: box_mount, read_only: false}}}
`, TreeOptions{}, `
/workspace/
├── d/        # /workspace/d — D
│   └── b/    # /workspace/d/b — box_mount, read-write
├── m/        # /workspace/m
│   └── s/    # /workspace/m/s — S; s3_mount, read-only
├── v/        # /workspace/v — volume_mount, read-write
│   └── seed  # /workspace/v/seed
└── w/        # /workspace/w — tmpfs, read-only
`},
		{"what cannot be seen is escaped", `
  "a\n├── b": {type: file, description: "\u202Ec \e[2J"}
  é: {type: file}
`, TreeOptions{}, `
/workspace/
├── a\n├── b  # /workspace/a\n├── b — \u202ec \x1b[2J
└── é         # /workspace/é
`},
		{"a long name moves no other comment", `
  a: {type: file}
  bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb: {type: file}
`, TreeOptions{}, `
/workspace/
├── a                                             # /workspace/a
└── bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb  # /workspace/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := decodeString(t, "entries:"+tt.entries, DecodeOptions{})
			want := strings.TrimPrefix(tt.want, "\n")
			if diff := cmp.Diff(want, m.Tree(tt.options)); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTreeOfDialects(t *testing.T) {
	for _, name := range []string{"openai-agents-0.22-manifest", "augments-adk-manifest"} {
		t.Run(name, func(t *testing.T) {
			f, err := os.Open(filepath.Join("testdata", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			m, _, err := Decode(f, DecodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".tree.golden.txt", []byte(m.Tree(TreeOptions{})))
			golden(t, name+".instructions.golden.md", []byte(m.Instructions()))
		})
	}
}

// TestTreeIsBounded: whatever a manifest says, its tree keeps to the limit and
// has one printable line for each path.
func TestTreeIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawManifest(t)
		o := TreeOptions{Limit: rapid.IntRange(200, 4000).Draw(t, "limit"), Depth: rapid.IntRange(0, 3).Draw(t, "depth")}
		tree := m.Tree(o)
		if n := utf8.RuneCountInString(tree); n > o.Limit {
			t.Errorf("%d characters, limit %d", n, o.Limit)
		}
		for line := range strings.Lines(tree) {
			if i := strings.IndexFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !strconv.IsPrint(r) }); i >= 0 {
				t.Errorf("line %q has something that does not print at %d", line, i)
			}
		}
		paths := map[string]bool{}
		for _, e := range m.Flatten() {
			for p := target(e); p != "."; p = filepath.ToSlash(filepath.Dir(p)) {
				paths[p] = true
			}
		}
		if all := strings.Count(m.Tree(TreeOptions{Limit: 1 << 30}), "\n"); all != 1+len(paths) {
			t.Errorf("the whole tree has %d lines, want 1 and %d paths", all, len(paths))
		}
	})
}

func TestInstructions(t *testing.T) {
	tests := []struct {
		name, doc   string
		has, hasNot []string
	}{
		{
			"no mounts", "name: ws\nentries: {a: {type: file}}\n",
			[]string{"# Workspace ws\n", "Your workspace is /workspace,", "└── a  # /workspace/a"},
			[]string{"Remote mounts", "Run only", "read-only", "To edit", "outside", "Commands run as", "no network"},
		},
		{
			"read-only mounts", "entries: {m: {type: s3_mount, bucket: b, description: Data}}\n",
			[]string{"- /workspace/m (read-only): Data\n", "Run only these commands on them: ls, cat, head, tail, find, stat, file, rg, grep, wc, du, df.\n", "cannot be changed"},
			[]string{"To edit"},
		},
		{
			"read-write mounts", "entries: {m: {type: s3_mount, bucket: b, read_only: false}}\n",
			[]string{"- /workspace/m (read-write)\n", "To edit a file on a read-write mount"},
			[]string{"read-only"},
		},
		{
			"both", "entries: {m: {type: s3_mount, bucket: b, mount_path: data}, n: {type: box_mount, read_only: false}}\n",
			[]string{"- /workspace/data (read-only)\n- /workspace/n (read-write)\n", "cannot be changed", "To edit"},
			nil,
		},
		{"commands of its own", "remote_mount_command_allowlist: [ls, cp]\nentries: {m: {type: box_mount}}\n", []string{"on them: ls, cp.\n"}, nil},
		{"no commands", "remote_mount_command_allowlist: []\nentries: {m: {type: box_mount}}\n", []string{"Run no command on them.\n"}, []string{"Run only"}},
		{
			"volumes are not remote", "entries: {v: {type: volume_mount, read_only: true}, t: {type: volume_mount, tmpfs: true}}\n",
			[]string{"## Volumes and paths outside of the workspace\n\n- /workspace/v (read-only)\n- /workspace/t (read-write)\n"},
			[]string{"Remote mounts"},
		},
		{
			"unless a driver serves them", "entries: {v: {type: volume_mount, driver: nfs-plugin}}\n",
			[]string{"## Remote mounts", "- /workspace/v (read-write)\n"},
			[]string{"outside"},
		},
		{
			"grants", "extra_path_grants: [{path: /opt, host_path: /home/me/opt, read_only: true, description: Tools}, {path: /tmp}]\n",
			[]string{"- /opt (read-only): Tools\n- /tmp (read-write)\n"},
			[]string{"/home/me", "Remote mounts"},
		},
		{
			"paths of the host stay there", "entries: {d: {type: local_dir, src: /home/me/d}, f: {type: local_file, src: /home/me/f}}\n",
			[]string{"# /workspace/d — copied from the host"},
			[]string{"/home/me"},
		},
		{
			"the container", "root: /srv/w\nrun_as: agent\nnetwork: none\n",
			[]string{"Your workspace is /srv/w, a directory in a container. Commands run as agent. There is no network.\n"},
			nil,
		},
		{"values stay out", "environment: {TOKEN: t0k3n}\nentries: {m: {type: s3_mount, bucket: b, secret_access_key: hunter2}}\n", nil, []string{"t0k3n", "hunter2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := decodeString(t, tt.doc, DecodeOptions{}).Instructions()
			for _, s := range tt.has {
				if !strings.Contains(got, s) {
					t.Errorf("%q is missing in\n%s", s, got)
				}
			}
			for _, s := range tt.hasNot {
				if strings.Contains(got, s) {
					t.Errorf("%q is in\n%s", s, got)
				}
			}
		})
	}
}

// TestInstructionsOfManifestsBuiltInGo: the zero value has the defaults.
func TestInstructionsOfManifestsBuiltInGo(t *testing.T) {
	m := &Manifest{Entries: Entries{{Path: "m", Entry: &BoxMount{}}}}
	got := m.Instructions()
	for _, s := range []string{"Your workspace is /workspace,", "on them: ls, cat,"} {
		if !strings.Contains(got, s) {
			t.Errorf("%q is missing in\n%s", s, got)
		}
	}
}
