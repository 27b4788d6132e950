package plugin

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

// source says which manifest a command reads and from where.
type source struct {
	files          []string
	envFiles       []string
	set            []string
	interpolate    bool
	baseDir        string
	base           string
	allowHostPaths bool
}

func (s *source) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVarP(&s.files, "file", "f", nil, `Manifest to read, "-" is standard input; later ones are merged over earlier ones (default: workspace.yaml, workspace.yml or workspace.json here)`)
	f.StringArrayVar(&s.envFiles, "env-file", nil, "File of variables for ${NAME} in manifests; yours come first, then those of later files")
	f.StringArrayVar(&s.set, "set", nil, `Set a value of the manifest (KEY=VALUE, as in base=debian:12 or 'entries["a/b"].mode="0600"')`)
	f.BoolVar(&s.interpolate, "interpolate", false, "Replace ${NAME} in JSON manifests too")
	f.StringVar(&s.baseDir, "base-dir", "", "Directory that relative host paths start from (default: the working directory)")
	f.BoolVar(&s.allowHostPaths, "allow-host-paths", false, "Let a manifest from standard input use files, paths and devices of this host")
}

func (s *source) baseFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.base, "base", "", "Sandbox image to use instead of the manifest's")
}

// loaded is a manifest with what the caller decides about it.
type loaded struct {
	manifest *manifest.Manifest
	warnings []manifest.Finding
	baseDir  string // "" when it may not read the host
	file     string // the first one, for messages
	foreign  bool   // a part of it came from standard input
	lookup   func(name string) (value string, ok bool)
}

// load reads, merges and checks the manifest.
func (a *app) load(s *source) (*loaded, error) {
	files, err := s.choose()
	if err != nil {
		return nil, err
	}
	out := &loaded{file: displayName(files[0]), foreign: slices.Contains(files, "-")}
	// A part from standard input makes the whole depend on whoever wrote it.
	if !out.foreign || s.allowHostPaths {
		if out.baseDir, err = s.directory(); err != nil {
			return nil, err
		}
	}
	if out.lookup, err = lookup(s.envFiles); err != nil {
		return nil, err
	}
	var sources []manifest.Source
	for _, file := range files {
		in, err := a.open(file)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		sources = append(sources, manifest.Source{Name: displayName(file), Reader: in, Local: file != "-"})
	}
	out.manifest, out.warnings, err = manifest.Load(sources, manifest.LoadOptions{
		Lookup: out.lookup, Interpolate: s.interpolate, Open: openIncluded, Set: s.set,
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func displayName(file string) string {
	if file == "-" {
		return "<stdin>"
	}
	return file
}

// lookup finds variables of the process, then of the files, the last one first.
func lookup(files []string) (func(string) (string, bool), error) {
	fromFiles := map[string]string{}
	for _, file := range files {
		vars, err := readEnvFile(file)
		if err != nil {
			return nil, err
		}
		maps.Copy(fromFiles, vars)
	}
	return func(name string) (string, bool) {
		if value, ok := os.LookupEnv(name); ok {
			return value, true
		}
		value, ok := fromFiles[name]
		return value, ok
	}, nil
}

func readEnvFile(file string) (map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read env file: %w", err)
	}
	defer f.Close()
	return manifest.ParseEnvFile(f, file)
}

// openIncluded opens files alone: reading from a device or a pipe that a
// manifest names could take for ever.
func openIncluded(file string) (io.ReadCloser, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("open %s: not a regular file", file)
	}
	return os.Open(file)
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

// choose returns the files to read.
func (s *source) choose() ([]string, error) {
	if i := slices.Index(s.files, "-"); i >= 0 && slices.Contains(s.files[i+1:], "-") {
		return nil, badUsage{errors.New("--file -: standard input can be read once")}
	}
	if len(s.files) > 0 {
		return s.files, nil
	}
	names := []string{"workspace.yaml", "workspace.yml", "workspace.json"}
	for _, name := range names {
		if _, err := os.Stat(name); err == nil {
			return []string{name}, nil
		}
	}
	return nil, badUsage{fmt.Errorf("no manifest here (%s): name one with --file, or write one with docker workspace init", strings.Join(names, ", "))}
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
