package oci

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"github.com/opencontainers/go-digest"
)

const (
	blockSize   = 512
	trailerSize = 2 * blockSize
	copySize    = 128 << 10
)

var copyBuffers = sync.Pool{New: func() any { return new([copySize]byte) }}

// writeEntries writes a run of entries, and says what their regular files hold.
func writeEntries(ctx context.Context, w io.Writer, entries []Entry) ([]FileInfo, error) {
	buf := copyBuffers.Get().(*[copySize]byte)
	defer copyBuffers.Put(buf)
	tw, sum := tar.NewWriter(w), sha256.New()
	var files []FileInfo
	for i := range entries {
		e := &entries[i]
		if err := tw.WriteHeader(e.header()); err != nil {
			return nil, fmt.Errorf("write header of %q: %w", e.Name, err)
		}
		if e.Type != tar.TypeReg {
			continue
		}
		d, err := writeContent(ctx, tw, e, sum, buf[:])
		if err != nil {
			return nil, fmt.Errorf("write content of %q: %w", e.Name, err)
		}
		files = append(files, FileInfo{Name: e.Name, Digest: d, Size: e.Size, Mode: e.Mode, UID: e.UID, GID: e.GID})
	}
	return files, tw.Flush()
}

// writeContent copies the content of e to w and returns its digest.
func writeContent(ctx context.Context, w io.Writer, e *Entry, sum hash.Hash, buf []byte) (d digest.Digest, err error) {
	sum.Reset()
	if e.Size > 0 {
		r, err := e.Open()
		if err != nil {
			return "", fmt.Errorf("open: %w", err)
		}
		err = copyExactly(ctx, io.MultiWriter(w, sum), r, e.Size, buf)
		if err := errors.Join(err, r.Close()); err != nil {
			return "", err
		}
	}
	return digest.NewDigest(digest.SHA256, sum), nil
}

// copyExactly copies r to w and fails unless r holds size bytes.
func copyExactly(ctx context.Context, w io.Writer, r io.Reader, size int64, buf []byte) error {
	for left := size; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		// One byte more than is left tells a file that grew from one that ended.
		n, err := r.Read(buf[:min(int64(len(buf)), left+1)])
		if int64(n) > left {
			return fmt.Errorf("%w: it is longer than %d bytes", ErrChanged, size)
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		left -= int64(n)
		switch {
		case errors.Is(err, io.EOF) && left > 0:
			return fmt.Errorf("%w: it has %d bytes, not %d", ErrChanged, size-left, size)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read: %w", err)
		}
	}
}

// measure computes the length of the tar. It refuses entries out of order, and with that equal names: engines do not load a
// layer that has them.
func (l *Layer) measure() error {
	l.size = trailerSize
	for i := range l.entries {
		e := &l.entries[i]
		if i > 0 && l.entries[i-1].Name >= e.Name {
			return fmt.Errorf("order layer: %q does not come after %q", e.Name, l.entries[i-1].Name)
		}
		var n countWriter
		if err := tar.NewWriter(&n).WriteHeader(e.header()); err != nil {
			return fmt.Errorf("measure header of %q: %w", e.Name, err)
		}
		l.size += int64(n) + (e.Size+blockSize-1)/blockSize*blockSize
	}
	return nil
}

// countWriter counts what is written to it.
type countWriter int64

func (c *countWriter) Write(p []byte) (int, error) {
	*c += countWriter(len(p))
	return len(p), nil
}
