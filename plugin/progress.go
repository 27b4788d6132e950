package plugin

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/docker/cli/cli/streams"
	"github.com/docker/go-units"
	"github.com/spf13/cobra"

	"github.com/docker-workspace/docker-workspace/pkg/workspace"
)

func progressFlag(cmd *cobra.Command, mode *string) {
	cmd.Flags().StringVar(mode, "progress", "auto", `Progress on standard error: "auto", "tty", "plain", "rawjson", "quiet"`)
	oneOf(cmd, "progress", "auto", "tty", "plain", "rawjson", "quiet")
}

// progress shows events. Its methods may be called from several goroutines, and
// Close more than once.
type progress interface {
	Event(e workspace.Event)
	Close()
}

func newProgress(w *streams.Out, mode string) progress {
	if mode == "auto" {
		mode = "plain"
		if w.IsTerminal() && os.Getenv("TERM") != "dumb" {
			mode = "tty"
		}
	}
	switch mode {
	case "tty":
		return newTTY(w, w.IsTerminal() && os.Getenv("NO_COLOR") == "")
	case "rawjson":
		return &rawJSON{enc: json.NewEncoder(w)}
	case "quiet":
		return quiet{}
	default:
		return &plain{w: w}
	}
}

type quiet struct{}

func (quiet) Event(workspace.Event) {}
func (quiet) Close()                {}

type rawJSON struct {
	mu  sync.Mutex
	enc *json.Encoder
}

func (r *rawJSON) Event(e workspace.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.enc.Encode(e) // progress that nobody reads is no failure
}

func (*rawJSON) Close() {}

// plain prints a line when an operation begins and one when it is over.
type plain struct {
	mu sync.Mutex
	w  io.Writer
}

func (p *plain) Event(e workspace.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.State {
	case workspace.Started:
		fmt.Fprintln(p.w, e.Op)
	case workspace.Done:
		fmt.Fprintf(p.w, "%s: done (%s)\n", e.Op, seconds(e.Elapsed))
	case workspace.Failed:
		fmt.Fprintf(p.w, "%s: failed (%s)\n", e.Op, seconds(e.Elapsed))
	case workspace.Warning:
		fmt.Fprintf(p.w, "warning: %s\n", e.Text)
	case workspace.Progress:
	}
}

func (*plain) Close() {}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }

// tty redraws the operations that run below the lines of those that are over.
type tty struct {
	mu      sync.Mutex
	w       *streams.Out
	color   bool
	running []*running
	drawn   int // lines that the next draw replaces
	frame   int
	stop    chan struct{}
	closed  bool
}

type running struct {
	op     string
	since  time.Time
	detail string
}

const redraw = 100 * time.Millisecond

func newTTY(w *streams.Out, color bool) *tty {
	t := &tty{w: w, color: color, stop: make(chan struct{})}
	go t.animate()
	return t
}

func (t *tty) animate() {
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-tick.C:
			t.mu.Lock()
			t.frame++
			t.draw("")
			t.mu.Unlock()
		}
	}
}

func (t *tty) Event(e workspace.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	switch e.State {
	case workspace.Started:
		t.running = append(t.running, &running{op: e.Op, since: time.Now()})
		t.draw("")
	case workspace.Progress:
		for _, r := range t.running {
			if r.op == e.Op {
				r.detail = detail(e)
			}
		}
	case workspace.Done:
		t.finish(e, t.paint("32", "✔"))
	case workspace.Failed:
		t.finish(e, t.paint("31", "✘"))
	case workspace.Warning:
		t.draw(t.paint("33", "!") + " " + e.Text)
	}
}

func (t *tty) finish(e workspace.Event, mark string) {
	for i, r := range t.running {
		if r.op == e.Op {
			t.running = append(t.running[:i], t.running[i+1:]...)
			break
		}
	}
	t.draw(fmt.Sprintf("%s %s %s", mark, e.Op, t.paint("2", seconds(e.Elapsed))))
}

// draw replaces the running lines, with a finished one above them.
func (t *tty) draw(above string) {
	if t.closed {
		return
	}
	var b strings.Builder
	if t.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r\x1b[J", t.drawn)
	}
	if above != "" {
		b.WriteString(above + "\n")
	}
	_, width := t.w.GetTtySize()
	for _, r := range t.running {
		spin := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")[t.frame%10]
		b.WriteString(clip(fmt.Sprintf("%c %s %s %s", spin, r.op, seconds(time.Since(r.since)), r.detail), int(width)) + "\n")
	}
	t.drawn = len(t.running)
	_, _ = io.WriteString(t.w, b.String()) // progress that nobody reads is no failure
}

func (t *tty) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.running = nil
	t.draw("")
	t.closed = true
	close(t.stop)
}

func (t *tty) paint(code, s string) string {
	if !t.color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// clip keeps a line from wrapping, which would spoil the count of lines.
func clip(s string, width int) string {
	if r := []rune(s); width > 1 && len(r) >= width {
		return string(r[:width-2]) + "…"
	}
	return s
}

func detail(e workspace.Event) string {
	if e.Total > 0 {
		return fmt.Sprintf("%s %s/%s", e.Text, units.HumanSize(float64(e.Current)), units.HumanSize(float64(e.Total)))
	}
	return e.Text
}
