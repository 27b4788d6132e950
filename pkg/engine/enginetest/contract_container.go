package enginetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
)

func (c *contract) containers(t *testing.T) {
	client, ctx := c.client, t.Context()

	t.Run("a missing image gives not found", func(t *testing.T) {
		name := c.name()
		_, err := client.CreateContainer(ctx, engine.ContainerSpec{Name: name, Image: name + ":none"})
		if !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	})

	t.Run("a taken name gives a conflict", func(t *testing.T) {
		name := c.name()
		c.create(t, engine.ContainerSpec{Name: name})
		_, err := client.CreateContainer(ctx, engine.ContainerSpec{Name: name, Image: c.image})
		if !errors.Is(err, engine.ErrConflict) || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want ErrConflict with the name", err)
		}
	})

	t.Run("what was created is what is inspected", func(t *testing.T) {
		name := c.name()
		id := c.create(t, engine.ContainerSpec{
			Name: name, User: "1234", WorkingDir: "/work/here", Env: []string{"CONTRACT=yes"},
			Labels: map[string]string{"contract": name},
			Ports:  []engine.PortBinding{{ContainerPort: 8080, HostIP: "127.0.0.1"}},
		})
		for _, ref := range []string{id, name} {
			got, err := client.InspectContainer(ctx, ref)
			if err != nil {
				t.Fatal(err)
			}
			if got.ID != id || got.Name != name || got.Image != c.image || got.State != "created" {
				t.Errorf("got ID %s, name %s, image %s, state %s", got.ID, got.Name, got.Image, got.State)
			}
			if got.User != "1234" || got.WorkingDir != "/work/here" || !slices.Contains(got.Env, "CONTRACT=yes") || got.Labels["contract"] != name {
				t.Errorf("got %+v", got)
			}
			want := []engine.PortBinding{{ContainerPort: 8080, Protocol: "tcp", HostIP: "127.0.0.1"}}
			if !slices.Equal(got.Ports, want) {
				t.Errorf("ports: got %v, want %v", got.Ports, want)
			}
		}
	})

	t.Run("containers are listed by label in any state", func(t *testing.T) {
		first, second := c.name(), c.name()
		c.create(t, engine.ContainerSpec{Name: first, Labels: map[string]string{c.prefix: "list", "number": "1"}})
		c.start(t, engine.ContainerSpec{Name: second, Labels: map[string]string{c.prefix: "list", "number": "2"}})
		for _, test := range []struct {
			labels []string
			want   []string
		}{
			{[]string{c.prefix}, []string{first, second}},
			{[]string{c.prefix + "=list", "number=2"}, []string{second}},
			{[]string{c.prefix + "=other"}, nil},
		} {
			list, err := client.ListContainers(ctx, test.labels...)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, item := range list {
				got = append(got, item.Name)
			}
			slices.Sort(got)
			if !slices.Equal(got, slices.Sorted(slices.Values(test.want))) {
				t.Errorf("labels %v: got %v, want %v", test.labels, got, test.want)
			}
		}
	})

	t.Run("start, stop and remove can be repeated", c.lifecycle)

	t.Run("a command that does not exist does not start", func(t *testing.T) {
		name := c.name()
		created, err := client.CreateContainer(ctx, engine.ContainerSpec{Name: name, Image: c.image, Entrypoint: []string{"/no/such/command"}})
		if err != nil {
			t.Fatal(err)
		}
		err = client.StartContainer(ctx, created.ID)
		if err == nil || !strings.Contains(err.Error(), "/no/such/command") {
			t.Errorf("start: got %v, want an error with the command", err)
		}
		if err := client.RemoveContainer(ctx, created.ID); err != nil {
			t.Error(err)
		}
	})
}

func (c *contract) lifecycle(t *testing.T) {
	client, ctx := c.client, t.Context()
	id := c.create(t, engine.ContainerSpec{Ports: []engine.PortBinding{{ContainerPort: 80, HostIP: "127.0.0.1"}}})
	state := func(want string) engine.Container {
		t.Helper()
		got, err := client.InspectContainer(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if got.State != want {
			t.Errorf("state: got %s, want %s", got.State, want)
		}
		return got
	}
	for range 2 {
		if err := client.StartContainer(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	if ports := state("running").Ports; len(ports) != 1 || ports[0].HostPort == 0 {
		t.Errorf("ports of the running container: got %v, want one that the engine picked", ports)
	}
	for range 2 {
		if err := client.StopContainer(ctx, id, 0); err != nil {
			t.Fatal(err)
		}
	}
	if code := state("exited").ExitCode; code != exitKilled {
		t.Errorf("exit code: got %d, want %d", code, exitKilled)
	}
	if err := client.StartContainer(ctx, id); err != nil {
		t.Fatal(err)
	}
	state("running")
	for range 2 {
		if err := client.RemoveContainer(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.InspectContainer(ctx, id); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("inspect after removal: got %v, want ErrNotFound", err)
	}
	if err := client.StartContainer(ctx, id); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("start after removal: got %v, want ErrNotFound", err)
	}
}
