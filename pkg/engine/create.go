package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/go-connections/nat"
	"github.com/docker/go-units"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// ContainerSpec says what to create. Zero fields leave the choice to the image,
// then to the engine.
type ContainerSpec struct {
	// Name must be free; empty lets the engine make one up.
	Name string
	// Image is a reference or ID that the engine's store has.
	Image      string
	Hostname   string
	User       string
	WorkingDir string
	// NetworkMode is bridge, host, none, container:NAME or a network's name.
	NetworkMode string
	// Runtime is the name of an OCI runtime that the engine knows.
	Runtime string
	// Platform is os/arch[/variant] and picks among the platforms of Image.
	Platform string
	// Entrypoint and Cmd replace the image's. A nil Entrypoint is the image's;
	// an empty one that is not nil clears it. Setting Entrypoint also drops the
	// image's Cmd; an empty Cmd does not.
	Entrypoint, Cmd []string
	// Env entries are KEY=VALUE and are merged over the image's.
	Env    []string
	Labels map[string]string
	// Init runs a small init as the main process that reaps children; nil leaves
	// it to the engine's configuration.
	Init  *bool
	Ports []PortBinding
	// Memory and ShmSize are bytes, NanoCPUs billionths of a CPU.
	Memory, NanoCPUs, PidsLimit, ShmSize int64
	Ulimits                              []Ulimit
	// GPUs is "all" or a count, as in docker run --gpus.
	GPUs string
	// Devices are HOST[:CONTAINER[:PERMISSIONS]], as in docker run --device.
	Devices []string
	// GroupAdd are names or numbers of supplementary groups.
	GroupAdd    []string
	Healthcheck *Healthcheck
	// Binds are mounted from the shallowest target to the deepest.
	Binds []Bind
}

// Bind mounts a path of the engine's host into the container. Unlike docker
// run --volume, nothing makes a source that is missing: it is an error.
type Bind struct {
	// Source is absolute on the engine's host, Target in the container.
	Source, Target string
	// ReadOnly holds for Source. Engines before 25.0 leave file systems that are
	// mounted below it on the host writable.
	ReadOnly bool
}

// Ulimit is a resource limit of the main process, -1 being unlimited.
type Ulimit struct {
	Name       string
	Soft, Hard int64
}

// Created is a new container.
type Created struct {
	ID string
	// Warnings are remarks of the engine about settings that it does not honour.
	Warnings []string
}

// CreateContainer creates a container without starting it. A taken name gives
// [ErrConflict], a missing image [ErrNotFound], and a setting that the engine
// would ignore [ErrUnsupported].
func (c *Client) CreateContainer(ctx context.Context, spec ContainerSpec) (Created, error) {
	created, err := c.createContainer(ctx, spec)
	if err != nil {
		return Created{}, fmt.Errorf("create container %q: %w", spec.Name, err)
	}
	return created, nil
}

func (c *Client) createContainer(ctx context.Context, spec ContainerSpec) (Created, error) {
	for _, feature := range featuresOf(spec) {
		if err := c.require(ctx, feature); err != nil {
			return Created{}, err
		}
	}
	exposed, bindings, err := portMaps(spec.Ports)
	if err != nil {
		return Created{}, err
	}
	host, err := hostConfig(spec, bindings)
	if err != nil {
		return Created{}, err
	}
	config := &container.Config{
		Image:        spec.Image,
		Hostname:     spec.Hostname,
		User:         spec.User,
		WorkingDir:   spec.WorkingDir,
		Entrypoint:   spec.Entrypoint,
		Cmd:          spec.Cmd,
		Env:          spec.Env,
		Labels:       spec.Labels,
		ExposedPorts: exposed,
		Healthcheck:  healthConfig(spec.Healthcheck),
	}
	resp, err := c.docker.ContainerCreate(ctx, config, host, nil, platform(spec.Platform), spec.Name)
	if err != nil {
		return Created{}, classify(err)
	}
	return Created{ID: resp.ID, Warnings: resp.Warnings}, nil
}

// featuresOf lists what spec asks for that not every engine honours.
func featuresOf(spec ContainerSpec) []apiFeature {
	var out []apiFeature
	if spec.GPUs != "" {
		out = append(out, featureGPUs)
	}
	if spec.Platform != "" {
		out = append(out, featurePlatform)
	}
	if spec.Healthcheck != nil && spec.Healthcheck.StartInterval != 0 {
		out = append(out, featureStartInterval)
	}
	return out
}

