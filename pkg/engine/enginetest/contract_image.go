package enginetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
)

func (c *contract) images(t *testing.T) {
	client, ctx := c.client, t.Context()

	t.Run("a missing image is not found, and removed already", func(t *testing.T) {
		ref := c.name() + ":none"
		if _, err := client.InspectImage(ctx, ref); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("inspect: got %v, want ErrNotFound", err)
		}
		if _, err := client.SaveImage(ctx, ref); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("save: got %v, want ErrNotFound", err)
		}
		if err := client.RemoveImage(ctx, ref); err != nil {
			t.Errorf("remove: %v", err)
		}
	})

	t.Run("a loaded image has the config and layers of its archive", func(t *testing.T) {
		image := c.scratch(t)
		if err := c.load(t, image, image.Archive()); err != nil {
			t.Fatal(err)
		}
		got, err := client.InspectImage(ctx, image.Ref)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{digestOf(image.Layers[0]), digestOf(image.Layers[1])}
		if !slices.Equal(got.DiffIDs, want) {
			t.Errorf("diff IDs: got %v, want %v", got.DiffIDs, want)
		}
		if !slices.Contains(got.Tags, image.Ref) || got.OS != "linux" || got.Architecture != "amd64" {
			t.Errorf("got tags %v, platform %s/%s", got.Tags, got.OS, got.Architecture)
		}
		if got.Config.User != "1000:1000" || !slices.Equal(got.Config.Env, image.Env) || got.Config.Labels["contract"] != image.Ref {
			t.Errorf("config: got %+v", got.Config)
		}
	})

	t.Run("images are listed by label", func(t *testing.T) {
		image := c.scratch(t)
		if err := c.load(t, image, image.Archive()); err != nil {
			t.Fatal(err)
		}
		for label, want := range map[string]int{"contract=" + image.Ref: 1, "contract=other-" + image.Ref: 0} {
			list, err := client.ListImages(ctx, "contract", label)
			if err != nil {
				t.Fatal(err)
			}
			if len(list) != want {
				t.Errorf("label %q: got %d images, want %d", label, len(list), want)
			}
		}
	})

	t.Run("known layers may be omitted unless containerd keeps the images", c.thinLoad)
	t.Run("a refused archive is an error although the status is 200", c.refusedLoad)

	t.Run("an image in use is not removed", func(t *testing.T) {
		c.create(t, engine.ContainerSpec{})
		image, err := client.InspectImage(ctx, c.image)
		if err != nil {
			t.Fatal(err)
		}
		if len(image.Tags) > 1 {
			t.Logf("%s has other names, and losing one of them is fine", c.image)
			return
		}
		if err := client.RemoveImage(ctx, c.image); !errors.Is(err, engine.ErrConflict) {
			t.Errorf("got %v, want ErrConflict", err)
		}
	})
}

// scratch describes a new image of two layers, without anything to run.
func (c *contract) scratch(t *testing.T) Image {
	t.Helper()
	ref := c.name() + ":1"
	return Image{
		Ref:    ref,
		User:   "1000:1000",
		Env:    []string{"A=1", "B=2"},
		Labels: map[string]string{"contract": ref},
		Layers: [][]byte{
			Tar(File{Name: "base", Content: ref}),
			Tar(File{Name: "top", Content: ref}),
		},
	}
}

func (c *contract) thinLoad(t *testing.T) {
	info, err := c.client.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	full := c.scratch(t)
	if err := c.load(t, full, full.Archive()); err != nil {
		t.Fatal(err)
	}
	thin := c.scratch(t)
	thin.Layers[0] = full.Layers[0]
	err = c.load(t, thin, thin.ThinArchive(1))
	if info.ContainerdStore {
		if err == nil {
			t.Error("a containerd store took an archive without its first layer")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.client.InspectImage(t.Context(), thin.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{digestOf(full.Layers[0]), digestOf(thin.Layers[1])}; !slices.Equal(got.DiffIDs, want) {
		t.Errorf("diff IDs: got %v, want %v", got.DiffIDs, want)
	}
}

func (c *contract) refusedLoad(t *testing.T) {
	image := c.scratch(t)
	for name, archive := range map[string][]byte{
		"an unknown layer omitted": image.ThinArchive(1),
		"cut short":                image.Archive()[:1000],
		"no archive":               []byte("no archive"),
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.load(t, image, archive); err == nil {
				t.Error("the engine accepted it")
			}
			if _, err := c.client.InspectImage(t.Context(), image.Ref); !errors.Is(err, engine.ErrNotFound) {
				t.Errorf("inspect afterwards: got %v, want ErrNotFound", err)
			}
		})
	}
	t.Run("its source fails", func(t *testing.T) {
		source := &failingReader{data: strings.NewReader(string(image.Archive()[:1000]))}
		if err := c.client.LoadImage(t.Context(), source); !errors.Is(err, errSource) {
			t.Errorf("got %v, want the source's own error", err)
		}
	})
}

var errSource = errors.New("the disk is on fire")

// failingReader fails where its data ends.
type failingReader struct{ data *strings.Reader }

func (f *failingReader) Read(p []byte) (int, error) {
	if f.data.Len() == 0 {
		return 0, errSource
	}
	return f.data.Read(p)
}
