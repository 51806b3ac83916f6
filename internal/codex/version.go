package codex

import (
	"strconv"
	"strings"
)

// Before says whether a client's version "a.b.c" comes before major.minor; one that can't be read comes before nothing.
func Before(version string, major, minor int) bool {
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
