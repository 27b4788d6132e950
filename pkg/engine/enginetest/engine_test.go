package enginetest_test

import (
	"archive/tar"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
)

func connect(t *testing.T, e *enginetest.Engine) *engine.Client {
	t.Helper()
	client, err := engine.New(engine.Options{Host: e.Host()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestLayers holds the stacking of layers to what engine 20.10 with overlay2
// was seen to do with the same archives.
func TestLayers(t *testing.T) {
	lowest := enginetest.Tar(
		enginetest.File{Name: "etc", Type: tar.TypeDir},
		enginetest.File{Name: "etc/passwd", Content: "root"},
		enginetest.File{Name: "link", Type: tar.TypeSymlink, Linkname: "etc"},
		enginetest.File{Name: "tmp", Type: tar.TypeDir, Mode: 0o1777},
	)
	for _, test := range []struct {
		name  string
		layer []enginetest.File
		want  []string
	}{
		{
			name:  "parents without an entry lose what lower layers gave them",
			layer: []enginetest.File{{Name: "tmp/x", UID: 5}, {Name: "link/y"}},
			want:  []string{"d0755 0:0 etc", "-0644 0:0 etc/passwd", "d0755 0:0 link", "-0644 0:0 link/y", "d0755 0:0 tmp", "-0644 5:0 tmp/x"},
		},
		{
			name:  "an entry for a directory sets its metadata",
			layer: []enginetest.File{{Name: "etc", Type: tar.TypeDir, Mode: 0o700, UID: 3}},
			want:  []string{"d0700 3:0 etc", "-0644 0:0 etc/passwd", "l0777 0:0 link -> etc", "d1777 0:0 tmp"},
		},
		{
			name:  "a whiteout deletes",
			layer: []enginetest.File{{Name: "etc/.wh.passwd"}, {Name: ".wh.link"}, {Name: ".wh.absent"}},
			want:  []string{"d0755 0:0 etc", "d1777 0:0 tmp"},
		},
		{
			name:  "an opaque directory hides only what is below it, wherever the marker comes",
			layer: []enginetest.File{{Name: "etc/new"}, {Name: "etc/.wh..wh..opq"}},
			want:  []string{"d0755 0:0 etc", "-0644 0:0 etc/new", "l0777 0:0 link -> etc", "d1777 0:0 tmp"},
		},
		{
			name:  "a file replaces a directory, and the root has no entry",
			layer: []enginetest.File{{Name: "etc"}, {Name: "./", Type: tar.TypeDir, Mode: 0o700}, {Name: "../up"}},
			want:  []string{"-0644 0:0 etc", "l0777 0:0 link -> etc", "d1777 0:0 tmp", "-0644 0:0 up"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			image := enginetest.Image{Ref: "x:1", Cmd: []string{"sh"}, Layers: [][]byte{lowest, enginetest.Tar(test.layer...)}}
			e := enginetest.New(t, enginetest.Options{Images: []enginetest.Image{image}})
			if _, err := connect(t, e).CreateContainer(t.Context(), engine.ContainerSpec{Name: "box", Image: "x:1"}); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, file := range e.Container("box").Files() {
				got = append(got, file.String())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestLayersThatDoNotLoad(t *testing.T) {
	for name, test := range map[string]struct {
		layer []enginetest.File
		want  string
	}{
		"a name twice":                 {[]enginetest.File{{Name: "x"}, {Name: "./x"}}, "duplicates of file paths not supported"},
		"a link to what it lacks":      {[]enginetest.File{{Name: "h", Type: tar.TypeLink, Linkname: "etc/passwd"}}, "link /etc/passwd /h: no such file or directory"},
		"a path through a broken link": {[]enginetest.File{{Name: "l", Type: tar.TypeSymlink, Linkname: "nowhere"}, {Name: "l/x"}}, "open /l/x: no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			e := enginetest.New(t, enginetest.Options{})
			image := enginetest.Image{Ref: "x:1", Layers: [][]byte{enginetest.Tar(test.layer...)}}
			err := connect(t, e).LoadImage(t.Context(), strings.NewReader(string(image.Archive())))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
			if images := e.Images(); len(images) != 0 {
				t.Errorf("the store has %v", images)
			}
		})
	}
}

func TestFilesOfAContainer(t *testing.T) {
	e := enginetest.New(t, enginetest.Options{Images: []enginetest.Image{{Ref: "x:1", Cmd: []string{"sh"}, WorkingDir: "/srv/dir"}}})
	if _, err := connect(t, e).CreateContainer(t.Context(), engine.ContainerSpec{Name: "box", Image: "x:1"}); err != nil {
		t.Fatal(err)
	}
	box := e.Container("box")
	err := box.Write(
		enginetest.File{Name: "work/dir/a", Content: "text", Mode: 0o600},
		enginetest.File{Name: "b", Type: tar.TypeSymlink, Linkname: "work/dir"},
	)
	if err != nil {
		t.Fatal(err)
	}
	if file, ok := box.File("b/a"); !ok || file.Content != "text" || file.Mode != 0o600 {
		t.Errorf("got %+v, %v", file, ok)
	}
	box.Remove("work/dir/a")
	box.Remove("work/dir/a")
	if file, ok := box.File("work/dir/a"); ok {
		t.Errorf("%v is still there", file)
	}
	if e.Container("other") != nil {
		t.Error("a container that was never made")
	}
}

func TestRulesAndRecords(t *testing.T) {
	e := enginetest.New(t, enginetest.Options{})
	client := connect(t, e)
	undo := e.Fail("GET", "/containers/json", http.StatusInternalServerError, "out of order")
	if _, err := client.ListContainers(t.Context()); err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("got %v, want the injected error", err)
	}
	undo()
	if _, err := client.ListContainers(t.Context()); err != nil {
		t.Errorf("after undo: %v", err)
	}
	if err := client.LoadImage(t.Context(), strings.NewReader("not an archive")); err == nil {
		t.Error("it loaded what is no archive")
	}
	var got []string
	for _, request := range e.Requests() {
		got = append(got, request.Method+" "+request.Path)
	}
	want := []string{"HEAD /_ping", "GET /containers/json", "GET /containers/json", "POST /images/load"}
	if !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
	if load := e.Requests()[3]; load.BodySize != int64(len("not an archive")) || load.Body != nil {
		t.Errorf("recorded %d bytes %q of an archive", load.BodySize, load.Body)
	}
}
