// Command bench measures docker-workspace side by side with the plain tools
// that do the same work, and prints ratios from one run.
//
//	make bench
//
// It needs an engine, the plugin's binary in DOCKER_WORKSPACE_BIN and a base
// image with a shell in DOCKER_WORKSPACE_TEST_BASE. Timings decide nothing: the
// exit code is 1 only when something could not be measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	asJSON := flag.Bool("json", false, "print the table as JSON")
	layerOf := flag.String("layer", "", "only write the layer of this `directory`, to nowhere; the bench runs itself so, to see what that takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	err := func() error {
		if *layerOf != "" {
			return writeLayer(ctx, *layerOf)
		}
		return bench(ctx, *asJSON)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, asJSON bool) (err error) {
	binary, base := os.Getenv("DOCKER_WORKSPACE_BIN"), os.Getenv("DOCKER_WORKSPACE_TEST_BASE")
	if binary == "" || base == "" {
		return errors.New("DOCKER_WORKSPACE_BIN and DOCKER_WORKSPACE_TEST_BASE are not set: run make bench, or hack/with-engine.sh go run ./hack/bench")
	}
	dir, err := os.MkdirTemp("", "docker-workspace-bench-")
	if err != nil {
		return fmt.Errorf("make scratch directory: %w", err)
	}
	b := newApplyBench(binary, base, dir)
	defer func() { err = errors.Join(err, b.sweep(ctx), os.RemoveAll(dir)) }()

	present, err := b.imagePresent(ctx)
	if err != nil {
		return err
	}
	thousand, err := b.cold(1000)
	if err != nil {
		return err
	}
	twenty, err := b.cold(20)
	if err != nil {
		return err
	}
	layer, err := layerOfTree(dir)
	if err != nil {
		return err
	}
	// What takes the bench's own memory comes last: see peakMiB.
	measurements := []measurement{present, thousand, twenty, layer, startUp(binary), validateManifest()}
	var rows []row
	for _, m := range measurements {
		fmt.Fprintf(os.Stderr, "measuring %s\n", m.name)
		r, err := m.measure(ctx)
		if err != nil {
			return fmt.Errorf("measure %s: %w", m.name, err)
		}
		rows = append(rows, r)
	}
	if asJSON {
		return writeJSON(os.Stdout, rows)
	}
	return writeTable(os.Stdout, rows)
}

// startUp measures what docker asks of every plugin before it runs one.
func startUp(binary string) measurement {
	return measurement{
		name: "start-up / docker --version", bound: 1.0, rounds: 20,
		ours: func(ctx context.Context) (sample, error) {
			return run(ctx, binary, "docker-cli-plugin-metadata")
		},
		yardstick: func(ctx context.Context) (sample, error) {
			return run(ctx, "docker", "--version")
		},
	}
}
