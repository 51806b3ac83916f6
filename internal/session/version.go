package session

import (
	"strconv"
	"strings"
)

// VersionBefore says whether version a is older than b; a text that is not a version is not.
func VersionBefore(a, b string) bool {
	for more := a != b; more; {
		var x, y string
		var moreA, moreB bool
		x, a, moreA = strings.Cut(a, ".")
		y, b, moreB = strings.Cut(b, ".")
		m, errM := strconv.Atoi(x)
		n, errN := strconv.Atoi(y)
		if errM != nil || errN != nil {
			return false
		}
		if m != n {
			return m < n
		}
		more = moreA && moreB
	}
	return false
}
