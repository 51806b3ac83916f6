// Package testkit says how much the tests of this module try: a fixed sample that is soon done, or all of it.
package testkit

import (
	"flag"
	"os"

	"github.com/hist-cli/hist/internal/gcpace"
)

// Tests collect garbage as hist does. Go's own pace takes a third of the time of those that repair hundreds of small sessions.
func init() { gcpace.Set() }

// Long says whether everything is tried. CI does so once, by a variable of the environment: the command of its test is the README's.
var Long = flag.Bool("long", os.Getenv("HIST_TEST_LONG") != "", "try every case, where a fixed sample is tried otherwise")

// Sample is every nth of a list, all of it with -long. Which is the first differs with what is given, so that several samples differ.
func Sample[T any](list []T, nth, differs int) []T {
	var sample []T
	for i := differs % Stride(nth); i < len(list); i += Stride(nth) {
		sample = append(sample, list[i])
	}
	return sample
}

// Times is how often something random is tried: n times with -long, otherwise an nth of that.
func Times(n, nth int) int {
	return n / Stride(nth)
}

// Stride is the step from one case to the next: one with -long, otherwise n.
func Stride(n int) int {
	if *Long {
		return 1
	}
	return n
}
