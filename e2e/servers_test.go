package e2e

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"
	"github.com/testcontainers/testcontainers-go/wait"
)

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func waitForPort(t *testing.T, port int) {
	t.Helper()
	for range 100 {
		conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
		if err == nil {
			conn.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("nothing listens on port %d", port)
}

// serve hands every connection to a port of the loopback to handle.
func serve(t *testing.T, handle func(net.Conn)) *net.TCPAddr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			handle(conn)
		}
	}()
	return l.Addr().(*net.TCPAddr)
}

// silentServer accepts connections and never answers.
func silentServer(t *testing.T) (port int) {
	t.Helper()
	return serve(t, func(conn net.Conn) { t.Cleanup(func() { conn.Close() }) }).Port
}

// gitServer runs a git server in a container on a network of its own, and
// returns the network's name and the URL of its only repository.
func gitServer(t *testing.T) (networkName, url string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	net, err := network.New(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := net.Remove(ctx); err != nil {
			t.Error(err)
		}
	})
	const serve = `
set -e
git init -q -b main /srv/hello.git && cd /srv/hello.git
echo hello > README && git add README
git -c user.name=a -c user.email=a@example.com commit -q -m first
exec git daemon --export-all --base-path=/srv --reuseaddr --verbose /srv`
	server, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			Image:          base,
			Cmd:            []string{"sh", "-c", serve},
			Networks:       []string{net.Name},
			NetworkAliases: map[string][]string{net.Name: {"git-server"}},
			WaitingFor:     wait.ForLog("Ready to rumble"),
		},
		Started: true,
	})
	testcontainers.CleanupContainer(t, server, testcontainers.StopTimeout(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	return net.Name, "git://git-server/hello.git"
}
