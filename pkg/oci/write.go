package oci

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
	"runtime"
	"sync"

	"github.com/opencontainers/go-digest"
)

// partSize is how many bytes of content are read ahead as one part of the tar, and the most that a file in it may have.
const partSize = 256 << 10

// Written is the result of writing a layer.
type Written struct {
	DiffID digest.Digest // of the uncompressed tar
	Size   int64         // of the tar, in bytes
	Files  []FileInfo    // the regular files, in the tar's order
}

// FileInfo describes one regular file of a layer.
type FileInfo struct {
	Name     string
	Digest   digest.Digest // sha256 of the content
	Size     int64
	Mode     int64
	UID, GID int
}

// WriteTo streams the layer's tar to w. It may be called again: it writes the same bytes, or fails. An error about content
// names the file, and wraps ErrChanged when the content is not as long as the entry says or not what the first write read.
// On an error w holds an incomplete tar. Small files are opened ahead of their turn and concurrently.
func (l *Layer) WriteTo(ctx context.Context, w io.Writer) (*Written, error) {
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	files, err := l.writeParts(ctx, out)
	if err != nil {
		return nil, err
	}
	if err := tar.NewWriter(out).Close(); err != nil {
		return nil, fmt.Errorf("end layer: %w", err)
	}
	written := &Written{DiffID: digest.NewDigest(digest.SHA256, sum), Size: l.size, Files: files}
	l.first.CompareAndSwap(nil, written)
	return written, nil
}

// part is a run of entries that are rendered together: many small ones, or one with too much content to be held in memory.
type part struct {
	entries []Entry
	files   int // how many regular files come before
	big     bool
}

// parts splits the layer.
func (l *Layer) parts() iter.Seq[part] {
	return func(yield func(part) bool) {
		start, files, inPart := 0, 0, 0
		size := int64(0)
		emit := func(end int, big bool) bool {
			p := part{entries: l.entries[start:end], files: files, big: big}
			start, files, inPart, size = end, files+inPart, 0, 0
			return len(p.entries) == 0 || yield(p)
		}
		for i := range l.entries {
			e := &l.entries[i]
			cost := blockSize + e.Size
			if size+cost > partSize && !emit(i, false) {
				return
			}
			if e.Type == tar.TypeReg {
				inPart++
			}
			size += cost
			if cost > partSize && !emit(i+1, true) {
				return
			}
		}
		emit(len(l.entries), false)
	}
}

// rendered is a part of the tar, or why there is none.
type rendered struct {
	part
	content *bytes.Buffer
	infos   []FileInfo
	err     error
}

// writeParts writes all entries. What takes the time is opening small files, so parts are rendered concurrently and
// written in order; only as many as there are processors are held in memory.
func (l *Layer) writeParts(ctx context.Context, w io.Writer) ([]FileInfo, error) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	queue := make(chan chan rendered, runtime.GOMAXPROCS(0))
	running.Go(func() {
		defer close(queue)
		for p := range l.parts() {
			result := make(chan rendered, 1)
			select {
			case queue <- result:
			case <-ctx.Done():
				return
			}
			running.Go(func() { result <- l.render(ctx, p) })
		}
	})
	var files []FileInfo
	for result := range queue {
		r := <-result
		if r.big {
			r.infos, r.err = l.writeEntries(ctx, r.part, w)
		}
		if r.err != nil {
			return nil, r.err
		}
		if r.content != nil {
			if _, err := r.content.WriteTo(w); err != nil {
				return nil, fmt.Errorf("write layer: %w", err)
			}
			buffers.Put(r.content)
		}
		files = append(files, r.infos...)
	}
	return files, ctx.Err()
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// render writes a part to memory, or leaves a big one alone.
func (l *Layer) render(ctx context.Context, p part) rendered {
	r := rendered{part: p}
	if !p.big {
		r.content = buffers.Get().(*bytes.Buffer)
		r.content.Reset()
		r.infos, r.err = l.writeEntries(ctx, p, r.content)
	}
	return r
}
