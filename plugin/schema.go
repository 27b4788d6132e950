package plugin

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

func newSchema(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the manifest, for editors",
		Long: `Print the JSON Schema of the manifest, for editors.

Editors with a YAML language server complete and check a manifest that names
the schema in its first line:

  docker workspace schema > workspace.schema.json
  # yaml-language-server: $schema=workspace.schema.json`,
		Args: atMost(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(a.docker.Out(), manifest.Schema())
			return err
		},
	}
}
