package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
)

// ApplyOptions says how a manifest becomes a workspace.
type ApplyOptions struct {
	// Name of the workspace and its container; empty is the manifest's.
	Name string
	// BaseDir is where relative host paths start. Empty forbids host sources,
	// host paths of grants, and secrets in files.
	BaseDir string
	// LookupEnv finds the variables that the environment and the secrets of a
	// manifest name; nil is os.LookupEnv.
	LookupEnv func(name string) (value string, ok bool)
	// Processors change a copy of the manifest, in their order, before it is
	// validated and planned: see manifest.Processor.
	Processors []manifest.Processor
	// Strategy, Pull, Recreate and OnlyEphemeral are as in plan.Request.
	Strategy      plan.Strategy
	Pull          plan.Pull
	Recreate      bool
	OnlyEphemeral bool
	// Keep leaves what a failed apply made for a look at it.
	Keep bool
	// Concurrency bounds how many entries are read or cloned at the same time;
	// 0 selects materialize.DefaultConcurrency.
	Concurrency int
	// RegistryAuth returns the X-Registry-Auth value for a reference; nil pulls
	// anonymously.
	RegistryAuth func(ref string) (string, error)
	// GPUs is as in docker run --gpus.
	GPUs string
	// WorkingDir of the container, relative to the root; empty is the root.
	WorkingDir string
}

// Result is what an apply did.
type Result struct {
	Name        string      `json:"name"`
	ContainerID string      `json:"container_id"`
	Image       ImageResult `json:"image"`
	materialize.Result
	Git        []GitResult      `json:"git"`
	Ports      []Port           `json:"ports"`
	Warnings   []string         `json:"warnings"`
	Operations []plan.Operation `json:"operations"`
	// Durations are milliseconds by phase.
	Durations map[string]int64 `json:"durations_ms"`
}

// newResult has lists that are empty rather than absent, for readers of JSON.
func newResult() *Result {
	return &Result{
		Result:    materialize.Result{Files: []materialize.File{}, SkippedMounts: []string{}},
		Git:       []GitResult{},
		Warnings:  []string{},
		Durations: map[string]int64{},
	}
}

// ImageResult names the image that the container runs.
type ImageResult struct {
	Reference      string `json:"reference"`
	ManifestDigest string `json:"manifest_digest,omitempty"`
	ConfigDigest   string `json:"config_digest,omitempty"`
	// EngineID is the engine's own id, comparable on one engine only.
	EngineID string `json:"engine_id"`
}

// GitResult is one clone.
type GitResult struct {
	Path   string `json:"path"`
	URL    string `json:"url"`
	Ref    string `json:"ref,omitempty"`
	Commit string `json:"commit"`
}

// Plan derives what Apply would do, and does nothing. The manifest is the
// effective one: Base set, overrides of the caller merged. Secrets are not read:
// whoever reviews a plan need not have them.
func (c *Client) Plan(ctx context.Context, m *manifest.Manifest, opts ApplyOptions) (*plan.Plan, error) {
	a, err := c.observe(ctx, m, opts)
	if err != nil {
		return nil, err
	}
	return a.plan, a.close(ctx, nil)
}

// Apply makes the workspace be what the manifest says. An existing one is kept:
// see plan.Compute. On any failure, cancellation included, everything that was
// made is removed again, unless opts.Keep.
//
// Secrets are read for a new container alone, and their values are only in its
// environment: errors, events and the result are without them. A secret is its
// name: a value that changed is no reason to make the container again.
func (c *Client) Apply(ctx context.Context, m *manifest.Manifest, opts ApplyOptions) (*Result, error) {
	begin := time.Now()
	a, err := c.observe(ctx, m, opts)
	if err != nil {
		return nil, err
	}
	a.result.Durations["observe"] = time.Since(begin).Milliseconds()
	if err := a.readSecrets(ctx); err != nil {
		return nil, a.close(ctx, err)
	}
	for _, w := range a.plan.Warnings {
		a.client.emit(Event{State: Warning, Text: w})
	}
	a.result.Warnings = append(a.result.Warnings, a.plan.Warnings...)
	err = a.execute(ctx)
	if err == nil {
		err = a.finish(ctx)
	}
	if err != nil {
		return nil, a.redact.error(a.close(ctx, a.rollback(ctx, err)))
	}
	a.result.Durations["total"] = time.Since(begin).Milliseconds()
	a.redact.result(a.result)
	return a.result, a.redact.error(a.close(ctx, nil))
}

// rollback undoes, last first, what was done before err.
func (a *apply) rollback(ctx context.Context, err error) error {
	if a.opts.Keep && a.container != "" {
		return fmt.Errorf("%w (kept as container %q: docker exec -it %s sh; docker workspace rm %s)", err, a.temporary, a.temporary, a.temporary)
	}
	return cleanup(ctx, err, func(ctx context.Context) error {
		var problems []error
		for _, v := range slices.Backward(a.undo) {
			problems = append(problems, v(ctx))
		}
		return errors.Join(problems...)
	})
}

func (a *apply) close(ctx context.Context, err error) error {
	return cleanup(ctx, err, func(ctx context.Context) error {
		var problems []error
		if a.baseFS != nil {
			problems = append(problems, a.baseFS.Close(ctx))
		}
		if a.sources != nil {
			problems = append(problems, a.sources.Close())
		}
		return errors.Join(problems...)
	})
}
