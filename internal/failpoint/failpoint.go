// Package failpoint marks the steps of what hist does to the disk, so that a test can kill the process after each of them and
// examine what is left. In production a step does nothing.
package failpoint

var observe func(step string)

// At says that a step is done.
func At(step string) {
	if observe != nil {
		observe(step)
	}
}

// Observe makes each step call f from now on. It is for tests, and must be called before anything is written.
func Observe(f func(step string)) { observe = f }

// Durable says whether what is written is synced to the disk. Tests in which no power is lost turn it off: they write thousands of files.
var Durable = true
