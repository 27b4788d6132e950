package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/docker/cli/cli/command"
	"github.com/google/go-cmp/cmp"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
	"github.com/docker-workspace/docker-workspace/pkg/workspace"
)

func TestReport(t *testing.T) {
	invalid := &manifest.InvalidError{Findings: []manifest.Finding{
		{Severity: manifest.SeverityError, Code: "unknown_key", Message: "unknown key", File: "f.yaml", Line: 2, Column: 3},
	}}
	for name, test := range map[string]struct {
		err    error
		exit   int
		code   string // in JSON
		stderr string // "" is the error's own text
	}{
		"nothing":              {err: nil, exit: 0},
		"a command's own code": {err: exitError(42), exit: 42},
		"usage":                {err: badUsage{errors.New("unknown flag")}, exit: 2, code: "usage"},
		"an invalid manifest":  {err: invalid, exit: 2, code: "unknown_key"},
		"drift":                {err: &plan.DriftError{Name: "ws"}, exit: 4, code: "manifest_changed"},
		"a foreign container":  {err: fmt.Errorf("taken: %w", plan.ErrConflict), exit: 4, code: "conflict"},
		"a taken name":         {err: fmt.Errorf("create: %w", engine.ErrConflict), exit: 4, code: "conflict"},
		"a host source":        {err: &materialize.LocalSourceError{Src: "a", Reason: materialize.PathNotFound}, exit: 1, code: "path_not_found"},
		"no git":               {err: &materialize.GitMissingInImageError{Image: "a"}, exit: 1, code: "git_missing_in_image"},
		"a clone":              {err: &materialize.GitCloneError{URL: "a"}, exit: 1, code: "git_clone_error"},
		"a subpath":            {err: &materialize.GitSubpathError{URL: "a"}, exit: 1, code: "git_subpath_error"},
		"an entry's type":      {err: &materialize.UnsupportedManifestEntryError{Type: "a"}, exit: 1, code: "unsupported"},
		"an old engine":        {err: fmt.Errorf("create: %w", engine.ErrUnsupported), exit: 1, code: "unsupported"},
		"no engine":            {err: fmt.Errorf("ping: %w", engine.ErrUnavailable), exit: 1, code: "engine_unavailable"},
		"no workspace":         {err: fmt.Errorf("%w: a", workspace.ErrNotFound), exit: 1, code: "not_found"},
		"no image":             {err: fmt.Errorf("inspect: %w", engine.ErrNotFound), exit: 1, code: "not_found"},
		"anything else":        {err: errors.New("no space left"), exit: 1, code: "failed"},
		"an interrupt":         {err: fmt.Errorf("create: %w", context.Canceled), exit: 130, code: "interrupted", stderr: "interrupted\n"},
		"an interrupt and what is left": {
			err:  errors.Join(fmt.Errorf("create: %w", context.Canceled), errors.New("clean up: busy")),
			exit: 130, code: "interrupted", stderr: "interrupted: create: context canceled\nclean up: busy\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, stdout, stderr := testApp(t)
			if got := a.report(test.err, false); got != test.exit {
				t.Errorf("exit code %d, want %d", got, test.exit)
			}
			if stdout.Len() > 0 {
				t.Errorf("standard output has %q", stdout)
			}
			want := test.stderr
			if want == "" && test.code != "" {
				want = test.err.Error() + "\n"
			}
			if diff := cmp.Diff(want, stderr.String()); diff != "" {
				t.Errorf("standard error (-want +got):\n%s", diff)
			}
		})
		if test.code == "" {
			continue
		}
		t.Run(name+" as JSON", func(t *testing.T) {
			a, stdout, stderr := testApp(t)
			a.jsonErrors = true
			if got := a.report(test.err, false); got != test.exit {
				t.Errorf("exit code %d, want %d", got, test.exit)
			}
			if stderr.Len() > 0 {
				t.Errorf("standard error has %q", stderr)
			}
			var answer struct {
				Error struct{ Severity, Code, Message string }
			}
			if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
				t.Fatalf("%v in %s", err, stdout)
			}
			if e := answer.Error; e.Code != test.code || e.Severity != "error" || e.Message == "" {
				t.Errorf("got %+v, want code %q", e, test.code)
			}
		})
	}
}

// An error that an interrupt caused may have lost its cause on the way.
func TestReportAfterSignal(t *testing.T) {
	a, _, stderr := testApp(t)
	if got := a.report(errors.New("broken pipe"), true); got != exitInterrupted {
		t.Errorf("exit code %d, want %d", got, exitInterrupted)
	}
	if got, want := stderr.String(), "interrupted: broken pipe\n"; got != want {
		t.Errorf("standard error %q, want %q", got, want)
	}
}

// A finding keeps its place, and the rest of them come along.
func TestReportFindingsAsJSON(t *testing.T) {
	a, stdout, _ := testApp(t)
	a.jsonErrors = true
	a.report(fmt.Errorf("read: %w", &manifest.InvalidError{Findings: []manifest.Finding{
		{Severity: manifest.SeverityError, Code: "unknown_key", Message: "unknown key <a>", File: "f.yaml", Line: 2, Column: 3, Path: "a"},
		{Severity: manifest.SeverityError, Code: "wrong_type", Message: "is a list", File: "f.yaml", Line: 4, Column: 5, Path: "b"},
	}}), false)
	var answer struct {
		Error struct {
			manifest.Finding
			Findings []manifest.Finding `json:"findings"`
		} `json:"error"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	e := answer.Error
	if e.Line != 2 || e.Column != 3 || e.Path != "a" || len(e.Findings) != 2 || e.Findings[1].Line != 4 {
		t.Errorf("got %+v", e)
	}
	if !bytes.Contains(stdout.Bytes(), []byte("<a>")) {
		t.Errorf("text is escaped for HTML: %s", stdout)
	}
}

func testApp(t *testing.T) (a *app, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	docker, err := command.NewDockerCli(command.WithOutputStream(stdout), command.WithErrorStream(stderr))
	if err != nil {
		t.Fatal(err)
	}
	return &app{docker: docker}, stdout, stderr
}
