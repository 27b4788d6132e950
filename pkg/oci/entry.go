package oci

import (
	"archive/tar"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxName      = 4096 // bytes, Linux PATH_MAX
	maxComponent = 255  // bytes, Linux NAME_MAX

	permBits    = 0o777
	modeBits    = 0o7777
	defaultPerm = 0o755
	linkPerm    = 0o777

	whiteoutPrefix = ".wh." // image-spec: such a name removes something, it cannot be a file's
)

// epoch is the modification time of every entry and the creation time of every image.
var epoch = time.Unix(0, 0).UTC()

// Entry is one file system object that a layer adds.
type Entry struct {
	Name     string // clean, slash separated, relative to the image's root
	Type     byte   // tar.TypeReg, tar.TypeDir or tar.TypeSymlink
	Mode     int64  // permission bits; ignored for a symbolic link
	UID, GID int
	Size     int64  // length in bytes of a regular file's content
	Linkname string // target of a symbolic link, stored verbatim

	// Open gives the content of a regular file of Size > 0, from its start at each call. The layer closes it, and opens
	// several files at once.
	Open func() (io.ReadCloser, error)

	// Implied marks a directory that nobody declared: what the base or an earlier entry has there keeps its mode and
	// owner.
	Implied bool
}

// check refuses what a layer cannot hold.
func (e *Entry) check() error {
	if err := checkName(e.Name); err != nil {
		return err
	}
	switch {
	case e.Mode&^permBits != 0:
		return fmt.Errorf("mode %#o has more than permission bits", e.Mode)
	case e.UID < 0 || e.GID < 0:
		return fmt.Errorf("owner %d:%d is negative", e.UID, e.GID)
	case e.Implied && e.Type != tar.TypeDir:
		return fmt.Errorf("type %q is implied, only a directory can be", e.Type)
	}
	switch e.Type {
	case tar.TypeReg:
		return e.checkContent()
	case tar.TypeSymlink:
		return checkTarget(e.Name, e.Linkname)
	case tar.TypeDir:
		return nil
	default:
		return fmt.Errorf("type %q is not a regular file, directory or symbolic link", e.Type)
	}
}

func (e *Entry) checkContent() error {
	switch {
	case e.Size < 0:
		return fmt.Errorf("size %d is negative", e.Size)
	case e.Size > 0 && e.Open == nil:
		return fmt.Errorf("size is %d but there is no content", e.Size)
	}
	return nil
}

// header returns the entry's tar header. The format is always PAX, so that no length of a name or size of an id makes
// archive/tar choose another; with whole seconds it adds records only where USTAR's fields are too small.
func (e *Entry) header() *tar.Header {
	h := &tar.Header{
		Typeflag: e.Type,
		Name:     e.Name,
		Mode:     e.Mode,
		Uid:      e.UID,
		Gid:      e.GID,
		ModTime:  epoch,
		Format:   tar.FormatPAX,
	}
	switch e.Type {
	case tar.TypeReg:
		h.Size = e.Size
	case tar.TypeDir:
		h.Name += "/"
	case tar.TypeSymlink:
		h.Linkname = e.Linkname
		h.Mode = linkPerm
	}
	return h
}

// checkName refuses a name that is not clean and relative, or that no layer or Linux file system can hold.
func checkName(name string) error {
	reason := ""
	switch {
	case name == "" || name == ".":
		reason = "is the root itself"
	case name[0] == '/':
		reason = "is absolute"
	case len(name) > maxName:
		reason = fmt.Sprintf("is longer than %d bytes", maxName)
	case strings.ContainsRune(name, 0):
		reason = "holds a NUL byte"
	case !utf8.ValidString(name):
		reason = "is not valid UTF-8"
	}
	for part := range strings.SplitSeq(name, "/") {
		if reason != "" {
			break
		}
		reason = checkComponent(part)
	}
	if reason != "" {
		return &NameError{Name: name, Reason: reason}
	}
	return nil
}

func checkComponent(part string) (reason string) {
	switch {
	case part == "..":
		return `has ".." in it`
	case part == "" || part == ".":
		return "is not clean"
	case len(part) > maxComponent:
		return fmt.Sprintf("has a component longer than %d bytes", maxComponent)
	case strings.HasPrefix(part, whiteoutPrefix):
		return fmt.Sprintf("has a component that starts with %q, which in a layer means a deletion", whiteoutPrefix)
	}
	return ""
}

// checkTarget refuses a link target that a tar header or Linux cannot hold; where it points is the container's matter.
func checkTarget(name, target string) error {
	reason := ""
	switch {
	case target == "":
		reason = "has an empty link target"
	case len(target) >= maxName:
		reason = fmt.Sprintf("has a link target of %d bytes or more", maxName)
	case strings.ContainsRune(target, 0):
		reason = "has a link target with a NUL byte"
	case !utf8.ValidString(target):
		reason = "has a link target that is not valid UTF-8"
	default:
		return nil
	}
	return &NameError{Name: name, Reason: reason}
}
