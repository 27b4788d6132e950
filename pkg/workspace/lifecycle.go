package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
)

// Workspace is an existing workspace.
type Workspace struct {
	Name        string    `json:"name"`
	ContainerID string    `json:"container_id"`
	Container   string    `json:"container"` // its name
	Status      string    `json:"status"`    // the container's state, or "incomplete"
	Created     time.Time `json:"created"`
	Manifest    string    `json:"manifest"` // digest
	Root        string    `json:"root"`
	Base        string    `json:"base"`
	Image       string    `json:"image"`
	ImageID     string    `json:"image_id"`
	Strategy    string    `json:"strategy"`
	Ports       []Port    `json:"ports"`
	User        string    `json:"user,omitempty"`
	Health      string    `json:"health,omitempty"`
}

// Incomplete is the status of what an apply that was killed left behind.
const Incomplete = "incomplete"

// Port is a published port.
type Port struct {
	Port     int    `json:"port"`
	Protocol string `json:"protocol"`
	Host     string `json:"host"`
	HostPort int    `json:"host_port"`
}

// List returns all workspaces of the engine by name, incomplete ones included.
func (c *Client) List(ctx context.Context) ([]Workspace, error) {
	containers, err := c.Engine.ListContainers(ctx, LabelName)
	if err != nil {
		return nil, err
	}
	list := make([]Workspace, 0, len(containers))
	for _, found := range containers {
		list = append(list, describe(found))
	}
	slices.SortFunc(list, func(a, b Workspace) int { return strings.Compare(a.Container, b.Container) })
	return list, nil
}

// Inspect returns one workspace by its name or its container's.
func (c *Client) Inspect(ctx context.Context, name string) (Workspace, error) {
	found, err := c.find(ctx, name)
	if err != nil {
		return Workspace{}, err
	}
	return describe(*found), nil
}

// Remove removes a workspace, running or not, and the image that apply loaded
// for it unless another container uses that.
func (c *Client) Remove(ctx context.Context, name string) error {
	found, err := c.find(ctx, name)
	if err != nil {
		return err
	}
	_, err = c.step("remove-container "+found.Name, func() error { return c.remove(ctx, found) })
	return err
}

func (c *Client) remove(ctx context.Context, found *engine.Container) error {
	if err := c.Engine.RemoveContainer(ctx, found.ID); err != nil {
		return fmt.Errorf("remove workspace %q: %w", found.Name, err)
	}
	image := found.Labels[LabelImage]
	if image == "" {
		return nil
	}
	if err := c.Engine.RemoveImage(ctx, image); err != nil && !errors.Is(err, engine.ErrConflict) {
		return fmt.Errorf("remove image of workspace %q: %w", found.Name, err)
	}
	return nil
}

// Exec runs a command in a running workspace, as the user and in the root that
// its manifest names unless spec says otherwise, and returns the exit code.
func (c *Client) Exec(ctx context.Context, name string, spec engine.ExecSpec) (int, error) {
	found, err := c.find(ctx, name)
	if err != nil {
		return 0, err
	}
	if found.State != "running" {
		return 0, &plan.ConflictError{Reason: fmt.Sprintf("workspace %q is %s: docker workspace apply starts it again", name, found.State)}
	}
	return c.Engine.Exec(ctx, found.ID, spec)
}

func (c *Client) find(ctx context.Context, name string) (*engine.Container, error) {
	found, err := c.Engine.InspectContainer(ctx, name)
	// The engine takes the start of an id for a name; we do not.
	if errors.Is(err, engine.ErrNotFound) || err == nil && (found.Name != name || found.Labels[LabelName] == "") {
		return nil, fmt.Errorf("%w: %q (docker workspace ls shows those that exist)", ErrNotFound, name)
	}
	if err != nil {
		return nil, err
	}
	return &found, nil
}

func describe(c engine.Container) Workspace {
	w := Workspace{
		Name: c.Labels[LabelName], ContainerID: c.ID, Container: c.Name, Status: c.State, Created: c.Created,
		Manifest: c.Labels[LabelManifest], Root: c.Labels[LabelRoot], Base: c.Labels[LabelBase],
		Image: c.Image, ImageID: c.ImageID, Strategy: c.Labels[LabelStrategy], Ports: ports(c), User: c.User, Health: c.Health,
	}
	if w.Name != w.Container {
		w.Status = Incomplete
	}
	return w
}

func ports(c engine.Container) []Port {
	out := make([]Port, 0, len(c.Ports))
	for _, p := range c.Ports {
		out = append(out, Port{Port: p.ContainerPort, Protocol: p.Protocol, Host: p.HostIP, HostPort: p.HostPort})
	}
	return out
}

// sandbox runs commands in a container for pkg/materialize.
type sandbox struct {
	engine *engine.Client
	id     string
	redact *redactor
}

// maxOutput bounds what is kept of one stream of a command, in bytes.
const maxOutput = 64 << 10

func (s sandbox) Run(ctx context.Context, cmd materialize.Command) (stdout, stderr []byte, exitCode int, err error) {
	var out, errOut tailBuffer
	code, err := s.engine.Exec(ctx, s.id, engine.ExecSpec{
		Cmd: cmd.Args, Env: cmd.Env, User: cmd.User, WorkingDir: cmd.Dir, Stdout: &out, Stderr: &errOut,
	})
	return out.Bytes(), []byte(s.redact.text(errOut.String())), code, err
}

// tailBuffer keeps the end of what is written to it.
type tailBuffer struct{ bytes.Buffer }

func (t *tailBuffer) Write(p []byte) (int, error) {
	n := len(p)
	if t.Len() > maxOutput {
		t.Next(t.Len() - maxOutput)
	}
	t.Buffer.Write(p[max(0, n-maxOutput):])
	return n, nil
}

var _ io.Writer = (*tailBuffer)(nil)
