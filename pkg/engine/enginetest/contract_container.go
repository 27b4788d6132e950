package enginetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
)

func (c *contract) containers(t *testing.T) {
	t.Run("a missing image gives not found", c.createWithoutImage)
	t.Run("a taken name gives a conflict", c.takenName)
	t.Run("a name can be changed to a free one only", c.rename)
	t.Run("what was created is what is inspected", c.inspectCreated)
	t.Run("containers are listed by label in any state", c.containerLabels)
	t.Run("start, stop and remove can be repeated", c.lifecycle)
	t.Run("a command that does not exist does not start", c.missingCommand)
	t.Run("a bind needs a source and a target of its own", c.binds)
}

func (c *contract) createWithoutImage(t *testing.T) {
	name := c.name()
	_, err := c.client.CreateContainer(t.Context(), engine.ContainerSpec{Name: name, Image: name + ":none"})
	if !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func (c *contract) takenName(t *testing.T) {
	name := c.name()
	c.create(t, engine.ContainerSpec{Name: name})
	_, err := c.client.CreateContainer(t.Context(), engine.ContainerSpec{Name: name, Image: c.image, Cmd: []string{"true"}})
	if !errors.Is(err, engine.ErrConflict) || !strings.Contains(err.Error(), name) {
		t.Errorf("got %v, want ErrConflict with the name", err)
	}
}

func (c *contract) rename(t *testing.T) {
	taken, free := c.name(), c.name()
	c.create(t, engine.ContainerSpec{Name: taken})
	id := c.create(t, engine.ContainerSpec{})
	if err := c.client.RenameContainer(t.Context(), id, taken); !errors.Is(err, engine.ErrConflict) {
		t.Errorf("to a taken name: got %v, want ErrConflict", err)
	}
	if err := c.client.RenameContainer(t.Context(), id, free); err != nil {
		t.Fatal(err)
	}
	got, err := c.client.InspectContainer(t.Context(), free)
	if err != nil || got.ID != id {
		t.Errorf("got container %s, error %v, want %s", got.ID, err, id)
	}
}

func (c *contract) inspectCreated(t *testing.T) {
	name := c.name()
	id := c.create(t, engine.ContainerSpec{
		Name: name, User: "1234", WorkingDir: "/srv/here", Env: []string{"CONTRACT=yes"},
		Labels: map[string]string{"contract": name},
		Ports:  []engine.PortBinding{{ContainerPort: 8080, HostIP: "127.0.0.1"}},
	})
	for _, ref := range []string{id, name} {
		got, err := c.client.InspectContainer(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if got.ID != id || got.Name != name || got.Image != c.image || got.State != stateCreated {
			t.Errorf("got ID %s, name %s, image %s, state %s", got.ID, got.Name, got.Image, got.State)
		}
		if got.User != "1234" || got.WorkingDir != "/srv/here" || !slices.Contains(got.Env, "CONTRACT=yes") || got.Labels["contract"] != name {
			t.Errorf("got %+v", got)
		}
		want := []engine.PortBinding{{ContainerPort: 8080, Protocol: "tcp", HostIP: "127.0.0.1"}}
		if !slices.Equal(got.Ports, want) {
			t.Errorf("ports: got %v, want %v", got.Ports, want)
		}
	}
}

func (c *contract) containerLabels(t *testing.T) {
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
		list, err := c.client.ListContainers(t.Context(), test.labels...)
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
}

func (c *contract) missingCommand(t *testing.T) {
	spec := engine.ContainerSpec{Name: c.name(), Image: c.image, Entrypoint: []string{"/no/such/command"}}
	created, err := c.client.CreateContainer(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	err = c.client.StartContainer(t.Context(), created.ID)
	if err == nil || !strings.Contains(err.Error(), "/no/such/command") {
		t.Errorf("start: got %v, want an error with the command", err)
	}
	if err := c.client.RemoveContainer(t.Context(), created.ID); err != nil {
		t.Error(err)
	}
}

// The source exists wherever an engine runs.
func (c *contract) binds(t *testing.T) {
	etc := engine.Bind{Source: "/etc", Target: "/opt/etc", ReadOnly: true}
	for _, test := range []struct {
		name  string
		binds []engine.Bind
		want  string
	}{
		{"a missing source", []engine.Bind{{Source: "/no/such/source", Target: "/opt/x"}}, "bind source path does not exist: /no/such/source"},
		{"one target twice", []engine.Bind{etc, etc}, "Duplicate mount point: /opt/etc"},
		{"the root", []engine.Bind{{Source: "/etc", Target: "/"}}, "destination can't be '/'"},
	} {
		name := c.name()
		_, err := c.client.CreateContainer(t.Context(), engine.ContainerSpec{Name: name, Image: c.image, Cmd: []string{"true"}, Binds: test.binds})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", test.name, err, test.want)
		}
		if err := c.client.RemoveContainer(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	c.start(t, engine.ContainerSpec{Binds: []engine.Bind{etc}})
}

func (c *contract) lifecycle(t *testing.T) {
	id := c.create(t, engine.ContainerSpec{Ports: []engine.PortBinding{{ContainerPort: 80, HostIP: "127.0.0.1"}}})
	state := func(want string) engine.Container {
		t.Helper()
		got, err := c.client.InspectContainer(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if got.State != want {
			t.Errorf("state: got %s, want %s", got.State, want)
		}
		return got
	}
	for range 2 {
		if err := c.client.StartContainer(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if ports := state(stateRunning).Ports; len(ports) != 1 || ports[0].HostPort == 0 {
		t.Errorf("ports of the running container: got %v, want one that the engine picked", ports)
	}
	for range 2 {
		if err := c.client.StopContainer(t.Context(), id, 0); err != nil {
			t.Fatal(err)
		}
	}
	if code := state(stateExited).ExitCode; code != exitKilled {
		t.Errorf("exit code: got %d, want %d", code, exitKilled)
	}
	if err := c.client.StartContainer(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	state(stateRunning)
	for range 2 {
		if err := c.client.RemoveContainer(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.client.InspectContainer(t.Context(), id); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("inspect after removal: got %v, want ErrNotFound", err)
	}
	if err := c.client.StartContainer(t.Context(), id); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("start after removal: got %v, want ErrNotFound", err)
	}
}
