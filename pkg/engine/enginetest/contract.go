package enginetest

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
)

// ContractEnv is what the contract's cases run on.
type ContractEnv struct {
	// Image is in the engine's store and has sh, cat, sleep, id and true.
	Image string
}

// Contract runs the cases that hold for every engine, fake or real: what the
// rest of the project relies on. Everything it creates has a name of its own
// and is removed again.
func Contract(t *testing.T, client *engine.Client, env ContractEnv) {
	c := &contract{client: client, image: env.Image, prefix: "contract-" + strings.ToLower(rand.Text()[:10])}
	t.Run("images", c.images)
	t.Run("containers", c.containers)
	t.Run("archives", c.archives)
	t.Run("exec", c.exec)
}

type contract struct {
	client *engine.Client
	image  string
	prefix string
	serial int
}

// name makes a name that nobody else uses.
func (c *contract) name() string {
	c.serial++
	return fmt.Sprintf("%s-%d", c.prefix, c.serial)
}

// create makes a container that idles once started, and removes it at the end.
func (c *contract) create(t *testing.T, spec engine.ContainerSpec) string {
	t.Helper()
	if spec.Name == "" {
		spec.Name = c.name()
	}
	spec.Image, spec.Entrypoint, spec.Cmd = c.image, []string{}, []string{"sleep", "1000"}
	created, err := c.client.CreateContainer(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	// The test's own context is cancelled before its cleanup runs.
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() {
		if err := c.client.RemoveContainer(ctx, created.ID); err != nil {
			t.Error(err)
		}
	})
	return created.ID
}

// start makes a container that idles.
func (c *contract) start(t *testing.T, spec engine.ContainerSpec) string {
	t.Helper()
	id := c.create(t, spec)
	if err := c.client.StartContainer(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return id
}

// load loads an image's archive, and removes the image at the end.
func (c *contract) load(t *testing.T, image Image, archive []byte) error {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() {
		if err := c.client.RemoveImage(ctx, image.Ref); err != nil {
			t.Error(err)
		}
	})
	return c.client.LoadImage(t.Context(), strings.NewReader(string(archive)))
}

// soon fails the test when f does not return, which would otherwise hang it.
func soon(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("the call does not return")
	}
}
