package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
)

// ExecSpec says what to run in a container.
type ExecSpec struct {
	// Cmd is the argument vector; no shell is involved.
	Cmd []string
	// User and WorkingDir are the container's own when empty.
	User, WorkingDir string
	// Env entries are KEY=VALUE and are merged over the container's.
	Env []string
	// TTY runs the command on a terminal: input is echoed and stderr arrives on Stdout.
	TTY bool
	// Stdin is passed on until it ends; nil is an empty input.
	Stdin io.Reader
	// Stdout and Stderr may be nil to drop the output. They are never written
	// to after Exec returned.
	Stdout, Stderr io.Writer
	// Resize delivers the sizes of the terminal, the initial one first. It is
	// used with TTY only.
	Resize <-chan Size
	// DetachKeys is the key sequence that leaves a terminal session, in Docker's
	// notation; empty is the engine's default, ctrl-p,ctrl-q.
	DetachKeys string
}

// Size is the size of a terminal in characters.
type Size struct {
	Width, Height uint
}

// Exit codes of a command that could not be started, as shells give them.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// Exec runs a command in a running container, and returns its exit code when it
// ended and its output was written. As with docker exec, a command that is
// missing gives 127 and one that may not be executed 126, with the runtime's
// message on Stdout; any other reason not to start it, such as an unknown user
// or a missing working directory, is an error.
//
// A container that does not run gives [ErrConflict]. Cancelling ctx closes the
// connection and returns ctx's error; the command goes on in the container
// until it notices that its streams are closed. A Stdin that blocks does not
// keep Exec from returning, but the goroutine that reads it ends only with that
// read.
func (c *Client) Exec(ctx context.Context, id string, spec ExecSpec) (int, error) {
	code, err := c.exec(ctx, id, spec)
	if err != nil {
		// Only the command's name: arguments may be long, or secret.
		return 0, fmt.Errorf("exec %q in container %q: %w", strings.Join(spec.Cmd[:min(1, len(spec.Cmd))], ""), id, err)
	}
	return code, nil
}

func (c *Client) exec(ctx context.Context, id string, spec ExecSpec) (int, error) {
	execID, err := c.createExec(ctx, id, spec)
	if err != nil {
		return 0, err
	}
	conn, err := c.attachExec(ctx, execID, spec.TTY)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	// Nobody watches the context of a hijacked connection.
	defer context.AfterFunc(ctx, conn.Close)()

	if spec.TTY && spec.Resize != nil {
		resizeCtx, cancel := context.WithCancel(ctx)
		defer cancel()
		go c.followSize(resizeCtx, execID, spec.Resize)
	}
	inputFailed := make(chan error, 1)
	if spec.Stdin != nil {
		go sendInput(conn, spec.TTY, spec.Stdin, inputFailed)
	}
	stdout := &headWriter{w: orDiscard(spec.Stdout)}
	err = copyOutput(conn, spec.TTY, stdout, orDiscard(spec.Stderr))
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	select {
	case err := <-inputFailed:
		return 0, err
	default:
	}
	// An engine that closes a connection while input is left unread, because the
	// command ended before it, resets it once all output is delivered.
	if err != nil && (spec.Stdin == nil || !errors.Is(err, syscall.ECONNRESET)) {
		return 0, fmt.Errorf("copy its output: %w", err)
	}
	return c.exitCode(ctx, execID, string(stdout.head))
}

func (c *Client) createExec(ctx context.Context, id string, spec ExecSpec) (string, error) {
	if spec.WorkingDir != "" {
		if err := c.require(ctx, featureExecWorkingDir); err != nil {
			return "", err
		}
	}
	created, err := c.docker.ContainerExecCreate(ctx, id, container.ExecOptions{
		Cmd:          spec.Cmd,
		User:         spec.User,
		WorkingDir:   spec.WorkingDir,
		Env:          spec.Env,
		Tty:          spec.TTY,
		AttachStdin:  spec.Stdin != nil,
		AttachStdout: true,
		AttachStderr: true,
		DetachKeys:   spec.DetachKeys,
	})
	return created.ID, classify(err)
}

