package oci

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/opencontainers/go-digest"
)

const (
	partSize = 256 << 10 // bytes of the tar that are rendered in memory at a time; a longer file is streamed
	maxAhead = 8         // parts that are rendered at once; more processors gain nothing but memory
)

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
// On an error w holds an incomplete tar.
func (l *Layer) WriteTo(ctx context.Context, w io.Writer) (*Written, error) {
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	files, err := l.writeParts(ctx, out)
	if err == nil {
		err = tar.NewWriter(out).Close()
	}
	if err != nil {
		return nil, fmt.Errorf("write layer: %w", err)
	}
	written := &Written{DiffID: digest.NewDigest(digest.SHA256, sum), Size: l.size, Files: files}
	l.first.CompareAndSwap(nil, written)
	return written, nil
}

// writeParts writes all entries. Opening small files takes most of the time, so several parts are rendered at once, ahead
// of their turn, and written in order.
func (l *Layer) writeParts(ctx context.Context, w io.Writer) ([]FileInfo, error) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	queue := make(chan chan *part, min(runtime.GOMAXPROCS(0), maxAhead))
	running.Go(func() {
		defer close(queue)
		for rest := l.entries; len(rest) > 0; {
			p := firstPart(rest)
			rest = rest[len(p.entries):]
			done := make(chan *part, 1)
			select {
			case queue <- done:
			case <-ctx.Done():
				return
			}
			running.Go(func() {
				p.render(ctx)
				done <- p
			})
		}
	})
	var files []FileInfo
	for done := range queue {
		p := <-done
		if err := p.writeTo(ctx, w); err != nil {
			return nil, err
		}
		if err := l.compare(len(files), p.files); err != nil {
			return nil, err
		}
		files = append(files, p.files...)
	}
	return files, ctx.Err()
}

// compare refuses files, the first of which is the n-th of the layer, that are not those of the first write.
func (l *Layer) compare(n int, files []FileInfo) error {
	first := l.first.Load()
	if first == nil {
		return nil
	}
	for i, f := range files {
		if f.Digest != first.Files[n+i].Digest {
			return fmt.Errorf("%q: %w since the layer was first written", f.Name, ErrChanged)
		}
	}
	return nil
}

// part is a run of entries whose bytes are made together: as many as fit in memory, or one that does not.
type part struct {
	entries []Entry
	big     bool
	tar     *bytes.Buffer // nil for a big one
	files   []FileInfo
	err     error
}

// firstPart returns the part that entries begin with.
func firstPart(entries []Entry) *part {
	size := int64(0)
	for i := range entries {
		size += blockSize + entries[i].Size
		if size > partSize {
			return &part{entries: entries[:max(i, 1)], big: i == 0}
		}
	}
	return &part{entries: entries}
}

var tarBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// render makes the part's bytes, unless they are too many.
func (p *part) render(ctx context.Context) {
	if p.big {
		return
	}
	p.tar = tarBuffers.Get().(*bytes.Buffer)
	p.tar.Reset()
	p.files, p.err = writeEntries(ctx, p.tar, p.entries)
}

// writeTo writes the rendered bytes, or those of a big part.
func (p *part) writeTo(ctx context.Context, w io.Writer) error {
	if p.big {
		p.files, p.err = writeEntries(ctx, w, p.entries)
		return p.err
	}
	defer tarBuffers.Put(p.tar)
	if p.err != nil {
		return p.err
	}
	_, err := p.tar.WriteTo(w)
	return err
}
