package e2e

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker-workspace/docker-workspace/pkg/materialize"
)

// object is a file, directory or link of a container.
type object struct {
	kind     string
	mode     int64
	uid, gid int
	link     string
	sha256   string
}

// export reads the file system of a container through the engine's export,
// which shows it as it is, and keeps what lies below the given paths.
func export(t *testing.T, id string, below ...string) map[string]object {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "docker", "export", id)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	objects := map[string]object{}
	for entries := tar.NewReader(out); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(header.Name, "/")
		for _, b := range below {
			if name == b || strings.HasPrefix(name, b+"/") {
				objects[name] = describe(t, header, entries)
			}
		}
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return objects
}

func describe(t *testing.T, h *tar.Header, content io.Reader) object {
	t.Helper()
	o := object{kind: map[byte]string{tar.TypeDir: "dir", tar.TypeReg: "file", tar.TypeSymlink: "link"}[h.Typeflag], mode: h.Mode & 0o7777, uid: h.Uid, gid: h.Gid, link: h.Linkname}
	if h.Typeflag == tar.TypeReg {
		sum := sha256.New()
		if _, err := io.Copy(sum, content); err != nil {
			t.Fatal(err)
		}
		o.sha256 = hex.EncodeToString(sum.Sum(nil))
	}
	return o
}

// onHost describes a tree of the host as a workspace should hold it, below
// prefix and owned by root.
func onHost(t *testing.T, dir, prefix string) map[string]object {
	t.Helper()
	objects := map[string]object{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		o := object{mode: int64(info.Mode().Perm())}
		switch {
		case info.IsDir():
			o.kind = "dir"
		case info.Mode()&os.ModeSymlink != 0:
			o.kind = "link"
			o.link, err = os.Readlink(path)
		default:
			o.kind = "file"
			var content []byte
			content, err = os.ReadFile(path)
			o.sha256 = digest(content)
		}
		objects[filepath.Join(prefix, rel)] = o
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// checkFiles compares what apply says that it wrote with what is there.
func checkFiles(t *testing.T, said []materialize.File, got map[string]object) {
	t.Helper()
	if len(said) == 0 {
		t.Error("apply names no files")
	}
	for _, f := range said {
		o := got[strings.TrimPrefix(f.Path, "/")]
		want := object{kind: "file", mode: o.mode, uid: f.UID, gid: f.GID, sha256: f.SHA256}
		if mode := fmt.Sprintf("%04o", o.mode); mode != f.Mode || o != want {
			t.Errorf("apply says %+v, the container has %+v", f, o)
		}
	}
}

func digest(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// gitDaemon serves the bare repositories below dir on the loopback, and
// returns the URL that their names are appended to.
func gitDaemon(t *testing.T, dir string) string {
	t.Helper()
	port := freePort(t)
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, filepath.Join(strings.TrimSpace(string(path)), "git-daemon"),
		"--listen=127.0.0.1", fmt.Sprintf("--port=%d", port), "--reuseaddr", "--export-all", "--base-path="+dir, dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // killed: its error says so
	})
	waitForPort(t, port)
	return fmt.Sprintf("git://127.0.0.1:%d/", port)
}

// bareRepository makes dir/name with one commit of the given files and returns
// the commit.
func bareRepository(t *testing.T, dir, name string, files map[string]string) string {
	t.Helper()
	work := t.TempDir()
	for file, content := range files {
		write(t, work, file, content)
	}
	git(t, work, "init", "-q", "-b", "main", ".")
	git(t, work, "add", "-A")
	git(t, work, "commit", "-q", "-m", "first")
	git(t, work, "tag", "v1")
	git(t, work, "clone", "-q", "--bare", work, filepath.Join(dir, name))
	return git(t, work, "rev-parse", "HEAD")
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
