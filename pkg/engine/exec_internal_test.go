package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
)

func TestStartResult(t *testing.T) {
	const runc = "OCI runtime exec failed: exec failed: unable to start container process: "
	for name, test := range map[string]struct {
		pid, code int
		output    string
		want      int
		failure   string
	}{
		"it ran":                          {pid: 7, code: 3, want: 3},
		"it ran and used the code itself": {pid: 7, code: 127, output: runc, want: 127},
		"an engine that forgets the pid":  {code: 1, want: 1},
		"missing for runc":                {code: 126, output: runc + `exec: "x": executable file not found in $PATH: unknown`, want: 127},
		"missing path for runc":           {code: 126, output: runc + `exec: "/x": stat /x: no such file or directory: unknown`, want: 127},
		"missing for crun":                {code: 127, output: "crun: executable file `x` not found in $PATH: No such file or directory", want: 127},
		"not executable":                  {code: 126, output: runc + `exec: "/etc": permission denied: unknown`, want: 126},
		"missing directory":               {code: 126, output: runc + `chdir to cwd ("/x") set in config.json failed: no such file or directory: unknown`, failure: "chdir to cwd"},
		"unknown user":                    {code: 126, output: "unable to find user x: no matching entries in passwd file\r\n", failure: "unable to find user x"},
	} {
		t.Run(name, func(t *testing.T) {
			code, err := startResult(container.ExecInspect{Pid: test.pid, ExitCode: test.code}, test.output)
			if code != test.want {
				t.Errorf("got code %d, want %d", code, test.want)
			}
			if (err != nil) != (test.failure != "") || err != nil && !strings.Contains(err.Error(), test.failure) {
				t.Errorf("got error %v, want one with %q", err, test.failure)
			}
		})
	}
}

// The stream of a command may end before the engine knows that the command did.
func TestExitCodeWaitsForTheCommand(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/exec/x/json") {
			fmt.Fprintf(w, `{"Running": %t, "ExitCode": 5, "Pid": 1}`, asked.Add(1) < 3)
		}
	}))
	defer server.Close()
	client, err := New(Options{Host: "tcp://" + server.Listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	code, err := client.exitCode(t.Context(), "x", "")
	if code != 5 || err != nil || asked.Load() != 3 {
		t.Errorf("got code %d, error %v after %d questions, want code 5 after 3", code, err, asked.Load())
	}

	asked.Store(-1 << 20)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := client.exitCode(ctx, "x", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
}
