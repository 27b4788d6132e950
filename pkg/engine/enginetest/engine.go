// Package enginetest provides a Docker Engine that lives in the test's process,
// and a suite of cases that holds it to what real engines do.
//
// The fake serves the part of the Engine API that package engine uses, over a
// unix socket. Its answers, error texts included, were recorded from Docker
// Engine 20.10 with the overlay2 driver. Images are real archives with real
// layers; containers have a file system in memory; commands are run by a Go
// function of the test.
package enginetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Options configures a fake engine. The zero value is an empty engine 20.10.
type Options struct {
	// Containerd makes it an engine 28 with the containerd image store: image
	// IDs are manifest digests, and archives that omit layers are refused.
	Containerd bool
	// Images are in the store from the start.
	Images []Image
	// Registry is what a pull can find.
	Registry []Image
	// Exec runs the command of an exec and returns its exit code. It is called
	// only if the executable, the user and the working directory exist in the
	// container. ctx ends when the container stops. nil is a command that does
	// nothing.
	Exec func(ctx context.Context, call *ExecCall) int
}

// Request is one request that the engine received.
type Request struct {
	Method string
	// Path is without the version prefix: /containers/create.
	Path   string
	Query  url.Values
	Header http.Header
	// Body is the start of a JSON body, and nil for archives.
	Body []byte
	// BodySize counts the bytes that were read of the body.
	BodySize int64
}

// Engine is a fake engine. It is safe for concurrent use.
type Engine struct {
	opts   Options
	socket string

	mu         sync.Mutex
	serial     int
	images     map[string]*storedImage // by ID
	layers     map[string][]byte       // by diff ID
	containers map[string]*box         // by ID
	execs      map[string]*execution   // by ID
	requests   []*Request
	rules      []*rule
}

// New starts a fake engine, which the test's cleanup stops.
func New(t testing.TB, opts Options) *Engine {
	t.Helper()
	dir, err := os.MkdirTemp("", "engine") //nolint:usetesting // the path of a socket may have a hundred bytes only
	if err != nil {
		t.Fatalf("make a directory for the engine's socket: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	e := &Engine{
		opts:       opts,
		socket:     filepath.Join(dir, "docker.sock"),
		images:     map[string]*storedImage{},
		layers:     map[string][]byte{},
		containers: map[string]*box{},
		execs:      map[string]*execution{},
	}
	for _, image := range opts.Images {
		e.store(image, true)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", e.socket)
	if err != nil {
		t.Fatalf("listen for the fake engine: %v", err)
	}
	server := &http.Server{Handler: e.handler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		e.stopAll()
	})
	return e
}

// Host is the address for a client: unix://….
func (e *Engine) Host() string { return "unix://" + e.socket }

// Container returns the container with that name or ID, or nil.
func (e *Engine) Container(nameOrID string) *Container {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b := e.findContainer(nameOrID); b != nil {
		return b.Container
	}
	return nil
}

// Containers lists the names of all containers, oldest first.
func (e *Engine) Containers() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for _, b := range e.sortedContainers() {
		out = append(out, b.name)
	}
	return out
}

// Images lists the tags of all images in order, and the ID of an untagged one.
func (e *Engine) Images() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for _, image := range e.sortedImages() {
		if len(image.tags) == 0 {
			out = append(out, image.id)
		}
		out = append(out, image.tags...)
	}
	return out
}

// newID makes an identifier of the engine's form, the same in every run.
func (e *Engine) newID(kind string) string {
	e.serial++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", kind, e.serial))
	return hex.EncodeToString(sum[:])
}

// version returns what the engine says it is.
func (e *Engine) version() (release, api string) {
	if e.opts.Containerd {
		return "28.5.2", "1.51"
	}
	return "20.10.24", "1.41"
}
