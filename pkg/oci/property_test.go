package oci_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/docker-workspace/docker-workspace/pkg/oci"
)

// names of few parts, so that entries and the base often meet
var partGen = rapid.SampledFrom([]string{"a", "b", "c", "a-"})

func nameGen() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(partGen, 1, 4), func(parts []string) string { return strings.Join(parts, "/") })
}

func entryGen() *rapid.Generator[oci.Entry] {
	return rapid.Custom(func(t *rapid.T) oci.Entry {
		name := nameGen().Draw(t, "name")
		switch rapid.IntRange(0, 3).Draw(t, "type") {
		case 0:
			return link(name, nameGen().Draw(t, "target"))
		case 1:
			return dir(name, 0o700, rapid.IntRange(0, 5_000_000).Draw(t, "owner"))
		case 2:
			return implied(name, 1000)
		default:
			return file(name, strings.Repeat("x", rapid.IntRange(0, 1025).Draw(t, "size")))
		}
	})
}

func baseGen() *rapid.Generator[fakeBase] {
	return rapid.Custom(func(t *rapid.T) fakeBase {
		base := fakeBase{}
		for _, name := range rapid.SliceOfN(nameGen(), 0, 6).Draw(t, "base") {
			if above := path.Dir(name); above != "." && base[above] != "dir 1755 5:5" {
				continue
			}
			target := nameGen().Draw(t, "target")
			base[name] = rapid.SampledFrom([]string{"dir 1755 5:5", "dir 1755 5:5", "file", "link /" + target, "link ../" + target}).Draw(t, "what")
		}
		return base
	})
}

// checkLayer fails unless the tar keeps what every layer promises.
func checkLayer(t rapid.TB, base fakeBase, tarball []byte) {
	t.Helper()
	types := map[string]byte{"": tar.TypeDir}
	for tr := tar.NewReader(bytes.NewReader(tarball)); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("read layer: %v", err)
		}
		name := strings.TrimSuffix(h.Name, "/")
		if _, ok := types[name]; ok {
			t.Fatalf("two entries %q", name)
		}
		above, _ := path.Split(name)
		if types[strings.TrimSuffix(above, "/")] != tar.TypeDir {
			t.Fatalf("no directory before %q", name)
		}
		if h.Typeflag == tar.TypeDir && strings.HasPrefix(base[name], "link") {
			t.Fatalf("directory %q replaces a link of the base", name)
		}
		types[name] = h.Typeflag
	}
}

func TestLayerProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := baseGen().Draw(t, "base")
		entries := rapid.SliceOf(entryGen()).Draw(t, "entries")
		l, err := oci.NewLayer(t.Context(), base, entries)
		if err != nil {
			return // which entries are refused is the tables' matter
		}
		var first, second bytes.Buffer
		one, err := l.WriteTo(t.Context(), &first)
		if err != nil {
			t.Fatal(err)
		}
		two, err := l.WriteTo(t.Context(), &second)
		if err != nil {
			t.Fatal(err)
		}
		if one.DiffID != two.DiffID || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatal("the second write differs")
		}
		if l.Size() != int64(first.Len()) || one.Size != l.Size() {
			t.Fatalf("size %d, written %d of %d bytes", l.Size(), one.Size, first.Len())
		}
		checkLayer(t, base, first.Bytes())
	})
}

func TestLayerIgnoresInputOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Files end in a part that directories do not have, so that no entry lies on or over another.
		dirs := rapid.SliceOfDistinct(nameGen(), rapid.ID[string]).Draw(t, "dirs")
		files := rapid.SliceOfDistinct(nameGen(), rapid.ID[string]).Draw(t, "files")
		var entries []oci.Entry
		for i, name := range dirs {
			e := dir(name, 0o700, i)
			e.Implied = i%2 == 0
			entries = append(entries, e)
		}
		for _, name := range files {
			entries = append(entries, file(name+"/file", name))
		}
		base := fakeBase{"a": "dir 1777 0:0", "a/b": "dir 755 1:1"}
		shuffled := rapid.Permutation(entries).Draw(t, "shuffled")
		one, two := mustRender(t, base, entries), mustRender(t, base, shuffled)
		if !bytes.Equal(one, two) {
			t.Fatal("the order of the entries shows in the bytes")
		}
	})
}

func mustRender(t *rapid.T, base oci.Base, entries []oci.Entry) []byte {
	l, err := oci.NewLayer(t.Context(), base, entries)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if _, err := l.WriteTo(t.Context(), &buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// FuzzLayerNames gives names, one of a link's target and one of a link in the base, that come from anywhere.
func FuzzLayerNames(f *testing.F) {
	f.Add("a/b", "a", "../c", "/x")
	f.Add(".wh.a", "./a", "", "..")
	f.Add(strings.Repeat("ü", 200), strings.Repeat("x/", 200)+"x", strings.Repeat("t", 200), "a/../../b")
	f.Add("a\x00", "\xff", "\x00", ".wh.b")
	f.Fuzz(func(t *testing.T, one, two, target, baseTarget string) {
		base := fakeBase{"a": "link " + baseTarget, "b": "dir 755 0:0"}
		l, err := oci.NewLayer(t.Context(), base, []oci.Entry{file(one, "1"), link(two, target), file("a/x", "")})
		if err != nil {
			return
		}
		var buf bytes.Buffer
		if _, err := l.WriteTo(t.Context(), &buf); err != nil {
			t.Fatal(err)
		}
		if int64(buf.Len()) != l.Size() {
			t.Fatalf("size %d, wrote %d bytes", l.Size(), buf.Len())
		}
		checkLayer(t, base, buf.Bytes())
	})
}
