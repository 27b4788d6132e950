package oci

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

const (
	manifestName = "manifest.json"
	layerName    = "layer.tar"
	archivePerm  = 0o644
)

// Archive is one image in the format of docker save and docker load ("docker-archive"), which every engine takes.
type Archive struct {
	Config []byte         // image configuration; its digest is the image's id in a classic store
	Tags   []string       // "name:tag"; none leaves the image untagged
	Layers []ArchiveLayer // bottom first, as in Config
}

// ArchiveLayer is one layer of an Archive.
type ArchiveLayer struct {
	DiffID digest.Digest // sha256 of the uncompressed tar
	Size   int64         // of the uncompressed tar, in bytes

	// WriteTo streams the uncompressed tar. Nil leaves the layer out.
	WriteTo func(ctx context.Context, w io.Writer) error
}

// manifestItem is one image of an archive's manifest.json.
type manifestItem struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// Write streams the archive to w, deterministically. Layers without WriteTo are named but left out: an engine with a
// classic store (graph driver) takes such a thin archive when it has those layers, in that order, already. Others refuse
// it; WriteOnto is for them. A layer that is not what its DiffID says is an error that wraps ErrChanged. On an error w holds
// an incomplete archive, which no engine loads.
func (a *Archive) Write(ctx context.Context, w io.Writer) error {
	tw := tar.NewWriter(w)
	paths, err := a.writeLayers(ctx, tw)
	if err != nil {
		return err
	}
	for _, d := range a.omitted(paths) {
		paths[d] = layerPath(d)
	}
	return a.finish(tw, paths)
}

// check refuses a configuration that does not belong to the layers, which engines report in words of their own.
func (a *Archive) check() error {
	var img v1.Image
	if err := json.Unmarshal(a.Config, &img); err != nil {
		return fmt.Errorf("decode image config: %w", err)
	}
	var ids []digest.Digest
	for _, l := range a.Layers {
		if err := l.DiffID.Validate(); err != nil {
			return fmt.Errorf("check diff id %q: %w", l.DiffID, err)
		}
		ids = append(ids, l.DiffID)
	}
	if !slices.Equal(img.RootFS.DiffIDs, ids) {
		return fmt.Errorf("image config names the layers %v, the archive has %v", img.RootFS.DiffIDs, ids)
	}
	return nil
}

// writeLayers writes the layers that are given, each once, and returns where they are.
func (a *Archive) writeLayers(ctx context.Context, tw *tar.Writer) (map[digest.Digest]string, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	paths := make(map[digest.Digest]string)
	for _, l := range a.Layers {
		if l.WriteTo == nil || paths[l.DiffID] != "" {
			continue
		}
		paths[l.DiffID] = layerPath(l.DiffID)
		if err := l.write(ctx, tw); err != nil {
			return nil, fmt.Errorf("write layer %s to archive: %w", l.DiffID, err)
		}
	}
	return paths, nil
}

func (l *ArchiveLayer) write(ctx context.Context, tw *tar.Writer) error {
	if err := tw.WriteHeader(fileHeader(layerPath(l.DiffID), l.Size)); err != nil {
		return err
	}
	sum := sha256.New()
	if err := l.WriteTo(ctx, io.MultiWriter(tw, sum)); err != nil {
		return err
	}
	if got := digest.NewDigest(digest.SHA256, sum); got != l.DiffID {
		return fmt.Errorf("%w: it is now %s", ErrChanged, got)
	}
	return tw.Flush()
}

// omitted returns the layers that have no path yet, bottom first.
func (a *Archive) omitted(paths map[digest.Digest]string) []digest.Digest {
	var ids []digest.Digest
	for _, l := range a.Layers {
		if paths[l.DiffID] == "" {
			ids = append(ids, l.DiffID)
		}
	}
	return ids
}

// finish writes what names the layers. It comes last because only then it is known where all of them are; loaders accept
// any order.
func (a *Archive) finish(tw *tar.Writer, paths map[digest.Digest]string) error {
	item := manifestItem{Config: digest.FromBytes(a.Config).Encoded() + ".json", RepoTags: a.Tags}
	for _, l := range a.Layers {
		item.Layers = append(item.Layers, paths[l.DiffID])
	}
	manifest, err := json.Marshal([]manifestItem{item})
	if err != nil {
		return fmt.Errorf("encode archive manifest: %w", err)
	}
	err = writeFile(tw, item.Config, a.Config)
	if err == nil {
		err = writeFile(tw, manifestName, manifest)
	}
	if err == nil {
		err = tw.Close()
	}
	if err != nil {
		return fmt.Errorf("end image archive: %w", err)
	}
	return nil
}

func layerPath(d digest.Digest) string {
	return d.Encoded() + "/" + layerName
}

func fileHeader(name string, size int64) *tar.Header {
	return &tar.Header{
		Typeflag: tar.TypeReg,
		Name:     name,
		Size:     size,
		Mode:     archivePerm,
		ModTime:  epoch,
		Format:   tar.FormatPAX,
	}
}

func writeFile(tw *tar.Writer, name string, content []byte) error {
	if err := tw.WriteHeader(fileHeader(name, int64(len(content)))); err != nil {
		return err
	}
	_, err := tw.Write(content)
	return err
}
