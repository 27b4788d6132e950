//go:build unix

package plugin_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
)

const (
	oneFile = `{"name": "ws", "base": "base:1", "entries": {"a.txt": {"type": "file", "content": "a"}}}`
	clones  = `{"name": "ws", "base": "base:1", "entries": {"repo": {"type": "git_repo", "url": "https://git.example/slow.git"}}}`
)

// Wherever an apply is interrupted, it ends with code 130, says that it was
// interrupted, and leaves nothing.
func TestInterrupt(t *testing.T) {
	for name, test := range map[string]struct {
		manifest     string
		args         []string
		method, path string // of the request that hangs
		signal       os.Signal
	}{
		"looking for the workspace": {oneFile, nil, "GET", "/containers/ws/json", os.Interrupt},
		"looking at the base":       {oneFile, nil, "GET", "/images/base:1/json", os.Interrupt},
		"pulling the base":          {oneFile, []string{"--pull", "always"}, "POST", "/images/create", os.Interrupt},
		"creating the container":    {oneFile, nil, "POST", "/containers/create", os.Interrupt},
		"sending the files":         {oneFile, nil, "PUT", "/containers/*/archive", os.Interrupt},
		"loading an image":          {oneFile, []string{"--strategy", "image"}, "POST", "/images/load", os.Interrupt},
		"starting the container":    {oneFile, nil, "POST", "/containers/*/start", os.Interrupt},
		"starting it from an image": {oneFile, []string{"--strategy", "image"}, "POST", "/containers/*/start", os.Interrupt},
		"preparing a clone":         {clones, nil, "POST", "/containers/*/exec", os.Interrupt},
		"beginning a clone":         {clones, nil, "POST", "/exec/*/start", os.Interrupt},
		"giving the name":           {oneFile, nil, "POST", "/containers/*/rename", os.Interrupt},
		"told to terminate":         {oneFile, nil, "POST", "/containers/*/start", syscall.SIGTERM},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			_, undo := e.Hold(test.method, test.path)
			defer undo()
			p := start(t, e, test.manifest, test.args...)
			p.waitFor(test.method, test.path)
			p.signal(test.signal)
			p.ends(130, `^interrupted\n$`)
			if err := untouched(e); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestInterruptRunningClone(t *testing.T) {
	e := newEngine(t)
	p := start(t, e, clones)
	p.waitFor("POST", "/exec/*/start")
	p.signal(os.Interrupt)
	p.ends(130, `^interrupted\n$`)
	if err := untouched(e); err != nil {
		t.Error(err)
	}
}

// The workspace that was to be replaced runs again.
func TestInterruptRecreate(t *testing.T) {
	e := newEngine(t)
	start(t, e, oneFile).ends(0, ``)
	old := e.Container("ws").ID
	p := start(t, e, clones, "--recreate")
	p.waitFor("POST", "/exec/*/start")
	p.signal(os.Interrupt)
	p.ends(130, `^interrupted\n$`)
	if got := e.Containers(); !slices.Equal(got, []string{"ws"}) || e.Container("ws").ID != old {
		t.Errorf("got containers %q, want the old one alone", got)
	}
	// A running workspace has nothing to do, a stopped one would be started.
	start(t, e, oneFile).ends(0, `up to date`)
}

// What an interrupted apply leaves is told.
func TestInterruptTellsWhatIsLeft(t *testing.T) {
	t.Run("because of --keep", func(t *testing.T) {
		e := newEngine(t)
		p := start(t, e, clones, "--keep")
		p.waitFor("POST", "/exec/*/start")
		p.signal(os.Interrupt)
		p.ends(130, `^interrupted: .*\(kept as container "ws-applying-[a-z0-9]{8}": .*\)\n$`)
	})
	t.Run("because it cannot be removed", func(t *testing.T) {
		e := newEngine(t)
		defer e.Fail("DELETE", "/containers/*", 500, "device or resource busy")()
		p := start(t, e, clones)
		p.waitFor("POST", "/exec/*/start")
		p.signal(os.Interrupt)
		p.ends(130, `(?m)^clean up: .*device or resource busy$`)
	})
}

// Who interrupts twice does not want to wait for the removal.
func TestInterruptTwice(t *testing.T) {
	e := newEngine(t)
	_, undo := e.Hold("DELETE", "/containers/*")
	defer undo()
	p := start(t, e, clones)
	p.waitFor("POST", "/exec/*/start")
	p.signal(os.Interrupt)
	p.waitFor("DELETE", "/containers/*")
	p.signal(os.Interrupt)
	p.wait()
	if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT {
		t.Errorf("got status %v, want to end by the signal", p.cmd.ProcessState)
	}
}

// The docker command closes a socket when its plugin is to stop.
func TestInterruptByDockerCommand(t *testing.T) {
	e := newEngine(t)
	name := filepath.Join(t.TempDir(), "plugin.sock")
	listener, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	t.Setenv("DOCKER_CLI_PLUGIN_SOCKET", name)
	t.Setenv("DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", "docker")
	p := start(t, e, clones)
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	p.waitFor("POST", "/exec/*/start")
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	p.ends(130, `^interrupted\n$`)
	if err := untouched(e); err != nil {
		t.Error(err)
	}
}

// applying is a process that applies a manifest.
type applying struct {
	t      *testing.T
	engine *enginetest.Engine
	cmd    *exec.Cmd
	output bytes.Buffer
}

func start(t *testing.T, e *enginetest.Engine, manifest string, args ...string) *applying {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "workspace.json")
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	words := []string{"apply", "-f", file, "--progress", "quiet"}
	if os.Getenv("DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND") != "" {
		words = append([]string{"workspace"}, words...)
	}
	p := &applying{t: t, engine: e, cmd: exec.CommandContext(t.Context(), "docker-workspace", append(words, args...)...)}
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	p.cmd.Env = os.Environ()
	for key, value := range environment(e, dir) {
		p.cmd.Env = append(p.cmd.Env, key+"="+value)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// waitFor waits for a request.
func (p *applying) waitFor(method, pattern string) {
	p.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		for _, r := range p.engine.Requests() {
			if ok, _ := path.Match(pattern, r.Path); ok && r.Method == method {
				return
			}
		}
	}
	_ = p.cmd.Process.Kill()
	p.wait()
	p.t.Fatalf("no request %s %s; output:\n%s", method, pattern, &p.output)
}

func (p *applying) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// wait waits for the end, and ends what takes too long.
func (p *applying) wait() {
	timeout := time.AfterFunc(20*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer timeout.Stop()
	_ = p.cmd.Wait() // the state has it
}

func (p *applying) ends(code int, output string) {
	p.t.Helper()
	p.wait()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("got %v, want exit code %d", p.cmd.ProcessState, code)
	}
	if !regexp.MustCompile(output).Match(p.output.Bytes()) {
		p.t.Errorf("output does not match %q:\n%s", output, &p.output)
	}
}
