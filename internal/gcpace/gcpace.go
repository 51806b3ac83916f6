// Package gcpace decides when garbage is collected: as long as little memory is in use, after a fixed amount of garbage
// rather than whenever the heap has doubled. By default Go collects after every 4 MiB, which takes a quarter of the time when
// many small sessions are linted. A larger GC percentage alone would let a long session use more memory than it may.
//
// It is for programs, at their start. Never use it in a library.
package gcpace

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Garbage is how much garbage is always allowed, and Most how much at most, in bytes.
const (
	Garbage = 16 << 20
	Most    = 32 << 20
)

// Set takes effect once, however often it is called.
var Set = sync.OnceFunc(func() {
	debug.SetGCPercent(first)
	afterNext()
})

// Values for debug.SetGCPercent: Go's default, and the one with which the first collection comes after Garbage bytes rather
// than after 4 MiB.
const (
	usual = 100
	first = usual * Garbage / (4 << 20)
	least = 10 // a collection costs as much as there is in use, so that with less it would take most of the time
)

// afterNext sets the percentage again after the next collection, and after each further one.
func afterNext() {
	runtime.AddCleanup(new(mark), func(struct{}) {
		set()
		afterNext()
	}, struct{}{})
}

// mark is allocated so that the collector finds it unused. It contains a pointer so that it is not packed into one block with
// other small values.
type mark struct{ _ *mark }

func set() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if live[0].Value.Kind() == metrics.KindUint64 {
		debug.SetGCPercent(percent(live[0].Value.Uint64()))
	}
}

// percent returns by how many percent of the live heap the heap may grow.
func percent(live uint64) int {
	live = max(live, 1)
	return int(max(least, min(first, usual*Garbage/live), min(usual, usual*Most/live)))
}
