package oci_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"

	"github.com/docker-workspace/docker-workspace/pkg/oci"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares got with a file of testdata, or rewrites the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// fakeBase is a base image written as in "bin": "link usr/bin", "tmp": "dir 1777 0:0", "etc/passwd": "file". It refuses
// questions that the Base contract excludes.
type fakeBase map[string]string

func (b fakeBase) Lstat(_ context.Context, name string) (*tar.Header, error) {
	if !fs.ValidPath(name) {
		return nil, fmt.Errorf("base asked for %q, which is not clean", name)
	}
	if dir := path.Dir(name); dir != "." && !strings.HasPrefix(b[dir], "dir") {
		return nil, fmt.Errorf("base asked for %q, whose parent is %q", name, b[dir])
	}
	what, arg, _ := strings.Cut(b[name], " ")
	h := &tar.Header{Name: name}
	switch what {
	case "":
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	case "link":
		h.Typeflag, h.Linkname = tar.TypeSymlink, arg
	case "dir":
		h.Typeflag = tar.TypeDir
		if _, err := fmt.Sscanf(arg, "%o %d:%d", &h.Mode, &h.Uid, &h.Gid); err != nil {
			return nil, fmt.Errorf("directory of base %q: %w", b[name], err)
		}
	case "file":
		h.Typeflag = tar.TypeReg
	case "broken":
		return nil, errors.New("connection lost")
	}
	return h, nil
}

func file(name, content string) oci.Entry {
	return oci.Entry{Name: name, Type: tar.TypeReg, Mode: 0o644, Size: int64(len(content)), Open: opener(content)}
}

func opener(content string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
}

func dir(name string, mode int64, owner int) oci.Entry {
	return oci.Entry{Name: name, Type: tar.TypeDir, Mode: mode, UID: owner, GID: owner}
}

func implied(name string, owner int) oci.Entry {
	e := dir(name, 0o755, owner)
	e.Implied = true
	return e
}

func link(name, target string) oci.Entry {
	return oci.Entry{Name: name, Type: tar.TypeSymlink, Linkname: target}
}

// render makes the layer and returns its tar and what WriteTo said about it.
func render(t testing.TB, base oci.Base, entries ...oci.Entry) ([]byte, *oci.Written) {
	t.Helper()
	l, err := oci.NewLayer(t.Context(), base, entries)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	written, err := l.WriteTo(t.Context(), &buf)
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), written
}

// listing writes a tar as tar -tv does, with the start of the content's sha256 and the names of PAX records.
func listing(t testing.TB, tarball []byte) string {
	t.Helper()
	var out strings.Builder
	for tr := tar.NewReader(bytes.NewReader(tarball)); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		owner := fmt.Sprintf("%d:%d", h.Uid, h.Gid)
		mtime := h.ModTime.UTC().Format("2006-01-02 15:04:05.999")
		fmt.Fprintf(&out, "%-11s %-9s %5d %s %s", h.FileInfo().Mode(), owner, h.Size, mtime, h.Name)
		if h.Linkname != "" {
			fmt.Fprintf(&out, " -> %s", h.Linkname)
		}
		if h.Uname+h.Gname != "" {
			fmt.Fprintf(&out, " owner %q group %q", h.Uname, h.Gname)
		}
		for _, k := range slices.Sorted(maps.Keys(h.PAXRecords)) {
			fmt.Fprintf(&out, " +%s", k)
		}
		if h.Typeflag == tar.TypeReg {
			content, err := io.ReadAll(tr)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, " %s", digest.FromBytes(content).Encoded()[:12])
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// countingBase counts the questions to a base.
type countingBase struct {
	oci.Base
	asked int
}

func (b *countingBase) Lstat(ctx context.Context, name string) (*tar.Header, error) {
	b.asked++
	return b.Base.Lstat(ctx, name)
}
