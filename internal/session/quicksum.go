package session

import (
	"hash/maphash"
	"unsafe"
)

// maxShortSum is up to how many bytes maphash.Bytes takes in one call; it takes as many at a time of what is longer. Only the time depends on
// it.
const maxShortSum = 128

// QuickSum is a hash of b that is only compared with others in the same process, as good as those of hash/maphash. It must not be compared with
// hashes of maphash, whose Bytes gives the same for short texts only. The hash of a string, which maphash.Comparable takes, is that of all its
// bytes in one call: of some KiB, it takes a quarter of the time.
func QuickSum(seed maphash.Seed, b []byte) uint64 {
	if len(b) <= maxShortSum {
		return maphash.Bytes(seed, b)
	}
	return maphash.Comparable(seed, unsafe.String(unsafe.SliceData(b), len(b))) // the string is not kept, so b may change later
}
