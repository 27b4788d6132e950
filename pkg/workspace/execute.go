package workspace

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
	"github.com/docker-workspace/docker-workspace/pkg/oci"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
)

// stopTimeout is how long a replaced workspace may take to stop.
const stopTimeout = 10 * time.Second

// execute runs the plan's operations one after the other; the clones of one
// stage run side by side.
func (a *apply) execute(ctx context.Context) error {
	ops := a.plan.Operations
	for len(ops) > 0 {
		n := 1
		for ops[0].Kind == plan.CloneGit && n < len(ops) && ops[n].Kind == plan.CloneGit && ops[n].Stage == ops[0].Stage {
			n++
		}
		if err := a.together(ctx, ops[:n]); err != nil {
			return err
		}
		ops = ops[n:]
	}
	return ctx.Err()
}

func (a *apply) together(ctx context.Context, ops []plan.Operation) error {
	limit := a.opts.Concurrency
	if limit == 0 {
		limit = materialize.DefaultConcurrency
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(limit)
	if ops[0].Kind == plan.CloneGit {
		clones := make([]GitResult, len(ops))
		begin := time.Now()
		defer func() {
			a.result.Git = append(a.result.Git, clones...)
			a.result.Durations[string(plan.CloneGit)] += time.Since(begin).Milliseconds()
		}()
		for i, op := range ops {
			group.Go(func() error {
				_, err := a.client.step(op.String(), func() (err error) {
					clones[i], err = a.clone(ctx, op)
					return err
				})
				return err
			})
		}
		return group.Wait()
	}
	elapsed, err := a.client.step(ops[0].String(), func() error { return a.run(ctx, ops[0]) })
	a.result.Durations[string(ops[0].Kind)] += elapsed.Milliseconds()
	return err
}

func (a *apply) run(ctx context.Context, op plan.Operation) error {
	switch op.Kind {
	case plan.PullImage:
		return a.pull(ctx, op)
	case plan.LoadImage:
		return a.load(ctx, op)
	case plan.StopContainer:
		return a.stopExisting(ctx)
	case plan.CreateContainer:
		return a.create(ctx)
	case plan.WriteFiles:
		return a.write(ctx, op)
	case plan.StartContainer:
		return a.client.Engine.StartContainer(ctx, a.container)
	case plan.RemoveContainer:
		return a.replace(ctx)
	default:
		return fmt.Errorf("execute plan: unknown operation %q", op.Kind)
	}
}

func (a *apply) pull(ctx context.Context, op plan.Operation) error {
	opts := engine.PullOptions{Progress: func(e engine.PullEvent) {
		a.client.emit(Event{Op: op.String(), State: Progress, Text: e.ID + " " + e.Status, Current: e.Current, Total: e.Total})
	}}
	if a.opts.RegistryAuth != nil {
		auth, err := a.opts.RegistryAuth(op.Subject)
		if err != nil {
			return err
		}
		opts.RegistryAuth = auth
	}
	err := a.client.Engine.PullImage(ctx, op.Subject, opts)
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		return fmt.Errorf("%w; is the base image's name right, and can the engine reach its registry?", err)
	}
	if err := a.openBase(ctx); err != nil {
		return err
	}
	return a.prepareFresh(ctx)
}

// stopExisting frees the ports of the workspace that is replaced. It runs again
// when the new one fails.
func (a *apply) stopExisting(ctx context.Context) error {
	a.undo = append(a.undo, func(ctx context.Context) error {
		return a.client.Engine.StartContainer(ctx, a.existing.ID)
	})
	return a.client.Engine.StopContainer(ctx, a.existing.ID, stopTimeout)
}

// create makes the container under a temporary name: whoever finds a workspace
// under its own name finds it complete, even if this process is killed.
func (a *apply) create(ctx context.Context) error {
	image, owned := a.manifest.Base, ""
	a.result.Image = ImageResult{Reference: a.manifest.Base, EngineID: a.base.ID}
	if a.plan.Strategy == plan.Image {
		image, owned = a.image.reference, a.image.reference
	}
	labels, err := labels(a.manifest, a.request.Name, a.request.Digest, string(a.plan.Strategy), owned, a.request.Sections)
	if err != nil {
		return err
	}
	spec := containerSpec(a.manifest, image, labels, a.opts)
	spec.Env, spec.Binds = environment(a.manifest, a.variables), a.binds
	spec.Name = a.request.Name + "-applying-" + strings.ToLower(rand.Text()[:8])
	a.temporary = spec.Name
	created, err := a.client.Engine.CreateContainer(ctx, spec)
	if err != nil {
		// The engine may have made it although the answer did not arrive.
		a.undo = append(a.undo, func(ctx context.Context) error { return a.client.Engine.RemoveContainer(ctx, spec.Name) })
		return err
	}
	a.container = spec.Name // which errors are better with than an id
	a.undo = append(a.undo, func(ctx context.Context) error { return a.client.Engine.RemoveContainer(ctx, created.ID) })
	a.result.Warnings = append(a.result.Warnings, created.Warnings...)
	return nil
}

