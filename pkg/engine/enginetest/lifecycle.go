package enginetest

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"

	"github.com/docker/go-connections/nat"
)

// exitKilled is the exit code of a process that SIGKILL ended.
const exitKilled = 137

// startContainer starts the main process, which then runs until it is stopped:
// the fake runs only the commands of execs.
func (e *Engine) startContainer(w http.ResponseWriter, r *http.Request) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b, err := e.container(r)
	if err != nil {
		return err
	}
	if b.state == stateRunning {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	command := append(append([]string{}, b.config.Entrypoint...), b.config.Cmd...)
	process := process{cmd: command, env: b.config.Env, user: b.config.User, dir: b.config.WorkingDir}
	if failure := process.check(b.Container); failure != nil {
		if failure.user {
			b.exitCode = 128
			return fail(http.StatusInternalServerError, "%s", failure.reason)
		}
		b.exitCode = 127
		return fail(http.StatusBadRequest, "failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: %s: unknown", failure.reason)
	}
	ports, err := e.bindPorts(b)
	if err != nil {
		b.exitCode = 128
		return err
	}
	b.ports, b.state, b.exitCode, b.stopped = ports, stateRunning, 0, make(chan struct{})
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// bindPorts gives every binding without a port one that is free on the imagined
// host, and refuses one that another container has.
func (e *Engine) bindPorts(b *box) (nat.PortMap, error) {
	taken := e.takenPorts()
	out := nat.PortMap{}
	for port, bindings := range b.host.PortBindings {
		for _, binding := range bindings {
			binding.HostIP = cmp.Or(binding.HostIP, "0.0.0.0")
			binding.HostPort = cmp.Or(binding.HostPort, freePort(taken))
			if taken[binding.HostPort] {
				return nil, fail(http.StatusInternalServerError, "driver failed programming external connectivity on endpoint %s (%s): Bind for %s:%s failed: port is already allocated",
					b.name, b.ID, binding.HostIP, binding.HostPort)
			}
			taken[binding.HostPort] = true
			out[port] = append(out[port], binding)
		}
	}
	return out, nil
}

func (e *Engine) takenPorts() map[string]bool {
	taken := map[string]bool{}
	for _, b := range e.containers {
		for _, bindings := range b.ports {
			for _, binding := range bindings {
				taken[binding.HostPort] = true
			}
		}
	}
	return taken
}

func freePort(taken map[string]bool) string {
	for port := 32768; ; port++ {
		if candidate := strconv.Itoa(port); !taken[candidate] {
			return candidate
		}
	}
}

func (e *Engine) renameContainer(w http.ResponseWriter, r *http.Request) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b, err := e.container(r)
	if err != nil {
		return err
	}
	name := r.URL.Query().Get("name")
	if name == b.name {
		return fail(http.StatusBadRequest, "Renaming a container with the same name as its current name")
	}
	if answer, ok := errors.AsType[*apiError](e.checkName(name)); ok {
		return fail(answer.status, "Error when allocating new name: %s", answer.message)
	}
	b.name = name
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (e *Engine) stopContainer(w http.ResponseWriter, r *http.Request) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b, err := e.container(r)
	if err != nil {
		return err
	}
	if b.state != stateRunning {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	b.stop()
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (b *box) stop() {
	if b.state != stateRunning {
		return
	}
	close(b.stopped)
	b.state, b.exitCode, b.ports = stateExited, exitKilled, nil
}

// stopAll ends what still runs when the test ends.
func (e *Engine) stopAll() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, b := range e.containers {
		b.stop()
	}
}

func (e *Engine) deleteContainer(w http.ResponseWriter, r *http.Request) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b, err := e.container(r)
	if err != nil {
		return err
	}
	if b.state == stateRunning && r.URL.Query().Get("force") != "1" {
		return fail(http.StatusConflict, "You cannot remove a running container %s. Stop the container before attempting removal or force remove", b.ID)
	}
	b.stop()
	delete(e.containers, b.ID)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
