package engine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/go-connections/nat"
)

// Container is a container in any state.
type Container struct {
	ID string
	// Name has no leading slash.
	Name string
	// Image is the reference that the container was created with; ImageID is
	// what it referred to then.
	Image, ImageID string
	// State is created, running, paused, restarting, removing, exited or dead.
	State string
	// ExitCode is that of the last run of the main process.
	ExitCode   int
	Created    time.Time
	Labels     map[string]string
	Env        []string // KEY=VALUE, the image's included
	User       string
	WorkingDir string
	// Ports are the published ports: as the engine bound them while the
	// container runs, else as they were asked for.
	Ports []PortBinding
	// Health is starting, healthy or unhealthy; empty without a health check.
	Health string
}

// PortBinding publishes a container's port on the host.
type PortBinding struct {
	ContainerPort int
	// Protocol is tcp, udp or sctp; empty means tcp.
	Protocol string
	// HostIP is the address to listen on; empty means every one.
	HostIP string
	// HostPort 0 lets the engine pick a free port at every start.
	HostPort int
}

// InspectContainer returns the container with that name or ID, or [ErrNotFound].
func (c *Client) InspectContainer(ctx context.Context, nameOrID string) (Container, error) {
	resp, err := c.docker.ContainerInspect(ctx, nameOrID)
	if err != nil {
		return Container{}, fmt.Errorf("inspect container %q: %w", nameOrID, classify(err))
	}
	created, err := time.Parse(time.RFC3339Nano, resp.Created)
	if err != nil {
		return Container{}, fmt.Errorf("inspect container %q: read its creation time: %w", nameOrID, err)
	}
	out := Container{
		ID:         resp.ID,
		Name:       strings.TrimPrefix(resp.Name, "/"),
		Image:      resp.Config.Image,
		ImageID:    resp.Image,
		State:      resp.State.Status,
		ExitCode:   resp.State.ExitCode,
		Created:    created,
		Labels:     resp.Config.Labels,
		Env:        resp.Config.Env,
		User:       resp.Config.User,
		WorkingDir: resp.Config.WorkingDir,
		Ports:      portBindings(resp.HostConfig.PortBindings),
	}
	if resp.State.Running && resp.NetworkSettings != nil {
		out.Ports = portBindings(resp.NetworkSettings.Ports)
	}
	if resp.State.Health != nil {
		out.Health = resp.State.Health.Status
	}
	return out, nil
}

// ListContainers returns the containers, in every state, that carry every given
// label ("key" or "key=value"), newest first. ExitCode, Env, User, WorkingDir
// and Health are not filled: the engine's list does not have them.
func (c *Client) ListContainers(ctx context.Context, labels ...string) ([]Container, error) {
	list, err := c.docker.ContainerList(ctx, container.ListOptions{All: true, Filters: labelFilter(labels)})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", classify(err))
	}
	out := make([]Container, 0, len(list))
	for _, s := range list {
		item := Container{
			ID:      s.ID,
			Image:   s.Image,
			ImageID: s.ImageID,
			State:   s.State,
			Created: time.Unix(s.Created, 0).UTC(),
			Labels:  s.Labels,
		}
		if len(s.Names) > 0 {
			item.Name = strings.TrimPrefix(s.Names[0], "/")
		}
		for _, p := range s.Ports {
			if p.PublicPort != 0 {
				item.Ports = append(item.Ports, PortBinding{
					ContainerPort: int(p.PrivatePort), Protocol: p.Type, HostIP: p.IP, HostPort: int(p.PublicPort),
				})
			}
		}
		slices.SortFunc(item.Ports, comparePorts)
		out = append(out, item)
	}
	return out, nil
}

// portBindings flattens the engine's map; ports that are exposed without being
// published have no bindings and drop out.
func portBindings(ports nat.PortMap) []PortBinding {
	var out []PortBinding
	for port, bindings := range ports {
		for _, b := range bindings {
			hostPort, _ := strconv.Atoi(b.HostPort) // empty when the engine is to pick one
			out = append(out, PortBinding{
				ContainerPort: port.Int(), Protocol: port.Proto(), HostIP: b.HostIP, HostPort: hostPort,
			})
		}
	}
	slices.SortFunc(out, comparePorts)
	return out
}

func comparePorts(a, b PortBinding) int {
	return cmp.Or(
		cmp.Compare(a.ContainerPort, b.ContainerPort),
		cmp.Compare(a.Protocol, b.Protocol),
		cmp.Compare(a.HostIP, b.HostIP),
		cmp.Compare(a.HostPort, b.HostPort),
	)
}

// StartContainer starts a created or stopped container. Starting a running one
// is not an error.
func (c *Client) StartContainer(ctx context.Context, id string) error {
	if err := c.docker.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		return fmt.Errorf("start container %q: %w", id, classify(err))
	}
	return nil
}

// StopContainer sends the container's stop signal and kills it when it still
// runs after timeout, which is rounded up to whole seconds; 0 kills at once.
// Stopping a stopped container is not an error.
func (c *Client) StopContainer(ctx context.Context, id string, timeout time.Duration) error {
	seconds := int(math.Ceil(max(timeout, 0).Seconds()))
	if err := c.docker.ContainerStop(ctx, id, container.StopOptions{Timeout: &seconds}); err != nil {
		return fmt.Errorf("stop container %q: %w", id, classify(err))
	}
	return nil
}

// RemoveContainer kills and removes the container with its anonymous volumes.
// A missing container is not an error.
func (c *Client) RemoveContainer(ctx context.Context, id string) error {
	err := c.docker.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if err := ignoreNotFound(classify(err)); err != nil {
		return fmt.Errorf("remove container %q: %w", id, err)
	}
	return nil
}

// RenameContainer gives the container another name. A taken name gives
// [ErrConflict] and changes nothing.
func (c *Client) RenameContainer(ctx context.Context, id, name string) error {
	if err := c.docker.ContainerRename(ctx, id, name); err != nil {
		return fmt.Errorf("rename container %q to %q: %w", id, name, classify(err))
	}
	return nil
}
