package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// quietHeap is the heap in bytes below which garbage is not collected: an audit of
	// 2,200 modules with 26,000 calls ends below it, and the 7 MiB of that which are kept
	// would be marked a moment before.
	quietHeap = 22 << 20
	// leastHeap is the heap in bytes below which Go does not collect at 100 percent.
	leastHeap = 4 << 20
	// garbagePercent is how much a bigger heap may grow before it is: by two fifths, not to
	// twice its size. An audit runs beside the tests of a machine that has better use
	// for its memory.
	garbagePercent = 40
)

// boundGarbage sets when garbage is collected, anew after each time. GOGC says
// otherwise where it is set.
func boundGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const most = 100 * quietHeap / leastHeap
	debug.SetGCPercent(most)
	afterCollection(func() {
		m := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(m)
		live := max(int(m[0].Value.Uint64()), 1)
		debug.SetGCPercent(min(max(100*(quietHeap-live)/live, garbagePercent), most))
	})
}

// afterCollection calls do after every collection, soon: a finalizer arms the next.
func afterCollection(do func()) {
	type sentinel struct{ _ *byte } // a pointer, so that it is no part of a tiny block
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
		do()
		afterCollection(do)
	})
}
