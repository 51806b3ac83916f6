//go:build !amd64

package api

// wideDigits: no other processor has anything to look at more than eight bytes with.
const wideDigits = false

func passDigits(*byte, int) (at int) { panic("api: not wide") }
