package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// sample is what one run took.
type sample struct {
	elapsed time.Duration
	peakMiB float64 // resident memory, 0 where the system does not tell
}

// measurement compares our way to do something with the yardstick's.
type measurement struct {
	name            string
	bound           float64 // on ours divided by the yardstick
	rounds          int
	ours, yardstick func(context.Context) (sample, error)
}

// measure runs both in turn, so that what else the machine does meets both. A
// first round, which fills caches, does not count.
func (m *measurement) measure(ctx context.Context) (row, error) {
	out := row{Name: m.name, Bound: m.bound}
	var ours, yardstick []time.Duration
	for i := range m.rounds + 1 {
		if ctx.Err() != nil {
			return row{}, context.Cause(ctx)
		}
		we, err := m.ours(ctx)
		if err != nil {
			return row{}, err
		}
		they, err := m.yardstick(ctx)
		if err != nil {
			return row{}, err
		}
		if i == 0 {
			continue
		}
		ours, yardstick = append(ours, we.elapsed), append(yardstick, they.elapsed)
		out.PeakMiB = max(out.PeakMiB, we.peakMiB)
	}
	out.Ours, out.Yardstick = milliseconds(median(ours)), milliseconds(median(yardstick))
	out.Ratio = out.Ours / out.Yardstick
	return out, nil
}

// median sorts d.
func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return (d[(len(d)-1)/2] + d[len(d)/2]) / 2
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// run runs a command to its end. A cancelled context does not kill it: no
// command is long, and one that is killed cannot clean up.
func run(ctx context.Context, name string, args ...string) (sample, error) {
	s, _, err := output(ctx, name, args...)
	return s, err
}

// output is run for a command whose standard output matters.
func output(ctx context.Context, name string, args ...string) (sample, string, error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	elapsed := time.Since(begin)
	if err != nil {
		return sample{}, "", fmt.Errorf("run %q: %w: %s", cmd.String(), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return sample{elapsed: elapsed, peakMiB: peakMiB(cmd.ProcessState)}, strings.TrimSpace(stdout.String()), nil
}
