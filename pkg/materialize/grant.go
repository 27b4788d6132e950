package materialize

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

// Reasons of a GrantError besides those of a LocalSourceError.
const (
	// GrantIsRoot: the path is, or links lead it to, the root of a file system.
	GrantIsRoot = "grant_is_root"
	// GrantConflict: the path is needed for something else.
	GrantConflict = "grant_conflict"
	// HostAccessDenied: the caller does not let the manifest use host paths.
	HostAccessDenied = "host_access_denied"
)

// GrantError says why an extra path grant is refused.
type GrantError struct {
	Path   string // of the grant
	Host   string // the host's path, as declared; may be empty
	Reason string // one of the reason codes
	Hint   string // what is wrong, and what to do
	Err    error  // the cause, may be nil
}

func (e *GrantError) Error() string {
	what := fmt.Sprintf("grant %q", e.Path)
	if e.Host != "" && e.Host != e.Path {
		what += fmt.Sprintf(" of host path %q", e.Host)
	}
	msg := what + ": " + e.Hint
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg + " (" + e.Reason + ")"
}

func (e *GrantError) Unwrap() error { return e.Err }

// grantedPath is the path of the host that a grant opens.
func grantedPath(g manifest.PathGrant) string {
	if g.HostPath != "" {
		return g.HostPath
	}
	return g.Path
}

// ResolveGrant returns the path of this host that a grant opens, without links,
// so that what was checked is what gets mounted. A host_path has to exist; a
// grant without one may be about the container alone, and gives "" then. The
// error is a *GrantError.
func ResolveGrant(g manifest.PathGrant) (string, error) {
	refused := func(reason, hint string, cause error) (string, error) {
		return "", &GrantError{Path: g.Path, Host: grantedPath(g), Reason: reason, Hint: hint, Err: cause}
	}
	resolved, err := filepath.EvalSymlinks(grantedPath(g))
	switch {
	case err != nil && g.HostPath == "":
		return "", nil
	case errors.Is(err, fs.ErrNotExist):
		return refused(PathNotFound, "it does not exist on this host; nothing creates it, since a typing error would", nil)
	case err != nil:
		return refused(Unreadable, "it cannot be looked at", err)
	case filepath.Dir(resolved) == resolved:
		return refused(GrantIsRoot, "it is the root of the host's file system; grant what is needed below it", nil)
	}
	return resolved, nil
}
