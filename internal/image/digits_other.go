//go:build !amd64

package image

// wide: no other processor has anything to look at more than eight bytes with.
const wide = false

func passDigits(*byte, int) (at int) { panic("image: not wide") }
