package plan_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
)

var update = flag.Bool("update", false, "rewrite golden files")

func file(path string) manifest.KeyedEntry {
	return manifest.KeyedEntry{Path: path, Entry: &manifest.File{}}
}

func ephemeral(path string) manifest.KeyedEntry {
	return manifest.KeyedEntry{Path: path, Entry: &manifest.File{Attributes: manifest.Attributes{Ephemeral: true}}}
}

func dir(path string) manifest.KeyedEntry {
	return manifest.KeyedEntry{Path: path, Entry: &manifest.Dir{}}
}

func git(path string) manifest.KeyedEntry {
	return manifest.KeyedEntry{Path: path, Entry: &manifest.GitRepo{URL: "git://example.com/" + path + ".git", Depth: 1}}
}

func TestStages(t *testing.T) {
	tests := map[string]struct {
		entries []manifest.KeyedEntry
		want    string
	}{
		"no entries":                         {nil, ""},
		"files share one stage":              {[]manifest.KeyedEntry{file("a"), dir("d"), file("d/x")}, "a d d/x"},
		"a clone follows the files":          {[]manifest.KeyedEntry{file("a"), git("src"), file("b")}, "a b | src"},
		"only a clone":                       {[]manifest.KeyedEntry{git("src")}, " | src"},
		"a file in a clone lands after it":   {[]manifest.KeyedEntry{git("src"), file("src/x"), file("a")}, "a | src | src/x"},
		"a prefix is no overlap":             {[]manifest.KeyedEntry{git("src"), file("src2/x")}, "src2/x | src"},
		"a directory around a clone waits":   {[]manifest.KeyedEntry{git("a/b"), dir("a"), file("a/c")}, " | a/b | a a/c"},
		"declared before, written before":    {[]manifest.KeyedEntry{dir("a"), git("a/b")}, "a | a/b"},
		"a clone in a clone":                 {[]manifest.KeyedEntry{git("a"), git("a/b"), git("c")}, " | a c |  | a/b"},
		"a clone over files over a clone":    {[]manifest.KeyedEntry{git("a"), file("a/b/x"), git("a/b/y"), git("a/b/x/z")}, " | a | a/b/x | a/b/y a/b/x/z"},
		"mounts are attached and not staged": {[]manifest.KeyedEntry{{Path: "m", Entry: &manifest.S3Mount{}}, file("a")}, "a"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var stages []string
			for i, s := range plan.Stages(tt.entries) {
				if s.Git != (i%2 == 1) {
					t.Errorf("stage %d: Git is %v", i, s.Git)
				}
				var paths []string
				for _, e := range s.Entries {
					paths = append(paths, e.Path)
				}
				stages = append(stages, strings.Join(paths, " "))
			}
			want := tt.want
			if got := strings.Join(stages, " | "); got != want {
				t.Errorf("stages\n got %q\nwant %q", got, want)
			}
		})
	}
}

// Whatever the entries are: each lands once, in a stage of its kind, and after
// every earlier one that it overlaps unless both are files.
func TestStagesKeepTheOrderOfWhatOverlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		component := rapid.SampledFrom([]string{"a", "b", "ab"})
		paths := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(component, 1, 3).Draw(t, "components"), "/")
		}), 0, 12, rapid.ID[string]).Draw(t, "paths")
		var entries []manifest.KeyedEntry
		for _, p := range paths {
			if rapid.Bool().Draw(t, "git") {
				entries = append(entries, git(p))
			} else {
				entries = append(entries, file(p))
			}
		}
		at := map[string]int{}
		for i, s := range plan.Stages(entries) {
			for _, e := range s.Entries {
				if _, twice := at[e.Path]; twice {
					t.Fatalf("%s is staged twice", e.Path)
				}
				at[e.Path] = i
			}
		}
		for i, e := range entries {
			stage, ok := at[e.Path]
			_, isGit := e.Entry.(*manifest.GitRepo)
			if !ok || isGit != (stage%2 == 1) {
				t.Fatalf("%s is in stage %d (%v)", e.Path, stage, ok)
			}
			for _, before := range entries[:i] {
				_, beforeIsGit := before.Entry.(*manifest.GitRepo)
				if !plan.Overlap(e.Path, before.Path) {
					continue
				}
				if at[before.Path] > stage || at[before.Path] == stage && (isGit || beforeIsGit) {
					t.Fatalf("%s in stage %d does not follow %s in stage %d", e.Path, stage, before.Path, at[before.Path])
				}
			}
		}
	})
}

