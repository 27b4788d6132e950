package plugin

import "time"

// Windows has no signal for it: look twice a second.
const poll = 500 * time.Millisecond

// watchTerminal tells when the terminal's size may have changed.
func watchTerminal() (changed <-chan time.Time, stop func()) {
	t := time.NewTicker(poll)
	return t.C, t.Stop
}
