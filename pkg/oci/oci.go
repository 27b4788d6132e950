// Package oci turns file system entries into deterministic image layers, puts layers on a base image, and writes the
// result as an archive that an engine loads.
//
// Equal input gives equal bytes: nothing here reads the clock, the time zone, the umask, the user, or the order of a map.
package oci

import (
	"errors"
	"fmt"
)

// ErrChanged reports that the content of a file is not what the layer was made for: its length differs from the entry's,
// or its bytes differ from those of the layer's first write. The error that wraps it names the file.
var ErrChanged = errors.New("content changed")

// NameError reports an entry whose name, or link target, cannot be stored in a layer.
type NameError struct {
	Name   string
	Reason string
}

func (e *NameError) Error() string {
	return fmt.Sprintf("name %q %s", e.Name, e.Reason)
}

// NotDirError reports an entry that needs a directory where there is something else.
type NotDirError struct {
	Name   string // the entry
	Parent string // what is not a directory, links resolved
	InBase bool   // Parent belongs to the base, not to another entry
}

func (e *NotDirError) Error() string {
	owner := "another entry"
	if e.InBase {
		owner = "the base image"
	}
	return fmt.Sprintf("%q needs a directory at %q, where %s has something else", e.Name, e.Parent, owner)
}

// LinkError reports a symbolic link of the base, on the way to an entry, that cannot be followed.
type LinkError struct {
	Name   string // the entry
	Link   string // the link, its parents resolved
	Target string
	Reason string
}

func (e *LinkError) Error() string {
	return fmt.Sprintf("%q passes the base image's link %q -> %q, which %s", e.Name, e.Link, e.Target, e.Reason)
}
