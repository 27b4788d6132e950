package plugin

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/docker/go-units"
	"github.com/spf13/cobra"

	"github.com/docker-workspace/docker-workspace/pkg/materialize"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
	"github.com/docker-workspace/docker-workspace/pkg/workspace"
)

// applyFlags are shared by plan and apply, so that a plan shows what the same
// words will apply.
type applyFlags struct {
	source
	overrides
	name          string
	strategy      string
	pull          string
	recreate      bool
	onlyEphemeral bool
	concurrency   int
	format        string
}

func (f *applyFlags) flags(cmd *cobra.Command) {
	f.source.flags(cmd)
	f.baseFlag(cmd)
	f.overrides.flags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "Name of the workspace (default: the manifest's, else its folder's)")
	flags.StringVar(&f.strategy, "strategy", "auto", `How files get in: "image" (a layer), "copy" (an archive), "auto"`)
	flags.StringVar(&f.pull, "pull", "missing", `Pull the base image: "missing", "always", "never"`)
	flags.BoolVar(&f.recreate, "recreate", false, "Replace an existing workspace")
	flags.BoolVar(&f.onlyEphemeral, "only-ephemeral", false, "Only rewrite the ephemeral entries of an existing workspace")
	flags.IntVar(&f.concurrency, "max-entry-concurrency", materialize.DefaultConcurrency, "Entries to read or clone at the same time")
	flags.StringVar(&f.format, "format", "text", `Output: "text" or "json"`)
	oneOf(cmd, "strategy", "auto", "image", "copy")
	oneOf(cmd, "pull", "missing", "always", "never")
	oneOf(cmd, "format", "text", "json")
}

// options loads the manifest and settles what is wanted of it.
func (a *app) options(cmd *cobra.Command, f *applyFlags) (*loaded, workspace.ApplyOptions, error) {
	if f.concurrency < 1 {
		return nil, workspace.ApplyOptions{}, usageError(cmd, fmt.Errorf("--max-entry-concurrency %d is below 1", f.concurrency))
	}
	l, err := a.load(&f.source)
	if err == nil {
		err = l.hostAccess()
	}
	if err != nil {
		return nil, workspace.ApplyOptions{}, err
	}
	l.effective(&f.source, f.name)
	if err := f.apply(l.manifest); err != nil {
		return nil, workspace.ApplyOptions{}, usageError(cmd, err)
	}
	return l, workspace.ApplyOptions{
		BaseDir:       l.baseDir,
		LookupEnv:     l.lookup,
		Strategy:      plan.Strategy(f.strategy),
		Pull:          plan.Pull(f.pull),
		Recreate:      f.recreate,
		OnlyEphemeral: f.onlyEphemeral,
		Concurrency:   f.concurrency,
		RegistryAuth:  a.registryAuth,
		GPUs:          f.gpus,
		WorkingDir:    f.workdir,
	}, nil
}

func newPlan(a *app) *cobra.Command {
	var f applyFlags
	var exitCode bool
	var out string
	cmd := &cobra.Command{
		Use:   "plan [OPTIONS] [NAME]",
		Short: "Show what apply would do, and why",
		Example: `  docker workspace plan
  docker workspace plan -f workspace.yaml --format json
  docker workspace plan --exit-code    # 3 when there is something to do`,
		Args: atMost(1, "one NAME at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.name = args[0]
			}
			l, opts, err := a.options(cmd, &f)
			if err != nil {
				return err
			}
			p, err := a.plan(cmd, l, opts)
			if err != nil {
				return err
			}
			if err := a.to(out, func(w io.Writer) error { return writePlan(w, p, f.format) }); err != nil {
				return err
			}
			if exitCode && !p.Empty() {
				return exitError(exitChanges)
			}
			return nil
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "Exit with 3 when there is something to do")
	cmd.Flags().StringVar(&out, "out", "", "File to write the plan to instead of standard output")
	return cmd
}

