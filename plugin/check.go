package plugin

import (
	"context"
	"errors"
	"fmt"

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

// hostFindings are the sources that an apply could not copy.
func hostFindings(ctx context.Context, l *loaded) ([]manifest.Finding, error) {
	sources, err := materialize.OpenSources(l.baseDir, l.manifest.ExtraPathGrants)
	if err != nil {
		return nil, err
	}
	defer sources.Close()
	var findings []manifest.Finding
	for _, e := range l.manifest.Flatten() {
		err := sources.Check(ctx, e.Entry)
		var bad *materialize.LocalSourceError
		switch {
		case err == nil:
		case errors.As(err, &bad):
			findings = append(findings, manifest.Finding{
				Severity: manifest.SeverityError, Code: bad.Reason, Message: bad.Error(), File: l.file,
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
	var format string
	var digest bool
	cmd := &cobra.Command{
		Use:   "config [OPTIONS]",
		Short: "Print the manifest in its canonical form",
		Example: `  docker workspace config
  docker workspace config --format json
  docker workspace config --digest`,
		Args: atMost(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			l, err := a.load(&s)
			if err != nil {
				return err
			}
			if s.base != "" {
				l.manifest.Base = s.base
			}
			if digest {
				d, err := l.manifest.Digest()
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(a.docker.Out(), d)
				return err
			}
			render := l.manifest.CanonicalYAML
			if format == "json" {
				render = l.manifest.Canonical
			}
			out, err := render()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.docker.Out(), "%s", out)
			return err
		},
	}
	s.flags(cmd)
	s.baseFlag(cmd)
	cmd.Flags().StringVar(&format, "format", "yaml", `Output: "yaml" or "json"`)
	cmd.Flags().BoolVar(&digest, "digest", false, "Print only the digest")
	oneOf(cmd, "format", "yaml", "json")
	return cmd
}
