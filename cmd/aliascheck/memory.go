package main

import (
	"os"
	"runtime/debug"
)

// boundGarbage lets the heap grow by half, not to twice its size, before garbage is
// collected: an audit keeps little and throws away little, and runs beside the tests
// of a machine that has better use for its memory. GOGC says otherwise where it is set.
func boundGarbage() {
	const percent = 50
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
