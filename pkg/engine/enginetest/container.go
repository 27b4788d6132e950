package enginetest

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/go-connections/nat"
)

const (
	stateCreated = "created"
	stateRunning = "running"
	stateExited  = "exited"
)

// box is a container with what the API says about it.
type box struct {
	*Container
	name      string // without a slash
	serial    int
	image     string // as given
	imageID   string
	config    *container.Config // merged with the image's
	host      *container.HostConfig
	createdAt time.Time
	state     string
	exitCode  int
	ports     nat.PortMap   // while it runs
	stopped   chan struct{} // while it runs; closed when it stops
}

var validName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]+$`)

func (e *Engine) findContainer(nameOrID string) *box {
	all := e.sortedContainers()
	// A whole id comes before a name, and a name before the start of an id.
	for _, is := range []func(*box) bool{
		func(b *box) bool { return b.ID == nameOrID },
		func(b *box) bool { return b.name == nameOrID },
		func(b *box) bool { return strings.HasPrefix(b.ID, nameOrID) },
	} {
		if i := slices.IndexFunc(all, is); i >= 0 {
			return all[i]
		}
	}
	return nil
}

// container returns the container that the request's path names.
func (e *Engine) container(r *http.Request) (*box, error) {
	if b := e.findContainer(r.PathValue("id")); b != nil {
		return b, nil
	}
	return nil, fail(http.StatusNotFound, "No such container: %s", r.PathValue("id"))
}

func (e *Engine) sortedContainers() []*box {
	return slices.SortedFunc(maps.Values(e.containers), func(a, b *box) int { return a.serial - b.serial })
}

func (e *Engine) createContainer(w http.ResponseWriter, r *http.Request) error {
	var request container.CreateRequest
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || request.Config == nil {
		return fail(http.StatusBadRequest, "invalid JSON: %v", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	id := e.newID("container")
	name := r.URL.Query().Get("name")
	if name == "" {
		name = "unnamed_" + strconv.Itoa(e.serial)
	}
	if request.HostConfig == nil {
		request.HostConfig = &container.HostConfig{}
	}
	if err := checkMounts(request.HostConfig.Mounts); err != nil {
		return err
	}
	image := e.findImage(request.Image)
	if image == nil {
		return fail(http.StatusNotFound, "No such image: %s", familiar(request.Image))
	}
	config := mergeConfig(request.Config, image.config.Config)
	if config.WorkingDir != "" && !strings.HasPrefix(config.WorkingDir, "/") {
		return fail(http.StatusBadRequest, "the working directory '%s' is invalid, it needs to be an absolute path", config.WorkingDir)
	}
	if len(config.Entrypoint) == 0 && len(config.Cmd) == 0 {
		return fail(http.StatusBadRequest, "No command specified")
	}
	if err := e.checkName(name); err != nil {
		return err
	}
	root, err := e.rootOf(image)
	if err != nil {
		return err
	}
	// The engine makes a missing working directory, owned by root.
	if err := root.mkdirAll(config.WorkingDir); err != nil {
		return err
	}
	if config.Hostname == "" {
		config.Hostname = id[:12]
	}
	e.containers[id] = &box{
		Container: &Container{ID: id, root: root},
		name:      name,
		serial:    e.serial,
		image:     request.Image,
		imageID:   image.id,
		config:    config,
		host:      request.HostConfig,
		createdAt: time.Now().UTC(),
		state:     stateCreated,
	}
	writeJSON(w, http.StatusCreated, container.CreateResponse{ID: id, Warnings: []string{}})
	return nil
}

// checkName refuses a name that is malformed or taken.
func (e *Engine) checkName(name string) error {
	if !validName.MatchString(name) {
		return fail(http.StatusBadRequest, "Invalid container name (%s), only [a-zA-Z0-9][a-zA-Z0-9_.-] are allowed", name)
	}
	for _, b := range e.containers {
		if b.name == name {
			return fail(http.StatusConflict, "Conflict. The container name %q is already in use by container %q. You have to remove (or rename) that container to be able to reuse that name.",
				"/"+name, b.ID)
		}
	}
	return nil
}

// checkMounts refuses binds as the engine does. They are only recorded: what is
// behind them is not in the container's file system.
func checkMounts(mounts []mount.Mount) error {
	targets := map[string]bool{}
	for _, m := range mounts {
		const invalid = "invalid mount config for type %q: "
		if m.Target == "/" {
			return fail(http.StatusBadRequest, invalid+"invalid specification: destination can't be '/'", m.Type)
		}
		if _, err := os.Stat(m.Source); err != nil {
			return fail(http.StatusBadRequest, invalid+"bind source path does not exist: %s", m.Type, m.Source)
		}
		if targets[m.Target] {
			return fail(http.StatusBadRequest, "Duplicate mount point: %s", m.Target)
		}
		targets[m.Target] = true
	}
	return nil
}

// rootOf stacks the layers of an image.
func (e *Engine) rootOf(image *storedImage) (*node, error) {
	root := newDir()
	for _, diffID := range image.config.RootFS.DiffIDs {
		tree, err := layerTree(e.layers[diffID])
		if err != nil {
			return nil, err
		}
		// No entry stands for the root itself, so that it keeps its metadata.
		root = overlay(root, tree)
	}
	return root, nil
}

// mergeConfig fills what the request left open from the image, as measured: an
// empty entrypoint that is not null hides the image's, an empty command hides
// the image's only beside an entrypoint of the request's own.
func mergeConfig(request, image *container.Config) *container.Config {
	merged := *request
	if len(merged.Entrypoint) == 0 {
		if len(merged.Cmd) == 0 {
			merged.Cmd = image.Cmd
		}
		if merged.Entrypoint == nil {
			merged.Entrypoint = image.Entrypoint
		}
	}
	if merged.User == "" {
		merged.User = image.User
	}
	if merged.WorkingDir == "" {
		merged.WorkingDir = image.WorkingDir
	}
	merged.Env = mergeEnv(image.Env, request.Env)
	merged.Labels = map[string]string{}
	maps.Copy(merged.Labels, image.Labels)
	maps.Copy(merged.Labels, request.Labels)
	return &merged
}

// mergeEnv puts the variables of the request first, as the engine does.
func mergeEnv(base, over []string) []string {
	out := slices.Clone(over)
	for _, variable := range base {
		name, _, _ := strings.Cut(variable, "=")
		if !slices.ContainsFunc(over, func(v string) bool { return strings.HasPrefix(v, name+"=") }) {
			out = append(out, variable)
		}
	}
	return out
}

func (e *Engine) inspectContainer(w http.ResponseWriter, r *http.Request) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b, err := e.container(r)
	if err != nil {
		return err
	}
	settings := &container.NetworkSettings{}
	settings.Ports = b.ports
	writeJSON(w, http.StatusOK, container.InspectResponse{
		ContainerJSONBase: &container.ContainerJSONBase{
			ID:         b.ID,
			Name:       "/" + b.name,
			Created:    b.createdAt.Format(time.RFC3339Nano),
			Image:      b.imageID,
			State:      &container.State{Status: b.state, Running: b.state == stateRunning, ExitCode: b.exitCode},
			HostConfig: b.host,
		},
		Config:          b.config,
		NetworkSettings: settings,
	})
	return nil
}

func (e *Engine) listContainers(w http.ResponseWriter, r *http.Request) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	args, err := filters.FromJSON(r.URL.Query().Get("filters"))
	if err != nil {
		return fail(http.StatusBadRequest, "%v", err)
	}
	list := []container.Summary{}
	for _, b := range e.sortedContainers() {
		if r.URL.Query().Get("all") != "1" && b.state != stateRunning || !args.MatchKVList("label", b.config.Labels) {
			continue
		}
		summary := container.Summary{
			ID: b.ID, Names: []string{"/" + b.name}, Image: b.image, ImageID: b.imageID,
			Created: b.createdAt.Unix(), Labels: b.config.Labels, State: b.state,
		}
		for port, bindings := range b.ports {
			for _, binding := range bindings {
				public, _ := strconv.ParseUint(binding.HostPort, 10, 16)
				summary.Ports = append(summary.Ports, container.Port{
					IP: binding.HostIP, PrivatePort: uint16(port.Int()), PublicPort: uint16(public), Type: port.Proto(),
				})
			}
		}
		list = append(list, summary)
	}
	slices.Reverse(list) // newest first
	writeJSON(w, http.StatusOK, list)
	return nil
}
