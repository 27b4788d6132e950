package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
	"github.com/docker-workspace/docker-workspace/pkg/oci"
)

const (
	treeDirs     = 200
	filesPerDir  = 100
	treeFileSize = 2000 // bytes
)

// layerOfTree measures the layer of a local_dir, in a process of its own so
// that its memory can be told from the bench's.
func layerOfTree(scratch string) (measurement, error) {
	self, err := os.Executable()
	if err != nil {
		return measurement{}, fmt.Errorf("find own executable: %w", err)
	}
	tree := filepath.Join(scratch, "tree")
	if err := makeTree(tree); err != nil {
		return measurement{}, err
	}
	return measurement{
		// The bound counts a compressed layer, which is more work.
		name:  fmt.Sprintf("layer of %d files, uncompressed / tar | sha256sum", treeDirs*filesPerDir),
		bound: 1.3, rounds: 9,
		ours: func(ctx context.Context) (sample, error) { return run(ctx, self, "-layer", tree) },
		yardstick: func(ctx context.Context) (sample, error) {
			return run(ctx, "bash", "-o", "pipefail", "-c", `tar -C "$1" -cf - . | sha256sum`, "tar", tree)
		},
	}, nil
}

// makeTree writes the same tree at every run. Its content is text, which
// compresses, but is the same nowhere else in the tree.
func makeTree(dir string) error {
	random := rand.NewChaCha8([32]byte{})
	content := make([]byte, treeFileSize/2)
	for d := range treeDirs {
		sub := filepath.Join(dir, fmt.Sprintf("dir%d", d))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return fmt.Errorf("make tree: %w", err)
		}
		for f := range filesPerDir {
			_, _ = random.Read(content) // never fails
			path := filepath.Join(sub, fmt.Sprintf("file%d.txt", f))
			if err := os.WriteFile(path, []byte(hex.EncodeToString(content)), 0o644); err != nil {
				return fmt.Errorf("make tree: %w", err)
			}
		}
	}
	return nil
}

// writeLayer does what a build does with one local_dir, short of compressing.
func writeLayer(ctx context.Context, dir string) error {
	sources, err := materialize.OpenSources(dir, nil)
	if err != nil {
		return err
	}
	defer sources.Close()
	compiler := materialize.Compiler{Root: manifest.DefaultRoot, Sources: sources}
	objects, _, err := compiler.Compile(ctx, []manifest.KeyedEntry{{Path: "tree", Entry: &manifest.LocalDir{Src: "."}}})
	if err != nil {
		return err
	}
	layer, err := oci.NewLayer(ctx, oci.Scratch, objects)
	if err != nil {
		return err
	}
	_, err = layer.WriteTo(ctx, io.Discard)
	return err
}
