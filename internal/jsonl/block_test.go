package jsonl

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestSkip: what is skipped and what is read line by line is the text, and lines keep their numbers and offsets.
func TestSkip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var text []byte
		for range rng.IntN(80) {
			text = append(text, bytes.Repeat([]byte{'a' + byte(rng.IntN(26))}, rng.IntN(60))...)
			if rng.IntN(30) > 0 {
				text = append(text, '\n')
			}
		}
		var lines []Line
		for r := newReader(bytes.NewReader(text), 1<<10); ; {
			l, err := r.Next()
			if err != nil {
				break
			}
			l.Raw = bytes.Clone(l.Raw)
			lines = append(lines, l)
		}
		r := newReader(&pieces{text: text, n: 1 + rng.IntN(90)}, 8+rng.IntN(200))
		at, offset := 0, int64(0)
		for {
			until := int64(at + 1 + rng.IntN(12))
			err := r.Skip(until, func(block []byte, n int64) error {
				if !bytes.Equal(block, text[offset:offset+int64(len(block))]) || int64(bytes.Count(block, []byte("\n"))) != n {
					t.Fatalf("%q: skipped %q at %d as %d lines", text, block, offset, n)
				}
				at += int(n)
				offset += int64(len(block))
				return nil
			})
			if err != nil || int64(at) >= until {
				t.Fatalf("%q: line %d after Skip to %d: %v", text, at, until, err)
			}
			l, err := r.Next()
			if err != nil {
				break
			}
			if want := lines[at]; l.Number != want.Number || l.Offset != want.Offset || l.Terminated != want.Terminated || !bytes.Equal(l.Raw, want.Raw) {
				t.Fatalf("%q: %+v, want %+v", text, l, want)
			}
			at++
			if offset = l.Offset + int64(len(l.Raw)); l.Terminated {
				offset++
			}
		}
		if at != len(lines) {
			t.Fatalf("%q: %d lines of %d", text, at, len(lines))
		}
	}
}
