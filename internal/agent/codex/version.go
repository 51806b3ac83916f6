package codex

import (
	"strconv"
	"strings"
)

// Before says whether a client's version "a.b.c" comes before major.minor. A version that can't be read, or that stands in for
// an unknown one, comes neither before nor after any other.
func Before(version string, major, minor int) bool {
	a, b, ok := readVersion(version)
	return ok && (a < major || a == major && b < minor)
}

// After says whether a version comes after all that begin with major.minor.
func After(version string, major, minor int) bool {
	a, b, ok := readVersion(version)
	return ok && (a > major || a == major && b > minor)
}

// Newer says whether a version comes after another by its first two numbers; one that can't be read never does.
func Newer(version, than string) bool {
	a, b, ok := readVersion(version)
	x, y, known := readVersion(than)
	return ok && (!known || a > x || a == x && b > y)
}

// readVersion does without strings.Split, because it is called for every message of a session.
func readVersion(version string) (major, minor int, ok bool) {
	a, rest, two := strings.Cut(version, ".")
	if !two || version == unknownVersion {
		return 0, 0, false
	}
	b, _, _ := strings.Cut(rest, ".")
	major, err1 := strconv.Atoi(a)
	minor, err2 := strconv.Atoi(b)
	return major, minor, err1 == nil && err2 == nil
}
