package enginetest

import (
	"archive/tar"
	"errors"
	"fmt"
	"path"
	"strings"
)

// process is what the runtime is asked to start.
type process struct {
	cmd, env  []string
	user, dir string
}

// startFailure is why a process cannot be started.
type startFailure struct {
	reason string
	user   bool // found out by the engine before it called the runtime
}

// check looks for the user, the working directory and the executable, in the
// engine's order and words.
func (p process) check(c *Container) *startFailure {
	c.mu.Lock()
	defer c.mu.Unlock()
	if user, _, _ := strings.Cut(p.user, ":"); !c.knowsUser(user) {
		return &startFailure{reason: fmt.Sprintf("unable to find user %s: no matching entries in passwd file", user), user: true}
	}
	if p.dir != "" {
		if at, err := c.root.walk(p.dir, true); err != nil || !at.node.isDir() {
			return &startFailure{reason: fmt.Sprintf("chdir to cwd (%q) set in config.json failed: no such file or directory", p.dir)}
		}
	}
	return p.checkExecutable(c)
}

func (c *Container) knowsUser(user string) bool {
	if user == "" || user == "root" || strings.Trim(user, "0123456789") == "" {
		return true
	}
	at, err := c.root.walk("/etc/passwd", true)
	if err != nil || at.node == nil {
		return false
	}
	for line := range strings.Lines(string(at.node.content)) {
		if strings.HasPrefix(line, user+":") {
			return true
		}
	}
	return false
}

func (p process) checkExecutable(c *Container) *startFailure {
	name := p.cmd[0]
	if !strings.Contains(name, "/") {
		for dir := range strings.SplitSeq(p.path(), ":") {
			if c.executable(path.Join("/", dir, name)) == nil {
				return nil
			}
		}
		return &startFailure{reason: fmt.Sprintf("exec: %q: executable file not found in $PATH", name)}
	}
	full := name
	if !path.IsAbs(name) {
		full = path.Join("/", p.dir, name)
	}
	if err := c.executable(full); err != nil {
		return &startFailure{reason: fmt.Sprintf("exec: %q: %v", name, err)}
	}
	return nil
}

// path is the search path of the process's environment.
func (p process) path() string {
	for _, variable := range p.env {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			return value
		}
	}
	return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
}

func (c *Container) executable(name string) error {
	at, err := c.root.walk(name, true)
	switch {
	case err != nil || at.node == nil:
		return fmt.Errorf("stat %s: no such file or directory", name)
	case at.node.kind != tar.TypeReg || at.node.mode&0o111 == 0:
		return errors.New("permission denied")
	}
	return nil
}
