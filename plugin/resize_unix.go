//go:build unix

package plugin

import (
	"os"
	"os/signal"
	"syscall"
)

// watchTerminal tells when the terminal's size has changed.
func watchTerminal() (changed <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	return c, func() { signal.Stop(c) }
}
