package enginetest

import (
	"archive/tar"
	"bytes"
	"fmt"
	"sync"
	"time"
)

// File is one entry of a layer or of a container's file system.
type File struct {
	// Name is relative to the root, without a trailing slash: etc/passwd.
	Name string
	// Type is a tar type flag; 0 is a regular file.
	Type byte
	// Mode holds the permission, setuid, setgid and sticky bits. 0 in a
	// description is 0755 for a directory and 0644 for a file; a listing always
	// has the real one.
	Mode     int64
	UID, GID int
	// ModTime is the zero time in a description that does not care.
	ModTime time.Time
	Content string
	// Linkname is the target of a symbolic link, or the name that a hard link
	// in a description shares.
	Linkname string
}

// String is a line in the manner of ls, for test failures and goldens.
func (f File) String() string {
	kind := map[byte]string{tar.TypeReg: "-", tar.TypeDir: "d", tar.TypeSymlink: "l", tar.TypeLink: "h"}[f.Type]
	line := fmt.Sprintf("%s%04o %d:%d %s", kind, f.Mode, f.UID, f.GID, f.Name)
	if f.Linkname != "" {
		line += " -> " + f.Linkname
	}
	return line
}

func (f File) header() *tar.Header {
	header := &tar.Header{
		Typeflag: f.Type, Name: f.Name, Linkname: f.Linkname, Mode: f.Mode, Uid: f.UID, Gid: f.GID,
		ModTime: f.ModTime, Format: tar.FormatPAX,
	}
	if f.Type == 0 {
		header.Typeflag = tar.TypeReg
	}
	if header.Typeflag == tar.TypeReg {
		header.Size = int64(len(f.Content))
	}
	if f.Mode == 0 {
		header.Mode = 0o644
		if f.Type == tar.TypeDir {
			header.Mode = 0o755
		}
	}
	if f.ModTime.IsZero() {
		header.ModTime = time.Unix(0, 0)
	}
	return header
}

// Tar packs files in the given order, without adding parents: a layer, or an
// archive to put into a container.
func Tar(files ...File) []byte {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range files {
		header := f.header()
		if err := w.WriteHeader(header); err != nil {
			panic(fmt.Sprintf("enginetest: pack %q: %v", f.Name, err))
		}
		if header.Size > 0 {
			_, _ = w.Write([]byte(f.Content)) // a buffer does not fail
		}
	}
	_ = w.Close()
	return buf.Bytes()
}

// Container is a container of the fake engine, for looking into and for the
// commands that a test runs in it.
type Container struct {
	// ID is the full identifier.
	ID string

	mu   sync.Mutex
	root *node
}

// Files lists the file system in the order of names, the root excluded. What an
// engine adds to every container (/proc, /etc/hosts and such) is not there.
func (c *Container) Files() []File {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []File
	c.root.each("", func(name string, n *node) { out = append(out, n.file(name)) })
	return out
}

// File returns what is at name, following symbolic links on the way but not at
// its end; false when nothing is.
func (c *Container) File(name string) (File, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, err := c.root.walk(name, false)
	if err != nil || at.node == nil {
		return File{}, false
	}
	return at.node.file(name), true
}

// Write puts files into the container, missing parents included, as a command
// that runs in it would.
func (c *Container) Write(files ...File) error {
	return c.extract("/", Tar(files...), false)
}

// Remove deletes name and what is below it; a missing name is not an error.
func (c *Container) Remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, err := c.root.walk(name, false); err == nil && at.dir != nil {
		delete(at.dir.children, at.name)
	}
}

func (c *Container) extract(dest string, archive []byte, keepKinds bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return extraction{root: c.root, dest: dest, keepKinds: keepKinds}.run(archive)
}

func (n *node) file(name string) File {
	return File{
		Name: name, Type: n.kind, Mode: n.mode, UID: n.uid, GID: n.gid,
		ModTime: n.modTime, Content: string(n.content), Linkname: n.link,
	}
}
