package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/opencontainers/go-digest"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
	"github.com/docker-workspace/docker-workspace/pkg/oci"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
)

// apply is one run from observation to result.
type apply struct {
	client   *Client
	manifest *manifest.Manifest
	opts     ApplyOptions
	request  plan.Request
	plan     *plan.Plan
	result   *Result

	sources   *materialize.Sources
	binds     []engine.Bind
	warnings  []string // of looking at the host
	variables variables
	redact    *redactor

	base     *engine.Image // nil while the engine does not have it
	baseFS   *imageFS
	prepared *prepared
	image    *workspaceImage // nil unless one is, or may be, used

	existing  *engine.Container // of the workspace's name
	container string            // id of the one that is worked on
	temporary string            // its name until everything is in it
	settled   *engine.Container // it, once it has the workspace's name
	undo      []func(context.Context) error
}

// workspaceImage is the base with the first stage on top.
type workspaceImage struct {
	reference string
	config    []byte
	digest    digest.Digest // of config
	layer     *oci.Layer
	written   *oci.Written
}

// observe looks at the manifest, the host and the engine, and plans. It creates
// nothing that outlives it.
func (c *Client) observe(ctx context.Context, m *manifest.Manifest, opts ApplyOptions) (*apply, error) {
	redact := &redactor{}
	a := &apply{client: redact.events(c), manifest: m, opts: opts, result: newResult(), redact: redact}
	if len(opts.Processors) > 0 {
		var err error
		if a.manifest, err = m.Process(ctx, opts.Processors...); err != nil {
			return nil, err
		}
	}
	if err := a.ask(); err != nil {
		return nil, err
	}
	if err := a.askHost(); err != nil {
		return nil, err
	}
	seen, err := a.look(ctx)
	if err == nil {
		a.plan, err = plan.Compute(a.request, seen)
	}
	if err != nil {
		return nil, a.close(ctx, err)
	}
	a.plan.Warnings = append(a.plan.Warnings, a.warnings...)
	if a.prepared != nil {
		a.plan.Warnings = append(a.plan.Warnings, a.prepared.warnings...)
	}
	return a, nil
}

// ask settles what is wanted, without asking the engine.
func (a *apply) ask() error {
	if a.opts.Concurrency < 0 {
		return fmt.Errorf("a concurrency of %d is below 1", a.opts.Concurrency)
	}
	if err := validate(a.manifest); err != nil {
		return err
	}
	if err := checkSupported(a.manifest); err != nil {
		return err
	}
	name := a.opts.Name
	if name == "" {
		name = a.manifest.Name
	}
	if name == "" {
		return errors.New("the workspace has no name: set name in the manifest, or use --name")
	}
	if len(name) == 1 {
		return fmt.Errorf("name %q is too short for a container: use two characters or more", name)
	}
	manifestDigest, err := a.manifest.Digest()
	if err != nil {
		return err
	}
	prints, err := plan.Fingerprints(a.manifest)
	if err != nil {
		return err
	}
	a.request = plan.Request{
		Name: name, Manifest: a.manifest, Digest: manifestDigest.String(), Sections: prints,
		Strategy: a.opts.Strategy, Pull: a.opts.Pull, Recreate: a.opts.Recreate, OnlyEphemeral: a.opts.OnlyEphemeral,
	}
	return nil
}

// askHost finds what the manifest takes from the caller's host, without asking
// the engine.
func (a *apply) askHost() error {
	var err error
	if a.variables, err = callerVariables(a.manifest, a.opts.lookup()); err != nil {
		return err
	}
	host := a.opts.BaseDir != ""
	if a.binds, a.warnings, err = bindGrants(a.manifest, a.client.Engine, host); err != nil || !host {
		return err
	}
	a.sources, err = materialize.OpenSources(a.opts.BaseDir, a.manifest.ExtraPathGrants)
	return err
}

// look observes the engine, and whether the host has what the manifest copies.
func (a *apply) look(ctx context.Context) (plan.Observed, error) {
	var seen plan.Observed
	existing, err := a.client.Engine.InspectContainer(ctx, a.request.Name)
	switch {
	case errors.Is(err, engine.ErrNotFound):
	case err != nil:
		return seen, err
	case existing.Name != a.request.Name: // the engine takes the start of an id for a name
	default:
		a.existing = &existing
		seen.Container = &plan.Container{
			ID:      existing.ID,
			Running: existing.State == "running",
			Managed: existing.Labels[LabelName] == a.request.Name,
			Digest:  existing.Labels[LabelManifest],
			Applied: unpackFingerprints(existing.Labels[LabelFingerprints]),
			Stale:   a.variables.stale(existing.Env),
		}
	}
	if seen.Container != nil && (!a.opts.Recreate || !seen.Container.Managed) {
		err = a.lookAgain(ctx, seen)
	} else {
		err = a.lookAtBase(ctx, &seen)
	}
	return seen, err
}

