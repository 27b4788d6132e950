package manifest

import (
	"errors"
	"strings"
	"testing"
)

// FuzzMerge merges two documents and an assignment. What is refused has
// findings that name where they are from; what is accepted survives its
// canonical form, over which an empty document changes nothing.
func FuzzMerge(f *testing.F) {
	f.Add("entries: {d: {type: dir, children: {f: {type: file}}}}", "entries: {d/f: {content: x}, d: {children: null}}", `entries["d/f"].mode="0600"`)
	f.Add("users: [{name: a}, {name: a}]\nenvironment: {variables: {A: 1}}", "users: [{name: a}]\nenvironment: {value: {A: {value: 2}}}", "environment.A=3")
	f.Add("entries: {m: {type: s3_mount, mount_strategy: {type: in_container, pattern: {type: rclone}}}}", "entries: {m: {mount_strategy: {pattern: {type: fuse}}}}", "resources.cpus=1")
	f.Add("include: [a]\nentries: []", "entries: {a: &a {type: file}, b: *a}", "=")
	f.Fuzz(func(t *testing.T, under, over, set string) {
		m, list, err := Load(sourcesOf(under, over), LoadOptions{Set: []string{set}})
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("error without findings: %v", err)
			}
			for _, finding := range list {
				if finding.File != "a.yaml" && finding.File != "b.yaml" && !strings.HasPrefix(finding.File, "--set ") {
					t.Fatalf("finding from nowhere: %v", finding)
				}
			}
			return
		}
		before, err := m.Digest()
		if err != nil {
			t.Fatal(err)
		}
		canonical, err := m.CanonicalYAML()
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := Load(sourcesOf(string(canonical), "{}"), LoadOptions{})
		if err != nil {
			t.Fatalf("read again: %v in\n%s", err, canonical)
		}
		if after, err := again.Digest(); after != before || err != nil {
			t.Fatalf("digest %s became %s, error %v, through\n%s", before, after, err, canonical)
		}
	})
}

// FuzzInterpolate expands anything. Without a dollar sign nothing changes, and
// text whose dollar signs are doubled comes back as it was.
func FuzzInterpolate(f *testing.F) {
	for _, s := range []string{"a", "${V}", "$$", "$", "${V:-$}", "${X:?}", "${", "$V$", "${V:-a}b}"} {
		f.Add(s)
	}
	lookup := func(name string) (string, bool) { return "${V}", name == "V" }
	f.Fuzz(func(t *testing.T, s string) {
		in := interpolator{lookup: lookup, budget: MaxSize}
		got, err := in.expand(s)
		switch {
		case err != nil && (err.code == "" || err.message == ""):
			t.Fatalf("error without a code or message on %q", s)
		case !strings.Contains(s, "$") && (err != nil || got != s):
			t.Fatalf("%q became %q, error %v", s, got, err)
		}
		if back, err := in.expand(strings.ReplaceAll(s, "$", "$$")); err != nil || back != s {
			t.Fatalf("doubled dollar signs in %q gave %q, error %v", s, back, err)
		}
	})
}

// FuzzEnvFile parses anything. Errors name a line of the file; what is accepted
// has names that an environment can have, and survives being quoted.
func FuzzEnvFile(f *testing.F) {
	for _, s := range []string{"A=1\n", "export A='1\n2' # c", `A="\n\q\""`, "\ufeff#\r\nA", "A='", "=", "a b=1"} {
		f.Add(s)
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	f.Fuzz(func(t *testing.T, s string) {
		vars, err := ParseEnvFile(strings.NewReader(s), ".env")
		if err != nil {
			invalid, ok := errors.AsType[*InvalidError](err)
			if !ok {
				t.Fatalf("error without findings: %v", err)
			}
			for _, finding := range invalid.Findings {
				if finding.Line < 1 || finding.Line > 1+strings.Count(s, "\n") {
					t.Fatalf("finding outside of the file: %v", finding)
				}
			}
			return
		}
		var b strings.Builder
		for name, value := range vars {
			if name == "" || strings.ContainsAny(name, "=\x00 \n") {
				t.Fatalf("%q is a name", name)
			}
			b.WriteString("export " + name + `="` + quote.Replace(value) + "\"\n")
		}
		again, err := ParseEnvFile(strings.NewReader(b.String()), ".env")
		if err != nil || len(again) != len(vars) {
			t.Fatalf("read again: %v of %v, error %v", again, vars, err)
		}
		for name, value := range vars {
			if again[name] != value {
				t.Fatalf("%s is %q, then %q", name, value, again[name])
			}
		}
	})
}
