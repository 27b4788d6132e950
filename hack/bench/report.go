package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// peakBound is the most memory that any of our processes may take, in MiB.
const peakBound = 64

// row is the result of one measurement: medians in milliseconds, and the
// highest peak.
type row struct {
	Name      string  `json:"name"`
	Ours      float64 `json:"ours_ms"`
	Yardstick float64 `json:"yardstick_ms"`
	Ratio     float64 `json:"ratio"`
	Bound     float64 `json:"bound"`
	PeakMiB   float64 `json:"peak_mib,omitempty"` // 0 is not known
}

func writeTable(w io.Writer, rows []row) error {
	width := 0
	for _, r := range rows {
		width = max(width, len(r.Name))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-*s  %8s  %12s  %5s  %5s  %8s\n", width, "ours / yardstick", "ours ms", "yardstick ms", "ratio", "bound", "peak MiB")
	for _, r := range rows {
		peak := "-"
		if r.PeakMiB > 0 {
			peak = fmt.Sprintf("%.1f", r.PeakMiB)
		}
		fmt.Fprintf(&b, "%-*s  %8.1f  %12.1f  %5.2f  %5.2f  %8s%s\n",
			width, r.Name, r.Ours, r.Yardstick, r.Ratio, r.Bound, peak, remark(r))
	}
	fmt.Fprintf(&b, "The bound of every peak is %d MiB.\n", peakBound)
	_, err := w.Write(b.Bytes())
	return err
}

func remark(r row) string {
	switch {
	case r.Ratio > r.Bound && r.PeakMiB > peakBound:
		return "  slow, large"
	case r.Ratio > r.Bound:
		return "  slow"
	case r.PeakMiB > peakBound:
		return "  large"
	}
	return ""
}

func writeJSON(w io.Writer, rows []row) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"rows": rows, "peak_bound_mib": peakBound})
}
