package workspace

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
)

// maxAccountFile bounds what is read of a base image's account files, in bytes.
const maxAccountFile = 1 << 20

// fileSystem is what a layer or an archive is laid over. It is an oci.Base.
type fileSystem interface {
	Lstat(ctx context.Context, name string) (*tar.Header, error)
	// ReadFile returns the header and content of a regular file; the error
	// wraps fs.ErrNotExist when there is none.
	ReadFile(ctx context.Context, name string) (*tar.Header, []byte, error)
}

// containerFS is the file system of a container, as it is now.
type containerFS struct {
	engine *engine.Client
	id     string
}

func (c containerFS) Lstat(ctx context.Context, name string) (*tar.Header, error) {
	header, _, err := c.read(ctx, name, 0)
	return header, err
}

func (c containerFS) ReadFile(ctx context.Context, name string) (*tar.Header, []byte, error) {
	header, content, err := c.read(ctx, name, maxAccountFile)
	if err != nil {
		return nil, nil, err
	}
	if header.Typeflag != tar.TypeReg {
		return nil, nil, fmt.Errorf("read /%s of the base image: it is not a regular file", name)
	}
	if header.Size > maxAccountFile {
		return nil, nil, fmt.Errorf("read /%s of the base image: %d bytes are too many", name, header.Size)
	}
	return header, content, nil
}

// read takes the first entry of the archive that the engine makes of a path,
// and no more: for a directory the rest would be the whole tree.
func (c containerFS) read(ctx context.Context, name string, limit int64) (*tar.Header, []byte, error) {
	archive, err := c.engine.GetArchive(ctx, c.id, "/"+name)
	if errors.Is(err, engine.ErrNotFound) {
		return nil, nil, fmt.Errorf("/%s: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		return nil, nil, err
	}
	defer archive.Close()
	entries := tar.NewReader(archive)
	header, err := entries.Next()
	if err != nil {
		return nil, nil, fmt.Errorf("read /%s of container %.12s: %w", name, c.id, err)
	}
	content, err := io.ReadAll(io.LimitReader(entries, limit))
	if err != nil {
		return nil, nil, fmt.Errorf("read /%s of container %.12s: %w", name, c.id, err)
	}
	return header, content, nil
}

// imageFS is the file system of an image. An image never changes, so that what
// was learnt about it is kept between runs; only for the rest a container is
// created, which is never started.
type imageFS struct {
	engine *engine.Client
	image  string // the engine's id
	cache  string // file, may be empty

	mu    sync.Mutex
	facts map[string]fact
	fresh bool   // facts has more than the file
	probe string // id of the container
}

// fact is what an image has at a path.
type fact struct {
	Absent  bool   `json:"absent,omitempty"`
	Type    byte   `json:"type,omitempty"`
	Mode    int64  `json:"mode,omitempty"`
	UID     int    `json:"uid,omitempty"`
	GID     int    `json:"gid,omitempty"`
	Link    string `json:"link,omitempty"`
	Content []byte `json:"content,omitempty"`
	Read    bool   `json:"read,omitempty"` // Content is known
}

func openImageFS(eng *engine.Client, image, cacheDir string) *imageFS {
	f := &imageFS{engine: eng, image: image, facts: map[string]fact{}}
	if cacheDir == "" {
		return f
	}
	f.cache = filepath.Join(cacheDir, "images", strings.ReplaceAll(image, ":", "-")+".json")
	// A cache that is missing or broken only costs time.
	if raw, err := os.ReadFile(f.cache); err == nil && json.Unmarshal(raw, &f.facts) != nil {
		f.facts = map[string]fact{}
	}
	return f
}

func (f *imageFS) Lstat(ctx context.Context, name string) (*tar.Header, error) {
	known, err := f.fact(ctx, name, false)
	if err != nil {
		return nil, err
	}
	return known.header(name)
}

func (f *imageFS) ReadFile(ctx context.Context, name string) (*tar.Header, []byte, error) {
	known, err := f.fact(ctx, name, true)
	if err != nil {
		return nil, nil, err
	}
	header, err := known.header(name)
	return header, known.Content, err
}

func (k fact) header(name string) (*tar.Header, error) {
	if k.Absent {
		return nil, fmt.Errorf("/%s: %w", name, fs.ErrNotExist)
	}
	return &tar.Header{Name: name, Typeflag: k.Type, Mode: k.Mode, Uid: k.UID, Gid: k.GID, Linkname: k.Link}, nil
}

func (f *imageFS) fact(ctx context.Context, name string, content bool) (fact, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.facts[name]; ok && (known.Absent || known.Read || !content) {
		return known, nil
	}
	if err := f.start(ctx); err != nil {
		return fact{}, err
	}
	source := containerFS{f.engine, f.probe}
	var known fact
	var header *tar.Header
	var err error
	if content {
		header, known.Content, err = source.ReadFile(ctx, name)
		known.Read = true
	} else {
		header, err = source.Lstat(ctx, name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		known = fact{Absent: true}
	case err != nil:
		return fact{}, err
	default:
		known.Type, known.Mode, known.UID, known.GID, known.Link = header.Typeflag, header.Mode, header.Uid, header.Gid, header.Linkname
	}
	f.facts[name], f.fresh = known, true
	return known, nil
}

func (f *imageFS) start(ctx context.Context) error {
	if f.probe != "" {
		return nil
	}
	created, err := f.engine.CreateContainer(ctx, engine.ContainerSpec{
		Image: f.image, Entrypoint: []string{"never-started"}, NetworkMode: "none", Labels: map[string]string{LabelProbe: "true"},
	})
	if err != nil {
		return fmt.Errorf("look into base image: %w", err)
	}
	f.probe = created.ID
	return nil
}

// Close removes the container, and keeps what was learnt. It may be called again.
func (f *imageFS) Close(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fresh && f.cache != "" {
		f.save()
		f.fresh = false
	}
	if f.probe == "" {
		return nil
	}
	id := f.probe
	f.probe = ""
	return f.engine.RemoveContainer(ctx, id)
}

// save replaces the cache file in one step. It is only a cache: where it cannot
// be written the next run asks the engine again.
func (f *imageFS) save() {
	raw, err := json.Marshal(f.facts)
	if err != nil || os.MkdirAll(filepath.Dir(f.cache), 0o700) != nil {
		return
	}
	tmp, err := os.CreateTemp(filepath.Dir(f.cache), ".facts-*")
	if err != nil {
		return
	}
	_, err = tmp.Write(raw)
	if errors.Join(err, tmp.Close()) == nil {
		err = os.Rename(tmp.Name(), f.cache)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // already gone or useless
	}
}
