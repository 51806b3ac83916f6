package publish

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

// Durable says whether what is written is synced to the disk. Tests in which no power is lost turn it off: they write thousands of files.
var Durable = true
