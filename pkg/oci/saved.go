package oci

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/opencontainers/go-digest"
)

// checkEvery is how many bytes are copied between two looks at the context.
const checkEvery = 4 << 20

var gzipMagic = []byte{0x1f, 0x8b}

// WriteOnto streams the full archive to w. Layers without WriteTo come out of saved, which is a docker save of the base in
// either of its layouts, and are found in it by their digest; gzip-compressed ones are passed on as they are. Nothing is
// kept in memory or on disk. It reads saved no further than it needs to and does not close it. Errors are those of Write,
// or say which layer saved does not hold.
func (a *Archive) WriteOnto(ctx context.Context, w io.Writer, saved io.Reader) error {
	tw := tar.NewWriter(w)
	paths, err := a.writeLayers(ctx, tw)
	if err != nil {
		return err
	}
	tr := tar.NewReader(saved)
	for n := 0; len(a.omitted(paths)) > 0; n++ {
		h, err := nextLayer(tr)
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("saved base image does not hold layer %s", a.omitted(paths)[0])
		}
		if err != nil {
			return fmt.Errorf("read saved base image: %w", err)
		}
		name := fmt.Sprintf("base/%d", n)
		d, err := copySaved(ctx, tw, fileHeader(name, h.Size), tr)
		if err != nil {
			return fmt.Errorf("copy %q of saved base image to archive: %w", h.Name, err)
		}
		if paths[d] == "" {
			paths[d] = name
		}
	}
	return a.finish(tw, paths)
}

// nextLayer finds the next file that may be a layer. Which files are is said at the end of saved, so that all blobs pass
// through to the archive; those that are not layers are small.
func nextLayer(tr *tar.Reader) (*tar.Header, error) {
	for {
		h, err := tr.Next()
		if err != nil {
			return nil, err
		}
		name := path.Clean(h.Name)
		if h.Typeflag == tar.TypeReg && (path.Base(name) == layerName || strings.HasPrefix(name, "blobs/")) {
			return h, nil
		}
	}
}

// copySaved copies the file r to the archive and returns the digest of its uncompressed content.
func copySaved(ctx context.Context, tw *tar.Writer, h *tar.Header, r io.Reader) (digest.Digest, error) {
	if err := tw.WriteHeader(h); err != nil {
		return "", err
	}
	in := bufio.NewReader(r)
	magic, err := in.Peek(len(gzipMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	content := io.TeeReader(in, tw)
	if bytes.Equal(magic, gzipMagic) {
		if content, err = gzip.NewReader(content); err != nil {
			return "", err
		}
	}
	sum := sha256.New()
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		_, err := io.CopyN(sum, content, checkEvery)
		if errors.Is(err, io.EOF) {
			return digest.NewDigest(digest.SHA256, sum), tw.Flush()
		}
		if err != nil {
			return "", err
		}
	}
}
