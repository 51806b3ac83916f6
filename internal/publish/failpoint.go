package publish

import "os"

var observe func(step string)

// Step marks that a step of what hist does to the disk is done, so that a test can kill the process after it and examine what is
// left. In production it does nothing.
func Step(step string) {
	if observe != nil {
		observe(step)
	}
}

// ObserveSteps makes each step call f from now on. It is for tests, and must be called before anything is written.
func ObserveSteps(f func(step string)) { observe = f }

// Sync makes what was written to a file or directory durable. Tests in which no power is lost replace it by NoSync: they write thousands of
// files.
var Sync = (*os.File).Sync

// NoSync does nothing.
func NoSync(*os.File) error { return nil }
