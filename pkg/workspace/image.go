package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	dockerspec "github.com/moby/docker-image-spec/specs-go/v1"
	"github.com/opencontainers/go-digest"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/oci"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
)

// load delivers the workspace image to the engine.
func (a *apply) load(ctx context.Context, op plan.Operation) error {
	if a.image == nil {
		if err := a.buildImage(ctx); err != nil {
			return err
		}
	}
	info, err := a.client.Engine.Info(ctx)
	if err != nil {
		return err
	}
	a.undo = append(a.undo, func(ctx context.Context) error {
		return a.client.Engine.RemoveImage(ctx, a.image.reference)
	})
	// A graph driver takes an archive without the layers that it has. A
	// containerd store wants them all, and so may an engine that we do not know.
	thinErr := errors.New("not tried")
	if !info.ContainerdStore {
		thinErr = a.loadThin(ctx)
	}
	if thinErr != nil && ctx.Err() == nil && !errors.Is(thinErr, oci.ErrChanged) {
		thinErr = a.loadFull(ctx)
	}
	if thinErr != nil {
		return fmt.Errorf("load workspace image: %w", thinErr)
	}
	have, err := a.client.Engine.InspectImage(ctx, a.image.reference)
	if err != nil {
		return fmt.Errorf("load workspace image: the engine reported success: %w", err)
	}
	if !slices.Equal(have.DiffIDs, a.image.diffIDs(a.base)) {
		return fmt.Errorf("load workspace image %q: the engine holds other layers under this name", a.image.reference)
	}
	return nil
}

func (a *apply) loadThin(ctx context.Context) error {
	archive := a.archive()
	return a.send(ctx, func(w io.Writer) error { return archive.Write(ctx, w) })
}

// loadFull takes the base's layers out of the engine and gives them back.
func (a *apply) loadFull(ctx context.Context) error {
	saved, err := a.client.Engine.SaveImage(ctx, a.manifest.Base)
	if err != nil {
		return err
	}
	defer saved.Close()
	archive := a.archive()
	return a.send(ctx, func(w io.Writer) error { return archive.WriteOnto(ctx, w, saved) })
}

func (a *apply) send(ctx context.Context, write func(io.Writer) error) error {
	return pipe(write, func(r io.Reader) error { return a.client.Engine.LoadImage(ctx, r) })
}

func (a *apply) archive() *oci.Archive {
	layers := make([]oci.ArchiveLayer, 0, len(a.base.DiffIDs)+1)
	for _, id := range a.base.DiffIDs {
		layers = append(layers, oci.ArchiveLayer{DiffID: digest.Digest(id)})
	}
	layers = append(layers, oci.ArchiveLayer{
		DiffID: a.image.written.DiffID,
		Size:   a.image.written.Size,
		WriteTo: func(ctx context.Context, w io.Writer) error {
			_, err := a.image.layer.WriteTo(ctx, w)
			return err
		},
	})
	return &oci.Archive{Config: a.image.config, Tags: []string{a.image.reference}, Layers: layers}
}

// baseImage is what the engine knows about the base. Its history is not among
// it, so that the image has none.
func baseImage(i *engine.Image) oci.BaseImage {
	base := oci.BaseImage{OS: i.OS, Architecture: i.Architecture, Variant: i.Variant}
	for _, id := range i.DiffIDs {
		base.DiffIDs = append(base.DiffIDs, digest.Digest(id))
	}
	c := &base.Config
	c.User, c.WorkingDir, c.Env, c.Entrypoint, c.Cmd = i.Config.User, i.Config.WorkingDir, i.Config.Env, i.Config.Entrypoint, i.Config.Cmd
	c.Labels, c.StopSignal, c.ArgsEscaped = i.Config.Labels, i.Config.StopSignal, i.Config.ArgsEscaped //nolint:staticcheck // the base's own value
	c.ExposedPorts, c.Volumes = set(i.Config.ExposedPorts), set(i.Config.Volumes)
	c.OnBuild, c.Shell = i.Config.OnBuild, i.Config.Shell
	if h := i.Config.Healthcheck; h != nil {
		c.Healthcheck = &dockerspec.HealthcheckConfig{
			Test: h.Test, Interval: h.Interval, Timeout: h.Timeout, StartPeriod: h.StartPeriod, StartInterval: h.StartInterval, Retries: h.Retries,
		}
	}
	return base
}

func set(names []string) map[string]struct{} {
	if len(names) == 0 {
		return nil
	}
	out := make(map[string]struct{}, len(names))
	for _, n := range names {
		out[n] = struct{}{}
	}
	return out
}

// pipe connects a writer with a consumer that wants a reader. The writer's own
// failure is the one that helps.
func pipe(write func(io.Writer) error, consume func(io.Reader) error) error {
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := write(w)
		w.CloseWithError(err)
		done <- err
	}()
	err := consume(r)
	r.CloseWithError(errStopped)
	if writeErr := <-done; writeErr != nil && !errors.Is(writeErr, errStopped) {
		return writeErr
	}
	return err
}

var errStopped = errors.New("the engine stopped reading")
