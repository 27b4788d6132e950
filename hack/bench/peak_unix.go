//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMiB is the most resident memory that an ended process had. It is never
// below the bench's own: on Linux a process starts with the peak of the one
// that made it.
func peakMiB(p *os.ProcessState) float64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // in bytes there, in KiB elsewhere
		return float64(usage.Maxrss) / (1 << 20)
	}
	return float64(usage.Maxrss) / (1 << 10)
}
