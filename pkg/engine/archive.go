package engine

import (
	"context"
	"fmt"
	"io"

	"github.com/docker/docker/api/types/container"
)

// PutArchive extracts an uncompressed tar stream below dir, which must exist in
// the container; the container need not run. Modes and numeric owners are the
// headers'. Existing files are replaced; a file does not replace a directory
// nor a directory a file. When reading the stream fails, that error is
// returned, and what came before it may already be extracted. After another
// error the stream may still be read from for a moment.
func (c *Client) PutArchive(ctx context.Context, id, dir string, tar io.Reader) error {
	source := &sourceReader{Reader: tar}
	err := c.docker.CopyToContainer(ctx, id, dir, source, container.CopyToContainerOptions{})
	if err != nil {
		return fmt.Errorf("write files to %q in container %q: %w", dir, id, source.blame(classify(err)))
	}
	return nil
}

// GetArchive streams path, and what is below it, as a tar whose names start
// with the last element of path. A symbolic link at path itself is not
// followed. Header modes of some engines carry the file type besides the
// permission bits. A missing path gives [ErrNotFound]. The caller closes the
// reader.
func (c *Client) GetArchive(ctx context.Context, id, path string) (io.ReadCloser, error) {
	body, _, err := c.docker.CopyFromContainer(ctx, id, path)
	if err != nil {
		return nil, fmt.Errorf("read %q from container %q: %w", path, id, classify(err))
	}
	return body, nil
}
