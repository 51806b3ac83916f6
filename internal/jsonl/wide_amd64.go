package jsonl

import "golang.org/x/sys/cpu"

// wide says whether the processor looks at 32 bytes at a time. In a test it can be switched off.
var wide = cpu.X86.HasAVX2

// passText passes blocks of 64 bytes inside a string, up to the first quote that ends it, control character, or backslash that
// begins anything but an escape of two bytes; at is where that stands. Where there is none, at is behind the blocks, or at
// a backslash that is their last byte. high says whether any byte looked at is above 0x7f.
//
//go:noescape
func passText(p *byte, blocks int) (at int, high bool)

// markStops marks where passText would stop in n bytes, at least 64: each byte is a bit of a word of marks, the first the lowest. high
// is that of passText.
//
//go:noescape
func markStops(p *byte, n int, marks *uint64) (high bool)

// passUTF8 passes blocks of 32 bytes of UTF-8. Whatever is wrong in front of at is a last character that at cuts off.
//
//go:noescape
func passUTF8(p *byte, blocks int) (at int)
