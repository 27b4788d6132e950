package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// applyRounds are many enough for a median and few enough for a coffee.
const applyRounds = 9

// inlineSize is the length of an inline file, in bytes.
const inlineSize = 1 << 10

// applyBench measures applies. All that it makes on the engine has a name that
// starts with prefix.
type applyBench struct {
	binary, base, dir, prefix string
	names                     int
}

func newApplyBench(binary, base, dir string) *applyBench {
	return &applyBench{binary: binary, base: base, dir: dir, prefix: "dw-bench-" + strings.ToLower(rand.Text()[:8])}
}

// imagePresent measures an apply whose workspace image the engine has. The
// image follows the name, so every round uses the same one.
func (b *applyBench) imagePresent(ctx context.Context) (measurement, error) {
	manifest, err := b.manifest(1000)
	if err != nil {
		return measurement{}, err
	}
	name := b.name()
	if _, err := run(ctx, b.binary, b.args(manifest, name, "image")...); err != nil {
		return measurement{}, err
	}
	_, image, err := output(ctx, "docker", "inspect", "--format", "{{.Config.Image}}", name)
	if err != nil {
		return measurement{}, err
	}
	if err := removeContainer(ctx, name); err != nil {
		return measurement{}, err
	}
	return measurement{
		name: "apply, image present / create + start", bound: 1.15, rounds: applyRounds,
		ours: func(ctx context.Context) (sample, error) {
			s, err := run(ctx, b.binary, b.args(manifest, name, "image")...)
			if err != nil {
				return sample{}, err
			}
			return s, removeContainer(ctx, name)
		},
		yardstick: func(ctx context.Context) (sample, error) { return b.createAndStart(ctx, image) },
	}, nil
}

// cold measures an apply of inline files of which the engine has nothing but
// the base.
func (b *applyBench) cold(files int) (measurement, error) {
	manifest, err := b.manifest(files)
	if err != nil {
		return measurement{}, err
	}
	return measurement{
		name: fmt.Sprintf("cold apply, %d inline files / create + start", files), bound: 1.3, rounds: applyRounds,
		ours: func(ctx context.Context) (sample, error) {
			name := b.name()
			s, err := run(ctx, b.binary, b.args(manifest, name, "auto")...)
			if err != nil {
				return sample{}, err
			}
			return s, killContainer(ctx, name)
		},
		yardstick: func(ctx context.Context) (sample, error) { return b.createAndStart(ctx, b.base) },
	}, nil
}

func (b *applyBench) args(manifest, name, strategy string) []string {
	return []string{"apply", "--quiet", "--file", manifest, "--base", b.base, "--name", name, "--strategy", strategy}
}

// createAndStart times the same container, made without us.
func (b *applyBench) createAndStart(ctx context.Context, image string) (sample, error) {
	name := b.name()
	created, err := run(ctx, "docker", "create", "--init", "--name", name, "--entrypoint", "sleep", image, "2147483647")
	if err != nil {
		return sample{}, err
	}
	started, err := run(ctx, "docker", "start", name)
	if err != nil {
		return sample{}, err
	}
	return sample{elapsed: created.elapsed + started.elapsed}, killContainer(ctx, name)
}

func (b *applyBench) name() string {
	b.names++
	return fmt.Sprintf("%s-%d", b.prefix, b.names)
}

// manifest writes one with so many inline files, ten in a directory, and
// returns its path.
func (b *applyBench) manifest(files int) (string, error) {
	entries := map[string]any{}
	for i := range files {
		line := fmt.Sprintf("line of file %d, about as long as lines are\n", i)
		entries[fmt.Sprintf("dir%d/file%d.txt", i/10, i%10)] = map[string]string{
			"type": "file", "content": strings.Repeat(line, inlineSize/len(line)),
		}
	}
	raw, err := json.Marshal(map[string]any{"entries": entries})
	if err != nil {
		return "", fmt.Errorf("encode manifest: %w", err)
	}
	path := filepath.Join(b.dir, fmt.Sprintf("inline-%d.json", files))
	return path, os.WriteFile(path, raw, 0o600)
}

// killContainer keeps the files for the sweep: ext4 without a journal sets the
// inodes of removed files aside for a minute, and each file that is made then
// searches past all of them.
func killContainer(ctx context.Context, name string) error {
	_, err := run(ctx, "docker", "kill", name)
	return err
}

func removeContainer(ctx context.Context, name string) error {
	_, err := run(ctx, "docker", "rm", "--force", "--volumes", name)
	return err
}

// sweep removes the workspace image, and what a failure or an interrupt left.
func (b *applyBench) sweep(ctx context.Context) error {
	containers := removeAll(ctx, []string{"ps", "--all", "--quiet", "--filter", "name=" + b.prefix}, "rm", "--force", "--volumes")
	// By name: one of another run may have the same content, and so the same id.
	images := removeAll(ctx, []string{"image", "ls", "--format", "{{.Repository}}:{{.Tag}}", "--filter", "reference=docker-workspace/" + b.prefix + "*"}, "image", "rm")
	return errors.Join(containers, images)
}

// removeAll gives what one docker command lists to another.
func removeAll(ctx context.Context, list []string, remove ...string) error {
	_, found, err := output(ctx, "docker", list...)
	if err != nil || found == "" {
		return err
	}
	_, err = run(ctx, "docker", append(remove, strings.Fields(found)...)...)
	return err
}
