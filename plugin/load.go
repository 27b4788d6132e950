package plugin

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
)

// source says which manifest a command reads and from where.
type source struct {
	files          []string
	baseDir        string
	base           string
	allowHostPaths bool
}

func (s *source) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVarP(&s.files, "file", "f", nil, `Manifest to read, "-" is standard input (default: workspace.yaml, workspace.yml or workspace.json here)`)
	f.StringVar(&s.baseDir, "base-dir", "", "Directory that relative host paths start from (default: the working directory)")
	f.BoolVar(&s.allowHostPaths, "allow-host-paths", false, "Let a manifest from standard input read host files")
}

func (s *source) baseFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.base, "base", "", "Sandbox image to use instead of the manifest's")
}

// loaded is a manifest with what the caller decides about it.
type loaded struct {
	manifest *manifest.Manifest
	warnings []manifest.Finding
	baseDir  string // "" when it may not read the host
	file     string // for messages
}

// load reads and checks the manifest.
func (a *app) load(s *source) (*loaded, error) {
	file, err := s.choose()
	if err != nil {
		return nil, err
	}
	out := &loaded{file: file}
	if file != "-" || s.allowHostPaths {
		if out.baseDir, err = s.directory(); err != nil {
			return nil, err
		}
	}
	in, err := a.open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if file == "-" {
		out.file = "<stdin>"
	}
	out.manifest, out.warnings, err = manifest.Decode(in, manifest.DecodeOptions{Filename: out.file, Lookup: os.LookupEnv})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// hostAccess reports what of a manifest needs the host's files although it may
// not read them: whoever wrote it is not the one who called us.
func (l *loaded) hostAccess() error {
	if l.baseDir != "" {
		return nil
	}
	var findings []manifest.Finding
	refuse := func(at manifest.Position, path string) {
		findings = append(findings, manifest.Finding{
			Severity: manifest.SeverityError, Code: "host_access_denied", File: l.file, Line: at.Line, Column: at.Column, Path: path,
			Message:    "a manifest from standard input may not read files of this host",
			Suggestion: "add --allow-host-paths if you trust it",
		})
	}
	if len(l.manifest.ExtraPathGrants) > 0 {
		refuse(manifest.Position{}, "extra_path_grants")
	}
	for _, e := range l.manifest.Flatten() {
		switch entry := e.Entry.(type) {
		case *manifest.LocalFile:
			refuse(e.Pos, fmt.Sprintf("entries[%q].src", e.Path))
		case *manifest.LocalDir:
			if entry.Src != "" {
				refuse(e.Pos, fmt.Sprintf("entries[%q].src", e.Path))
			}
		}
	}
	if len(findings) > 0 {
		return &manifest.InvalidError{Findings: findings}
	}
	return nil
}

// effective completes the manifest with what is the caller's to choose.
func (l *loaded) effective(s *source, name string) {
	m := l.manifest
	switch {
	case s.base != "":
		m.Base = s.base
	case m.Base != "":
	case os.Getenv("DOCKER_WORKSPACE_BASE") != "":
		m.Base = os.Getenv("DOCKER_WORKSPACE_BASE")
	default:
		m.Base = manifest.DefaultBase
	}
	switch {
	case name != "":
		m.Name = name
	case m.Name == "":
		m.Name = folderName(l.file)
	}
}

func (s *source) choose() (string, error) {
	switch len(s.files) {
	case 0:
	case 1:
		return s.files[0], nil
	default:
		return "", &materialize.UnsupportedError{What: "more than one --file"}
	}
	names := []string{"workspace.yaml", "workspace.yml", "workspace.json"}
	for _, name := range names {
		if _, err := os.Stat(name); err == nil {
			return name, nil
		}
	}
	return "", badUsage{fmt.Errorf("no manifest here (%s): name one with --file, or write one with docker workspace init", strings.Join(names, ", "))}
}

// directory is sampled at the call: a relative host path means what it meant
// when the command was given.
func (s *source) directory() (string, error) {
	if s.baseDir != "" {
		return filepath.Abs(s.baseDir)
	}
	return os.Getwd()
}

func (a *app) open(file string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(a.docker.In()), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	return f, nil
}

var notInName = regexp.MustCompile(`[^a-z0-9_.-]+`)

// folderName is the name of a workspace whose manifest has none.
func folderName(file string) string {
	abs, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return "workspace"
	}
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(filepath.Base(abs)), "-"), "-_.")
	if name == "" {
		return "workspace"
	}
	return name[:min(len(name), 63)]
}
