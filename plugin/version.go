package plugin

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/oci"
)

// Versions is what version prints.
type Versions struct {
	Version     string `json:"version"`
	GoVersion   string `json:"go_version"`
	Platform    string `json:"platform"`
	Manifest    int    `json:"manifest_version"`
	LayerFormat int    `json:"layer_format"`
	// Engine is empty when none answers.
	Engine     string `json:"engine,omitempty"`
	APIVersion string `json:"api_version,omitempty"`
}

func newVersion(a *app) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "version [OPTIONS]",
		Short: "Show the versions of the plugin, the engine and the layer format",
		Args:  atMost(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := Versions{
				Version: version, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
				Manifest: manifest.Version, LayerFormat: oci.LayerFormat,
			}
			client, err := a.client(nil)
			if err != nil {
				return err
			}
			defer client.Engine.Close()
			// Without an engine the rest is still worth knowing.
			if info, err := client.Engine.Info(cmd.Context()); err == nil {
				v.Engine, v.APIVersion = info.Version, info.APIVersion
			} else {
				fmt.Fprintln(a.docker.Err(), err)
			}
			return writeVersions(a.docker.Out(), v, format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", `Output: "text", "json", or a Go template`)
	return cmd
}

func writeVersions(w io.Writer, v Versions, format string) error {
	switch format {
	case "json":
		return writeJSON(w, v)
	case "text":
		engine := "none answers"
		if v.Engine != "" {
			engine = fmt.Sprintf("%s (API %s)", v.Engine, v.APIVersion)
		}
		_, err := fmt.Fprintf(w, "docker-workspace %s (%s, %s)\nmanifest         %d\nlayer format     %d\nengine           %s\n",
			v.Version, v.GoVersion, v.Platform, v.Manifest, v.LayerFormat, engine)
		return err
	default:
		return writeTemplate(w, format, v)
	}
}
