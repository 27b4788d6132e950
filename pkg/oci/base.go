package oci

import (
	"archive/tar"
	"context"
	"io/fs"
)

// Base answers what the image below a layer holds.
type Base interface {
	// Lstat returns the header of name, which is clean, slash separated and relative to the image's root, and whose
	// parents are all directories of the base. It does not follow a link at name itself. The error wraps fs.ErrNotExist
	// when the base holds nothing there.
	Lstat(ctx context.Context, name string) (*tar.Header, error)
}

// Scratch is the base that holds nothing.
var Scratch Base = scratch{}

type scratch struct{}

func (scratch) Lstat(_ context.Context, name string) (*tar.Header, error) {
	return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
}
