package enginetest

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"syscall"

	"github.com/docker/docker/api/types/container"
)

// putArchive extracts what arrives, up to where it breaks off.
func (e *Engine) putArchive(w http.ResponseWriter, r *http.Request) error {
	b, err := e.lockedContainer(r)
	if err != nil {
		return err
	}
	b.mu.Lock()
	at, err := b.lookup(r.PathValue("id"), r.URL.Query().Get("path"), true)
	b.mu.Unlock()
	if err != nil {
		return err
	}
	if !at.node.isDir() {
		return errors.New("extraction point is not a directory")
	}
	archive, readErr := io.ReadAll(r.Body)
	keepKinds := r.URL.Query().Get("noOverwriteDirNonDir") == "true"
	if err := b.extract(at.path, archive, keepKinds); err != nil {
		return err
	}
	return readErr
}

// getArchive serves GET and, without a body, HEAD.
func (e *Engine) getArchive(w http.ResponseWriter, r *http.Request) error {
	b, err := e.lockedContainer(r)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	name := r.URL.Query().Get("path")
	at, err := b.lookup(r.PathValue("id"), name, strings.HasSuffix(name, "/."))
	if err != nil {
		return err
	}
	if strings.HasSuffix(name, "/") && name != "/" && !at.node.isDir() {
		return fmt.Errorf("lstat %s: not a directory", name)
	}
	base := path.Base(name)
	if strings.HasSuffix(name, "/.") {
		base = "."
	}
	stat := container.PathStat{
		Name: base, Size: int64(len(at.node.content)), Mode: at.node.fileMode(),
		Mtime: at.node.modTime, LinkTarget: at.node.link,
	}
	w.Header().Set("X-Docker-Container-Path-Stat", base64.StdEncoding.EncodeToString(mustJSON(stat)))
	w.Header().Set("Content-Type", "application/x-tar")
	_, _ = w.Write(packTree(base, at.node)) // the client may be gone
	return nil
}

func (e *Engine) lockedContainer(r *http.Request) (*box, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.container(r)
}

// lookup finds an existing path in the container that the client calls ref; the
// caller holds the lock.
func (c *Container) lookup(ref, name string, follow bool) (place, error) {
	at, err := c.root.walk(name, follow)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return place{}, fmt.Errorf("evalSymlinksInScope: too many links in %s", name)
	case errors.Is(err, syscall.ENOTDIR):
		return place{}, fmt.Errorf("lstat %s: %w", name, err)
	case err != nil || at.node == nil:
		return place{}, fail(http.StatusNotFound, "Could not find the file %s in container %s", name, ref)
	}
	return at, nil
}

// fileMode is the mode in Go's encoding, which the path-stat header uses.
func (n *node) fileMode() fs.FileMode {
	header := tar.Header{Typeflag: n.kind, Mode: n.mode}
	return header.FileInfo().Mode()
}

// packTree writes n and what is below it under the name base. Names that share
// an inode become hard links, and modes carry the type bits, as in archives of
// engine 20.10.
func packTree(base string, n *node) []byte {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	first := map[*node]string{}
	add := func(name string, n *node) {
		header := &tar.Header{
			Typeflag: n.kind, Name: name, Linkname: n.link, Mode: n.mode | typeBits[n.kind],
			Uid: n.uid, Gid: n.gid, ModTime: n.modTime, Size: int64(len(n.content)), Format: tar.FormatPAX,
		}
		if earlier, ok := first[n]; ok {
			header.Typeflag, header.Linkname, header.Size = tar.TypeLink, earlier, 0
		}
		first[n] = name
		if n.isDir() {
			header.Name = strings.TrimSuffix(name, "/") + "/"
		}
		if err := w.WriteHeader(header); err != nil {
			panic(fmt.Sprintf("enginetest: pack %q: %v", name, err))
		}
		if header.Size > 0 {
			_, _ = w.Write(n.content) // a buffer does not fail
		}
	}
	add(base, n)
	n.each(strings.TrimSuffix(base, "/")+"/", add)
	_ = w.Close()
	return buf.Bytes()
}

var typeBits = map[byte]int64{
	tar.TypeReg: 0o100000, tar.TypeDir: 0o40000, tar.TypeSymlink: 0o120000, tar.TypeFifo: 0o10000,
}