func hostConfig(spec ContainerSpec, bindings nat.PortMap) (*container.HostConfig, error) {
	host := &container.HostConfig{
		NetworkMode:  container.NetworkMode(spec.NetworkMode),
		Runtime:      spec.Runtime,
		PortBindings: bindings,
		GroupAdd:     spec.GroupAdd,
		ShmSize:      spec.ShmSize,
		Init:         spec.Init,
	}
	host.Memory = spec.Memory
	host.NanoCPUs = spec.NanoCPUs
	if spec.PidsLimit != 0 {
		host.PidsLimit = &spec.PidsLimit
	}
	for _, u := range spec.Ulimits {
		host.Ulimits = append(host.Ulimits, &units.Ulimit{Name: u.Name, Soft: u.Soft, Hard: u.Hard})
	}
	for _, device := range spec.Devices {
		mapping, err := deviceMapping(device)
		if err != nil {
			return nil, err
		}
		host.Devices = append(host.Devices, mapping)
	}
	if spec.GPUs != "" {
		request, err := gpuRequest(spec.GPUs)
		if err != nil {
			return nil, err
		}
		host.DeviceRequests = []container.DeviceRequest{request}
	}
	for _, b := range byDepth(spec.Binds) {
		host.Mounts = append(host.Mounts, mount.Mount{Type: mount.TypeBind, Source: b.Source, Target: b.Target, ReadOnly: b.ReadOnly})
	}
	return host, nil
}

// byDepth puts what contains another target before it, so that it does not
// hide it.
func byDepth(binds []Bind) []Bind {
	return slices.SortedStableFunc(slices.Values(binds), func(a, b Bind) int {
		return cmp.Compare(strings.Count(a.Target, "/"), strings.Count(b.Target, "/"))
	})
}

func portMaps(ports []PortBinding) (nat.PortSet, nat.PortMap, error) {
	exposed, bindings := nat.PortSet{}, nat.PortMap{}
	for _, p := range ports {
		protocol := cmp.Or(p.Protocol, "tcp")
		port := nat.Port(strconv.Itoa(p.ContainerPort) + "/" + protocol)
		inRange := p.ContainerPort >= 1 && p.ContainerPort <= 65535 && p.HostPort >= 0 && p.HostPort <= 65535
		if !inRange || !slices.Contains([]string{"tcp", "udp", "sctp"}, protocol) {
			return nil, nil, fmt.Errorf("publish port %s at host port %d: want 1 to 65535 and tcp, udp or sctp", port, p.HostPort)
		}
		binding := nat.PortBinding{HostIP: p.HostIP}
		if p.HostPort != 0 {
			binding.HostPort = strconv.Itoa(p.HostPort)
		}
		exposed[port] = struct{}{}
		bindings[port] = append(bindings[port], binding)
	}
	return exposed, bindings, nil
}

func deviceMapping(device string) (container.DeviceMapping, error) {
	fields := strings.Split(device, ":")
	if len(fields) > 3 || fields[0] == "" {
		return container.DeviceMapping{}, fmt.Errorf("add device %q: want HOST[:CONTAINER[:PERMISSIONS]]", device)
	}
	out := container.DeviceMapping{PathOnHost: fields[0], PathInContainer: fields[0], CgroupPermissions: "rwm"}
	if len(fields) > 1 && fields[1] != "" {
		out.PathInContainer = fields[1]
	}
	if len(fields) > 2 {
		out.CgroupPermissions = fields[2]
	}
	return out, nil
}

func gpuRequest(gpus string) (container.DeviceRequest, error) {
	count := -1
	if gpus != "all" {
		n, err := strconv.Atoi(gpus)
		if err != nil || n < 1 {
			return container.DeviceRequest{}, fmt.Errorf("request GPUs %q: want \"all\" or a count", gpus)
		}
		count = n
	}
	return container.DeviceRequest{Count: count, Capabilities: [][]string{{"gpu"}}}, nil
}

func platform(s string) *ocispec.Platform {
	if s == "" {
		return nil
	}
	fields := append(strings.SplitN(s, "/", 3), "", "")
	return &ocispec.Platform{OS: fields[0], Architecture: fields[1], Variant: fields[2]}
}

func healthConfig(h *Healthcheck) *container.HealthConfig {
	if h == nil {
		return nil
	}
	return &container.HealthConfig{
		Test:          h.Test,
		Interval:      h.Interval,
		Timeout:       h.Timeout,
		StartPeriod:   h.StartPeriod,
		StartInterval: h.StartInterval,
		Retries:       h.Retries,
	}
}
