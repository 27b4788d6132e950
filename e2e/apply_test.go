package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
)

var compareObjects = cmp.AllowUnexported(object{})

// The real engine does what the fake one of the unit tests pretends.
func TestEngineContract(t *testing.T) {
	enginetest.Contract(t, eng, enginetest.ContractEnv{Image: base})
}

// A real source tree of more than a thousand files and a repository arrive byte
// by byte, and a second apply finds nothing to do.
func TestApplyARealSourceTree(t *testing.T) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(strings.TrimSpace(string(goroot)), "src", "crypto")
	served := t.TempDir()
	commit := bareRepository(t, served, "own.git", ownSource(t))
	url := gitDaemon(t, served) + "own.git"
	c := newCLI(t)
	write(t, c.dir, "workspace.yaml", fmt.Sprintf(`
entries:
  crypto: {type: local_dir, src: crypto}
  own: {type: git_repo, url: %q}
  own/NOTES: {type: file, content: "declared over the clone\n"}
`, url))
	name := unique(t)
	args := []string{"--base-dir", filepath.Dir(source), "--network", "host"}
	result := c.apply(t, name, args...)

	want := onHost(t, source, "workspace/crypto")
	if len(want) < 1000 {
		t.Fatalf("%s has only %d files", source, len(want))
	}
	got := export(t, result.ContainerID, "workspace")
	for path, object := range want {
		if diff := cmp.Diff(object, got[path], compareObjects); diff != "" {
			t.Errorf("%s (-host +workspace):\n%s", path, diff)
		}
	}
	for path, content := range ownSource(t) {
		if got["workspace/own/"+path].sha256 != digest([]byte(content)) {
			t.Errorf("own/%s differs from the repository", path)
		}
	}
	if got["workspace/own/NOTES"].sha256 != digest([]byte("declared over the clone\n")) {
		t.Error("own/NOTES did not land over the clone")
	}
	if len(result.Git) != 1 || result.Git[0].Commit != commit {
		t.Errorf("git %+v, want commit %s", result.Git, commit)
	}
	if head := strings.TrimSpace(c.must(t, "exec", name, "git", "-C", "own", "rev-parse", "HEAD")); head != commit {
		t.Errorf("HEAD is %s, want %s", head, commit)
	}
	checkFiles(t, result.Files, got)

	plan := c.must(t, append([]string{"plan", "--name", name}, args...)...)
	if plan != name+": nothing to do\n" {
		t.Errorf("the second plan is not empty:\n%s", plan)
	}
}

// ownSource is the source of this project, by its path.
func ownSource(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for path := range onHost(t, "../pkg", "pkg") {
		if content, err := os.ReadFile(filepath.Join("..", path)); err == nil {
			files[path] = string(content)
		}
	}
	return files
}

