// Package plugin is the command line: the cobra tree, the handshake of a Docker
// CLI plugin, and what is shown of progress and results.
package plugin

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/docker/cli/cli"
	"github.com/docker/cli/cli-plugins/metadata"
	pluginlib "github.com/docker/cli/cli-plugins/plugin"
	"github.com/docker/cli/cli/command"
	"github.com/spf13/cobra"
)

// version is set by release builds.
var version = "dev"

// Main runs the process' command line and returns its exit code.
func Main() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signalled, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal cancels, so that what was begun is undone. A second one
	// finds the default again and ends the process. The context of the signals
	// is not handed on: its cause would hide that an error means a cancellation.
	context.AfterFunc(signalled, func() {
		stop()
		cancel()
	})

	docker, err := command.NewDockerCli()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	app := &app{docker: docker}
	if pluginlib.RunningStandalone() {
		err = standalone(ctx, app)
	} else {
		err = asPlugin(ctx, app)
	}
	return app.report(err, ctx.Err() != nil)
}

// app is what the commands share.
type app struct {
	docker *command.DockerCli
	// jsonErrors says that JSON was asked for, and so of errors too.
	jsonErrors bool
}

func asPlugin(ctx context.Context, a *app) error {
	root := newRoot(a)
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		// The framework adds the plugin socket, which the docker command closes
		// when it is told to stop; on a terminal ^C comes to us directly.
		cmd.SetContext(ctx)
		a.noteFormat(cmd)
		return pluginlib.PersistentPreRunE(cmd, args)
	}
	return pluginlib.RunPlugin(a.docker, root, metadata.Metadata{
		SchemaVersion: "0.1.0",
		Vendor:        "docker-workspace",
		Version:       version,
		URL:           "https://github.com/docker-workspace/docker-workspace",
	})
}

func standalone(ctx context.Context, a *app) error {
	root := newRoot(a)
	opts, _ := cli.SetupRootCommand(root)
	root.Use = filepath.Base(os.Args[0]) + " [OPTIONS] COMMAND"
	root.Annotations = nil // the way to Docker's own guides
	root.CompletionOptions.HiddenDefaultCmd = true
	a.setUsageErrors(root)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		a.noteFormat(cmd)
		opts.SetDefaultOptions(root.Flags())
		return a.docker.Initialize(opts)
	}
	return root.ExecuteContext(ctx)
}

func (a *app) noteFormat(cmd *cobra.Command) {
	format := cmd.Flags().Lookup("format")
	a.jsonErrors = format != nil && format.Changed && format.Value.String() == "json"
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:              "workspace COMMAND",
		Short:            "Declare what exists before work starts, and get it in a container",
		SilenceUsage:     true,
		SilenceErrors:    true,
		TraverseChildren: true,
		Args:             noCommand,
		RunE:             func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.DisableFlagsInUseLine = true
	root.SetOut(a.docker.Out())
	root.SetErr(a.docker.Err())
	root.SuggestionsMinimumDistance = 2
	a.setUsageErrors(root)
	root.AddCommand(
		newInit(a), newValidate(a), newConfig(a), newPlan(a), newApply(a),
		newList(a), newInspect(a), newExec(a), newShell(a), newRemove(a), newSchema(a), newVersion(a),
	)
	for _, cmd := range root.Commands() {
		cmd.DisableFlagsInUseLine = true
	}
	return root
}

func (a *app) setUsageErrors(root *cobra.Command) {
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		a.noteFormat(cmd)
		return usageError(cmd, err)
	})
}

func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err = fmt.Errorf("%w, did you mean %q?", err, near[0])
	}
	return usageError(cmd, err)
}

// exactly and atLeast give usage errors in our words.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError(cmd, fmt.Errorf("needs %s", what))
		}
		return nil
	}
}

func atLeast(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return usageError(cmd, fmt.Errorf("needs %s", what))
		}
		return nil
	}
}

func atMost(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usageError(cmd, fmt.Errorf("takes %s", what))
		}
		return nil
	}
}
