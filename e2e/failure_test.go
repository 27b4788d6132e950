package e2e

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
)

// Whatever fails: one clear error, the right exit code, and nothing is left.
func TestFailuresLeaveNothing(t *testing.T) {
	c := newCLI(t)
	served := t.TempDir()
	bareRepository(t, served, "r.git", map[string]string{"f": "x"})
	url := gitDaemon(t, served)
	before := volumes(t)
	clone := func(fields string) string {
		return "entries: {a: {type: file, content: x}, src: {type: git_repo, " + fields + "}}"
	}
	tests := map[string]struct {
		manifest string
		args     []string
		code     int
		want     []string
	}{
		"unreachable git server": {clone("url: 'git://127.0.0.1:1/r.git'"), nil, 1, []string{`entry "src"`, "git://127.0.0.1:1/r.git", "cannot be read", "Connection refused"}},
		"no such repository":     {clone("url: '" + url + "nope.git'"), nil, 1, []string{"cannot be read", "nope.git"}},
		"no such ref":            {clone("url: '" + url + "r.git', ref: nope"), nil, 1, []string{`at "nope"`, "no such ref"}},
		"no such commit":         {clone("url: '" + url + "r.git', ref: '" + strings.Repeat("0123456789", 4) + "'"), nil, 1, []string{"no such ref"}},
		"no such subpath":        {clone("url: '" + url + "r.git', subpath: nope"), nil, 1, []string{`no directory "nope"`}},
		"git is missing":         {"root: /usr/bin\n" + clone("url: '"+url+"r.git'}, git: {type: file, content: no program"), nil, 1, []string{"has no git", base}},
		"missing base image":     {"entries: {}", []string{"--base", "127.0.0.1:1/none:none"}, 1, []string{"127.0.0.1:1/none:none"}},
		"never pulled":           {"entries: {}", []string{"--base", "127.0.0.1:1/none:none", "--pull", "never"}, 1, []string{"--pull never"}},
		"missing host file":      {"entries: {a: {type: local_file, src: nope}}", nil, 1, []string{`"nope" does not exist`}},
		"unknown network":        {"entries: {}", []string{"--network", "e2e-no-such-network"}, 1, []string{"e2e-no-such-network"}},
		"unknown owner":          {"entries: {a: {type: file, owner: nobody-knows}}", nil, 1, []string{`entry "a"`, `user "nobody-knows"`}},
		"invalid manifest":       {"entries: {../a: {type: file}}", nil, 2, []string{"workspace.yaml:1:11"}},
		"unsupported entry":      {"entries: {a: {type: box_mount, mount_strategy: {type: docker_volume, driver: rclone}}}", nil, 1, []string{"box_mount", "not supported"}},
		"no such command":        {"entries: {}\ninit: false\ncommand: [/no/such/command]", nil, 1, []string{"/no/such/command"}},
	}
	for label, tt := range tests {
		for _, strategy := range []string{"copy", "image"} {
			t.Run(label+", "+strategy, func(t *testing.T) {
				write(t, c.dir, "workspace.yaml", tt.manifest)
				name := unique(t)
				out := c.run(t, append([]string{"apply", "--name", name, "--strategy", strategy, "--network", "host", "--progress", "quiet"}, tt.args...)...)
				if out.code != tt.code || out.stdout != "" {
					t.Errorf("exit code %d, want %d; stdout %q", out.code, tt.code, out.stdout)
				}
				for _, want := range tt.want {
					if !strings.Contains(out.stderr, want) {
						t.Errorf("the error lacks %q:\n%s", want, out.stderr)
					}
				}
				nothingLeft(t, name)
			})
		}
	}
	if after := volumes(t); after != before {
		t.Errorf("volumes before:\n%s\nafter:\n%s", before, after)
	}
}

// The name of somebody else's container is not ours to take.
func TestForeignContainerIsRefused(t *testing.T) {
	c := newCLI(t)
	write(t, c.dir, "workspace.yaml", "entries: {}")
	name := unique(t)
	created, err := eng.CreateContainer(t.Context(), engine.ContainerSpec{Name: name, Image: base})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := eng.RemoveContainer(t.Context(), created.ID); err != nil {
			t.Error(err)
		}
	}()
	for _, args := range [][]string{{"apply", "--name", name}, {"apply", "--name", name, "--recreate"}} {
		if out := c.run(t, args...); out.code != 4 || !strings.Contains(out.stderr, "is not a workspace") {
			t.Errorf("%v: %+v", args, out)
		}
	}
	if out := c.run(t, "rm", name); out.code != 1 {
		t.Errorf("rm: %+v", out)
	}
	if _, err := eng.InspectContainer(t.Context(), created.ID); err != nil {
		t.Errorf("the foreign container is gone: %v", err)
	}
}

// Interrupted in the middle of a clone that never ends, apply removes what it
// made and says so.
func TestInterrupt(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			c := newCLI(t)
			url := fmt.Sprintf("git://127.0.0.1:%d/r.git", silentServer(t))
			write(t, c.dir, "workspace.yaml", "entries: {src: {type: git_repo, url: '"+url+"'}}")
			name := unique(t)
			cmd := c.command(t.Context(), "apply", "--name", name, "--network", "host", "--strategy", "image")
			var stderr strings.Builder
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waitForContainer(t, name)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // its code is looked at below
			if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(stderr.String(), "interrupted") {
				t.Errorf("exit code %d\n%s", code, stderr.String())
			}
			nothingLeft(t, name)
		})
	}
}

// With --keep a failed apply leaves the container and says how to look at it.
func TestKeep(t *testing.T) {
	c := newCLI(t)
	write(t, c.dir, "workspace.yaml", "entries: {a: {type: file, content: x}, src: {type: git_repo, url: 'git://127.0.0.1:1/r.git'}}")
	name := unique(t)
	out := c.run(t, "apply", "--name", name, "--keep", "--network", "host")
	if out.code != 1 || !strings.Contains(out.stderr, "kept as container") {
		t.Errorf("got %+v", out)
	}
	kept := regexp.MustCompile(regexp.QuoteMeta(name) + "-applying-[a-z0-9]+").FindString(c.must(t, "ls", "--quiet"))
	if kept == "" || !strings.Contains(out.stderr, kept) {
		t.Fatalf("ls shows %q, apply said %s", kept, out.stderr)
	}
	if got := c.must(t, "exec", kept, "cat", "a"); got != "x" {
		t.Errorf("a is %q", got)
	}
	c.must(t, "rm", kept)
	nothingLeft(t, name)
}

func waitForContainer(t *testing.T, name string) {
	t.Helper()
	for range 200 {
		containers, err := eng.ListContainers(t.Context(), "io.github.docker-workspace.name="+name)
		if err != nil {
			t.Fatal(err)
		}
		if len(containers) == 1 && containers[0].State == "running" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("no container of workspace %s runs", name)
}
