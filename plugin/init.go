package plugin

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

//go:embed starter.yaml
var starter []byte

func newInit(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a starter manifest that apply can run at once",
		Args:  atMost(1, "one DIR at most"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return err
			}
			path := filepath.Join(dir, "workspace.yaml")
			// Never over somebody's manifest.
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%s exists: edit it, or name another directory", path)
			}
			if err != nil {
				return err
			}
			if _, err := f.Write(starter); err != nil {
				return errors.Join(err, f.Close())
			}
			if err := f.Close(); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.docker.Out(), "Wrote %s. Next: docker workspace apply -f %s\n", path, path)
			return err
		},
	}
}
