package oci_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
	"golang.org/x/sync/errgroup"

	"github.com/docker-workspace/docker-workspace/pkg/oci"
)

func TestWriteToDescribesFiles(t *testing.T) {
	tarball, got := render(t, oci.Scratch, file("d/x", "hello"), file("empty", ""), link("l", "d/x"),
		oci.Entry{Name: "mine", Type: tar.TypeReg, Mode: 0o600, UID: 1, GID: 2, Size: 2, Open: opener("me")})
	want := &oci.Written{
		DiffID: digest.FromBytes(tarball),
		Size:   int64(len(tarball)),
		Files: []oci.FileInfo{
			{Name: "d/x", Digest: digest.FromString("hello"), Size: 5, Mode: 0o644},
			{Name: "empty", Digest: digest.FromString(""), Mode: 0o644},
			{Name: "mine", Digest: digest.FromString("me"), Size: 2, Mode: 0o600, UID: 1, GID: 2},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

// failing gives an error at the second read.
func failing() (io.ReadCloser, error) {
	return io.NopCloser(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("12345")))), nil
}

func TestWriteToErrors(t *testing.T) {
	missing := func() (io.ReadCloser, error) { return nil, fs.ErrNotExist }
	tests := []struct {
		name string
		open func() (io.ReadCloser, error)
		is   error
		want string
	}{
		{"file became shorter", opener("1234"), oci.ErrChanged, "it has 4 bytes, not 5"},
		{"file became longer", opener("123456"), oci.ErrChanged, "it is longer than 5 bytes"},
		{"file became empty", opener(""), oci.ErrChanged, "it has 0 bytes, not 5"},
		{"file is gone", missing, fs.ErrNotExist, "open: file does not exist"},
		{"read fails", failing, iotest.ErrTimeout, "read: timeout"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entry := oci.Entry{Name: "src/main.go", Type: tar.TypeReg, Mode: 0o644, Size: 5, Open: tt.open}
			l, err := oci.NewLayer(t.Context(), oci.Scratch, []oci.Entry{file("a", "a"), entry, file("z", "z")})
			if err != nil {
				t.Fatal(err)
			}
			_, err = l.WriteTo(t.Context(), io.Discard)
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `"src/main.go"`) {
				t.Errorf("error %v, want %v and %q and the file's name", err, tt.is, tt.want)
			}
		})
	}
}

func TestWriteToAgainNoticesOtherBytes(t *testing.T) {
	content := "first"
	entry := oci.Entry{Name: "b", Type: tar.TypeReg, Size: 5, Open: func() (io.ReadCloser, error) { return opener(content)() }}
	l, err := oci.NewLayer(t.Context(), oci.Scratch, []oci.Entry{file("a", "a"), entry})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.WriteTo(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	content = "other"
	_, err = l.WriteTo(t.Context(), io.Discard)
	if !errors.Is(err, oci.ErrChanged) || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("error %v, want ErrChanged of b", err)
	}
}

// The layer is rendered in parts by several goroutines, of which the bytes must show nothing.
func TestWriteToIsOneTar(t *testing.T) {
	var entries []oci.Entry
	for i := range 2000 {
		entries = append(entries, file(fmt.Sprintf("small/%04d", i), strings.Repeat("x", i)))
	}
	for _, size := range []int{255, 256, 257, 600} {
		for _, more := range []int{-513, -512, -511, 0, 1} {
			name := fmt.Sprintf("big/%d%+d", size, more)
			entries = append(entries, file(name, strings.Repeat("y", size<<10+more)), dir(name+".d", 0o700, 1))
		}
	}
	got, written := render(t, oci.Scratch, entries...)

	var want bytes.Buffer
	tw := tar.NewWriter(&want)
	for tr := tar.NewReader(bytes.NewReader(got)); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(tw, tr); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("archive/tar writes the same entries otherwise")
	}
	if len(written.Files) != 2020 || written.Size != int64(len(got)) {
		t.Errorf("%d files, %d bytes said and %d written", len(written.Files), written.Size, len(got))
	}
	for i := 1; i < len(written.Files); i++ {
		if written.Files[i-1].Name >= written.Files[i].Name {
			t.Fatalf("file %q before %q", written.Files[i-1].Name, written.Files[i].Name)
		}
	}
}

func TestWriteToConcurrently(t *testing.T) {
	l, err := oci.NewLayer(t.Context(), oci.Scratch, []oci.Entry{file("a", "a"), file("b", strings.Repeat("b", 1<<20))})
	if err != nil {
		t.Fatal(err)
	}
	diffIDs := make([]digest.Digest, 4)
	var g errgroup.Group
	for i := range diffIDs {
		g.Go(func() error {
			written, err := l.WriteTo(t.Context(), io.Discard)
			if err == nil {
				diffIDs[i] = written.DiffID
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if same := slices.Compact(diffIDs); len(same) != 1 {
		t.Errorf("diff ids %v", same)
	}
}

func TestWriteToClosesFiles(t *testing.T) {
	opened, closed := 0, 0
	open := func() (io.ReadCloser, error) {
		opened++
		return closer{strings.NewReader("12345"), &closed}, nil
	}
	for _, size := range []int64{5, 4} { // one that fits and one that fails
		l, err := oci.NewLayer(t.Context(), oci.Scratch, []oci.Entry{{Name: "a", Type: tar.TypeReg, Size: size, Open: open}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.WriteTo(t.Context(), io.Discard); (err == nil) != (size == 5) {
			t.Fatalf("size %d: %v", size, err)
		}
	}
	if opened != 2 || closed != 2 {
		t.Errorf("%d files opened, %d closed", opened, closed)
	}
}

type closer struct {
	io.Reader
	closed *int
}

func (c closer) Close() error {
	*c.closed++
	return nil
}

// endless is a file that ends only with the context.
type endless struct{ cancel context.CancelFunc }

func (e endless) Read(p []byte) (int, error) {
	e.cancel()
	return len(p), nil
}

func TestWriteToStopsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	open := func() (io.ReadCloser, error) { return io.NopCloser(endless{cancel}), nil }
	l, err := oci.NewLayer(ctx, oci.Scratch, []oci.Entry{{Name: "big", Type: tar.TypeReg, Size: 1 << 40, Open: open}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.WriteTo(ctx, io.Discard)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), `"big"`) {
		t.Errorf("within a file: error %v, want Canceled and the file's name", err)
	}
	if _, err = l.WriteTo(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("before the first: error %v, want Canceled", err)
	}
}

// limitedWriter fails after n bytes.
type limitedWriter struct{ n int }

var errFull = errors.New("disk full")

func (w *limitedWriter) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriteToReportsWriter(t *testing.T) {
	for _, size := range []int{1, 4 << 20} { // one fails at the end, one in the middle
		l, err := oci.NewLayer(t.Context(), oci.Scratch, []oci.Entry{file("a", strings.Repeat("x", size))})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.WriteTo(t.Context(), &limitedWriter{n: 1000}); !errors.Is(err, errFull) {
			t.Errorf("size %d: error %v, want %v", size, err, errFull)
		}
		var buf bytes.Buffer
		if _, err := l.WriteTo(t.Context(), &buf); err != nil || int64(buf.Len()) != l.Size() {
			t.Errorf("size %d: after a failed write: %d bytes, %v", size, buf.Len(), err)
		}
	}
}
