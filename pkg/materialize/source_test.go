//go:build unix

package materialize_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
	"github.com/docker-workspace/docker-workspace/pkg/materialize"
)

// tree makes files below dir: names that end in "/" are directories, contents
// that begin with "->" are links.
func tree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch target, link := strings.CutPrefix(content, "->"); {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case link:
			err = os.Symlink(target, path)
		default:
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, base string, grants ...manifest.PathGrant) *materialize.Sources {
	t.Helper()
	s, err := materialize.OpenSources(base, grants)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func walk(t *testing.T, s *materialize.Sources, src string, opts materialize.WalkOptions) ([]string, error) {
	t.Helper()
	var got []string
	err := s.Walk(t.Context(), src, opts, func(f *materialize.HostFile) error {
		line := f.Mode.String() + " " + f.Rel
		if f.Link != "" {
			line += " -> " + f.Link
		}
		got = append(got, line)
		return nil
	})
	return got, err
}

func TestWalk(t *testing.T) {
	base := t.TempDir()
	tree(t, base, map[string]string{
		"src/b.txt": "b", "src/a/run.sh": "x", "src/a.txt": "a", "src/empty/": "", "src/out": "->/etc/passwd", "src/in": "->a.txt",
	})
	if err := os.Chmod(filepath.Join(base, "src/a/run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	got, err := walk(t, open(t, base), "src", materialize.WalkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"drwxr-xr-x .", "drwxr-xr-x a", "-rwxr-x--- a/run.sh", "-rw-r--r-- a.txt", "-rw-r--r-- b.txt",
		"drwxr-xr-x empty", "Lrwxrwxrwx in -> a.txt", "Lrwxrwxrwx out -> /etc/passwd",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("walk (-want +got):\n%s", diff)
	}
}

func TestWalkExcludes(t *testing.T) {
	base := t.TempDir()
	tree(t, base, map[string]string{
		"src/main.go": "", "src/debug.log": "", "src/node_modules/x/index.js": "", "src/a/b/c/keep.txt": "", "src/a/b/c/drop.txt": "", "src/a/other": "",
	})
	tests := map[string]struct {
		exclude []string
		want    string
	}{
		"names and patterns":                       {[]string{"node_modules", "*.log", "a"}, ". main.go"},
		"a negation below an excluded directory":   {[]string{"a", "!a/b/c/keep.txt", "node_modules", "*.log"}, ". a a/b a/b/c a/b/c/keep.txt main.go"},
		"a deep negation keeps its siblings out":   {[]string{"**/c", "!a/b/c/keep.txt", "node_modules", "*.log"}, ". a a/b a/b/c a/b/c/keep.txt a/other main.go"},
		"everything but one kind, at any depth":    {[]string{"*", "!**/*.go", "!**/*.js"}, ". main.go node_modules node_modules/x node_modules/x/index.js"},
		"an excluded directory without exceptions": {[]string{"*", "!main.go"}, ". main.go"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			err := open(t, base).Walk(t.Context(), "src", materialize.WalkOptions{Exclude: tt.exclude}, func(f *materialize.HostFile) error {
				got = append(got, f.Rel)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("walk (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSourceRules(t *testing.T) {
	outside := t.TempDir()
	tree(t, outside, map[string]string{"granted/f": "", "secret": "", "link": "->granted"})
	base := t.TempDir()
	tree(t, base, map[string]string{
		"f": "", "dir/f": "", "link": "->f", "linkdir": "->dir", "dir/out": "->/etc", "deep/er/link": "->../../dir",
	})
	if err := syscall.Mkfifo(filepath.Join(base, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	grant := manifest.PathGrant{Path: filepath.Join(outside, "granted"), ReadOnly: true}
	tests := map[string]struct {
		src    string
		grants []manifest.PathGrant
		reason string // "" is fine
	}{
		"a file":                         {"f", nil, ""},
		"absolute, inside":               {filepath.Join(base, "f"), nil, ""},
		"leaves and comes back":          {"../" + filepath.Base(base) + "/f", nil, ""},
		"above the base":                 {"../x", nil, materialize.OutsideBaseDir},
		"absolute, outside":              {filepath.Join(outside, "secret"), nil, materialize.OutsideBaseDir},
		"granted, read-only":             {filepath.Join(outside, "granted/f"), []manifest.PathGrant{grant}, ""},
		"beside the grant":               {filepath.Join(outside, "secret"), []manifest.PathGrant{grant}, materialize.OutsideBaseDir},
		"a name that begins as the base": {base + "-other/f", nil, materialize.OutsideBaseDir},
		"missing":                        {"nope", nil, materialize.PathNotFound},
		"below a missing directory":      {"nope/f", nil, materialize.PathNotFound},
		"below a file":                   {"f/f", nil, materialize.PathNotFound},
		"a link":                         {"link", nil, materialize.SymlinkNotSupported},
		"through a link":                 {"linkdir/f", nil, materialize.SymlinkNotSupported},
		"through a deep link":            {"deep/er/link/f", nil, materialize.SymlinkNotSupported},
		"a link to a grant":              {filepath.Join(outside, "link/f"), []manifest.PathGrant{{Path: outside}}, materialize.SymlinkNotSupported},
		"a pipe":                         {"fifo", nil, materialize.SpecialFile},
		"a directory":                    {"dir", nil, materialize.SpecialFile},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, base, tt.grants...).File(tt.src)
			checkReason(t, err, tt.reason, tt.src)
		})
	}
}

func checkReason(t *testing.T, err error, reason, src string) {
	t.Helper()
	var bad *materialize.LocalSourceError
	switch {
	case reason == "" && err != nil:
		t.Errorf("refused: %v", err)
	case reason == "":
	case !errors.As(err, &bad) || bad.Reason != reason || bad.Src != src:
		t.Errorf("got %v, want reason %s", err, reason)
	}
}

func TestWalkNamesWhatItCannotCopy(t *testing.T) {
	base := t.TempDir()
	tree(t, base, map[string]string{"links/a": "->b", "special/x/": "", "sockets/": ""})
	if err := syscall.Mkfifo(filepath.Join(base, "special/x/pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(base, "sockets/s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tests := map[string]struct {
		src           string
		opts          materialize.WalkOptions
		reason, child string
	}{
		"a rejected link": {"links", materialize.WalkOptions{RejectLinks: true}, materialize.SymlinkNotSupported, `"a"`},
		"a pipe":          {"special", materialize.WalkOptions{}, materialize.SpecialFile, `"x/pipe"`},
		"a socket":        {"sockets", materialize.WalkOptions{}, materialize.SpecialFile, `"s"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := walk(t, open(t, base), tt.src, tt.opts)
			checkReason(t, err, tt.reason, tt.src)
			if !strings.Contains(err.Error(), tt.child) {
				t.Errorf("%v does not name %s", err, tt.child)
			}
		})
	}
	if _, err := walk(t, open(t, base), "special", materialize.WalkOptions{Exclude: []string{"x/pipe"}}); err != nil {
		t.Errorf("an excluded pipe: %v", err)
	}
}

func TestOpenNoticesChanges(t *testing.T) {
	changes := map[string]func(path string) error{
		"grown":      func(p string) error { return os.WriteFile(p, []byte("longer"), 0o644) },
		"removed":    os.Remove,
		"replaced":   func(p string) error { return errors.Join(os.Remove(p), os.WriteFile(p, []byte("same"), 0o644)) },
		"now a link": func(p string) error { return errors.Join(os.Remove(p), os.Symlink("/etc/passwd", p)) },
		"now a pipe": func(p string) error { return errors.Join(os.Remove(p), syscall.Mkfifo(p, 0o644)) },
		"parent is a link": func(p string) error {
			d := filepath.Dir(p)
			return errors.Join(os.Rename(d, d+"2"), os.Symlink("/etc", d))
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			tree(t, base, map[string]string{"d/passwd": "same"})
			f, err := open(t, base).File("d/passwd")
			if err != nil {
				t.Fatal(err)
			}
			if err := change(filepath.Join(base, "d/passwd")); err != nil {
				t.Fatal(err)
			}
			r, err := f.Open()
			if err == nil {
				b, _ := io.ReadAll(r)
				t.Fatalf("it opens, and gives %q", b)
			}
			checkReason(t, err, materialize.PathChangedDuringCopy, "d/passwd")
		})
	}
}

// A directory that is exchanged for a link while it is walked and read must
// never give what the link points to.
func TestWalkAgainstALinkRace(t *testing.T) {
	base, secret := t.TempDir(), t.TempDir()
	tree(t, secret, map[string]string{"f": "secret"})
	tree(t, base, map[string]string{"src/d/f": "public"})
	dir, aside := filepath.Join(base, "src/d"), filepath.Join(base, "aside")
	stop := make(chan struct{})
	var racing sync.WaitGroup
	racing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(dir, aside)
			_ = os.Symlink(secret, dir)
			_ = os.Remove(dir)
			_ = os.Rename(aside, dir)
		}
	})
	defer racing.Wait()
	defer close(stop)
	read := 0
	for range 3000 {
		s := open(t, base)
		err := s.Walk(context.Background(), "src", materialize.WalkOptions{}, func(f *materialize.HostFile) error {
			if !f.Mode.IsRegular() {
				return nil
			}
			r, err := f.Open()
			if err != nil {
				return nil
			}
			defer r.Close()
			b, err := io.ReadAll(r)
			if err == nil && string(b) != "public" {
				return fmt.Errorf("read %q", b)
			}
			read++
			return nil
		})
		var refused *materialize.LocalSourceError
		if err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
		s.Close()
	}
	if read == 0 {
		t.Error("the race let nothing through: it proves nothing")
	}
}

func TestGrantsOpenTheHost(t *testing.T) {
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tree(t, outside, map[string]string{
		"pub/f": "", "real/f": "", "pub/link": "->../real", "one.txt": "", "other.txt": "", "to-one": "->one.txt", "to-pub": "->pub",
	})
	at := func(name string) string { return filepath.Join(outside, name) }
	wide, readOnly := manifest.PathGrant{Path: at("pub")}, manifest.PathGrant{Path: "/in/container", HostPath: outside, ReadOnly: true}
	tests := map[string]struct {
		src    string
		grants []manifest.PathGrant
		reason string
	}{
		"by its host path, read-only":        {at("real/f"), []manifest.PathGrant{readOnly}, ""},
		"not by its path in the container":   {"/in/container/real/f", []manifest.PathGrant{readOnly}, materialize.OutsideBaseDir},
		"through a link below the grant":     {at("pub/link/f"), []manifest.PathGrant{wide}, materialize.SymlinkNotSupported},
		"the most specific grant begins":     {at("pub/link/f"), []manifest.PathGrant{readOnly, wide, {Path: at("pub/link")}}, ""},
		"whatever the order":                 {at("pub/link/f"), []manifest.PathGrant{{Path: at("pub/link")}, wide, readOnly}, ""},
		"a single file":                      {at("one.txt"), []manifest.PathGrant{{Path: at("one.txt")}}, ""},
		"beside a single file":               {at("other.txt"), []manifest.PathGrant{{Path: at("one.txt")}}, materialize.OutsideBaseDir},
		"a link to a single file":            {at("to-one"), []manifest.PathGrant{{Path: at("to-one")}}, materialize.SymlinkNotSupported},
		"what a granted link leads to":       {at("pub/f"), []manifest.PathGrant{{Path: at("to-pub")}}, materialize.OutsideBaseDir},
		"what is missing, where it may look": {at("no/f"), []manifest.PathGrant{{Path: at("no")}}, materialize.PathNotFound},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, t.TempDir(), tt.grants...).File(tt.src)
			checkReason(t, err, tt.reason, tt.src)
		})
	}
}

func TestGrantThatLandsOnTheRoot(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, map[string]string{"root": "->/", "further": "->root", "up": "->../../../../../../../../../../.."})
	for _, name := range []string{"root", "further", "up"} {
		for _, g := range []manifest.PathGrant{{Path: filepath.Join(dir, name)}, {Path: "/opt", HostPath: filepath.Join(dir, name)}} {
			_, err := materialize.OpenSources(dir, []manifest.PathGrant{g})
			refused, ok := errors.AsType[*materialize.GrantError](err)
			if !ok || refused.Reason != materialize.GrantIsRoot || refused.Path != g.Path {
				t.Errorf("grant %+v: got %v", g, err)
			}
		}
	}
}
