package enginetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
)

func (c *contract) images(t *testing.T) {
	t.Run("a missing image is not found, and removed already", c.missingImage)
	t.Run("a loaded image has the config and layers of its archive", c.fullLoad)
	t.Run("known layers may be omitted unless containerd keeps the images", c.thinLoad)
	t.Run("a refused archive is an error although the status is 200", c.refusedLoad)
	t.Run("images are listed by label", c.imageLabels)
	t.Run("an image in use is not removed", c.imageInUse)
}

func (c *contract) missingImage(t *testing.T) {
	ref := c.name() + ":none"
	if _, err := c.client.InspectImage(t.Context(), ref); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("inspect: got %v, want ErrNotFound", err)
	}
	if _, err := c.client.SaveImage(t.Context(), ref); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("save: got %v, want ErrNotFound", err)
	}
	if err := c.client.RemoveImage(t.Context(), ref); err != nil {
		t.Errorf("remove: %v", err)
	}
}

func (c *contract) fullLoad(t *testing.T) {
	image := c.scratch()
	if err := c.load(t, image, image.Archive()); err != nil {
		t.Fatal(err)
	}
	got, err := c.client.InspectImage(t.Context(), image.Ref)
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
	if got.Config.User != image.User || !slices.Equal(got.Config.Env, image.Env) || got.Config.Labels["contract"] != image.Ref {
		t.Errorf("config: got %+v", got.Config)
	}
	saved, err := c.client.SaveImage(t.Context(), image.Ref)
	if err != nil {
		t.Fatal(err)
	}
	defer saved.Close()
	if err := c.client.LoadImage(t.Context(), saved); err != nil {
		t.Errorf("load what was saved: %v", err)
	}
}

func (c *contract) imageLabels(t *testing.T) {
	image := c.scratch()
	if err := c.load(t, image, image.Archive()); err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]int{"contract=" + image.Ref: 1, "contract=other-" + image.Ref: 0} {
		list, err := c.client.ListImages(t.Context(), "contract", label)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != want {
			t.Errorf("label %q: got %d images, want %d", label, len(list), want)
		}
	}
}

func (c *contract) imageInUse(t *testing.T) {
	image := c.scratch()
	if err := c.load(t, image, image.Archive()); err != nil {
		t.Fatal(err)
	}
	created, err := c.client.CreateContainer(t.Context(), engine.ContainerSpec{Name: c.name(), Image: image.Ref, Cmd: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.client.RemoveImage(t.Context(), image.Ref); !errors.Is(err, engine.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	if err := c.client.RemoveContainer(t.Context(), created.ID); err != nil {
		t.Fatal(err)
	}
	if err := c.client.RemoveImage(t.Context(), image.Ref); err != nil {
		t.Errorf("without the container: %v", err)
	}
}

// scratch describes a new image of two layers, without anything to run.
func (c *contract) scratch() Image {
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
	full := c.scratch()
	if err := c.load(t, full, full.Archive()); err != nil {
		t.Fatal(err)
	}
	thin := c.scratch()
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
	image := c.scratch()
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
