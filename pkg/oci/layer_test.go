package oci_test

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/docker-workspace/docker-workspace/pkg/oci"
)

// usrMerged is a base like today's distributions.
var usrMerged = fakeBase{
	"bin":        "link usr/bin",
	"etc":        "dir 755 0:0",
	"etc/passwd": "file",
	"home":       "dir 2775 0:50",
	"tmp":        "dir 1777 0:0",
	"usr":        "dir 755 0:0",
	"usr/bin":    "dir 755 0:0",
	"var":        "dir 755 0:0",
	"var/run":    "link /run",
	"run":        "dir 755 0:0",
	"opt":        "link var/../usr/./lib",
	"usr/lib":    "dir 755 0:0",
	"dangling":   "link nowhere/deep",
}

// The golden files fix the bytes of LayerFormat. They are the same for every user, umask, time zone and locale, because
// nothing of the host is read.
func TestLayerGolden(t *testing.T) {
	tests := []struct {
		name    string
		base    oci.Base
		entries []oci.Entry
	}{
		{"empty", oci.Scratch, nil},
		{"parents once and first", oci.Scratch, []oci.Entry{file("a/b/d", "2"), file("a/b/c", "1"), file("a-b", "3"), file("z", "")}},
		{"parents of the base keep mode and owner", usrMerged, []oci.Entry{file("tmp/x", "x"), file("home/me/x", "x")}},
		{"links of the base are followed and stay", usrMerged, []oci.Entry{
			file("bin/tool", "relative"), file("var/run/pid", "absolute"), file("opt/x", "dots and no header for var"),
		}},
		{"dangling link of the base", usrMerged, []oci.Entry{file("dangling/x", "x")}},
		{"declared directory over a link to a directory", usrMerged, []oci.Entry{dir("bin", 0o700, 7)}},
		{"declared directory over a file of the base", usrMerged, []oci.Entry{dir("etc/passwd", 0o700, 7), file("etc/passwd/x", "")}},
		{"file over a link of the base", usrMerged, []oci.Entry{file("bin", "x"), link("opt", "/srv")}},
		{"declared directory wins over base", usrMerged, []oci.Entry{dir("tmp", 0o755, 1), file("tmp/x", "")}},
		{"implied directory yields to base", usrMerged, []oci.Entry{implied("tmp", 1000), implied("bin", 1000)}},
		{"implied directory gives way to declared ones", oci.Scratch, []oci.Entry{
			dir("a", 0o700, 1), implied("a", 2), implied("b", 2), dir("b", 0o700, 1),
		}},
		{"implied directory describes what nobody has", oci.Scratch, []oci.Entry{file("w/x", ""), implied("w", 1000), implied("w", 2000)}},
		{"later file wins", oci.Scratch, []oci.Entry{file("x", "old"), file("x", "new")}},
		{"later wins where two names meet", usrMerged, []oci.Entry{file("usr/bin/x", "old"), file("bin/x", "new")}},
		{"directories merge", oci.Scratch, []oci.Entry{dir("a", 0o700, 1), file("a/x", "x"), dir("a", 0o750, 2), file("a/y", "y")}},
		{"file over a directory drops what was below", oci.Scratch, []oci.Entry{file("a/b/c", ""), file("a/x", ""), file("a/b", "b")}},
		{"directory over a file", oci.Scratch, []oci.Entry{file("a", "a"), dir("a", 0o700, 1), file("a/x", "")}},
		{"directory over a file shows the base again", usrMerged, []oci.Entry{
			file("bin", ""), dir("bin", 0o755, 0), file("bin/x", "x"), file("tmp", ""), dir("tmp", 0o755, 0), file("tmp/x", "x"),
		}},
		{"links are verbatim", oci.Scratch, []oci.Entry{link("a", "../../etc//passwd"), link("b", "/nowhere"), link("c", "c")}},
		{"what USTAR cannot hold", oci.Scratch, []oci.Entry{
			{Name: "owner", Type: tar.TypeReg, Mode: 0o644, UID: 4294967294, GID: 2097152},
			file(strings.Repeat("n", 101), "x"), file(strings.Repeat("ü", 60), "x"),
			file(strings.TrimSuffix(strings.Repeat(strings.Repeat("d", 200)+"/", 3), "/"), "x"),
			link("link", strings.Repeat("t", 300)),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tarball, written := render(t, tt.base, tt.entries...)
			text := fmt.Sprintf("layer format %d\nsize %d\n%s\n\n%s", oci.LayerFormat, written.Size, written.DiffID, listing(t, tarball))
			golden(t, "layer/"+strings.ReplaceAll(tt.name, " ", "-")+".txt", text)
		})
	}
}

