package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
)

// running starts a container on a fake engine whose commands are run by exec.
func running(t *testing.T, exec func(context.Context, *enginetest.ExecCall) int) (*enginetest.Engine, *engine.Client) {
	t.Helper()
	e, client := fake(t, enginetest.Options{Exec: exec})
	if _, err := client.CreateContainer(t.Context(), engine.ContainerSpec{Name: "box", Image: "base:1"}); err != nil {
		t.Fatal(err)
	}
	if err := client.StartContainer(t.Context(), "box"); err != nil {
		t.Fatal(err)
	}
	return e, client
}

func TestExecOnATerminal(t *testing.T) {
	_, client := running(t, func(_ context.Context, call *enginetest.ExecCall) int {
		for range 2 {
			size := <-call.Sizes
			fmt.Fprintf(call.Stdout, "%dx%d\r\n", size.Width, size.Height)
		}
		fmt.Fprint(call.Stderr, "same stream\r\n")
		input := make([]byte, len("typed\x04\x04"))
		_, err := io.ReadFull(call.Stdin, input)
		fmt.Fprintf(call.Stdout, "%q %v\r\n", input, err)
		return 9
	})
	sizes := make(chan engine.Size, 2)
	sizes <- engine.Size{Width: 80, Height: 24}
	sizes <- engine.Size{Width: 132, Height: 50}
	var stdout, stderr bytes.Buffer
	code, err := client.Exec(t.Context(), "box", engine.ExecSpec{
		Cmd: []string{"sh"}, TTY: true, Resize: sizes,
		Stdin: strings.NewReader("typed"), Stdout: &stdout, Stderr: &stderr,
	})
	if code != 9 || err != nil {
		t.Errorf("got code %d, error %v, want code 9", code, err)
	}
	want := "80x24\r\n132x50\r\nsame stream\r\n\"typed\\x04\\x04\" <nil>\r\n"
	if stdout.String() != want || stderr.Len() != 0 {
		t.Errorf("got stdout %q, stderr %q, want stdout %q", stdout.String(), stderr.String(), want)
	}
}

func TestExecIsCancelled(t *testing.T) {
	t.Run("while the command runs", func(t *testing.T) {
		started := make(chan struct{})
		_, client := running(t, func(ctx context.Context, call *enginetest.ExecCall) int {
			fmt.Fprint(call.Stdout, "so far")
			close(started)
			<-ctx.Done()
			return 0
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-started
			cancel()
		}()
		input, end := io.Pipe()
		defer end.Close()
		_, err := client.Exec(ctx, "box", engine.ExecSpec{Cmd: []string{"sleep"}, Stdin: input})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
	t.Run("while the engine does not answer", func(t *testing.T) {
		e, client := running(t, nil)
		arrived, _ := e.Hold("POST", "/exec/*/start")
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-arrived
			cancel()
		}()
		_, err := client.Exec(ctx, "box", engine.ExecSpec{Cmd: []string{"true"}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
}

func TestExecEndsWithItsContainer(t *testing.T) {
	started := make(chan struct{})
	_, client := running(t, func(ctx context.Context, _ *enginetest.ExecCall) int {
		close(started)
		<-ctx.Done()
		return 0
	})
	stopped := make(chan error, 1)
	go func() {
		<-started
		stopped <- client.StopContainer(t.Context(), "box", 0)
	}()
	code, err := client.Exec(t.Context(), "box", engine.ExecSpec{Cmd: []string{"sleep"}})
	if code != 137 || err != nil {
		t.Errorf("got code %d, error %v, want the code of a killed process", code, err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// A command may use the exit codes with which the engine says that it could not
// start one.
func TestExecReturnsTheCommandsOwnCode(t *testing.T) {
	for _, want := range []int{0, 1, 126, 127, 255} {
		_, client := running(t, func(_ context.Context, call *enginetest.ExecCall) int {
			fmt.Fprint(call.Stdout, "OCI runtime exec failed")
			return want
		})
		code, err := client.Exec(t.Context(), "box", engine.ExecSpec{Cmd: []string{"true"}})
		if code != want || err != nil {
			t.Errorf("got code %d, error %v, want code %d", code, err, want)
		}
	}
}

func TestExecFailsWithItsOutput(t *testing.T) {
	_, client := running(t, func(_ context.Context, call *enginetest.ExecCall) int {
		fmt.Fprint(call.Stdout, "text")
		return 0
	})
	closed, w := io.Pipe()
	closed.Close()
	_, err := client.Exec(t.Context(), "box", engine.ExecSpec{Cmd: []string{"true"}, Stdout: w})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want the writer's error", err)
	}
}

func TestExecErrorsHideArguments(t *testing.T) {
	_, client := running(t, nil)
	_, err := client.Exec(t.Context(), "box", engine.ExecSpec{Cmd: []string{"true", "--token=secret"}, User: "nobody-here"})
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), `exec "true" in container "box"`) {
		t.Errorf("got %v, want an error with the command's name only", err)
	}
}
