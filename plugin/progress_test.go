package plugin

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/cli/cli/streams"
	"github.com/google/go-cmp/cmp"

	"github.com/docker-workspace/docker-workspace/pkg/workspace"
)

// course is what two operations that overlap give, and a third that fails.
var course = []workspace.Event{
	{State: workspace.Warning, Text: "careful"},
	{Op: "pull-image base:1", State: workspace.Started},
	{Op: "pull-image base:1", State: workspace.Progress, Text: "layer", Current: 500, Total: 2000},
	{Op: "clone-git repo", State: workspace.Started},
	{Op: "pull-image base:1", State: workspace.Done, Elapsed: 1200 * time.Millisecond},
	{Op: "clone-git repo", State: workspace.Failed, Text: "no such ref", Elapsed: time.Minute},
}

func TestProgress(t *testing.T) {
	for mode, want := range map[string]string{
		"quiet": "",
		"plain": `warning: careful
pull-image base:1
clone-git repo
pull-image base:1: done (1.2s)
clone-git repo: failed (60.0s)
`,
		"rawjson": `{"op":"","state":"warning","text":"careful"}
{"op":"pull-image base:1","state":"started"}
{"op":"pull-image base:1","state":"progress","text":"layer","current":500,"total":2000}
{"op":"clone-git repo","state":"started"}
{"op":"pull-image base:1","state":"done","elapsed":1200000000}
{"op":"clone-git repo","state":"failed","text":"no such ref","elapsed":60000000000}
`,
	} {
		t.Run(mode, func(t *testing.T) {
			var out bytes.Buffer
			view := newProgress(streams.NewOut(&out), mode)
			for _, e := range course {
				view.Event(e)
			}
			view.Close()
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

// Every draw goes up over the lines of those that ran before, clears to the end
// of the screen, and ends below the lines of those that run.
func TestTTYRedraws(t *testing.T) {
	const up1, up2 = "\x1b[1A\r\x1b[J", "\x1b[2A\r\x1b[J"
	want := strings.Join([]string{
		"! careful\n",
		"⠋ pull-image base:1 0.0s \n",
		up1 + "⠋ pull-image base:1 0.0s layer 500B/2kB\n⠋ clone-git repo 0.0s \n",
		up2 + "✔ pull-image base:1 1.2s\n⠋ clone-git repo 0.0s \n",
		up1 + "✘ clone-git repo 60.0s\n",
		"",
	}, "|")
	var out bytes.Buffer
	view := &tty{w: streams.NewOut(&out), stop: make(chan struct{})} // without its clock
	var draws []string
	for _, e := range course {
		out.Reset()
		view.Event(e)
		if e.State != workspace.Progress { // shown by the next draw
			draws = append(draws, elapsed.ReplaceAllString(out.String(), " 0.0s "))
		}
	}
	out.Reset()
	view.Close()
	view.Close()
	view.Event(course[0])
	draws = append(draws, out.String())
	if diff := cmp.Diff(want, strings.Join(draws, "|")); diff != "" {
		t.Errorf("draws (-want +got):\n%s", diff)
	}
}

// elapsed is the time of an operation that runs, which depends on the machine.
var elapsed = regexp.MustCompile(` \d\.\ds `)

func TestTTYColours(t *testing.T) {
	var out bytes.Buffer
	view := &tty{w: streams.NewOut(&out), color: true, stop: make(chan struct{})}
	for _, e := range course {
		view.Event(e)
	}
	for _, want := range []string{"\x1b[33m!\x1b[0m careful", "\x1b[32m✔\x1b[0m", "\x1b[31m✘\x1b[0m"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
}

// Operations that are interrupted leave no line that looks as if they ran on.
func TestTTYCloseClearsWhatRuns(t *testing.T) {
	var out bytes.Buffer
	view := newTTY(streams.NewOut(&out), false)
	view.Event(workspace.Event{Op: "clone-git repo", State: workspace.Started})
	view.Close()
	if got := out.String(); !strings.HasSuffix(got, "\x1b[1A\r\x1b[J") {
		t.Errorf("got %q, want it to end by clearing the line", got)
	}
}

// Clones report from several goroutines while the clock redraws.
func TestTTYConcurrent(t *testing.T) {
	var out bytes.Buffer
	view := newTTY(streams.NewOut(&out), false)
	ops := []string{"clone-git a", "clone-git b", "clone-git c"}
	var all sync.WaitGroup
	for _, op := range ops {
		all.Go(func() {
			view.Event(workspace.Event{Op: op, State: workspace.Started})
			time.Sleep(2 * redraw)
			view.Event(workspace.Event{Op: op, State: workspace.Done})
		})
	}
	all.Wait()
	view.Close()
	for _, op := range ops {
		if n := strings.Count(out.String(), "✔ "+op); n != 1 {
			t.Errorf("%s is done %d times", op, n)
		}
	}
}

func TestClip(t *testing.T) {
	for name, test := range map[string]struct {
		line  string
		width int
		want  string
	}{
		"no terminal":         {"a long line", 0, "a long line"},
		"shorter":             {"abc", 5, "abc"},
		"one free column":     {"abcd", 5, "abcd"},
		"exactly the width":   {"abcde", 5, "abc…"},
		"longer":              {"abcdefgh", 5, "abc…"},
		"counted in letters":  {"äöüß", 5, "äöüß"},
		"cut between letters": {"äöüßäöüß", 5, "äöü…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := clip(test.line, test.width); got != test.want {
				t.Errorf("clip(%q, %d) = %q, want %q", test.line, test.width, got, test.want)
			}
		})
	}
}