// attachExec starts the command and returns the connection with its streams.
// The docker client does not watch ctx while it waits for the engine's answer.
func (c *Client) attachExec(ctx context.Context, execID string, tty bool) (*types.HijackedResponse, error) {
	type result struct {
		conn types.HijackedResponse
		err  error
	}
	done := make(chan result, 1)
	go func() {
		conn, err := c.docker.ContainerExecAttach(ctx, execID, container.ExecAttachOptions{Tty: tty})
		done <- result{conn, err}
	}()
	select {
	case r := <-done:
		return &r.conn, classify(r.err)
	case <-ctx.Done():
		go func() {
			if r := <-done; r.err == nil {
				r.conn.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// sendInput passes stdin on and then says that it ended. Failing to write means
// that the command is gone, which its exit code tells; failing to read ends the
// session, because half an input must not look like a whole one.
func sendInput(conn *types.HijackedResponse, tty bool, stdin io.Reader, failed chan<- error) {
	source := &sourceReader{Reader: stdin}
	_, _ = io.Copy(conn.Conn, source)
	if err := source.blame(nil); err != nil {
		failed <- err
		conn.Close()
		return
	}
	if tty {
		// Closing this direction of a terminal session would make the engine drop
		// the output, too. The first ^D ends an unfinished line, the second the input.
		_, _ = io.WriteString(conn.Conn, "\x04\x04")
		return
	}
	_ = conn.CloseWrite()
}

func copyOutput(conn *types.HijackedResponse, tty bool, stdout, stderr io.Writer) error {
	if tty {
		_, err := io.Copy(stdout, conn.Reader)
		return err
	}
	_, err := stdcopy.StdCopy(stdout, stderr, conn.Reader)
	return err
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// headWriter keeps the start of what passes through: when a command cannot be
// started, the engine's reason is all that ever arrives.
type headWriter struct {
	w    io.Writer
	head []byte
}

func (h *headWriter) Write(p []byte) (int, error) {
	const enough = 4096
	h.head = append(h.head, p[:min(len(p), enough-len(h.head))]...)
	return h.w.Write(p)
}

// exitCode waits until the command ended, which a command that closed its
// output early may do later than the stream.
func (c *Client) exitCode(ctx context.Context, execID, output string) (int, error) {
	const longest = 500 * time.Millisecond
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, longest) {
		state, err := c.docker.ContainerExecInspect(ctx, execID)
		if err != nil {
			return 0, classify(err)
		}
		if !state.Running {
			return startResult(state, output)
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// startResult tells a command that failed from one that was never started. The
// engine gives both exit code 126; only the second has no process.
func startResult(state container.ExecInspect, output string) (int, error) {
	started := state.Pid != 0 || state.ExitCode != exitNotExecutable && state.ExitCode != exitNotFound
	if started {
		return state.ExitCode, nil
	}
	missing := strings.Contains(output, "executable file") && strings.Contains(output, "not found") ||
		strings.Contains(output, ": exec: ") && strings.Contains(output, "no such file or directory")
	switch {
	case missing:
		return exitNotFound, nil
	case strings.Contains(output, "permission denied"):
		return exitNotExecutable, nil
	}
	return 0, fmt.Errorf("start it: %s", strings.TrimSpace(output))
}

// followSize applies the sizes of the terminal until the session ends. The
// engine holds the first one back until the command has started. A size that
// cannot be set is no reason to end a session.
func (c *Client) followSize(ctx context.Context, execID string, sizes <-chan Size) {
	for {
		select {
		case <-ctx.Done():
			return
		case size, open := <-sizes:
			if !open {
				return
			}
			_ = c.docker.ContainerExecResize(ctx, execID, container.ResizeOptions{Width: size.Width, Height: size.Height})
		}
	}
}
