//go:build unix

package materialize_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
)

// host runs the commands of a sandbox here, without its user.
type host struct {
	path string
	env  []string
}

func (h host) Run(ctx context.Context, c materialize.Command) (stdout, stderr []byte, exitCode int, err error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", c.Args[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = slices.Concat(c.Env, h.env, []string{"PATH=" + h.path, "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1"})
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.Bytes(), errOut.Bytes(), exit.ExitCode(), nil
	}
	return out.Bytes(), errOut.Bytes(), 0, err
}

// repository is a repository with a few commits, branches, tags and links.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t, filepath.Join(t.TempDir(), "origin")}
	if out, err := exec.Command("git", "init", "-q", "-b", "main", r.dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	r.commit("README", "one\n")
	r.git("tag", "-a", "-m", "first", "v1")
	r.commit("README", "two\n")
	if err := os.MkdirAll(filepath.Join(r.dir, "services/api"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("services", filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	r.commit("services/api/main.txt", "api\n")
	r.git("branch", "abc1234")
	r.git("checkout", "-q", "-b", "feature/x")
	r.commit("README", "feature\n")
	r.git("checkout", "-q", "main")
	return r
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r repository) commit(name, content string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
	r.git("add", "-A")
	r.git("commit", "-q", "-m", content)
}

func (r repository) url() string { return "file://" + r.dir }

func clone(t *testing.T, dest string, repo manifest.GitRepo, env ...string) (string, error) {
	t.Helper()
	return materialize.CloneGit(t.Context(), host{os.Getenv("PATH"), env}, materialize.Clone{Path: "src", Dest: dest, Image: "base", Repo: &repo})
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCloneGitChecksOut(t *testing.T) {
	r := newRepository(t)
	first, main, feature := r.git("rev-parse", "v1^{commit}"), r.git("rev-parse", "main"), r.git("rev-parse", "feature/x")
	tests := map[string]struct {
		ref    string
		depth  int
		commit string
		head   string // symbolic name, "" when detached
	}{
		"the remote's HEAD":            {"", 1, main, "refs/heads/main"},
		"a branch":                     {"feature/x", 1, feature, "refs/heads/feature/x"},
		"a full branch name":           {"refs/heads/feature/x", 1, feature, "refs/heads/feature/x"},
		"an annotated tag":             {"v1", 1, first, ""},
		"a full tag name":              {"refs/tags/v1", 1, first, ""},
		"a commit":                     {first, 1, first, ""},
		"an abbreviated commit":        {first[:8], 1, first, ""},
		"a branch that looks like one": {"abc1234", 1, main, "refs/heads/abc1234"},
		"the whole history":            {"main", 0, main, "refs/heads/main"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dest := filepath.Join(t.TempDir(), "a dir", "src")
			got, err := clone(t, dest, manifest.GitRepo{URL: r.url(), Ref: tt.ref, Depth: tt.depth})
			if err != nil {
				t.Fatal(err)
			}
			in := repository{t, dest}
			if got != tt.commit || in.git("rev-parse", "HEAD") != tt.commit {
				t.Errorf("commit %s, HEAD %s, want %s", got, in.git("rev-parse", "HEAD"), tt.commit)
			}
			head, _ := exec.Command("git", "-C", dest, "symbolic-ref", "-q", "HEAD").Output()
			if strings.TrimSpace(string(head)) != tt.head {
				t.Errorf("HEAD is %q, want %q", head, tt.head)
			}
			if status := in.git("status", "--porcelain"); status != "" {
				t.Errorf("the work tree is not clean:\n%s", status)
			}
			if commits := in.git("rev-list", "--count", "HEAD"); tt.depth == 1 && tt.ref != first[:8] && commits != "1" || tt.depth == 0 && commits != "3" {
				t.Errorf("%s commits at depth %d", commits, tt.depth)
			}
			if remote := in.git("remote", "get-url", "origin"); remote != r.url() {
				t.Errorf("origin is %s", remote)
			}
		})
	}
}

func TestCloneGitFindsAnUnadvertisedCommit(t *testing.T) {
	r := newRepository(t)
	first := r.git("rev-parse", "main~2")
	// Only the first version of the protocol lets a server refuse.
	oldProtocol := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.version", "GIT_CONFIG_VALUE_0=0"}
	got, err := clone(t, filepath.Join(t.TempDir(), "src"), manifest.GitRepo{URL: r.url(), Ref: first, Depth: 1}, oldProtocol...)
	if err != nil || got != first {
		t.Errorf("clone gave %s, %v; want %s", got, err, first)
	}
}

func TestCloneGitSubpath(t *testing.T) {
	r := newRepository(t)
	dest := filepath.Join(t.TempDir(), "src")
	if _, err := clone(t, dest, manifest.GitRepo{URL: r.url(), Subpath: "services/api", Depth: 1}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dest, "main.txt"); got != "api\n" {
		t.Errorf("main.txt is %q", got)
	}
	entries, err := os.ReadDir(dest)
	if err != nil || len(entries) != 1 {
		t.Errorf("the destination holds %v, %v; want only main.txt", entries, err)
	}
	for _, subpath := range []string{"missing", "README", "link/api"} {
		dest := filepath.Join(t.TempDir(), "src")
		_, err := clone(t, dest, manifest.GitRepo{URL: r.url(), Subpath: subpath, Depth: 1})
		var bad *materialize.GitSubpathError
		if !errors.As(err, &bad) || bad.Subpath != subpath {
			t.Errorf("subpath %q: %v", subpath, err)
		}
		if left, _ := os.ReadDir(dest); len(left) != 0 {
			t.Errorf("subpath %q left %v", subpath, left)
		}
	}
}

func TestCloneGitOverFiles(t *testing.T) {
	r := newRepository(t)
	dest := filepath.Join(t.TempDir(), "src")
	if err := os.MkdirAll(dest, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"README": "declared before\n", "extra": "kept\n"} {
		if err := os.WriteFile(filepath.Join(dest, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := clone(t, dest, manifest.GitRepo{URL: r.url(), Depth: 1}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dest, "README"); got != "two\n" {
		t.Errorf("README is %q: the later entry wins", got)
	}
	if got := read(t, dest, "extra"); got != "kept\n" {
		t.Errorf("extra is %q", got)
	}
	// Again, as an ephemeral entry: the clone moves on.
	r.commit("README", "three\n")
	if err := os.WriteFile(filepath.Join(dest, "README"), []byte("edited\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := clone(t, dest, manifest.GitRepo{URL: r.url(), Depth: 1}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dest, "README"); got != "three\n" {
		t.Errorf("README is %q after the second clone", got)
	}
}

func TestCloneGitFailures(t *testing.T) {
	r := newRepository(t)
	tests := map[string]struct {
		repo   manifest.GitRepo
		reason string
		stderr string
	}{
		"no such ref":        {manifest.GitRepo{URL: r.url(), Ref: "nope", Depth: 1}, "no such ref", ""},
		"a pattern":          {manifest.GitRepo{URL: r.url(), Ref: "ma*", Depth: 1}, "no such ref", ""},
		"no such commit":     {manifest.GitRepo{URL: r.url(), Ref: strings.Repeat("0123456789", 4), Depth: 1}, "no such ref", ""},
		"no such repository": {manifest.GitRepo{URL: r.url() + "-nope", Depth: 1}, "cannot be read", "does not appear to be a git repository"},
		"nobody listens":     {manifest.GitRepo{URL: "git://127.0.0.1:1/x.git", Depth: 1}, "cannot be read", "unable to connect"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dest := filepath.Join(t.TempDir(), "src")
			_, err := clone(t, dest, tt.repo)
			var failed *materialize.GitCloneError
			if !errors.As(err, &failed) {
				t.Fatalf("clone gave %v, want a GitCloneError", err)
			}
			if !strings.Contains(failed.Reason, tt.reason) || !strings.Contains(failed.Stderr, tt.stderr) {
				t.Errorf("reason %q, stderr %q", failed.Reason, failed.Stderr)
			}
			if _, err := os.Stat(filepath.Join(dest, ".git")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf(".git is left: %v", err)
			}
		})
	}
}

func TestCloneGitWithoutGit(t *testing.T) {
	_, err := materialize.CloneGit(t.Context(), host{path: t.TempDir()}, materialize.Clone{
		Path: "src", Dest: t.TempDir(), Image: "busybox", Repo: &manifest.GitRepo{URL: "git://example.com/x.git"},
	})
	var missing *materialize.GitMissingInImageError
	if !errors.As(err, &missing) || missing.Image != "busybox" || missing.Path != "src" {
		t.Errorf("clone without git gave %v", err)
	}
}
