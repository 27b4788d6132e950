package oci_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/docker-workspace/docker-workspace/pkg/oci"
)

// image is a base of two layers and a layer of ours on it.
type image struct {
	base [2][]byte // tars, bottom first
	ours []byte
	oci.Archive
}

func newImage(t *testing.T) *image {
	t.Helper()
	img := &image{}
	img.base[0], _ = render(t, oci.Scratch, file("etc/os-release", "ID=test"))
	img.base[1], _ = render(t, oci.Scratch, file("bin/sh", strings.Repeat("shell", 1000)))
	img.ours, _ = render(t, oci.Scratch, file("workspace/README.md", "hello"))
	base := oci.BaseImage{OS: "linux", Architecture: "amd64"}
	for _, content := range img.base {
		d := digest.FromBytes(content)
		base.DiffIDs = append(base.DiffIDs, d)
		img.Layers = append(img.Layers, oci.ArchiveLayer{DiffID: d})
	}
	img.Layers = append(img.Layers, given(img.ours))
	raw, _, err := oci.BuildConfig(base, []digest.Digest{digest.FromBytes(img.ours)}, oci.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	img.Config, img.Tags = raw, []string{"docker-workspace/demo:latest"}
	return img
}

// given is a layer that is written.
func given(content []byte) oci.ArchiveLayer {
	write := func(_ context.Context, w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
	return oci.ArchiveLayer{DiffID: digest.FromBytes(content), Size: int64(len(content)), WriteTo: write}
}

// member is one file or link of a tar that a test writes.
type member struct{ name, content, link string }

func tarOf(t *testing.T, members ...member) []byte {
	t.Helper()
	var buf bytes.Buffer
	tw := tar.NewWriter(&buf)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.content)), Linkname: m.link}
		if m.link != "" {
			h.Typeflag = tar.TypeSymlink
		}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(tw, m.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func gzipped(t *testing.T, content []byte) string {
	t.Helper()
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	if _, err := zw.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// load reads an archive as an engine does, and returns the image's diff ids as far as the archive has the layers.
func load(t *testing.T, archive []byte) (config []byte, tags []string, diffIDs []digest.Digest) {
	t.Helper()
	files := map[string][]byte{}
	for tr := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name] != nil {
			t.Fatalf("archive has two files %q", h.Name)
		}
		if files[h.Name], err = io.ReadAll(tr); err != nil {
			t.Fatal(err)
		}
	}
	var manifest []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil || len(manifest) != 1 {
		t.Fatalf("manifest.json %s: %v", files["manifest.json"], err)
	}
	for _, name := range manifest[0].Layers {
		content, ok := files[name]
		if !ok {
			diffIDs = append(diffIDs, "")
			continue
		}
		if zr, err := gzip.NewReader(bytes.NewReader(content)); err == nil {
			if content, err = io.ReadAll(zr); err != nil {
				t.Fatal(err)
			}
		}
		diffIDs = append(diffIDs, digest.FromBytes(content))
	}
	return files[manifest[0].Config], manifest[0].RepoTags, diffIDs
}

