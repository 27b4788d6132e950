package materialize

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

// CloneTimeout bounds one clone.
const CloneTimeout = 15 * time.Minute

//go:embed clone.sh
var cloneScript string

// Exit codes of clone.sh.
const (
	exitNoGit      = 71
	exitNoRemote   = 72
	exitNoRef      = 73
	exitNoFetch    = 74
	exitNoCheckout = 75
	exitNoSubpath  = 76
	exitNoDest     = 77
)

// GitMissingInImageError says that the sandbox image cannot clone.
type GitMissingInImageError struct{ Image, Path string }

func (e *GitMissingInImageError) Error() string {
	return fmt.Sprintf("entry %q: image %q has no git (or no shell to run it): choose a --base that has it, such as %s", e.Path, e.Image, manifest.DefaultBase)
}

// GitCloneError says why a clone failed.
type GitCloneError struct {
	Path, URL, Ref string
	Reason         string // what to do about it
	Stderr         string // the tail of what git said
}

func (e *GitCloneError) Error() string {
	msg := fmt.Sprintf("entry %q: clone %s", e.Path, e.URL)
	if e.Ref != "" {
		msg += fmt.Sprintf(" at %q", e.Ref)
	}
	msg += ": " + e.Reason
	if e.Stderr != "" {
		msg += ": " + e.Stderr
	}
	return msg
}

// GitSubpathError says that a repository has no such directory.
type GitSubpathError struct{ Path, URL, Subpath string }

func (e *GitSubpathError) Error() string {
	return fmt.Sprintf("entry %q: %s has no directory %q (links are not followed)", e.Path, e.URL, e.Subpath)
}

// Command is one process in the sandbox.
type Command struct {
	Args []string
	Env  []string
	User string // "uid:gid"
	Dir  string
}

// Sandbox runs commands where the workspace is. A process that ran and failed
// is an exit code, not an error; a missing program has the code 127.
type Sandbox interface {
	Run(ctx context.Context, cmd Command) (stdout, stderr []byte, exitCode int, err error)
}

// Clone is one repository to clone.
type Clone struct {
	Path  string // the entry's key
	Dest  string // absolute
	Image string // named in errors
	Repo  *manifest.GitRepo
	Owner Owner
	// User is who works in the sandbox. When it is not the owner, git would
	// refuse to look into the clone; it is told to trust this very path.
	User Owner
}

// CloneGit clones a repository inside the sandbox straight into its
// destination, without prompts and as the owner of it. It returns the commit
// that was checked out. What a failed clone made is removed.
func CloneGit(ctx context.Context, sandbox Sandbox, c Clone) (commit string, err error) {
	limited, cancel := context.WithTimeout(ctx, CloneTimeout)
	defer cancel()
	url := c.Repo.CloneURL()
	stdout, stderr, code, err := sandbox.Run(limited, Command{
		Args: []string{"sh", "-c", cloneScript, "clone", c.Dest, url, c.Repo.Ref, strconv.Itoa(c.Repo.Depth), subpath(c.Repo.Subpath)},
		Env:  cloneEnv,
		User: fmt.Sprintf("%d:%d", c.Owner.UID, c.Owner.GID),
		Dir:  "/",
	})
	failed := func(reason string) error {
		return &GitCloneError{Path: c.Path, URL: url, Ref: c.Repo.Ref, Reason: reason, Stderr: tail(stderr)}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return "", failed(fmt.Sprintf("no result within %v", CloneTimeout))
	case err != nil:
		return "", fmt.Errorf("entry %q: clone %s: %w", c.Path, url, err)
	}
	switch code {
	case 0:
	case exitNoGit, 126, 127:
		return "", &GitMissingInImageError{Image: c.Image, Path: c.Path}
	case exitNoRemote:
		return "", failed("the remote cannot be read: check the address, the network of the workspace and the access")
	case exitNoRef:
		return "", failed("the remote has no such ref")
	case exitNoFetch:
		return "", failed("the fetch failed")
	case exitNoCheckout:
		return "", failed("the files cannot be written")
	case exitNoSubpath:
		return "", &GitSubpathError{Path: c.Path, URL: url, Subpath: c.Repo.Subpath}
	case exitNoDest:
		return "", failed(fmt.Sprintf("%s cannot be written by user %d", c.Dest, c.Owner.UID))
	default:
		return "", failed(fmt.Sprintf("exit code %d", code))
	}
	_, commit, ok := strings.Cut(string(bytes.TrimSpace(stdout)), "commit ")
	if !ok {
		return "", failed("git did not say which commit it checked out")
	}
	if c.User.UID == c.Owner.UID || subpath(c.Repo.Subpath) != "" {
		return commit, nil
	}
	return commit, trust(ctx, sandbox, c)
}

const trustScript = `git config --system --get-all safe.directory | grep -Fqx -- "$1" || git config --system --add safe.directory "$1"`

// trust lets other users than the owner run git in the clone.
func trust(ctx context.Context, sandbox Sandbox, c Clone) error {
	_, stderr, code, err := sandbox.Run(ctx, Command{Args: []string{"sh", "-c", trustScript, "trust", c.Dest}, User: "0:0", Dir: "/"})
	if err == nil && code != 0 {
		err = fmt.Errorf("exit code %d: %s", code, tail(stderr))
	}
	if err != nil {
		return fmt.Errorf("entry %q: make git trust %s: %w", c.Path, c.Dest, err)
	}
	return nil
}

// Nothing may wait for an answer that nobody will give.
var cloneEnv = []string{
	"GIT_TERMINAL_PROMPT=0",
	"GIT_ASKPASS=true",
	"SSH_ASKPASS=true",
	"GCM_INTERACTIVE=never",
	"GIT_SSH_COMMAND=ssh -oBatchMode=yes",
	"LC_ALL=C",
}

func subpath(s string) string {
	if s == "." {
		return ""
	}
	return s
}

// tail keeps the last lines, on one line.
func tail(b []byte) string {
	const maxLines, maxBytes = 8, 1000
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	lines = lines[max(0, len(lines)-maxLines):]
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	s := strings.Join(lines, "; ")
	return s[max(0, len(s)-maxBytes):]
}
