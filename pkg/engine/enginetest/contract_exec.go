package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
)

// The scripts of the cases, which [ContractExec] knows by heart.
const (
	scriptStreams = "echo out; echo err >&2; exit 3"
	scriptContext = "echo $CONTRACT; pwd; id -u; id -g"
	scriptBig     = "cat; exit 4"
)

func (c *contract) exec(t *testing.T) {
	id := c.start(t, engine.ContainerSpec{Env: []string{"CONTRACT=container"}, WorkingDir: "/tmp"})
	big := strings.Repeat("0123456789abcdef", 1<<16)
	for _, test := range []struct {
		name           string
		spec           engine.ExecSpec
		stdin          string
		code           int
		stdout, stderr string
	}{
		{
			name: "streams are separate and the code is the command's",
			spec: engine.ExecSpec{Cmd: []string{"sh", "-c", scriptStreams}}, code: 3, stdout: "out\n", stderr: "err\n",
		},
		{
			name: "the container's environment, directory and user",
			spec: engine.ExecSpec{Cmd: []string{"sh", "-c", scriptContext}, User: "0"}, stdout: "container\n/tmp\n0\n0\n",
		},
		{
			name:   "an environment, a directory and a user of its own",
			spec:   engine.ExecSpec{Cmd: []string{"sh", "-c", scriptContext}, User: "1234:2345", WorkingDir: "/", Env: []string{"CONTRACT=exec"}},
			stdout: "exec\n/\n1234\n2345\n",
		},
		{
			name: "input is passed on to its end",
			spec: engine.ExecSpec{Cmd: []string{"sh", "-c", scriptBig}}, stdin: big, code: 4, stdout: big,
		},
		{
			name: "without input there is nothing to read",
			spec: engine.ExecSpec{Cmd: []string{"cat"}},
		},
		{
			name: "a command that does not read its input",
			spec: engine.ExecSpec{Cmd: []string{"true"}}, stdin: big,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			test.spec.Stdout, test.spec.Stderr = &stdout, &stderr
			if test.stdin != "" {
				test.spec.Stdin = strings.NewReader(test.stdin)
			}
			soon(t, func() {
				code, err := c.client.Exec(t.Context(), id, test.spec)
				if err != nil || code != test.code {
					t.Errorf("got code %d, error %v, want code %d", code, err, test.code)
				}
			})
			if got := stdout.String(); got != test.stdout {
				t.Errorf("stdout: got %d bytes %.80q, want %d bytes %.80q", len(got), got, len(test.stdout), test.stdout)
			}
			if got := stderr.String(); got != test.stderr {
				t.Errorf("stderr: got %q, want %q", got, test.stderr)
			}
		})
	}
	t.Run("what cannot be started", func(t *testing.T) { c.notStarted(t, id) })
	t.Run("it does not wait for input that never comes", func(t *testing.T) { c.silentInput(t, id) })
	t.Run("it returns when its context ends", func(t *testing.T) { c.cancelled(t, id) })
	t.Run("input that fails is an error", func(t *testing.T) {
		source := &failingReader{data: strings.NewReader("half")}
		_, err := c.client.Exec(t.Context(), id, engine.ExecSpec{Cmd: []string{"cat"}, Stdin: source})
		if !errors.Is(err, errSource) {
			t.Errorf("got %v, want the source's own error", err)
		}
	})
}

func (c *contract) notStarted(t *testing.T, id string) {
	for _, test := range []struct {
		name string
		spec engine.ExecSpec
		code int
		want string // in the error
	}{
		{name: "a missing command", spec: engine.ExecSpec{Cmd: []string{"no-such-command"}}, code: 127},
		{name: "a missing path", spec: engine.ExecSpec{Cmd: []string{"/no/such/command"}}, code: 127},
		{name: "a directory", spec: engine.ExecSpec{Cmd: []string{"/tmp"}}, code: 126},
		{name: "an unknown user", spec: engine.ExecSpec{Cmd: []string{"true"}, User: "no-such-user"}, want: "no-such-user"},
		{name: "a missing directory", spec: engine.ExecSpec{Cmd: []string{"true"}, WorkingDir: "/no/such"}, want: "/no/such"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, err := c.client.Exec(t.Context(), id, test.spec)
			if code != test.code {
				t.Errorf("got code %d, want %d", code, test.code)
			}
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
		})
	}
	t.Run("a container that does not run", func(t *testing.T) {
		stopped := c.create(t, engine.ContainerSpec{})
		_, err := c.client.Exec(t.Context(), stopped, engine.ExecSpec{Cmd: []string{"true"}})
		if !errors.Is(err, engine.ErrConflict) {
			t.Errorf("got %v, want ErrConflict", err)
		}
	})
	t.Run("a missing container", func(t *testing.T) {
		_, err := c.client.Exec(t.Context(), c.name(), engine.ExecSpec{Cmd: []string{"true"}})
		if !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	})
}

func (c *contract) silentInput(t *testing.T, id string) {
	silent, end := io.Pipe()
	defer end.Close()
	soon(t, func() {
		code, err := c.client.Exec(t.Context(), id, engine.ExecSpec{Cmd: []string{"true"}, Stdin: silent})
		if code != 0 || err != nil {
			t.Errorf("got code %d, error %v", code, err)
		}
	})
}

func (c *contract) cancelled(t *testing.T, id string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
	defer cancel()
	soon(t, func() {
		_, err := c.client.Exec(ctx, id, engine.ExecSpec{Cmd: []string{"sleep", "100"}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
	})
}

// ContractExec is the [Options.Exec] with which the contract runs on a fake
// engine: it does what the commands of the cases do on a real one.
func ContractExec(ctx context.Context, call *ExecCall) int {
	switch script := strings.TrimPrefix(strings.Join(call.Cmd, " "), "sh -c "); script {
	case scriptStreams:
		fmt.Fprintln(call.Stdout, "out")
		fmt.Fprintln(call.Stderr, "err")
		return 3
	case scriptContext:
		variable := ""
		for _, v := range call.Env {
			if value, ok := strings.CutPrefix(v, "CONTRACT="); ok {
				variable = value
			}
		}
		uid, gid, ok := strings.Cut(call.User, ":")
		if !ok {
			gid = uid
		}
		fmt.Fprintf(call.Stdout, "%s\n%s\n%s\n%s\n", variable, call.WorkingDir, uid, gid)
	case scriptBig:
		_, _ = io.Copy(call.Stdout, call.Stdin)
		return 4
	case "cat":
		_, _ = io.Copy(call.Stdout, call.Stdin)
	case "sleep 100":
		<-ctx.Done()
	}
	return 0
}