// lookAgain prepares what an apply on an existing workspace writes again. The
// workspace itself says which accounts it has.
func (a *apply) lookAgain(ctx context.Context, seen plan.Observed) error {
	if seen.Container.Digest != a.request.Digest || !seen.Container.Managed {
		return nil // refused by the plan
	}
	a.container = a.existing.Name
	stages := plan.Stages(plan.Ephemeral(a.manifest.Flatten()))
	if len(stages) == 0 {
		a.prepared = &prepared{}
		return nil
	}
	var err error
	a.prepared, err = prepare(ctx, a.manifest, stages, containerFS{a.client.Engine, a.container}, a.sources,
		prepareOptions{concurrency: a.opts.Concurrency, imageUser: a.existing.User})
	return err
}

func (a *apply) lookAtBase(ctx context.Context, seen *plan.Observed) error {
	err := a.openBase(ctx)
	missing := errors.Is(err, engine.ErrNotFound)
	if err != nil && !missing {
		return err
	}
	seen.BasePresent = !missing
	if err := a.prepareFresh(ctx); err != nil {
		return err
	}
	seen.Bytes = a.prepared.bytes(0)
	// What is to be copied, or comes onto a base that is pulled again, needs no
	// image; for the rest the digest tells whether the engine has it.
	if missing || a.opts.Strategy == plan.Copy || a.opts.Pull == plan.PullAlways {
		return nil
	}
	if err := a.buildImage(ctx); err != nil {
		return err
	}
	have, err := a.client.Engine.InspectImage(ctx, a.image.reference)
	switch {
	case errors.Is(err, engine.ErrNotFound):
	case err != nil:
		return err
	default:
		seen.ImagePresent = slices.Equal(have.DiffIDs, a.image.diffIDs(a.base))
	}
	return nil
}

// openBase finds the base image on the engine. After a pull it may be another.
func (a *apply) openBase(ctx context.Context) error {
	if a.baseFS != nil {
		if err := a.baseFS.Close(ctx); err != nil {
			return err
		}
	}
	image, err := a.client.Engine.InspectImage(ctx, a.manifest.Base)
	if err != nil {
		return err
	}
	if image.OS != "linux" {
		return fmt.Errorf("base image %q is for %s: workspaces need a linux image", a.manifest.Base, image.OS)
	}
	a.base = &image
	a.baseFS = openImageFS(a.client.Engine, image.ID, a.client.CacheDir)
	return nil
}

func (a *apply) prepareFresh(ctx context.Context) error {
	var below fileSystem
	opts := prepareOptions{concurrency: a.opts.Concurrency, fresh: true}
	if a.baseFS != nil {
		below, opts.imageUser = a.baseFS, a.base.Config.User
	}
	var err error
	if a.prepared, err = prepare(ctx, a.manifest, plan.Stages(a.manifest.Flatten()), below, a.sources, opts); err != nil {
		return err
	}
	return a.checkTargets(ctx)
}

// buildImage computes the image of the first stage, reading its content once
// and keeping none of it.
func (a *apply) buildImage(ctx context.Context) error {
	layer, err := oci.NewLayer(ctx, a.baseFS, a.prepared.stages[0])
	if err != nil {
		return fmt.Errorf("lay out the workspace on base image %q: %w", a.manifest.Base, err)
	}
	written, err := layer.WriteTo(ctx, io.Discard)
	if err != nil {
		return err
	}
	config, id, err := oci.BuildConfig(baseImage(a.base), []digest.Digest{written.DiffID}, oci.Changes{
		Env:        durableEnvironment(a.manifest),
		Labels:     a.manifest.Labels,
		WorkingDir: a.manifest.Root,
		User:       a.manifest.RunAs,
	})
	if err != nil {
		return err
	}
	a.image = &workspaceImage{
		reference: imageReference(a.request.Name, id), config: config, digest: id, layer: layer, written: written,
	}
	return nil
}

func (w *workspaceImage) diffIDs(base *engine.Image) []string {
	return append(slices.Clone(base.DiffIDs), w.written.DiffID.String())
}
