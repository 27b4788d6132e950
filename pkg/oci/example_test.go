package oci_test

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/opencontainers/go-digest"

	"github.com/docker-workspace/docker-workspace/pkg/oci"
)

// A layer, the configuration of an image made of it, and the archive that docker load takes.
func Example() {
	ctx := context.Background()
	readme := "# Hello\n"
	layer, err := oci.NewLayer(ctx, oci.Scratch, []oci.Entry{{
		Name: "workspace/README.md",
		Type: tar.TypeReg,
		Mode: 0o644,
		Size: int64(len(readme)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(readme)), nil },
	}})
	if err != nil {
		log.Fatal(err)
	}
	written, err := layer.WriteTo(ctx, io.Discard)
	if err != nil {
		log.Fatal(err)
	}
	base := oci.BaseImage{OS: "linux", Architecture: "amd64"}
	config, _, err := oci.BuildConfig(base, []digest.Digest{written.DiffID}, oci.Changes{WorkingDir: "/workspace"})
	if err != nil {
		log.Fatal(err)
	}
	archive := oci.Archive{
		Config: config,
		Tags:   []string{"example:latest"},
		Layers: []oci.ArchiveLayer{{
			DiffID: written.DiffID,
			Size:   written.Size,
			WriteTo: func(ctx context.Context, w io.Writer) error {
				_, err := layer.WriteTo(ctx, w)
				return err
			},
		}},
	}
	if err := archive.Write(ctx, io.Discard); err != nil {
		log.Fatal(err)
	}
	for _, e := range layer.Entries() {
		fmt.Printf("%c %o %s\n", e.Type, e.Mode, e.Name)
	}
	fmt.Println(written.Size, written.DiffID)
	// Output:
	// 5 755 workspace
	// 0 644 workspace/README.md
	// 2560 sha256:49e811120481db9e4818cfa55c33e569352bd4802922e075eeeba5fce5fe5677
}
