// Package gcpace decides when garbage is collected: as long as little memory is in use, after a fixed amount of garbage
// rather than whenever the heap has doubled. By default Go collects after every 4 MiB, which takes a quarter of the time when
// many small sessions are linted. A larger GC percentage alone would let a long session use more memory than it may. Where a
// collection has found hardly any garbage, as with a session of which each record is kept, the next one comes later: it takes as
// long as there is memory in use, and would find hardly any, either.
//
// It is for programs, at their start. Never use it in a library.
package gcpace

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Garbage is how much garbage is always allowed, and Most how much at most, in bytes; Unlikely is how much is allowed where hardly any is
// expected.
const (
	Garbage  = 16 << 20
	Most     = 32 << 20
	Unlikely = 48 << 20
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

// before is how much was in use after the last collection, and how much was to be allocated from then on.
var before = struct{ live, more uint64 }{more: Garbage}

func set() {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() == metrics.KindUint64 {
		live := max(sample[0].Value.Uint64(), 1)
		p := percent(live, live > before.live+before.more/4*3)
		before.live, before.more = live, live/usual*uint64(p)
		debug.SetGCPercent(p)
	}
}

// percent returns by how many percent of the live heap the heap may grow. kept says that hardly any of what was allocated last is garbage.
func percent(live uint64, kept bool) int {
	if kept {
		return int(max(least, min(first, usual*Unlikely/live)))
	}
	return int(max(least, min(first, usual*Garbage/live), min(usual, usual*Most/live)))
}
