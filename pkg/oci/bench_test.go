package oci_test

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/docker-workspace/docker-workspace/pkg/oci"
)

// hostFile returns the entry of a file that is really on disk, as the layers of host directories have them.
func hostFile(tb testing.TB, path, name string, size int64) oci.Entry {
	tb.Helper()
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	content := io.LimitReader(rand.NewChaCha8([32]byte{}), size)
	if _, err := io.Copy(f, content); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	open := func() (io.ReadCloser, error) { return os.Open(path) }
	return oci.Entry{Name: name, Type: tar.TypeReg, Mode: 0o644, Size: size, Open: open}
}

func benchmarkLayer(b *testing.B, entries []oci.Entry) {
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		l, err := oci.NewLayer(ctx, oci.Scratch, entries)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.WriteTo(ctx, io.Discard); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(l.Size())
	}
}

// BenchmarkLayer20000Small is to be compared with tar piped into sha256sum over the same files.
func BenchmarkLayer20000Small(b *testing.B) {
	dir := b.TempDir()
	var entries []oci.Entry
	for i := range 20_000 {
		sub := fmt.Sprintf("d%03d", i/100)
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			b.Fatal(err)
		}
		name := fmt.Sprintf("%s/f%05d", sub, i)
		entries = append(entries, hostFile(b, filepath.Join(dir, name), "src/"+name, 2_000))
	}
	benchmarkLayer(b, entries)
}

func BenchmarkLayerBig(b *testing.B) {
	benchmarkLayer(b, []oci.Entry{hostFile(b, filepath.Join(b.TempDir(), "big"), "big", 500<<20)})
}
