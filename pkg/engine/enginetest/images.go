package enginetest

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
)

// storedImage is an image in the engine's store.
type storedImage struct {
	id          string
	raw         []byte // the config's bytes
	config      imageConfig
	tags        []string
	repoDigests []string
}

// store adds an image with all its layers, and with its name if tagged.
func (e *Engine) store(i Image, tagged bool) *storedImage {
	for _, layer := range i.Layers {
		e.layers[digestOf(layer)] = layer
	}
	var tags []string
	if tagged {
		tags = []string{i.Ref}
	}
	stored, _ := e.addImage(i.config(), tags)
	return stored
}

// addImage registers a config whose layers are there, and moves the tags to it.
// It returns the IDs of the images that lost their tag.
func (e *Engine) addImage(raw []byte, tags []string) (stored *storedImage, losers map[string]string) {
	id := digestOf(raw)
	if e.opts.Containerd {
		id = digestOf(mustJSON(map[string]string{"config": id}))
	}
	stored = e.images[id]
	if stored == nil {
		stored = &storedImage{id: id, raw: raw}
		mustParse(raw, &stored.config)
		e.images[id] = stored
	}
	losers = map[string]string{}
	for _, tag := range tags {
		tag = familiar(tag)
		if other := e.findImage(tag); other != nil && other != stored {
			other.tags = slices.DeleteFunc(other.tags, func(t string) bool { return t == tag })
			losers[tag] = other.id
		}
		if !slices.Contains(stored.tags, tag) {
			stored.tags = append(stored.tags, tag)
		}
	}
	return stored, losers
}

// familiar is the short form of a reference, with its tag.
func familiar(ref string) string {
	ref = strings.TrimPrefix(strings.TrimPrefix(ref, "docker.io/"), "library/")
	if !strings.Contains(ref, "@") && !strings.Contains(ref[strings.LastIndex(ref, "/")+1:], ":") {
		ref += ":latest"
	}
	return ref
}

// findImage resolves a name, a digest reference or a possibly shortened ID.
func (e *Engine) findImage(ref string) *storedImage {
	short := strings.TrimPrefix(ref, "sha256:")
	for _, i := range e.images {
		switch {
		case slices.Contains(i.tags, familiar(ref)), slices.Contains(i.repoDigests, familiar(ref)):
			return i
		case len(short) >= 4 && strings.HasPrefix(hexOf(i.id), short):
			return i
		}
	}
	return nil
}

func (e *Engine) sortedImages() []*storedImage {
	return slices.SortedFunc(maps.Values(e.images), func(a, b *storedImage) int {
		return cmp.Or(slices.Compare(a.tags, b.tags), cmp.Compare(a.id, b.id))
	})
}

func (e *Engine) size(i *storedImage) (size int64) {
	for _, diffID := range i.config.RootFS.DiffIDs {
		size += int64(len(e.layers[diffID]))
	}
	return size
}

func (e *Engine) inspectImage(w http.ResponseWriter, r *http.Request) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	ref, ok := strings.CutSuffix(r.PathValue("ref"), "/json")
	if !ok {
		return fail(http.StatusNotFound, "page not found")
	}
	i := e.findImage(ref)
	if i == nil {
		return fail(http.StatusNotFound, "no such image: %s: No such image: %s", ref, ref)
	}
	resp := image.InspectResponse{
		ID:           i.id,
		RepoTags:     i.tags,
		RepoDigests:  i.repoDigests,
		Created:      i.config.Created,
		Architecture: i.config.Architecture,
		Os:           i.config.OS,
		Variant:      i.config.Variant,
		Size:         e.size(i),
		RootFS:       image.RootFS{Type: "layers", Layers: i.config.RootFS.DiffIDs},
	}
	var config struct{ Config json.RawMessage }
	mustParse(i.raw, &config)
	mustParse(config.Config, &resp.Config)
	writeJSON(w, http.StatusOK, resp)
	return nil
}

func (e *Engine) listImages(w http.ResponseWriter, r *http.Request) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	args, err := filters.FromJSON(r.URL.Query().Get("filters"))
	if err != nil {
		return fail(http.StatusBadRequest, "%v", err)
	}
	list := []image.Summary{}
	for _, i := range e.sortedImages() {
		if !args.MatchKVList("label", i.config.Config.Labels) {
			continue
		}
		summary := image.Summary{
			ID: i.id, RepoTags: i.tags, RepoDigests: i.repoDigests,
			Labels: i.config.Config.Labels, Size: e.size(i),
		}
		if len(i.tags) == 0 && !e.opts.Containerd {
			summary.RepoTags, summary.RepoDigests = []string{"<none>:<none>"}, []string{"<none>@<none>"}
		}
		list = append(list, summary)
	}
	writeJSON(w, http.StatusOK, list)
	return nil
}

// deleteImage removes a name, and with the last one the image, unless a
// container uses it.
func (e *Engine) deleteImage(w http.ResponseWriter, r *http.Request) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	ref := r.PathValue("ref")
	i := e.findImage(ref)
	if i == nil {
		return fail(http.StatusNotFound, "No such image: %s", ref)
	}
	tag := familiar(ref)
	byTag := slices.Contains(i.tags, tag)
	if byTag && len(i.tags) > 1 {
		i.tags = slices.DeleteFunc(i.tags, func(t string) bool { return t == tag })
		writeJSON(w, http.StatusOK, []image.DeleteResponse{{Untagged: tag}})
		return nil
	}
	if !byTag && len(i.tags) > 1 {
		return fail(http.StatusConflict, "conflict: unable to delete %s (must be forced) - image is referenced in multiple repositories", ref)
	}
	for _, b := range e.containers {
		if b.imageID != i.id {
			continue
		}
		if byTag {
			return fail(http.StatusConflict, "conflict: unable to remove repository reference %q (must force) - container %s is using its referenced image %s",
				ref, b.ID[:12], hexOf(i.id)[:12])
		}
		return fail(http.StatusConflict, "conflict: unable to delete %s (must be forced) - image is being used by container %s", ref, b.ID[:12])
	}
	delete(e.images, i.id)
	e.dropUnusedLayers()
	var deleted []image.DeleteResponse
	for _, t := range i.tags {
		deleted = append(deleted, image.DeleteResponse{Untagged: t})
	}
	writeJSON(w, http.StatusOK, append(deleted, image.DeleteResponse{Deleted: i.id}))
	return nil
}

// dropUnusedLayers forgets layers that no image has, so that a later archive
// may not omit them.
func (e *Engine) dropUnusedLayers() {
	maps.DeleteFunc(e.layers, func(diffID string, _ []byte) bool {
		for _, i := range e.images {
			if slices.Contains(i.config.RootFS.DiffIDs, diffID) {
				return false
			}
		}
		return true
	})
}
