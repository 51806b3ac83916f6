package session

import (
	"slices"
	"strconv"
	"strings"
)

// VersionBefore says whether version a is older than b, by their first three numbers; a text that is not a version is not.
func VersionBefore(a, b string) bool {
	if a == b {
		return false
	}
	x, okX := versionNumbers(a)
	y, okY := versionNumbers(b)
	return okX && okY && slices.Compare(x[:], y[:]) < 0
}

// versionNumbers are a version's numbers, 0 where it has none; false if it does not begin with one.
func versionNumbers(version string) (numbers [3]int, ok bool) {
	for i := range numbers {
		part, rest, _ := strings.Cut(version, ".")
		digits := part[:len(part)-len(strings.TrimLeft(part, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil {
			return numbers, i > 0
		}
		numbers[i] = n
		if len(digits) < len(part) { // "0.84.2-beta"
			break
		}
		version = rest
	}
	return numbers, true
}
