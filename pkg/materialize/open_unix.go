//go:build unix

package materialize

import "golang.org/x/sys/unix"

// A pipe that took the place of a file must not block the open.
const openFlags = unix.O_NONBLOCK | unix.O_NOFOLLOW
