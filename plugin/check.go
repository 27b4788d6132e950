package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
)

func newValidate(a *app) *cobra.Command {
	var s source
	var format string
	var noHost bool
	cmd := &cobra.Command{
		Use:   "validate [OPTIONS]",
		Short: "Check a manifest",
		Long: `Check a manifest.

Every finding has its position and, where one is near, a suggestion. Sources on
this host are looked at too, unless --no-host. The exit code is 2 when the
manifest is invalid.`,
		Example: `  docker workspace validate
  docker workspace validate -f workspace.yaml --format json`,
		Args: atMost(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.load(&s)
			if err == nil {
				err = l.hostAccess()
			}
			var invalid *manifest.InvalidError
			var findings []manifest.Finding
			switch {
			case errors.As(err, &invalid):
				findings = invalid.Findings
			case err != nil:
				return err
			default:
				findings = l.warnings
				if !noHost && l.baseDir != "" {
					onHost, err := hostFindings(cmd.Context(), l)
					if err != nil {
						return err
					}
					findings = append(findings, onHost...)
				}
			}
			return a.printFindings(findings, format)
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&format, "format", "text", `Output: "text" or "json"`)
	cmd.Flags().BoolVar(&noHost, "no-host", false, "Do not look at sources on this host")
	oneOf(cmd, "format", "text", "json")
	return cmd
}

// hostFindings are the grants that an apply could not use, and the sources that
// it could not copy.
func hostFindings(ctx context.Context, l *loaded) ([]manifest.Finding, error) {
	grants, findings := l.hostGrants()
	sources, err := materialize.OpenSources(l.baseDir, grants)
	if err != nil {
		return nil, err
	}
	defer sources.Close()
	for _, e := range l.manifest.Flatten() {
		err := sources.Check(ctx, e.Entry)
		var bad *materialize.LocalSourceError
		switch {
		case err == nil:
		case errors.As(err, &bad):
			findings = append(findings, manifest.Finding{
				Severity: manifest.SeverityError, Code: bad.Reason, Message: bad.Error(), File: e.Pos.File,
				Line: e.Pos.Line, Column: e.Pos.Column, Path: fmt.Sprintf("entries[%q].src", e.Path),
			})
		default:
			return nil, err
		}
	}
	return findings, nil
}

func (a *app) printFindings(findings []manifest.Finding, format string) error {
	valid := true
	for _, f := range findings {
		valid = valid && f.Severity != manifest.SeverityError
	}
	var err error
	if format == "json" {
		if findings == nil {
			findings = []manifest.Finding{}
		}
		err = writeJSON(a.docker.Out(), struct {
			Valid    bool               `json:"valid"`
			Findings []manifest.Finding `json:"findings"`
		}{valid, findings})
	} else {
		for _, f := range findings {
			fmt.Fprintln(a.docker.Out(), f)
		}
		if valid {
			_, err = fmt.Fprintln(a.docker.Out(), "valid")
		}
	}
	if err == nil && !valid {
		return exitError(exitInvalid)
	}
	return err
}

func newConfig(a *app) *cobra.Command {
	var s source
	var v view
	cmd := &cobra.Command{
		Use:   "config [OPTIONS]",
		Short: "Print the manifest in its canonical form",
		Long: `Print the manifest in its canonical form, or draw what the workspace will hold.

The tree and the instructions for a model are made from the manifest alone: what
is copied, cloned or mounted is one line in them.`,
		Example: `  docker workspace config
  docker workspace config --format json
  docker workspace config --digest
  docker workspace config --tree --depth 2
  docker workspace config --instructions`,
		Args: atMost(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := v.check(cmd); err != nil {
				return err
			}
			l, err := a.load(&s)
			if err != nil {
				return err
			}
			if s.base != "" {
				l.manifest.Base = s.base
			}
			out, err := v.render(l.manifest)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.docker.Out(), "%s", out)
			return err
		},
	}
	s.flags(cmd)
	s.baseFlag(cmd)
	v.flags(cmd)
	return cmd
}

// view is what config prints of a manifest.
type view struct {
	format                     string
	digest, tree, instructions bool
	depth                      int
}

func (v *view) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&v.format, "format", "yaml", `Output: "yaml" or "json"`)
	f.BoolVar(&v.digest, "digest", false, "Print only the digest")
	f.BoolVar(&v.tree, "tree", false, fmt.Sprintf("Draw the files of the workspace, in at most %d characters", manifest.DefaultTreeLimit))
	f.IntVar(&v.depth, "depth", 0, "Levels of the tree to draw (default: all)")
	f.BoolVar(&v.instructions, "instructions", false, "Print what a model should know about the workspace")
	oneOf(cmd, "format", "yaml", "json")
}

// check refuses flags that contradict each other.
func (v *view) check(cmd *cobra.Command) error {
	var chosen []string
	for _, flag := range []struct {
		name string
		set  bool
	}{{"--digest", v.digest}, {"--tree", v.tree}, {"--instructions", v.instructions}} {
		if flag.set {
			chosen = append(chosen, flag.name)
		}
	}
	switch {
	case len(chosen) > 1:
		return usageError(cmd, fmt.Errorf("%s: choose one", strings.Join(chosen, ", ")))
	case v.depth < 0:
		return usageError(cmd, fmt.Errorf("--depth %d is below 0", v.depth))
	case cmd.Flags().Changed("depth") && !v.tree:
		return usageError(cmd, errors.New("--depth needs --tree"))
	}
	return nil
}

func (v *view) render(m *manifest.Manifest) ([]byte, error) {
	switch {
	case v.digest:
		d, err := m.Digest()
		return []byte(d.String() + "\n"), err
	case v.tree:
		return []byte(m.Tree(manifest.TreeOptions{Depth: v.depth})), nil
	case v.instructions:
		return []byte(m.Instructions()), nil
	case v.format == "json":
		return m.Canonical()
	default:
		return m.CanonicalYAML()
	}
}
