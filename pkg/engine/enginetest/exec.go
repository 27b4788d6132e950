package enginetest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
)

// exitNotStarted is what engine 20.10 reports for a process that could not be
// started, whatever the reason.
const exitNotStarted = 126

// ExecCall is one command that a client runs in a container.
type ExecCall struct {
	// Container is where it runs; the command may change its files.
	Container *Container
	// Cmd is the argument vector, Env the whole environment.
	Cmd, Env []string
	// User and WorkingDir are the container's where the client gave none.
	User, WorkingDir string
	TTY              bool
	// Stdin ends when the client's input ended, at once if it sends none.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Sizes delivers what the client says of its terminal.
	Sizes <-chan engine.Size
}

// execution is an exec from its creation on.
type execution struct {
	id      string
	box     *box
	options container.ExecOptions
	sizes   chan engine.Size
	started chan struct{}

	// Guarded by the engine's lock.
	running  bool
	exitCode *int
	pid      int
}

func (e *Engine) createExec(w http.ResponseWriter, r *http.Request) error {
	var options container.ExecOptions
	if err := json.NewDecoder(r.Body).Decode(&options); err != nil {
		return fail(http.StatusBadRequest, "invalid JSON: %v", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(options.Cmd) == 0 {
		return fail(http.StatusBadRequest, "No exec command specified")
	}
	b, err := e.container(r)
	if err != nil {
		return err
	}
	if b.state != stateRunning {
		return fail(http.StatusConflict, "Container %s is not running", b.ID)
	}
	id := e.newID("exec")
	e.execs[id] = &execution{
		id: id, box: b, options: options,
		sizes: make(chan engine.Size, 16), started: make(chan struct{}),
	}
	writeJSON(w, http.StatusCreated, container.ExecCreateResponse{ID: id})
	return nil
}

func (e *Engine) execution(r *http.Request) (*execution, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x := e.execs[r.PathValue("id")]; x != nil {
		return x, nil
	}
	return nil, fail(http.StatusNotFound, "No such exec instance: %s", r.PathValue("id"))
}

func (e *Engine) inspectExec(w http.ResponseWriter, r *http.Request) error {
	x, err := e.execution(r)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{
		"ID": x.id, "ContainerID": x.box.ID, "Running": x.running, "ExitCode": x.exitCode, "Pid": x.pid,
	})
	return nil
}

// resizeExec waits for the process, as the engine does.
func (e *Engine) resizeExec(w http.ResponseWriter, r *http.Request) error {
	x, err := e.execution(r)
	if err != nil {
		return err
	}
	select {
	case <-x.started:
	case <-time.After(10 * time.Second):
		return fail(http.StatusInternalServerError, "timeout waiting for exec session ready")
	}
	width, _ := strconv.ParseUint(r.URL.Query().Get("w"), 10, 16)
	height, _ := strconv.ParseUint(r.URL.Query().Get("h"), 10, 16)
	select {
	case x.sizes <- engine.Size{Width: uint(width), Height: uint(height)}:
	default: // the command does not care
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// startExec takes the connection over and runs the command on it.
func (e *Engine) startExec(w http.ResponseWriter, r *http.Request) error {
	x, err := e.execution(r)
	if err != nil {
		return err
	}
	e.mu.Lock()
	stopped, running := x.box.stopped, x.box.state == stateRunning
	e.mu.Unlock()
	if !running {
		return fail(http.StatusConflict, "Container %s is not running", x.box.ID)
	}
	_, _ = io.Copy(io.Discard, r.Body)
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "HTTP/1.1 101 UPGRADED\r\n"+
		"Content-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"); err != nil {
		return nil // the client is gone and nothing can be answered
	}
	e.serveExec(x, conn, buffered.Reader, stopped)
	return nil
}

func (e *Engine) serveExec(x *execution, conn net.Conn, input *bufio.Reader, stopped <-chan struct{}) {
	call := x.call(conn, input)
	p := process{cmd: call.Cmd, env: call.Env, user: call.User, dir: call.WorkingDir}
	if failure := p.check(x.box.Container); failure != nil {
		reason := failure.reason
		if !failure.user {
			reason = "OCI runtime exec failed: exec failed: unable to start container process: " + reason + ": unknown"
		}
		e.setExec(x, false, exitNotStarted, 0)
		_, _ = io.WriteString(call.Stdout, reason+"\r\n")
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan int, 1)
	e.setExec(x, true, 0, 4242)
	close(x.started)
	go func() {
		code := 0
		if e.opts.Exec != nil {
			code = e.opts.Exec(ctx, call)
		}
		done <- code
	}()
	select {
	case code := <-done:
		e.setExec(x, false, code, 4242)
	case <-stopped:
		e.setExec(x, false, exitKilled, 4242)
	}
}

func (e *Engine) setExec(x *execution, running bool, code, pid int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	x.running, x.pid, x.exitCode = running, pid, &code
	if running {
		x.exitCode = nil
	}
}

// call connects the streams.
func (x *execution) call(conn net.Conn, input *bufio.Reader) *ExecCall {
	call := &ExecCall{
		Container:  x.box.Container,
		Cmd:        x.options.Cmd,
		Env:        mergeEnv(x.box.config.Env, x.options.Env),
		User:       cmp.Or(x.options.User, x.box.config.User),
		WorkingDir: cmp.Or(x.options.WorkingDir, x.box.config.WorkingDir),
		TTY:        x.options.Tty,
		Stdin:      strings.NewReader(""),
		Sizes:      x.sizes,
	}
	if x.options.AttachStdin {
		call.Stdin = input
	}
	out := &lockedWriter{w: conn}
	if x.options.Tty {
		call.Stdout, call.Stderr = out, out
	} else {
		call.Stdout = stdcopy.NewStdWriter(out, stdcopy.Stdout)
		call.Stderr = stdcopy.NewStdWriter(out, stdcopy.Stderr)
	}
	return call
}

// lockedWriter keeps the frames of two streams apart on one connection.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
