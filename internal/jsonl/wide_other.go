//go:build !amd64

package jsonl

// wide: no other processor has anything to look at more than eight bytes with.
const wide = false

func passText(*byte, int) (at int, high bool) { panic("jsonl: not wide") }

func markStops(*byte, int, *uint64) (high bool) { panic("jsonl: not wide") }

func passUTF8(*byte, int) (at int) { panic("jsonl: not wide") }
