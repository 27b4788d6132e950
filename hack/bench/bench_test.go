package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMeasure(t *testing.T) {
	const ms = time.Millisecond
	ours := []sample{{900 * ms, 90}, {30 * ms, 20}, {10 * ms, 40}, {20 * ms, 30}}
	yardstick := []sample{{elapsed: 900 * ms}, {elapsed: 40 * ms}, {elapsed: 40 * ms}, {elapsed: 10 * ms}}
	next := func(samples []sample) func(context.Context) (sample, error) {
		return func(context.Context) (sample, error) {
			s := samples[0]
			samples = samples[1:]
			return s, nil
		}
	}
	m := measurement{name: "n", bound: 1.5, rounds: 3, ours: next(ours), yardstick: next(yardstick)}
	got, err := m.measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := row{Name: "n", Ours: 20, Yardstick: 40, Ratio: 0.5, Bound: 1.5, PeakMiB: 40}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the warm-up must not count (-want +got):\n%s", diff)
	}
}

func TestMedian(t *testing.T) {
	tests := map[string]struct {
		durations []time.Duration
		want      time.Duration
	}{
		"one":  {[]time.Duration{7}, 7},
		"odd":  {[]time.Duration{9, 1, 5}, 5},
		"even": {[]time.Duration{100, 2, 4, 1}, 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := median(test.durations); got != test.want {
				t.Errorf("median is %d, want %d", got, test.want)
			}
		})
	}
}

func TestTable(t *testing.T) {
	rows := []row{
		{Name: "short", Ours: 1, Yardstick: 2, Ratio: 0.5, Bound: 1, PeakMiB: 12},
		{Name: "in this process", Ours: 3, Yardstick: 2, Ratio: 1.5, Bound: 1.4},
		{Name: "a rather long name", Ours: 1234.56, Yardstick: 500, Ratio: 2.47, Bound: 1.15, PeakMiB: 64.5},
	}
	const want = `
ours / yardstick     ours ms  yardstick ms  ratio  bound  peak MiB
short                    1.0           2.0   0.50   1.00      12.0
in this process          3.0           2.0   1.50   1.40         -  slow
a rather long name    1234.6         500.0   2.47   1.15      64.5  slow, large
The bound of every peak is 64 MiB.
`
	var got strings.Builder
	if err := writeTable(&got, rows); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), got.String()); diff != "" {
		t.Error(diff)
	}
}
