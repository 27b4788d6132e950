package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/docker/cli/cli"
	"github.com/spf13/cobra"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
	"github.com/docker-workspace/docker-workspace/pkg/oci"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
	"github.com/docker-workspace/docker-workspace/pkg/workspace"
)

// Exit codes.
const (
	exitFailed      = 1
	exitInvalid     = 2 // usage, or an invalid manifest
	exitChanges     = 3 // plan --exit-code
	exitConflict    = 4 // or drift
	exitInterrupted = 130
)

// exitError ends the process with a code and says nothing: what there is to
// say was printed.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// badUsage is a mistake in the command line.
type badUsage struct{ error }

func usageError(cmd *cobra.Command, err error) error {
	return badUsage{fmt.Errorf("%s: %w\n\nUsage:  %s\n\nRun '%s --help' for more information", cmd.CommandPath(), err, cmd.UseLine(), cmd.CommandPath())}
}

// report prints an error, as JSON where the command prints JSON, and returns
// the exit code that stands for it.
func (a *app) report(err error, interrupted bool) int {
	var silent exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &silent):
		return int(silent)
	}
	code, exit := classify(err)
	if interrupted || errors.Is(err, context.Canceled) {
		code, exit = "interrupted", exitInterrupted
	}
	if a.jsonErrors {
		// Standard output is all that is left to tell.
		_ = writeJSON(a.docker.Out(), map[string]any{"error": finding(err, code)})
		return exit
	}
	switch message := err.Error(); {
	case exit != exitInterrupted:
		fmt.Fprintln(a.docker.Err(), message)
	case strings.HasSuffix(message, context.Canceled.Error()):
		// What was interrupted is of no interest.
		fmt.Fprintln(a.docker.Err(), "interrupted")
	default:
		fmt.Fprintln(a.docker.Err(), "interrupted: "+message)
	}
	return exit
}

// finding has the shape that validate gives its findings.
func finding(err error, code string) any {
	var invalid *manifest.InvalidError
	if errors.As(err, &invalid) && len(invalid.Findings) > 0 {
		return struct {
			manifest.Finding
			Findings []manifest.Finding `json:"findings"`
		}{invalid.Findings[0], invalid.Findings}
	}
	return manifest.Finding{Severity: manifest.SeverityError, Code: code, Message: err.Error()}
}

// classify names an error and gives its exit code.
func classify(err error) (code string, exit int) {
	var (
		usage   badUsage
		flags   cli.StatusError
		source  *materialize.LocalSourceError
		noGit   *materialize.GitMissingInImageError
		clone   *materialize.GitCloneError
		subpath *materialize.GitSubpathError
		drift   *plan.DriftError
		noBase  *plan.MissingBaseError
		grant   *materialize.GrantError
		secret  *workspace.SecretError
	)
	switch {
	case errors.As(err, &usage), errors.As(err, &flags):
		return "usage", exitInvalid
	case errors.Is(err, manifest.ErrInvalid):
		return "invalid_manifest", exitInvalid
	case errors.As(err, &drift):
		return "manifest_changed", exitConflict
	case errors.Is(err, plan.ErrConflict), errors.Is(err, engine.ErrConflict):
		return "conflict", exitConflict
	case errors.As(err, &grant):
		return grant.Reason, exitFailed
	case errors.As(err, &secret):
		return "secret_unavailable", exitFailed
	case errors.As(err, &source):
		return source.Reason, exitFailed
	case errors.Is(err, oci.ErrChanged):
		return materialize.PathChangedDuringCopy, exitFailed
	case errors.As(err, &noGit):
		return "git_missing_in_image", exitFailed
	case errors.As(err, &clone):
		return "git_clone_error", exitFailed
	case errors.As(err, &subpath):
		return "git_subpath_error", exitFailed
	case errors.Is(err, materialize.ErrUnsupported), errors.Is(err, engine.ErrUnsupported):
		return "unsupported", exitFailed
	case errors.Is(err, engine.ErrUnavailable):
		return "engine_unavailable", exitFailed
	case errors.As(err, &noBase), errors.Is(err, workspace.ErrNotFound), errors.Is(err, engine.ErrNotFound):
		return "not_found", exitFailed
	default:
		return "failed", exitFailed
	}
}
