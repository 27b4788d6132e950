package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/workspace"
)

type execFlags struct {
	interactive, tty bool
	user, workdir    string
	env              []string
	detachKeys       string
}

func newExec(a *app) *cobra.Command {
	var f execFlags
	cmd := &cobra.Command{
		Use:   "exec [OPTIONS] NAME COMMAND [ARG...]",
		Short: "Run a command in a workspace; the exit code is the command's",
		Example: `  docker workspace exec quickstart git -C repo log -1
  docker workspace exec -it quickstart sh`,
		Args:              atLeast(2, "a NAME and a COMMAND"),
		ValidArgsFunction: a.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.exec(cmd.Context(), args[0], args[1:], f)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false)
	flags.BoolVarP(&f.interactive, "interactive", "i", false, "Pass standard input on")
	flags.BoolVarP(&f.tty, "tty", "t", false, "Run on a terminal")
	flags.StringVarP(&f.user, "user", "u", "", "User (default: the workspace's)")
	flags.StringVarP(&f.workdir, "workdir", "w", "", "Directory, relative to the workspace's root")
	flags.StringArrayVarP(&f.env, "env", "e", nil, "Set an environment variable (NAME=VALUE, or NAME to pass on yours)")
	flags.StringVar(&f.detachKeys, "detach-keys", "", "Keys that leave a terminal session (default: ctrl-p,ctrl-q)")
	return cmd
}

// A login shell would leave the workspace's root.
const findShell = `command -v bash >/dev/null 2>&1 && exec bash; exec sh`

func newShell(a *app) *cobra.Command {
	f := execFlags{interactive: true, tty: true}
	cmd := &cobra.Command{
		Use:               "shell [OPTIONS] NAME",
		Short:             "Open an interactive shell in a workspace",
		Args:              exactly(1, "one NAME"),
		ValidArgsFunction: a.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.exec(cmd.Context(), args[0], []string{"sh", "-c", findShell}, f)
		},
	}
	cmd.Flags().StringVarP(&f.user, "user", "u", "", "User (default: the workspace's)")
	cmd.Flags().StringVarP(&f.workdir, "workdir", "w", "", "Directory, relative to the workspace's root")
	return cmd
}

func (a *app) exec(ctx context.Context, name string, command []string, f execFlags) error {
	if err := a.docker.In().CheckTty(f.interactive, f.tty); err != nil {
		return err
	}
	env, err := passedEnv(f.env)
	if err != nil {
		return err
	}
	client, err := a.client(nil)
	if err != nil {
		return err
	}
	defer client.Engine.Close()
	found, err := client.Inspect(ctx, name)
	if err != nil {
		return err
	}
	spec := engine.ExecSpec{
		Cmd: command, User: f.user, Env: env, TTY: f.tty, DetachKeys: f.detachKeys,
		WorkingDir: workspace.WorkingDir(found.Root, f.workdir),
		Stdout:     a.docker.Out(), Stderr: a.docker.Err(),
	}
	if f.interactive {
		spec.Stdin = a.docker.In()
	}
	if f.tty {
		restore, err := a.rawTerminal()
		if err != nil {
			return err
		}
		defer restore()
		sizes, stop := a.terminalSizes()
		defer stop()
		spec.Resize = sizes
	}
	code, err := client.Exec(ctx, name, spec)
	if err != nil {
		return err
	}
	if code != 0 {
		return exitError(code)
	}
	return nil
}

// rawTerminal hands every key to the command.
func (a *app) rawTerminal() (restore func(), err error) {
	if err := a.docker.In().SetRawTerminal(); err != nil {
		return nil, fmt.Errorf("prepare terminal: %w", err)
	}
	if err := a.docker.Out().SetRawTerminal(); err != nil {
		a.docker.In().RestoreTerminal()
		return nil, fmt.Errorf("prepare terminal: %w", err)
	}
	return func() {
		a.docker.In().RestoreTerminal()
		a.docker.Out().RestoreTerminal()
	}, nil
}

// terminalSizes delivers the size of the terminal, now and when it changes.
func (a *app) terminalSizes() (sizes <-chan engine.Size, stop func()) {
	out := make(chan engine.Size, 1)
	done := make(chan struct{})
	changed, unwatch := watchTerminal()
	go func() {
		for {
			height, width := a.docker.Out().GetTtySize()
			if height > 0 && width > 0 { // else standard output is no terminal
				select {
				case out <- engine.Size{Width: width, Height: height}:
				case <-done:
					return
				}
			}
			select {
			case <-changed:
			case <-done:
				return
			}
		}
	}()
	return out, func() {
		unwatch()
		close(done)
	}
}

func passedEnv(given []string) ([]string, error) {
	env := slices.Clone(given)
	for i, s := range env {
		name, _, ok := strings.Cut(s, "=")
		if name == "" {
			return nil, badUsage{fmt.Errorf("--env %q has no name", s)}
		}
		if !ok {
			value, set := os.LookupEnv(name)
			if !set {
				return nil, badUsage{fmt.Errorf("--env %s: the variable is not set here", name)}
			}
			env[i] = name + "=" + value
		}
	}
	return env, nil
}

// each goes on after a failure, so that one wrong name does not keep the rest.
func each(names []string, do func(string) error) error {
	var problems []error
	for _, name := range names {
		problems = append(problems, do(name))
	}
	return errors.Join(problems...)
}