func TestCompute(t *testing.T) {
	m := func(entries ...manifest.KeyedEntry) *manifest.Manifest {
		return &manifest.Manifest{Root: "/workspace", Base: "debian:12", Entries: entries}
	}
	prints := func(s string) map[string]string { return map[string]string{"entry a": s, "base": "b"} }
	ours := &plan.Container{ID: "c1", Running: true, Managed: true, Digest: "sha256:1", Applied: prints("1")}
	stopped := &plan.Container{ID: "c1", Managed: true, Digest: "sha256:1", Applied: prints("1")}
	takes := m(file("a"))
	takes.ExtraPathGrants = []manifest.PathGrant{{Path: "/opt/data", HostPath: "/srv/data", ReadOnly: true}, {Path: "/opt/rw", HostPath: "/srv/rw"}, {Path: "/etc"}}
	takes.Secrets = map[string]manifest.Secret{"token": {Env: "GH_TOKEN"}, "cert": {File: "my cert.pem"}}
	takes.Environment = []manifest.EnvVar{{Name: "CERT", Secret: "cert"}, {Name: "LANG", Value: new("C")}, {Name: "TOKEN", Secret: "token"}}
	stale := *ours
	stale.Stale = []string{"environment LANG has another value now"}
	tests := map[string]struct {
		req  plan.Request
		seen plan.Observed
	}{
		"fresh, grants and secrets":        {plan.Request{Manifest: takes}, plan.Observed{BasePresent: true}},
		"nothing to do, grants":            {plan.Request{Manifest: takes}, plan.Observed{Container: ours}},
		"another value of the caller":      {plan.Request{Manifest: m(file("a"))}, plan.Observed{Container: &stale}},
		"fresh, small":                     {plan.Request{Manifest: m(file("a"))}, plan.Observed{BasePresent: true, Bytes: 1200}},
		"fresh, large":                     {plan.Request{Manifest: m(file("a"))}, plan.Observed{BasePresent: true, Bytes: 100 << 20}},
		"fresh, image present":             {plan.Request{Manifest: m(file("a"))}, plan.Observed{BasePresent: true, ImagePresent: true}},
		"fresh, base missing":              {plan.Request{Manifest: m(file("a"), git("src"), file("src/x"))}, plan.Observed{}},
		"fresh, strategy image":            {plan.Request{Manifest: m(file("a"), git("src")), Strategy: plan.Image}, plan.Observed{BasePresent: true}},
		"fresh, strategy image, no entry":  {plan.Request{Manifest: m(), Strategy: plan.Image}, plan.Observed{BasePresent: true}},
		"fresh, strategy copy, no entry":   {plan.Request{Manifest: m(), Strategy: plan.Copy}, plan.Observed{BasePresent: true}},
		"fresh, pull always":               {plan.Request{Manifest: m(file("a")), Pull: plan.PullAlways}, plan.Observed{BasePresent: true}},
		"fresh, pull never, base missing":  {plan.Request{Manifest: m(file("a")), Pull: plan.PullNever}, plan.Observed{}},
		"nothing to do":                    {plan.Request{Manifest: m(file("a"), git("src"))}, plan.Observed{Container: ours}},
		"stopped":                          {plan.Request{Manifest: m(file("a"))}, plan.Observed{Container: stopped}},
		"ephemeral entries":                {plan.Request{Manifest: m(file("a"), ephemeral("b"))}, plan.Observed{Container: ours}},
		"changed":                          {plan.Request{Manifest: m(file("a")), Digest: "sha256:2", Sections: prints("2")}, plan.Observed{Container: ours}},
		"changed, recreate":                {plan.Request{Manifest: m(file("a")), Digest: "sha256:2", Sections: prints("2"), Recreate: true}, plan.Observed{BasePresent: true, Container: ours}},
		"recreate what is stopped":         {plan.Request{Manifest: m(file("a")), Recreate: true}, plan.Observed{BasePresent: true, Container: stopped}},
		"a foreign container has the name": {plan.Request{Manifest: m(file("a")), Recreate: true}, plan.Observed{BasePresent: true, Container: &plan.Container{ID: "c2", Running: true}}},
		"only ephemeral, nothing exists":   {plan.Request{Manifest: m(file("a")), OnlyEphemeral: true}, plan.Observed{BasePresent: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.req.Name = "ws"
			if tt.req.Digest == "" {
				tt.req.Digest = "sha256:1"
			}
			var got strings.Builder
			p, err := plan.Compute(tt.req, tt.seen)
			if err != nil {
				got.WriteString("error: " + err.Error() + "\n")
				if errors.Is(err, plan.ErrConflict) {
					got.WriteString("(a conflict)\n")
				}
			} else if err := p.WriteText(&got); err != nil {
				t.Fatal(err)
			}
			golden(t, got.String())
		})
	}
}

func golden(t *testing.T, got string) {
	t.Helper()
	name := filepath.Join("testdata", strings.ReplaceAll(strings.ReplaceAll(t.Name(), "/", "_"), ",", "")+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("plan differs from %s (-want +got):\n%s", name, diff)
	}
}

func TestChanges(t *testing.T) {
	before := map[string]string{"entry a": "1", "entry b": "1", "base": "1", "environment": "1"}
	after := map[string]string{"entry a": "2", "entry c": "1", "base": "1", "run_as": "1"}
	want := []string{"entry a changed", "entry b removed", "entry c added", "environment changed", "run_as changed"}
	if diff := cmp.Diff(want, plan.Changes(before, after)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if got := plan.Changes(before, before); len(got) != 1 || got[0] != "the order of entries changed" {
		t.Errorf("equal parts of unequal manifests: %q", got)
	}
}

func TestFingerprintsFollowEachPart(t *testing.T) {
	m := &manifest.Manifest{Version: 1, Root: "/workspace", Base: "debian:12", Entries: manifest.Entries{file("a"), file("b")}}
	before, err := plan.Fingerprints(m)
	if err != nil {
		t.Fatal(err)
	}
	m.Base = "debian:13"
	m.Entries[0].Entry.(*manifest.File).Content = []byte("new")
	after, err := plan.Fingerprints(m)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"base changed", "entry a changed"}
	if diff := cmp.Diff(want, plan.Changes(before, after)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
