package enginetest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// pullImage finds an image of the registry and streams the progress of a pull.
func (e *Engine) pullImage(w http.ResponseWriter, r *http.Request) error {
	name, tag := r.URL.Query().Get("fromImage"), r.URL.Query().Get("tag")
	ref := familiar(name + ":" + tag)
	byDigest := strings.HasPrefix(tag, "sha256:")
	if byDigest {
		ref = familiar(name + "@" + tag)
	}
	i := slices.IndexFunc(e.opts.Registry, func(i Image) bool { return familiar(i.Ref) == ref || i.RepoDigest() == ref })
	if i < 0 {
		return fail(http.StatusNotFound, "manifest for %s not found: manifest unknown: manifest unknown", ref)
	}
	found := e.opts.Registry[i]
	e.mu.Lock()
	stored := e.store(found, !byDigest)
	stored.repoDigests = []string{found.RepoDigest()}
	e.mu.Unlock()

	w.Header().Set("Content-Type", "application/json")
	event := json.NewEncoder(w)
	_ = event.Encode(map[string]string{"status": "Pulling from " + name, "id": tag})
	for _, layer := range found.Layers {
		_ = event.Encode(map[string]any{
			"status": "Downloading", "id": hexOf(digestOf(layer))[:12],
			"progressDetail": map[string]int{"current": len(layer), "total": len(layer)},
		})
	}
	_ = event.Encode(map[string]string{"status": "Digest: " + digestOf(stored.raw)})
	_ = event.Encode(map[string]string{"status": "Status: Downloaded newer image for " + ref})
	return nil
}

// loadImage reads a docker-archive. It answers with status 200 whatever happens
// and reports failure in the stream.
func (e *Engine) loadImage(w http.ResponseWriter, r *http.Request) error {
	archive, err := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	if err == nil {
		err = e.load(archive, w)
	}
	if err != nil {
		writeStreamError(w, err)
	}
	return nil
}

func (e *Engine) load(archive []byte, progress io.Writer) error {
	files, err := archiveFiles(archive)
	if err != nil {
		return err
	}
	var manifests []archiveManifest
	if err := json.Unmarshal(files["manifest.json"], &manifests); err != nil {
		return fmt.Errorf("open /var/lib/docker/tmp/docker-import-1/manifest.json: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	stream := json.NewEncoder(progress)
	for _, m := range manifests {
		layers, err := e.checkLayers(m, files)
		if err != nil {
			return err
		}
		maps.Copy(e.layers, layers)
		stored, losers := e.addImage(files[m.Config], m.RepoTags)
		for tag, id := range losers {
			_ = stream.Encode(map[string]string{
				"stream": fmt.Sprintf("The image %s already exists, renaming the old one with ID %s to empty string\n", tag, id),
			})
		}
		for _, tag := range m.RepoTags {
			_ = stream.Encode(map[string]string{"stream": "Loaded image: " + tag + "\n"})
		}
		if len(m.RepoTags) == 0 {
			_ = stream.Encode(map[string]string{"stream": "Loaded image ID: " + stored.id + "\n"})
		}
	}
	return nil
}

// checkLayers returns the layers of the archive by diff ID. A graph driver's
// store takes those that it knows without looking at the archive; the
// containerd store wants every one.
func (e *Engine) checkLayers(m archiveManifest, files map[string][]byte) (map[string][]byte, error) {
	var config imageConfig
	if err := json.Unmarshal(files[m.Config], &config); err != nil {
		return nil, fmt.Errorf("open /var/lib/docker/tmp/docker-import-1/%s: no such file or directory", m.Config)
	}
	if len(m.Layers) != len(config.RootFS.DiffIDs) {
		return nil, fmt.Errorf("invalid manifest, layers length mismatch: expected %d, got %d", len(m.Layers), len(config.RootFS.DiffIDs))
	}
	layers := map[string][]byte{}
	for i, diffID := range config.RootFS.DiffIDs {
		layer, sent := files[m.Layers[i]]
		known := e.hasChain(config.RootFS.DiffIDs[:i+1])
		switch {
		case known && !e.opts.Containerd:
			continue
		case !sent && e.opts.Containerd:
			return nil, fmt.Errorf("layer %s not found", diffID)
		case !sent:
			return nil, fmt.Errorf("open /var/lib/docker/tmp/docker-import-1/%s: no such file or directory", m.Layers[i])
		case digestOf(layer) != diffID:
			return nil, fmt.Errorf("invalid diffID for layer %d: expected %q, got %q", i, diffID, digestOf(layer))
		}
		if _, err := layerTree(layer); err != nil {
			return nil, err
		}
		layers[diffID] = layer
	}
	return layers, nil
}

// hasChain reports whether some image has these layers at its bottom. Engines
// know layers by what is below them, too.
func (e *Engine) hasChain(diffIDs []string) bool {
	for _, i := range e.images {
		have := i.config.RootFS.DiffIDs
		if len(have) >= len(diffIDs) && slices.Equal(have[:len(diffIDs)], diffIDs) {
			return true
		}
	}
	return false
}

// saveImages writes the first of the named images as a docker-archive.
func (e *Engine) saveImages(w http.ResponseWriter, r *http.Request) error {
	archive, err := e.archive(r.URL.Query().Get("names"))
	if err != nil {
		return err
	}
	// Unlocked: a client may load what it saves as it comes.
	w.Header().Set("Content-Type", "application/x-tar")
	_, _ = w.Write(archive) //nolint:gosec // an archive is no page; the client may be gone
	return nil
}

func (e *Engine) archive(ref string) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.findImage(ref)
	if i == nil {
		return nil, fail(http.StatusNotFound, "reference does not exist")
	}
	tag := ""
	if len(i.tags) > 0 {
		tag = i.tags[0]
	}
	return dockerArchive(tag, i.raw, e.layers), nil
}