// write streams one stage as an archive over what the container holds.
func (a *apply) write(ctx context.Context, op plan.Operation) error {
	var below oci.Base = a.baseFS
	if op.Stage > 0 || a.baseFS == nil {
		below = containerFS{a.client.Engine, a.container}
	}
	layer, err := oci.NewLayer(ctx, below, a.prepared.stages[op.Stage])
	if err != nil {
		return err
	}
	var written *oci.Written
	err = pipe(func(w io.Writer) (err error) {
		written, err = layer.WriteTo(ctx, w)
		return err
	}, func(r io.Reader) error {
		return a.client.Engine.PutArchive(ctx, a.container, "/", r)
	})
	if err != nil {
		return err
	}
	a.wrote(written)
	return nil
}

func (a *apply) wrote(w *oci.Written) {
	for _, f := range w.Files {
		a.result.Files = append(a.result.Files, materialize.File{
			Path: "/" + f.Name, SHA256: f.Digest.Encoded(), Size: f.Size, Mode: fmt.Sprintf("%04o", f.Mode), UID: f.UID, GID: f.GID,
		})
	}
}

func (a *apply) clone(ctx context.Context, op plan.Operation) (GitResult, error) {
	e := a.plan.Stages[op.Stage].Entries[op.Entry]
	repo := e.Entry.(*manifest.GitRepo)
	attrs := repo.Attrs()
	owner, err := a.prepared.accounts.Owner(a.prepared.owner, attrs.Owner, attrs.Group)
	if err != nil {
		return GitResult{}, err
	}
	commit, err := materialize.CloneGit(ctx, sandbox{a.client.Engine, a.container, a.redact}, materialize.Clone{
		Path: e.Path, Dest: a.manifest.Root + "/" + e.Path, Image: a.manifest.Base, Repo: repo, Owner: owner, User: a.prepared.user,
	})
	return GitResult{Path: e.Path, URL: repo.CloneURL(), Ref: repo.Ref, Commit: commit}, err
}

// replace puts the new workspace in the place of the existing one. Until it has
// the name the existing one can take it back.
func (a *apply) replace(ctx context.Context) error {
	eng := a.client.Engine
	aside := strings.Replace(a.temporary, "-applying-", "-replaced-", 1)
	a.undo = append(a.undo, func(ctx context.Context) error {
		// The engine may have renamed it although the answer did not arrive.
		now, err := eng.InspectContainer(ctx, a.existing.ID)
		if err != nil || now.Name == a.request.Name {
			return err
		}
		return eng.RenameContainer(ctx, a.existing.ID, a.request.Name)
	})
	if err := eng.RenameContainer(ctx, a.existing.ID, aside); err != nil {
		return err
	}
	if err := a.settle(ctx); err != nil {
		return err
	}
	return cleanup(ctx, nil, func(ctx context.Context) error { return a.client.remove(ctx, a.existing) })
}

// settle gives the workspace its name, which is what makes it exist: there is
// nothing to undo any more.
func (a *apply) settle(ctx context.Context) error {
	c, err := a.client.Engine.InspectContainer(ctx, a.container)
	if err != nil {
		return err
	}
	if c.State != "running" {
		return fmt.Errorf("workspace %q is %s with exit code %d right after its start: apply with --keep, then docker logs tells why", a.request.Name, c.State, c.ExitCode)
	}
	if a.temporary != "" {
		if err := a.client.Engine.RenameContainer(ctx, a.container, a.request.Name); err != nil {
			return fmt.Errorf("name workspace %q: %w", a.request.Name, err)
		}
	}
	a.undo, a.settled = nil, &c
	return nil
}

// finish settles what no replacement has settled yet, and completes the result.
func (a *apply) finish(ctx context.Context) error {
	if a.settled == nil {
		if err := a.settle(ctx); err != nil {
			return err
		}
	}
	r, c := a.result, a.settled
	r.Name, r.ContainerID, r.Operations, r.Ports = a.request.Name, c.ID, a.plan.Operations, ports(*c)
	if r.Image.EngineID == "" {
		r.Image = ImageResult{Reference: c.Image, EngineID: c.ImageID}
	}
	if a.plan.Strategy == plan.Image {
		r.Image = ImageResult{Reference: a.image.reference, ConfigDigest: a.image.digest.String(), EngineID: c.ImageID}
		a.wrote(a.image.written)
	}
	return nil
}
