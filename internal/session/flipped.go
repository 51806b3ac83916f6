package session

import "math/bits"

// FlippedAt is the 0-based index of the only byte in which two words differ, if that is by one bit; otherwise -1.
func FlippedAt(a, b string) int {
	if len(a) != len(b) {
		return -1
	}
	at := -1
	for i := range len(a) {
		switch {
		case a[i] == b[i]:
		case at >= 0 || bits.OnesCount8(a[i]^b[i]) != 1:
			return -1
		default:
			at = i
		}
	}
	return at
}
