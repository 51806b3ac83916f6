package jsonl

import (
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
)

// TestWideKeepsInside: no byte in front of a text or behind it is read. The text stands between pages that no one may read.
func TestWideKeepsInside(t *testing.T) {
	if !wide {
		t.Skip("this processor has no AVX2")
	}
	page := os.Getpagesize()
	room, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(room) //nolint:errcheck // the test ends
	for _, shut := range [][]byte{room[:page], room[2*page:]} {
		if err := syscall.Mprotect(shut, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	pieces := []string{"a", "é", "日", "😀", `\n`, `\\`, `\`, `\u0041`, "plain text plain text plain text ", "\x80", "\xff", `\"`, `"`}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range manyTexts() {
		text := pieceOf(r, pieces, r.IntN(60))
		at := room[page : page+len(text)]
		if i%2 == 0 {
			at = room[2*page-len(text) : 2*page]
		}
		copy(at, text)
		badUTF8(at)
		s := NewScanner(nil)
		s.begin()
		s.text(at, 0)
		s.mark(at)
		s.text(at, 0)
	}
}
