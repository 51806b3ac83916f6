package lint

import (
	"strconv"
	"strings"
)

// olderThan says whether the session will be resumed by a client before 0.minor or, if nobody said, false: the
// newest client is what damage is judged by.
func (s *run) olderThan(major, minor int) bool {
	return before(s.opts.ForCodex, major, minor)
}

// before compares a version "a.b.c" with major.minor; a version that can't be read is not before anything.
func before(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, err1 := strconv.Atoi(parts[0])
	b, err2 := strconv.Atoi(parts[1])
	if err1 != nil || err2 != nil {
		return false
	}
	return a < major || a == major && b < minor
}