// Whichever way the files get in, the container holds the same.
func TestStrategiesAgree(t *testing.T) {
	c := newCLI(t)
	for name, content := range map[string]string{"src/a/run.sh": "#!/bin/sh\n", "src/a.txt": "a", "src/a/deep/b.txt": "b"} {
		write(t, c.dir, name, content)
	}
	for path, mode := range map[string]os.FileMode{"src/a/run.sh": 0o750, "src/a/deep": 0o700} {
		if err := os.Chmod(filepath.Join(c.dir, path), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../a.txt", filepath.Join(c.dir, "src/a/link")); err != nil {
		t.Fatal(err)
	}
	write(t, c.dir, "workspace.yaml", `
users:
  - {name: alice, uid: 1500, groups: [dev]}
  - {name: bob}
groups: [{name: dev, gid: 1600}]
run_as: alice
entries:
  x/y/z.txt: {type: file, content: deep}
  src: {type: local_dir, src: src}
  src/a.txt: {type: file, content: replaced, mode: "0600", owner: bob}
  shared: {type: dir, group: dev, permissions: rwxrwx---, children: {readme: {type: file, content: "", owner: root}}}
  empty: {type: local_dir}
  binary: {type: file, content_base64: AAECAw==}
`)
	name := unique(t)
	copied := c.apply(t, name+"-copy", "--strategy", "copy")
	image := c.apply(t, name+"-image", "--strategy", "image")
	paths := []string{"workspace", "etc/passwd", "etc/group", "home"}
	fromCopy, fromImage := export(t, copied.ContainerID, paths...), export(t, image.ContainerID, paths...)
	if diff := cmp.Diff(fromCopy, fromImage, compareObjects); diff != "" {
		t.Errorf("strategies differ (-copy +image):\n%s", diff)
	}
	if diff := cmp.Diff(copied.Files, image.Files); diff != "" {
		t.Errorf("results differ (-copy +image):\n%s", diff)
	}
	checkFiles(t, image.Files, fromImage)
	want := map[string]object{
		"workspace":               {kind: "dir", mode: 0o755, uid: 1500, gid: 1500},
		"workspace/x":             {kind: "dir", mode: 0o755, uid: 1500, gid: 1500},
		"workspace/src/a/run.sh":  {kind: "file", mode: 0o750, uid: 1500, gid: 1500, sha256: digest([]byte("#!/bin/sh\n"))},
		"workspace/src/a/link":    {kind: "link", mode: 0o777, uid: 1500, gid: 1500, link: "../a.txt"},
		"workspace/src/a/deep":    {kind: "dir", mode: 0o700, uid: 1500, gid: 1500},
		"workspace/src/a.txt":     {kind: "file", mode: 0o600, uid: 1000, gid: 1000, sha256: digest([]byte("replaced"))},
		"workspace/shared":        {kind: "dir", mode: 0o770, uid: 1500, gid: 1600},
		"workspace/shared/readme": {kind: "file", mode: 0o644, sha256: digest(nil)},
		"workspace/empty":         {kind: "dir", mode: 0o755, uid: 1500, gid: 1500},
		"workspace/binary":        {kind: "file", mode: 0o644, uid: 1500, gid: 1500, sha256: digest([]byte{0, 1, 2, 3})},
		"home/alice":              {kind: "dir", mode: 0o755, uid: 1500, gid: 1500},
	}
	for path, object := range want {
		if diff := cmp.Diff(object, fromImage[path], compareObjects); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	for _, ws := range []string{name + "-copy", name + "-image"} {
		if id := c.must(t, "exec", ws, "id"); id != "uid=1500(alice) gid=1500(alice) groups=1500(alice),1600(dev)\n" {
			t.Errorf("%s runs as %s", ws, id)
		}
		c.must(t, "exec", ws, "sh", "-c", "echo mine > own && echo mine > ~/own")
	}
}

// What the base has stays what it is: /tmp keeps its mode and a link of the
// base stays a link.
func TestBaseIsRespected(t *testing.T) {
	for _, strategy := range []string{"copy", "image"} {
		t.Run(strategy, func(t *testing.T) {
			c := newCLI(t)
			write(t, c.dir, "workspace.yaml", "root: /bin/e2e\nentries: {tool: {type: file, content: x, mode: '0755'}}")
			result := c.apply(t, unique(t), "--strategy", strategy)
			got := export(t, result.ContainerID, "bin", "usr/bin/e2e")
			if got["bin"].kind != "link" || got["bin"].link != "usr/bin" {
				t.Errorf("bin is %+v, want the link to usr/bin", got["bin"])
			}
			if got["usr/bin/e2e/tool"].mode != 0o755 {
				t.Errorf("usr/bin/e2e/tool is %+v", got["usr/bin/e2e/tool"])
			}
		})
		t.Run(strategy+" in tmp", func(t *testing.T) {
			c := newCLI(t)
			write(t, c.dir, "workspace.yaml", "root: /tmp/e2e\nentries: {f: {type: file, content: x}}")
			result := c.apply(t, unique(t), "--strategy", strategy)
			if tmp := export(t, result.ContainerID, "tmp")["tmp"]; tmp.mode != 0o1777 {
				t.Errorf("/tmp has mode %o", tmp.mode)
			}
		})
	}
}

// Whoever works in the workspace can use git in a clone that is another's.
func TestGitTrustsTheCloneOfAnotherOwner(t *testing.T) {
	served := t.TempDir()
	commit := bareRepository(t, served, "r.git", map[string]string{"f": "x"})
	url := gitDaemon(t, served) + "r.git"
	c := newCLI(t)
	write(t, c.dir, "workspace.yaml", fmt.Sprintf(`
users: [{name: alice}]
run_as: alice
entries: {src: {type: git_repo, url: %q, owner: root}}
`, url))
	name := unique(t)
	c.apply(t, name, "--network", "host")
	if head := c.must(t, "exec", name, "git", "-C", "src", "rev-parse", "HEAD"); head != commit+"\n" {
		t.Errorf("HEAD is %q", head)
	}
}
