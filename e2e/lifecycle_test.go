package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docker-workspace/docker-workspace/pkg/workspace"
)

// The quickstart example, its repository served by a container on a network
// that the workspace joins.
func TestQuickstartExample(t *testing.T) {
	networkName, url := gitServer(t)
	c := newCLI(t)
	c.env = append(c.env, "QUICKSTART_GIT_URL="+url)
	example, err := filepath.Abs("../examples/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	name := unique(t)
	result := c.apply(t, name, "-f", filepath.Join(example, "workspace.yaml"), "--base-dir", example, "--network", networkName)
	if len(result.Git) != 1 || len(result.Git[0].Commit) != 40 {
		t.Errorf("git is %+v", result.Git)
	}
	if got := c.must(t, "exec", name, "cat", "hello/README"); got != "hello\n" {
		t.Errorf("hello/README is %q", got)
	}
	got := export(t, result.ContainerID, "workspace")
	for path, want := range onHost(t, filepath.Join(example, "project"), "workspace/project") {
		if got[path] != want {
			t.Errorf("%s is %+v, want %+v", path, got[path], want)
		}
	}
	if got := c.must(t, "exec", name, "sh", "-c", "echo $GREETING"); got != "hello from the workspace\n" {
		t.Errorf("GREETING is %q", got)
	}
}

// The agent example: its user owns the workspace, and only the ephemeral prompt
// comes back.
func TestAgentExample(t *testing.T) {
	c := newCLI(t)
	example, err := filepath.Abs("../examples/agent")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-f", filepath.Join(example, "workspace.yaml"), "--base-dir", example}
	name := unique(t)
	c.apply(t, name, args...)
	if got := c.must(t, "exec", name, "sh", "-c", "id -un; echo $TASK; touch reports/done && echo writable"); got != "agent\nword-count\nwritable\n" {
		t.Errorf("the agent sees %q", got)
	}
	c.must(t, "exec", name, "sh", "-c", "echo spoilt > .session/prompt.md; echo spoilt > task/count.sh")
	again := c.apply(t, name, args...)
	if len(again.Files) != 1 || again.Files[0].Path != "/workspace/.session/prompt.md" {
		t.Errorf("the second apply wrote %+v, want only the prompt", again.Files)
	}
	prompt, err := os.ReadFile(filepath.Join(example, "prompt.md"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.must(t, "exec", name, "cat", ".session/prompt.md"); got != string(prompt) {
		t.Errorf("the prompt is %q", got)
	}
	if got := c.must(t, "exec", name, "cat", "task/count.sh"); got != "spoilt\n" {
		t.Errorf("the agent's own change is gone: %q", got)
	}
}

// A workspace from first apply to removal.
func TestLifecycle(t *testing.T) {
	c := newCLI(t)
	write(t, c.dir, "workspace.yaml", "name: ignored\nentries: {a: {type: file, content: one}}\n")
	name := unique(t)
	first := c.apply(t, name)

	if again := c.apply(t, name); again.ContainerID != first.ContainerID || len(again.Operations) != 0 {
		t.Errorf("the second apply did %+v", again.Operations)
	}
	if err := eng.StopContainer(t.Context(), first.ContainerID, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if out := c.run(t, "exec", name, "true"); out.code != 4 || !strings.Contains(out.stderr, "is exited") {
		t.Errorf("exec in a stopped workspace: %+v", out)
	}
	c.must(t, "apply", "--name", name)
	if got := c.must(t, "exec", name, "cat", "a"); got != "one" {
		t.Errorf("after a restart a is %q", got)
	}

	write(t, c.dir, "workspace.yaml", "entries: {a: {type: file, content: two}, b: {type: file}}\n")
	out := c.run(t, "apply", "--name", name)
	if out.code != 4 || !strings.Contains(out.stderr, "entry a changed, entry b added") || !strings.Contains(out.stderr, "--recreate") {
		t.Errorf("a changed manifest: %+v", out)
	}
	second := c.apply(t, name, "--recreate")
	if second.ContainerID == first.ContainerID {
		t.Error("--recreate kept the container")
	}
	if got := c.must(t, "exec", name, "cat", "a"); got != "two" {
		t.Errorf("after --recreate a is %q", got)
	}

	if got := c.must(t, "ls", "--format", "{{.Name}} {{.Status}}"); !strings.Contains(got, name+" running\n") {
		t.Errorf("ls shows %q", got)
	}
	c.must(t, "rm", name)
	nothingLeft(t, name)
	if out := c.run(t, "inspect", name); out.code != 1 || !strings.Contains(out.stderr, "docker workspace ls") {
		t.Errorf("inspect of what is gone: %+v", out)
	}
}

// The image of a workspace is loaded once: the next one of the same content
// finds it, and it goes with the last workspace that uses it.
func TestImageIsShared(t *testing.T) {
	c := newCLI(t)
	write(t, c.dir, "workspace.yaml", "name: ignored\nentries: {a: {type: file, content: one}}\n")
	name := unique(t)
	first := c.apply(t, name, "--strategy", "image")
	if !hasOperation(first, "load-image") {
		t.Errorf("the first apply did %+v", first.Operations)
	}
	plan := c.must(t, "plan", "--name", name, "--recreate")
	if strings.Contains(plan, "load-image") || !strings.Contains(plan, "from the workspace image") {
		t.Errorf("with the image present the plan is\n%s", plan)
	}
	image, err := eng.InspectImage(t.Context(), first.Image.Reference)
	if err != nil {
		t.Fatal(err)
	}
	below, err := eng.InspectImage(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(below.DiffIDs); len(image.DiffIDs) != n+1 || image.DiffIDs[n-1] != below.DiffIDs[n-1] {
		t.Errorf("layers %v are not one on top of %v", image.DiffIDs, below.DiffIDs)
	}
	if image.Config.WorkingDir != "/workspace" {
		t.Errorf("the image starts in %q", image.Config.WorkingDir)
	}
}

func hasOperation(r workspace.Result, kind string) bool {
	for _, op := range r.Operations {
		if string(op.Kind) == kind {
			return true
		}
	}
	return false
}

// exec passes input, output and exit codes as docker exec does.
func TestExec(t *testing.T) {
	c := newCLI(t)
	write(t, c.dir, "workspace.yaml", "entries: {d: {type: dir}}\nenvironment: {A: manifest}\n")
	name := unique(t)
	c.apply(t, name, "-e", "B=flag")
	tests := map[string]struct {
		args   []string
		stdout string
		stderr string
		code   int
	}{
		"output and code":      {[]string{name, "sh", "-c", "echo out; echo err >&2; exit 7"}, "out\n", "err\n", 7},
		"environment":          {[]string{"-e", "C=exec", name, "sh", "-c", "echo $A $B $C"}, "manifest flag exec\n", "", 0},
		"working directory":    {[]string{name, "pwd"}, "/workspace\n", "", 0},
		"relative directory":   {[]string{"-w", "d", name, "pwd"}, "/workspace/d\n", "", 0},
		"user":                 {[]string{"-u", "65534", name, "id", "-u"}, "65534\n", "", 0},
		"flags of the command": {[]string{name, "echo", "-e", "--flag"}, "--flag\n", "", 0},
	}
	for label, tt := range tests {
		t.Run(label, func(t *testing.T) {
			out := c.run(t, append([]string{"exec"}, tt.args...)...)
			if out.stdout != tt.stdout || out.stderr != tt.stderr || out.code != tt.code {
				t.Errorf("got %+v", out)
			}
		})
	}
	t.Run("input", func(t *testing.T) {
		cmd := c.command(t.Context(), "exec", "-i", name, "cat")
		cmd.Stdin = bytes.NewReader(bytes.Repeat([]byte("0123456789abcdef"), 1<<16))
		if out := finish(t, cmd); len(out.stdout) != 1<<20 || out.code != 0 {
			t.Errorf("%d bytes came back, exit code %d, %s", len(out.stdout), out.code, out.stderr)
		}
	})
	t.Run("a missing command", func(t *testing.T) {
		if out := c.run(t, "exec", name, "no-such-command"); out.code != 127 {
			t.Errorf("got %+v", out)
		}
	})
}
