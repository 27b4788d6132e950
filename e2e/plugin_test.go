package e2e

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// installed makes a Docker configuration that has the plugin, and returns the
// environment for the docker command.
func installed(t *testing.T, c cli) []string {
	t.Helper()
	config := t.TempDir()
	plugins := filepath.Join(config, "cli-plugins")
	if err := os.MkdirAll(plugins, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary, filepath.Join(plugins, "docker-workspace")); err != nil {
		t.Fatal(err)
	}
	return append(append(os.Environ(), c.env...), "DOCKER_CONFIG="+config)
}

func docker(t *testing.T, c cli, env []string, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "docker", args...)
	cmd.Dir, cmd.Env = c.dir, env
	return finish(t, cmd)
}

// Called as docker workspace: help, contexts, -H, exit codes and completion.
func TestAsPlugin(t *testing.T) {
	c := newCLI(t)
	env := installed(t, c)
	address := proxyToEngine(t)

	if out := docker(t, c, env, "help", "workspace"); !strings.Contains(out.stdout, "apply") {
		t.Errorf("docker help workspace: %+v", out)
	}
	if out := docker(t, c, env, "context", "create", "there", "--docker", "host="+address); out.code != 0 {
		t.Fatalf("docker context create: %+v", out)
	}
	for _, args := range [][]string{
		{"workspace", "version", "--format", "{{.Engine}}"},
		{"--context", "there", "workspace", "version", "--format", "{{.Engine}}"},
		{"-H", address, "workspace", "version", "--format", "{{.Engine}}"},
	} {
		out := docker(t, c, env, args...)
		info, err := eng.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if out.stdout != info.Version+"\n" || out.code != 0 {
			t.Errorf("docker %s: %+v, want engine %s", strings.Join(args, " "), out, info.Version)
		}
	}
	if out := docker(t, c, env, "-H", "tcp://127.0.0.1:1", "workspace", "ls"); out.code != 1 || !strings.Contains(out.stderr, "127.0.0.1:1") {
		t.Errorf("an unreachable engine: %+v", out)
	}
	if out := docker(t, c, env, "workspace", "no-such-command"); out.code != 2 {
		t.Errorf("an unknown command: %+v", out)
	}
	name := unique(t)
	write(t, c.dir, "workspace.yaml", "entries: {a: {type: file, content: x}}")
	removeLater(t, name)
	if out := docker(t, c, env, "workspace", "apply", "--name", name); out.code != 0 || !strings.Contains(out.stdout, "docker workspace shell "+name) {
		t.Errorf("docker workspace apply: %+v", out)
	}
	if out := docker(t, c, env, "workspace", "exec", name, "sh", "-c", "exit 9"); out.code != 9 {
		t.Errorf("docker workspace exec: %+v", out)
	}
	if out := docker(t, c, env, "__complete", "workspace", "exec", ""); !strings.Contains(out.stdout, name) {
		t.Errorf("completion: %+v", out)
	}
}

// proxyToEngine makes the engine answer on a TCP port of the loopback too.
func proxyToEngine(t *testing.T) string {
	t.Helper()
	_, socket, ok := strings.Cut(eng.Host(), "unix://")
	if !ok {
		return eng.Host()
	}
	address := serve(t, func(client net.Conn) {
		server, err := net.Dial("unix", socket)
		if err != nil {
			client.Close()
			return
		}
		// Either side may go away first: that ends the copies.
		go func() { _, _ = io.Copy(server, client); _ = server.(*net.UnixConn).CloseWrite() }()
		go func() { _, _ = io.Copy(client, server); client.Close() }()
	})
	return "tcp://" + address.String()
}

// On a terminal: a prompt, the size of the window, and the exit code.
func TestShell(t *testing.T) {
	c := newCLI(t)
	write(t, c.dir, "workspace.yaml", "entries: {}")
	name := unique(t)
	c.apply(t, name)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := c.command(ctx, "shell", name)
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 33, Cols: 101})
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	output := make(chan string)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, terminal) // ends with an error when the other side closes
		output <- b.String()
	}()
	if _, err := io.WriteString(terminal, "sleep 1; stty size; echo in $(pwd); exit 3\n"); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its code is looked at below
	got := <-output
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"33 101\r\n", "in /workspace\r\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the terminal lacks %q:\n%s", want, got)
		}
	}
	if out := c.run(t, "shell", name); out.code != 1 || !strings.Contains(out.stderr, "TTY") {
		t.Errorf("shell without a terminal: %+v", out)
	}
}
