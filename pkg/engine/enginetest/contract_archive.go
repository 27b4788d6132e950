package enginetest

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
)

func (c *contract) archives(t *testing.T) {
	for _, test := range []struct {
		name    string
		archive []File
		read    string
		want    []string
	}{
		{
			name: "modes and numeric owners are kept",
			archive: []File{
				{Name: "d", Type: tar.TypeDir, Mode: 0o1750, UID: 1000, GID: 1001},
				{Name: "d/run", Mode: 0o4755, UID: 4000000, GID: 5, Content: "#!"},
				{Name: "d/link", Type: tar.TypeSymlink, Linkname: "run", Mode: 0o777, UID: 7},
			},
			read: "/d",
			want: []string{"d1750 1000:1001 d", "l0777 7:0 d/link -> run", "-4755 4000000:5 d/run"},
		},
		{
			name:    "missing parents are made for root",
			archive: []File{{Name: "x/y/z", UID: 9, GID: 9}},
			read:    "/x",
			want:    []string{"d0755 0:0 x", "d0755 0:0 x/y", "-0644 9:9 x/y/z"},
		},
		{
			name: "a linked parent is followed and stays",
			archive: []File{
				{Name: "real", Type: tar.TypeDir},
				{Name: "linked", Type: tar.TypeSymlink, Linkname: "/real"},
				{Name: "linked/file", Content: "1"},
			},
			read: "/real",
			want: []string{"d0755 0:0 real", "-0644 0:0 real/file"},
		},
		{
			name: "a file replaces a file and a link",
			archive: []File{
				{Name: "r", Type: tar.TypeDir},
				{Name: "r/a", Content: "old", Mode: 0o600},
				{Name: "r/b", Type: tar.TypeSymlink, Linkname: "a"},
				{Name: "r/a", Content: "new", UID: 3},
				{Name: "r/b", Content: "no link"},
			},
			read: "/r",
			want: []string{"d0755 0:0 r", "-0644 3:0 r/a", "-0644 0:0 r/b"},
		},
		{
			name: "a directory that exists takes the new metadata and keeps its files",
			archive: []File{
				{Name: "k", Type: tar.TypeDir, Mode: 0o700},
				{Name: "k/kept"},
				{Name: "k", Type: tar.TypeDir, Mode: 0o2775, GID: 8},
			},
			read: "/k",
			want: []string{"d2775 0:8 k", "-0644 0:0 k/kept"},
		},
		{
			name: "hard links share what the last header says",
			archive: []File{
				{Name: "h", Type: tar.TypeDir},
				{Name: "h/a", Content: "both", Mode: 0o600},
				{Name: "h/b", Type: tar.TypeLink, Linkname: "h/a", Mode: 0o640, GID: 6},
			},
			read: "/h",
			want: []string{"d0755 0:0 h", "-0640 0:6 h/a", "h0640 0:6 h/b -> h/a"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			id := c.create(t, engine.ContainerSpec{})
			if err := c.put(t, id, "/", test.archive...); err != nil {
				t.Fatal(err)
			}
			if got := c.get(t, id, test.read); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
	t.Run("a link is a destination, and is read as a link", c.linkedDestination)
	t.Run("what is refused", c.refusedArchives)
	t.Run("a running container takes files, too", func(t *testing.T) {
		id := c.start(t, engine.ContainerSpec{})
		if err := c.put(t, id, "/tmp", File{Name: "live", Content: "x"}); err != nil {
			t.Fatal(err)
		}
		if got := c.get(t, id, "/tmp/live"); len(got) != 1 {
			t.Errorf("got %v, want the file", got)
		}
	})
}

func (c *contract) linkedDestination(t *testing.T) {
	id := c.create(t, engine.ContainerSpec{})
	err := c.put(t, id, "/", File{Name: "real", Type: tar.TypeDir}, File{Name: "to", Type: tar.TypeSymlink, Linkname: "real"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.put(t, id, "/to", File{Name: "file"}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/real/file": "-0644 0:0 file", "/to/file": "-0644 0:0 file", "/to": "l0777 0:0 to -> real"} {
		if got := c.get(t, id, path); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %v, want %s", path, got, want)
		}
	}
}

func (c *contract) refusedArchives(t *testing.T) {
	id := c.create(t, engine.ContainerSpec{})
	err := c.put(t, id, "/",
		File{Name: "dir", Type: tar.TypeDir}, File{Name: "file"},
		File{Name: "link", Type: tar.TypeSymlink, Linkname: "dir"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, dir string
		file      File
		want      string
		is        error
	}{
		{name: "a file over a directory", dir: "/", file: File{Name: "dir"}, want: "cannot overwrite directory"},
		{name: "a directory over a file", dir: "/", file: File{Name: "file", Type: tar.TypeDir}, want: "cannot overwrite non-directory"},
		{name: "a directory over a link to one", dir: "/", file: File{Name: "link", Type: tar.TypeDir}, want: "cannot overwrite non-directory"},
		{name: "a name outside the destination", dir: "/dir", file: File{Name: "../escaped"}, want: "outside"},
		{name: "a file as destination", dir: "/file", file: File{Name: "x"}, want: "not a directory"},
		{name: "a missing destination", dir: "/missing", file: File{Name: "x"}, want: "/missing", is: engine.ErrNotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := c.put(t, id, test.dir, test.file)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %v, want %v", err, test.is)
			}
		})
	}
	t.Run("a source that fails", func(t *testing.T) {
		source := &failingReader{data: strings.NewReader(string(Tar(File{Name: "x", Content: strings.Repeat("x", 4096)}))[:1024])}
		if err := c.client.PutArchive(t.Context(), id, "/", source); !errors.Is(err, errSource) {
			t.Errorf("got %v, want the source's own error", err)
		}
	})
	t.Run("a container and a path that are missing", func(t *testing.T) {
		if err := c.put(t, c.name(), "/", File{Name: "x"}); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("put: got %v, want ErrNotFound", err)
		}
		for _, missing := range [][2]string{{id, "/missing"}, {c.name(), "/"}} {
			if _, err := c.client.GetArchive(t.Context(), missing[0], missing[1]); !errors.Is(err, engine.ErrNotFound) {
				t.Errorf("get %v: got %v, want ErrNotFound", missing, err)
			}
		}
	})
}

func (c *contract) put(t *testing.T, id, dir string, files ...File) error {
	t.Helper()
	return c.client.PutArchive(t.Context(), id, dir, bytes.NewReader(Tar(files...)))
}

// get lists what is read at name, in the order of names.
func (c *contract) get(t *testing.T, id, name string) []string {
	t.Helper()
	archive, err := c.client.GetArchive(t.Context(), id, name)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var files []File
	for reader := tar.NewReader(archive); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(fmt.Errorf("read the archive of %q: %w", name, err))
		}
		files = append(files, File{
			Name: strings.TrimSuffix(header.Name, "/"), Type: header.Typeflag, Mode: header.Mode & 0o7777,
			UID: header.Uid, GID: header.Gid, Linkname: header.Linkname,
		})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	var out []string
	for _, f := range files {
		out = append(out, f.String())
	}
	return out
}
