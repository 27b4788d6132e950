package engine

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
)

// Image is an image in the engine's store.
type Image struct {
	// ID is the engine's identifier: the config digest on a graph driver store,
	// the manifest or index digest on a containerd store. IDs of different
	// stores cannot be compared.
	ID string
	// Tags are the names that refer to the image, such as debian:12.
	Tags []string
	// RepoDigests are name@digest references of the manifests it was pulled by.
	RepoDigests []string
	// OS, Architecture and Variant are the platform, in Go's terms.
	OS, Architecture, Variant string
	// OSVersion is set for Windows images only.
	OSVersion string
	// Author is free text from the image's maker.
	Author string
	// DiffIDs are the digests of the uncompressed layers, lowest first.
	DiffIDs []string
	// Config is what containers of the image start with.
	Config ImageConfig
	// Size is the sum of the layers in bytes.
	Size int64
}

// ImageConfig is the "config" object of the OCI image specification with
// Docker's additions (Healthcheck, OnBuild, Shell), complete enough that an
// image derived from it loses nothing.
type ImageConfig struct {
	User         string
	WorkingDir   string
	Env          []string // KEY=VALUE
	Entrypoint   []string
	Cmd          []string
	Labels       map[string]string
	ExposedPorts []string // PORT/PROTOCOL, sorted
	Volumes      []string // paths, sorted
	StopSignal   string
	Healthcheck  *Healthcheck
	OnBuild      []string
	Shell        []string
	ArgsEscaped  bool // Windows only
}

// Healthcheck tells the engine how to test that a container works. Zero fields
// inherit from the image, then from the engine's defaults.
type Healthcheck struct {
	// Test is {"CMD", args…}, {"CMD-SHELL", command} or {"NONE"}.
	Test          []string
	Interval      time.Duration
	Timeout       time.Duration
	StartPeriod   time.Duration
	StartInterval time.Duration
	Retries       int
}

// InspectImage returns the image that ref (a name, digest or ID) refers to, or
// [ErrNotFound].
func (c *Client) InspectImage(ctx context.Context, ref string) (Image, error) {
	resp, err := c.docker.ImageInspect(ctx, ref)
	if err != nil {
		return Image{}, fmt.Errorf("inspect image %q: %w", ref, classify(err))
	}
	return imageOf(resp), nil
}

func imageOf(resp image.InspectResponse) Image {
	out := Image{
		ID:           resp.ID,
		Tags:         resp.RepoTags,
		RepoDigests:  resp.RepoDigests,
		OS:           resp.Os,
		Architecture: resp.Architecture,
		Variant:      resp.Variant,
		OSVersion:    resp.OsVersion,
		Author:       resp.Author,
		DiffIDs:      resp.RootFS.Layers,
		Size:         resp.Size,
	}
	if cfg := resp.Config; cfg != nil {
		out.Config = ImageConfig{
			User:         cfg.User,
			WorkingDir:   cfg.WorkingDir,
			Env:          cfg.Env,
			Entrypoint:   cfg.Entrypoint,
			Cmd:          cfg.Cmd,
			Labels:       cfg.Labels,
			ExposedPorts: slices.Sorted(maps.Keys(cfg.ExposedPorts)),
			Volumes:      slices.Sorted(maps.Keys(cfg.Volumes)),
			StopSignal:   cfg.StopSignal,
			Healthcheck:  healthcheckOf(cfg.Healthcheck),
			OnBuild:      cfg.OnBuild,
			Shell:        cfg.Shell,
			ArgsEscaped:  cfg.ArgsEscaped, //nolint:staticcheck // deprecated, but a derived image must not lose it
		}
	}
	return out
}

func healthcheckOf(h *container.HealthConfig) *Healthcheck {
	if h == nil {
		return nil
	}
	return &Healthcheck{
		Test:          h.Test,
		Interval:      h.Interval,
		Timeout:       h.Timeout,
		StartPeriod:   h.StartPeriod,
		StartInterval: h.StartInterval,
		Retries:       h.Retries,
	}
}

// ListImages returns the images that carry every given label ("key" or
// "key=value"), untagged ones included. Of Config only Labels is filled, and
// neither the platform nor DiffIDs: the engine's list has no more.
func (c *Client) ListImages(ctx context.Context, labels ...string) ([]Image, error) {
	list, err := c.docker.ImageList(ctx, image.ListOptions{Filters: labelFilter(labels)})
	if err != nil {
		return nil, fmt.Errorf("list images: %w", classify(err))
	}
	out := make([]Image, 0, len(list))
	for _, s := range list {
		out = append(out, Image{
			ID:          s.ID,
			Tags:        withoutNone(s.RepoTags, "<none>:<none>"),
			RepoDigests: withoutNone(s.RepoDigests, "<none>@<none>"),
			Config:      ImageConfig{Labels: s.Labels},
			Size:        s.Size,
		})
	}
	return out, nil
}

// withoutNone drops the placeholder with which engines before 24 list an
// untagged image.
func withoutNone(names []string, placeholder string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == placeholder })
}

func labelFilter(labels []string) filters.Args {
	args := filters.NewArgs()
	for _, label := range labels {
		args.Add("label", label)
	}
	return args
}

// SaveImage streams the image as a docker-archive (engines from 25 make it an
// OCI layout at the same time). The caller closes the reader.
func (c *Client) SaveImage(ctx context.Context, ref string) (io.ReadCloser, error) {
	body, err := c.docker.ImageSave(ctx, []string{ref})
	if err != nil {
		return nil, fmt.Errorf("save image %q: %w", ref, classify(err))
	}
	return body, nil
}

// RemoveImage removes the name ref, and the image with it when that was its
// last name. It does not force: an image that a container uses gives
// [ErrConflict]. Untagged parents stay. A missing image is not an error.
func (c *Client) RemoveImage(ctx context.Context, ref string) error {
	_, err := c.docker.ImageRemove(ctx, ref, image.RemoveOptions{})
	if err := ignoreNotFound(classify(err)); err != nil {
		return fmt.Errorf("remove image %q: %w", ref, err)
	}
	return nil
}
