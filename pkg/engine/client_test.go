package engine_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
)

func TestInfo(t *testing.T) {
	for name, test := range map[string]struct {
		opts enginetest.Options
		want engine.Info
	}{
		"graph driver store": {
			want: engine.Info{Version: "20.10.24", APIVersion: "1.41", StorageDriver: "overlay2"},
		},
		"containerd store": {
			opts: enginetest.Options{Containerd: true},
			want: engine.Info{Version: "28.5.2", APIVersion: "1.51", StorageDriver: "overlayfs", ContainerdStore: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := fake(t, test.opts)
			got, err := client.Info(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			test.want.OS, test.want.Architecture, test.want.OperatingSystem = "linux", "amd64", "Fake Linux"
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestUnreachableEngine(t *testing.T) {
	host := "unix://" + t.TempDir() + "/docker.sock"
	client, err := engine.New(engine.Options{Host: host})
	if err != nil {
		t.Fatalf("an unreachable engine must not matter before the first call: %v", err)
	}
	defer client.Close()
	for name, call := range map[string]func() error{
		"ping": func() error { return client.Ping(t.Context()) },
		"info": func() error { _, err := client.Info(t.Context()); return err },
		"load": func() error { return client.LoadImage(t.Context(), strings.NewReader("x")) },
		"create with a feature check": func() error {
			_, err := client.CreateContainer(t.Context(), engine.ContainerSpec{Image: "x", Platform: "linux/amd64"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := call()
			if !errors.Is(err, engine.ErrUnavailable) {
				t.Fatalf("got %v, want ErrUnavailable", err)
			}
			for _, want := range []string{host, "docker context ls"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to contain %q", err, want)
				}
			}
		})
	}
}

func TestOptions(t *testing.T) {
	e := enginetest.New(t, enginetest.Options{})
	dialed := 0
	client, err := engine.New(engine.Options{
		Host:      "http://docker.example.com",
		UserAgent: "test/1",
		Headers:   map[string]string{"X-Meta": "yes"},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			dialed++
			return new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(e.Host(), "unix://"))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	header := e.Requests()[0].Header
	if dialed == 0 || header.Get("User-Agent") != "test/1" || header.Get("X-Meta") != "yes" {
		t.Errorf("dialed %d times, sent %v", dialed, header)
	}
	if _, err := engine.New(engine.Options{Host: "tcp://x:1", TLS: &tls.Config{}, DialContext: new(net.Dialer).DialContext}); err == nil {
		t.Error("TLS with a dialer was accepted")
	}
	if _, err := engine.New(engine.Options{Host: "nonsense"}); err == nil {
		t.Error("a host that is no URL was accepted")
	}
}

func TestErrorsKeepTheEnginesMessage(t *testing.T) {
	for name, test := range map[string]struct {
		status  int
		message string
		want    error
	}{
		"not found":       {http.StatusNotFound, "network x not found", engine.ErrNotFound},
		"conflict":        {http.StatusConflict, "name is taken", engine.ErrConflict},
		"not implemented": {http.StatusNotImplemented, "not on this platform", engine.ErrUnsupported},
		"a taken port":    {http.StatusInternalServerError, "Bind for 0.0.0.0:80 failed: port is already allocated", engine.ErrConflict},
		"anything else":   {http.StatusInternalServerError, "could not select device driver", nil},
	} {
		t.Run(name, func(t *testing.T) {
			e, client := fake(t, enginetest.Options{})
			e.Fail("POST", "/containers/*/start", test.status, test.message)
			err := client.StartContainer(t.Context(), "box")
			if want := `start container "box": ` + test.message; err == nil || err.Error() != want {
				t.Errorf("got %v, want %q", err, want)
			}
			for _, sentinel := range []error{engine.ErrNotFound, engine.ErrConflict, engine.ErrUnsupported, engine.ErrUnavailable} {
				if want := errors.Is(test.want, sentinel); errors.Is(err, sentinel) != want {
					t.Errorf("errors.Is(%v, %v) = %v", err, sentinel, !want)
				}
			}
		})
	}
}

func TestCancelledCallReturnsTheContextsError(t *testing.T) {
	e, client := fake(t, enginetest.Options{})
	arrived, _ := e.Hold("GET", "/images/*/json")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	if _, err := client.InspectImage(ctx, "base:1"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestStopRoundsUp(t *testing.T) {
	for timeout, want := range map[time.Duration]string{
		0: "0", time.Millisecond: "1", time.Second: "1", 1500 * time.Millisecond: "2", -time.Second: "0",
	} {
		e, client := fake(t, enginetest.Options{})
		e.Fail("POST", "/containers/*/stop", http.StatusNotModified, "")
		if err := client.StopContainer(t.Context(), "box", timeout); err != nil {
			t.Fatal(err)
		}
		requests := e.Requests()
		if got := requests[len(requests)-1].Query.Get("t"); got != want {
			t.Errorf("timeout %v: sent %q seconds, want %q", timeout, got, want)
		}
	}
}

func TestLocal(t *testing.T) {
	for host, want := range map[string]bool{
		"unix:///var/run/docker.sock": true, "npipe:////./pipe/docker_engine": true,
		"tcp://127.0.0.1:2375": false, "http://docker.example.com": false,
	} {
		client, err := engine.New(engine.Options{Host: host})
		if err != nil {
			// Pipes are of Windows alone.
			if strings.HasPrefix(host, "npipe") {
				continue
			}
			t.Fatal(err)
		}
		if got := client.Local(); got != want {
			t.Errorf("%s: got %v, want %v", host, got, want)
		}
		client.Close()
	}
}