func (a *app) plan(cmd *cobra.Command, l *loaded, opts workspace.ApplyOptions) (*plan.Plan, error) {
	client, err := a.client(nil)
	if err != nil {
		return nil, err
	}
	defer client.Engine.Close()
	p, err := client.Plan(cmd.Context(), l.manifest, opts)
	if err != nil {
		return nil, err
	}
	for _, w := range l.warnings {
		p.Warnings = append(p.Warnings, w.String())
	}
	return p, nil
}

func writePlan(w io.Writer, p *plan.Plan, format string) error {
	if format == "json" {
		return writeJSON(w, p)
	}
	return p.WriteText(w)
}

func newApply(a *app) *cobra.Command {
	var f applyFlags
	var keep, dryRun, quiet bool
	var mode string
	cmd := &cobra.Command{
		Use:   "apply [OPTIONS]",
		Short: "Make the workspace exist: a container with everything in it",
		Long: `Make the workspace exist: a container with everything in it.

A workspace that exists already is resumed: it is started when it is stopped,
and only entries marked ephemeral are written again. When its manifest has
changed, apply says how and does nothing; --recreate replaces it.

Whatever goes wrong, and on Ctrl-C, everything that was made is removed again;
--keep leaves it for a look.`,
		Example: `  docker workspace apply
  docker workspace apply -f workspace.yaml --name review --base debian:12
  docker workspace apply --dry-run`,
		Args: atMost(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, opts, err := a.options(cmd, &f)
			if err != nil {
				return err
			}
			opts.Keep = keep
			if dryRun {
				p, err := a.plan(cmd, l, opts)
				if err != nil {
					return err
				}
				return writePlan(a.docker.Out(), p, f.format)
			}
			return a.apply(cmd, l, opts, output{format: f.format, quiet: quiet, progress: mode})
		},
	}
	f.flags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&keep, "keep", false, "Leave what a failed apply made")
	flags.BoolVar(&dryRun, "dry-run", false, "Print the plan and do nothing")
	flags.BoolVarP(&quiet, "quiet", "q", false, "Print only the container's ID")
	progressFlag(cmd, &mode)
	return cmd
}

type output struct {
	format, progress string
	quiet            bool
}

func (a *app) apply(cmd *cobra.Command, l *loaded, opts workspace.ApplyOptions, out output) error {
	if out.quiet {
		out.progress = "quiet"
	}
	view := newProgress(a.docker.Err(), out.progress)
	defer view.Close()
	for _, w := range l.warnings {
		view.Event(workspace.Event{State: workspace.Warning, Text: w.String()})
	}
	client, err := a.client(view.Event)
	if err != nil {
		return err
	}
	defer client.Engine.Close()
	result, err := client.Apply(cmd.Context(), l.manifest, opts)
	view.Close()
	if err != nil {
		return err
	}
	switch {
	case out.format == "json":
		return writeJSON(a.docker.Out(), result)
	case out.quiet:
		_, err = fmt.Fprintln(a.docker.Out(), result.ContainerID)
		return err
	}
	return writeResult(a.docker.Out(), result)
}

func writeResult(w io.Writer, r *workspace.Result) error {
	if len(r.Operations) == 0 {
		fmt.Fprintf(w, "Workspace %s is up to date: nothing to do.\n", r.Name)
	} else {
		var size int64
		for _, f := range r.Files {
			size += f.Size
		}
		fmt.Fprintf(w, "Workspace %s is ready: %s (%s), container %.12s.\n", r.Name, files(len(r.Files)), units.HumanSize(float64(size)), r.ContainerID)
	}
	for _, g := range r.Git {
		fmt.Fprintf(w, "  %s is %s at %.12s\n", g.Path, g.URL, g.Commit)
	}
	for _, p := range r.Ports {
		fmt.Fprintf(w, "  port %d is at %s:%d\n", p.Port, p.Host, p.HostPort)
	}
	_, err := fmt.Fprintf(w, "Get in with: docker workspace shell %s\n", r.Name)
	return err
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