func TestNewLayerErrors(t *testing.T) {
	long := strings.Repeat("x", 256)
	loop := fakeBase{"a": "link b", "b": "link a", "up": "link ../x", "d": "dir 755 0:0", "d/up": "link ../../x"}
	tests := []struct {
		name  string
		base  oci.Base
		entry oci.Entry
		want  string
	}{
		{"empty name", oci.Scratch, file("", ""), `name "" is the root itself`},
		{"root", oci.Scratch, dir(".", 0o755, 0), "is the root itself"},
		{"absolute", oci.Scratch, file("/a", ""), "is absolute"},
		{"parent", oci.Scratch, file("a/../b", ""), `has ".." in it`},
		{"dot", oci.Scratch, file("./a", ""), "is not clean"},
		{"double slash", oci.Scratch, file("a//b", ""), "is not clean"},
		{"slash at the end", oci.Scratch, dir("a/", 0o755, 0), "is not clean"},
		{"NUL", oci.Scratch, file("a\x00b", ""), "holds a NUL byte"},
		{"not UTF-8", oci.Scratch, file("a\xff", ""), "is not valid UTF-8"},
		{"long component", oci.Scratch, file("a/"+long, ""), "has a component longer than 255 bytes"},
		{"long name", oci.Scratch, file(strings.Repeat("x/", 2048)+"x", ""), "is longer than 4096 bytes"},
		{"whiteout", oci.Scratch, file("a/.wh.b/c", ""), `starts with ".wh."`},
		{"whiteout through a link", fakeBase{"a": "link .wh.b"}, file("a/c", ""), `name ".wh.b" has a component that starts with ".wh."`},
		{"no link target", oci.Scratch, link("a", ""), "has an empty link target"},
		{"NUL in link target", oci.Scratch, link("a", "b\x00"), "has a link target with a NUL byte"},
		{"link target not UTF-8", oci.Scratch, link("a", "\xff"), "not valid UTF-8"},
		{"long link target", oci.Scratch, link("a", strings.Repeat("x", 4096)), "has a link target of 4096 bytes or more"},
		{"type", oci.Scratch, oci.Entry{Name: "a", Type: tar.TypeFifo}, "type '6' is not"},
		{"special bits", oci.Scratch, dir("a", 0o1777, 0), "mode 01777 has more than permission bits"},
		{"negative owner", oci.Scratch, dir("a", 0o755, -1), "owner -1:-1 is negative"},
		{"negative size", oci.Scratch, oci.Entry{Name: "a", Type: tar.TypeReg, Size: -1}, "size -1 is negative"},
		{"no content", oci.Scratch, oci.Entry{Name: "a", Type: tar.TypeReg, Size: 1}, "there is no content"},
		{"implied file", oci.Scratch, oci.Entry{Name: "a", Type: tar.TypeReg, Implied: true}, "only a directory can be"},
		{"loop", loop, file("a/x", ""), `passes the base image's link "a" -> "b", which is one of more than 40 links`},
		{"link out of the root", loop, file("up/y", ""), `link "up" -> "../x", which leaves the image's root`},
		{"deep link out of the root", loop, file("d/up/y", ""), `link "d/up" -> "../../x", which leaves the image's root`},
		{"file of the base as parent", usrMerged, file("etc/passwd/x", ""), `needs a directory at "etc/passwd", where the base image has something else`},
		{"implied directory at a file", usrMerged, implied("etc/passwd", 0), `needs a directory at "etc/passwd"`},
		{"directory over a link to a file", fakeBase{"a": "link f", "f": "file"}, dir("a", 0o755, 0), `needs a directory at "f"`},
		{"base fails", fakeBase{"a": "broken"}, file("a/x", ""), `look up "a" in the base image: connection lost`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := oci.NewLayer(t.Context(), tt.base, []oci.Entry{tt.entry})
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", tt.entry.Name)) {
				t.Errorf("error %q names not %q and %q", err, tt.entry.Name, tt.want)
			}
		})
	}
}

func TestNewLayerErrorTypes(t *testing.T) {
	newLayer := func(entries ...oci.Entry) error {
		_, err := oci.NewLayer(t.Context(), fakeBase{"l": "link l", "f": "file"}, entries)
		return err
	}
	var name *oci.NameError
	if err := newLayer(file(".wh.x", "")); !errors.As(err, &name) || name.Name != ".wh.x" {
		t.Errorf("whiteout name: %v", err)
	}
	var linkErr *oci.LinkError
	if err := newLayer(file("l/x", "")); !errors.As(err, &linkErr) || linkErr.Name != "l/x" || linkErr.Link != "l" || linkErr.Target != "l" {
		t.Errorf("loop: %v", err)
	}
	var notDir *oci.NotDirError
	if err := newLayer(file("f/x", "")); !errors.As(err, &notDir) || *notDir != (oci.NotDirError{Name: "f/x", Parent: "f", InBase: true}) {
		t.Errorf("below a file of the base: %v", err)
	}
	for _, e := range []oci.Entry{file("d", ""), link("d", "/tmp")} {
		err := newLayer(e, file("d/x", ""))
		if !errors.As(err, &notDir) || *notDir != (oci.NotDirError{Name: "d/x", Parent: "d"}) {
			t.Errorf("below an entry of type %c: %v", e.Type, err)
		}
	}
}

// A base is often a remote engine: only what decides something is asked.
func TestNewLayerAsksTheBaseLittle(t *testing.T) {
	base := &countingBase{Base: usrMerged}
	entries := []oci.Entry{implied("home/me", 1)}
	for i := range 100 {
		entries = append(entries, file(fmt.Sprintf("home/me/d%d/f", i), ""), file(fmt.Sprintf("tmp/f%d", i), ""))
	}
	if _, err := oci.NewLayer(t.Context(), base, entries); err != nil {
		t.Fatal(err)
	}
	if want := 3; base.asked != want { // home, home/me, tmp
		t.Errorf("base was asked %d times, want %d", base.asked, want)
	}
}

func TestLayerAccessors(t *testing.T) {
	l, err := oci.NewLayer(t.Context(), usrMerged, []oci.Entry{file("tmp/x", "x")})
	if err != nil {
		t.Fatal(err)
	}
	entries := l.Entries()
	if l.Len() != 2 || len(entries) != 2 || entries[0].Name != "tmp" || entries[0].Mode != 0o1777 || entries[1].Name != "tmp/x" {
		t.Errorf("entries %v", entries)
	}
	entries[0].Name = "changed"
	if again := l.Entries(); again[0].Name != "tmp" {
		t.Error("the layer shares its entries with the caller")
	}
	n, err := l.WriteTo(t.Context(), io.Discard)
	if err != nil || n.Size != l.Size() {
		t.Errorf("size %d, written %v, %v", l.Size(), n, err)
	}
}
