// Package gcpace says when garbage is collected: in a program whose sessions take little room, after a fixed amount of
// garbage instead of after as much as is in use. Go begins with every 4 MiB, which for many small sessions is a quarter of all
// time; with a larger share of what is in use, a long session would take more than it may.
//
// It is for programs, at their beginning. Never in a library.
package gcpace

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Garbage is how many bytes may gather at least.
const Garbage = 16 << 20

// Set begins it, once.
var Set = sync.OnceFunc(func() {
	debug.SetGCPercent(first)
	afterNext()
})

// Percents, in the sense of debug.SetGCPercent: Go's own, and the one by which the first collection comes after Garbage bytes
// rather than after 4 MiB.
const (
	usual = 100
	first = usual * Garbage / (4 << 20)
)

// afterNext sets the pace anew when the next collection is over, and so on.
func afterNext() {
	runtime.AddCleanup(new(mark), func(struct{}) {
		set()
		afterNext()
	}, struct{}{})
}

// mark is what the collector finds unused; it has a pointer so that it is allocated by itself.
type mark struct{ _ *mark }

func set() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if live[0].Value.Kind() == metrics.KindUint64 {
		debug.SetGCPercent(percent(live[0].Value.Uint64()))
	}
}

// percent is by how much more than is in use the heap may grow.
func percent(live uint64) int {
	return int(max(usual, min(first, usual*Garbage/max(live, 1))))
}
