package check

import (
	"maps"
	"slices"

	"github.com/hist-cli/hist/internal/session"
)

// InOrder returns the values of a map in the order of their places in the file, no two of which may be the same.
func InOrder[K comparable, T any](m map[K]T, at func(T) session.Pos) []T {
	return slices.SortedFunc(maps.Values(m), func(a, b T) int {
		if at(a).Less(at(b)) {
			return -1
		}
		return 1
	})
}
