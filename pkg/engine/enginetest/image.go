package enginetest

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
)

// Image describes an image, for the fake's store or for an archive that any
// engine can load.
type Image struct {
	// Ref is its name with a tag.
	Ref string
	// Layers are uncompressed tars (see [Tar]), lowest first.
	Layers [][]byte
	// User, WorkingDir, Env, Entrypoint, Cmd and Labels are the image's config.
	User, WorkingDir     string
	Env, Entrypoint, Cmd []string
	Labels               map[string]string
}

// imageConfig is the OCI image configuration. Docker's own struct serves for
// its "config" object, since their fields have the same names.
type imageConfig struct {
	Created      string            `json:"created"`
	Architecture string            `json:"architecture"`
	OS           string            `json:"os"`
	Variant      string            `json:"variant,omitempty"`
	Config       *container.Config `json:"config"`
	RootFS       struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// archiveManifest is an entry of a docker-archive's manifest.json.
type archiveManifest struct {
	Config   string
	RepoTags []string
	Layers   []string
}

func (i Image) config() []byte {
	config := imageConfig{
		Created:      "1970-01-01T00:00:00Z",
		Architecture: "amd64",
		OS:           "linux",
		Config: &container.Config{
			User: i.User, WorkingDir: i.WorkingDir, Env: i.Env,
			Entrypoint: i.Entrypoint, Cmd: i.Cmd, Labels: i.Labels,
		},
	}
	config.RootFS.Type = "layers"
	for _, layer := range i.Layers {
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, digestOf(layer))
	}
	return mustJSON(config)
}

// RepoDigest is the name@digest by which the image can be pulled from the
// fake's registry.
func (i Image) RepoDigest() string {
	ref := familiar(i.Ref)
	return ref[:strings.LastIndex(ref, ":")] + "@" + digestOf(i.config())
}

// Archive packs the image as a docker-archive, the format that every engine
// loads.
func (i Image) Archive() []byte { return i.ThinArchive(0) }

// ThinArchive is [Image.Archive] without the lowest omit layers, which only an
// engine that has them may accept.
func (i Image) ThinArchive(omit int) []byte {
	layers := map[string][]byte{}
	for _, layer := range i.Layers[omit:] {
		layers[digestOf(layer)] = layer
	}
	return dockerArchive(i.Ref, i.config(), layers)
}

// dockerArchive packs a config with those of its layers that are given.
func dockerArchive(ref string, config []byte, layers map[string][]byte) []byte {
	var parsed imageConfig
	mustParse(config, &parsed)
	manifest := archiveManifest{Config: hexOf(digestOf(config)) + ".json"}
	if ref != "" {
		manifest.RepoTags = []string{ref}
	}
	files := []File{{Name: manifest.Config, Content: string(config)}}
	for _, diffID := range parsed.RootFS.DiffIDs {
		name := hexOf(diffID) + "/layer.tar"
		known := slices.Contains(manifest.Layers, name)
		manifest.Layers = append(manifest.Layers, name)
		if layer, ok := layers[diffID]; ok && !known {
			files = append(files, File{Name: name, Content: string(layer)})
		}
	}
	files = append(files, File{Name: "manifest.json", Content: string(mustJSON([]archiveManifest{manifest}))})
	return Tar(files...)
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func hexOf(digest string) string { return digest[len("sha256:"):] }

// archiveFiles reads a whole archive by name. It fails as the engine does.
func archiveFiles(archive []byte) (map[string][]byte, error) {
	root := newDir()
	if len(archive) == 0 {
		return nil, errTar("unexpected EOF")
	}
	if err := (extraction{root: root, dest: "/"}).run(archive); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	root.each("", func(name string, n *node) {
		if n.kind == tar.TypeReg {
			files[name] = n.content
		}
	})
	return files, nil
}

func mustJSON(value any) []byte {
	var buf bytes.Buffer
	if err := json.NewEncoder(&buf).Encode(value); err != nil {
		panic(fmt.Sprintf("enginetest: encode %T: %v", value, err))
	}
	return bytes.TrimSpace(buf.Bytes())
}

func mustParse(data []byte, into any) {
	if err := json.Unmarshal(data, into); err != nil {
		panic(fmt.Sprintf("enginetest: decode %T: %v", into, err))
	}
}
