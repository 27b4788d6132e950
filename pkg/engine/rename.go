package engine

import (
	"context"
	"fmt"
)

// RenameContainer gives the container another name. A taken name gives
// [ErrConflict] and changes nothing.
func (c *Client) RenameContainer(ctx context.Context, id, name string) error {
	if err := c.docker.ContainerRename(ctx, id, name); err != nil {
		return fmt.Errorf("rename container %q to %q: %w", id, name, classify(err))
	}
	return nil
}