func TestArchiveThin(t *testing.T) {
	img := newImage(t)
	var one, two bytes.Buffer
	for _, w := range []io.Writer{&one, &two} {
		if err := img.Write(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("the second write differs")
	}
	config, tags, diffIDs := load(t, one.Bytes())
	if !bytes.Equal(config, img.Config) || len(tags) != 1 || tags[0] != img.Tags[0] {
		t.Errorf("config %s, tags %v", config, tags)
	}
	if len(diffIDs) != 3 || diffIDs[0] != "" || diffIDs[1] != "" || diffIDs[2] != img.Layers[2].DiffID {
		t.Errorf("layers %v", diffIDs)
	}
	golden(t, "archive/thin.txt", listing(t, one.Bytes()))
}

func TestArchiveWritesEqualLayersOnce(t *testing.T) {
	img := newImage(t)
	l := given(img.ours)
	img.Layers = []oci.ArchiveLayer{l, {DiffID: l.DiffID}, l}
	raw, _, err := oci.BuildConfig(oci.BaseImage{}, []digest.Digest{l.DiffID, l.DiffID, l.DiffID}, oci.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	img.Config = raw
	var buf bytes.Buffer
	if err := img.Write(t.Context(), &buf); err != nil {
		t.Fatal(err)
	}
	if _, _, diffIDs := load(t, buf.Bytes()); len(diffIDs) != 3 || diffIDs[0] != l.DiffID || diffIDs[1] != l.DiffID || diffIDs[2] != l.DiffID {
		t.Errorf("layers %v", diffIDs)
	}
}

func TestArchiveWriteOnto(t *testing.T) {
	img := newImage(t)
	low, high := string(img.base[0]), string(img.base[1])
	empty := tarOf(t)
	tests := []struct {
		name  string
		saved []member
	}{
		{"docker save before 25", []member{
			{name: "1.json", content: "{}"},
			{name: "a/VERSION", content: "1.0"},
			{name: "a/json", content: "{}"},
			{name: "a/layer.tar", content: high},
			{name: "b/layer.tar", content: low},
			{name: "c/layer.tar", link: "../b/layer.tar"},
			{name: "manifest.json", content: "[]"},
		}},
		{"docker save since 25", []member{
			{name: "blobs/sha256/1", content: `{"a": "config"}`},
			{name: "blobs/sha256/2", content: low},
			{name: "blobs/sha256/3", content: ""},
			{name: "blobs/sha256/4", content: high},
			{name: "index.json", content: "{}"},
			{name: "manifest.json", content: "[]"},
			{name: "oci-layout", content: "{}"},
		}},
		{"compressed blobs", []member{
			{name: "blobs/sha256/1", content: gzipped(t, img.base[1])},
			{name: "blobs/sha256/2", content: gzipped(t, empty)},
			{name: "blobs/sha256/3", content: gzipped(t, img.base[0])},
		}},
		{"manifest first", []member{
			{name: "manifest.json", content: "[]"}, {name: "./a/layer.tar", content: low}, {name: "./b/layer.tar", content: high},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var buf bytes.Buffer
			if err := img.WriteOnto(t.Context(), &buf, bytes.NewReader(tarOf(t, tt.saved...))); err != nil {
				t.Fatal(err)
			}
			config, _, diffIDs := load(t, buf.Bytes())
			if !bytes.Equal(config, img.Config) {
				t.Errorf("config %s", config)
			}
			for i, l := range img.Layers {
				if len(diffIDs) != len(img.Layers) || diffIDs[i] != l.DiffID {
					t.Fatalf("layers %v, want %s at %d", diffIDs, l.DiffID, i)
				}
			}
		})
	}
}

func TestArchiveErrors(t *testing.T) {
	boom := errors.New("boom")
	tests := []struct {
		name   string
		change func(*image)
		is     error
		want   string
	}{
		{"other content", func(i *image) {
			l := given(bytes.ToUpper(i.ours))
			l.DiffID = i.Layers[2].DiffID
			i.Layers[2] = l
		}, oci.ErrChanged, "it is now sha256:"},
		{"content too long", func(i *image) { i.Layers[2].Size -= 512 }, tar.ErrWriteTooLong, ""},
		{"content too short", func(i *image) { i.Layers[2].Size += 512 }, nil, "missed writing 512 bytes"},
		{"writer fails", func(i *image) {
			i.Layers[2].WriteTo = func(context.Context, io.Writer) error { return boom }
		}, boom, ""},
		{"config of other layers", func(i *image) { i.Layers = i.Layers[1:] }, nil, "image config names the layers"},
		{"config is not JSON", func(i *image) { i.Config = []byte("x") }, nil, "decode image config"},
		{"diff id", func(i *image) { i.Layers[0].DiffID = "x" }, digest.ErrDigestInvalidFormat, `"x"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			img := newImage(t)
			tt.change(img)
			err := img.Write(t.Context(), io.Discard)
			if err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %v and %q", err, tt.is, tt.want)
			}
		})
	}
}

func TestArchiveWriteOntoErrors(t *testing.T) {
	img := newImage(t)
	low, high := string(img.base[0]), string(img.base[1])
	full := tarOf(t, member{name: "a/layer.tar", content: low}, member{name: "b/layer.tar", content: high})
	broken := gzipped(t, img.base[1])[:50]
	tests := []struct {
		name  string
		saved []byte
		want  string
	}{
		{"layer missing", tarOf(t, member{name: "a/layer.tar", content: low}), "saved base image does not hold layer " + img.Layers[1].DiffID.String()},
		{"nothing saved", nil, "does not hold layer " + img.Layers[0].DiffID.String()},
		{"layer cut short", full[:len(full)-4096], `copy "b/layer.tar" of saved base image to archive: unexpected EOF`},
		{"gzip cut short", tarOf(t, member{name: "blobs/sha256/1", content: broken}), `copy "blobs/sha256/1" of saved base image to archive: unexpected EOF`},
		{"not a tar", bytes.Repeat([]byte("error: no such image\n"), 100), "read saved base image: archive/tar: invalid tar header"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := img.WriteOnto(t.Context(), io.Discard, bytes.NewReader(tt.saved))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestArchiveWriteOntoStopsWithContext(t *testing.T) {
	img := newImage(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	saved := tarOf(t, member{name: "a/layer.tar", content: string(img.base[0])})
	if err := img.WriteOnto(ctx, io.Discard, bytes.NewReader(saved)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want Canceled", err)
	}
}
