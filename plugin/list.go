package plugin

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/docker/cli/templates"
	"github.com/docker/go-units"
	"github.com/spf13/cobra"

	"github.com/docker-workspace/docker-workspace/pkg/workspace"
)

func newList(a *app) *cobra.Command {
	var format string
	var quiet bool
	cmd := &cobra.Command{
		Use:     "ls [OPTIONS]",
		Aliases: []string{"list"},
		Short:   "List workspaces",
		Example: `  docker workspace ls
  docker workspace ls --format '{{.Name}} {{.Status}}'`,
		Args: atMost(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := a.client(nil)
			if err != nil {
				return err
			}
			defer client.Engine.Close()
			list, err := client.List(cmd.Context())
			if err != nil {
				return err
			}
			if quiet {
				format = "{{.Container}}"
			}
			return writeList(a.docker.Out(), list, format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", `Output: "table", "json", or a Go template for each workspace`)
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "Only names")
	return cmd
}

func writeList(w io.Writer, list []workspace.Workspace, format string) error {
	switch format {
	case "json":
		return writeJSON(w, list)
	case "table":
		return writeTable(w, list)
	}
	for _, item := range list {
		if err := writeTemplate(w, format, item); err != nil {
			return err
		}
	}
	return nil
}

func writeTable(w io.Writer, list []workspace.Workspace) error {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "NAME\tSTATUS\tMANIFEST\tIMAGE\tAGE")
	for _, item := range list {
		_, manifest, _ := strings.Cut(item.Manifest, ":")
		fmt.Fprintf(t, "%s\t%s\t%.12s\t%s\t%s\n", item.Container, item.Status, manifest, item.Image, units.HumanDuration(time.Since(item.Created)))
	}
	return t.Flush()
}

func writeTemplate(w io.Writer, format string, v any) error {
	t, err := templates.Parse(format)
	if err != nil {
		return badUsage{fmt.Errorf("--format %q: %w", format, err)}
	}
	if err := t.Execute(w, v); err != nil {
		return badUsage{fmt.Errorf("--format %q: %w", format, err)}
	}
	_, err = fmt.Fprintln(w)
	return err
}

func newInspect(a *app) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "inspect [OPTIONS] NAME [NAME...]",
		Short: "Show everything about workspaces, as JSON",
		Example: `  docker workspace inspect quickstart
  docker workspace inspect --format '{{.ContainerID}}' quickstart`,
		Args:              atLeast(1, "a NAME"),
		ValidArgsFunction: a.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client(nil)
			if err != nil {
				return err
			}
			defer client.Engine.Close()
			found := make([]workspace.Workspace, 0, len(args))
			for _, name := range args {
				item, err := client.Inspect(cmd.Context(), name)
				if err != nil {
					return err
				}
				found = append(found, item)
			}
			return writeList(a.docker.Out(), found, format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "json", `Output: "json", or a Go template for each workspace`)
	return cmd
}

func newRemove(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "rm NAME [NAME...]",
		Aliases:           []string{"remove"},
		Short:             "Remove workspaces and what apply created for them, and nothing else",
		Args:              atLeast(1, "a NAME"),
		ValidArgsFunction: a.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client(nil)
			if err != nil {
				return err
			}
			defer client.Engine.Close()
			return each(args, func(name string) error {
				if err := client.Remove(cmd.Context(), name); err != nil {
					return err
				}
				_, err := fmt.Fprintln(a.docker.Out(), name)
				return err
			})
		},
	}
}

// completeNames completes the names of workspaces; where no engine answers
// there is nothing to complete.
func (a *app) completeNames(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	client, err := a.client(nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer client.Engine.Close()
	list, err := client.List(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := make([]string, 0, len(list))
	for _, item := range list {
		names = append(names, item.Container)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
