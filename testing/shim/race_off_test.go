//go:build !race

package shim_test

// raceDetector says whether hist is built with it, too: a relay is another process than the test.
const raceDetector = false
