package api

import (
	"bytes"
	"testing"
)

// TestWideDigits: every byte is or is no digit, wherever it stands, whether it is looked at in blocks or by itself.
func TestWideDigits(t *testing.T) {
	if !wideDigits {
		t.Skip("this processor has no AVX2")
	}
	defer func() { wideDigits = true }()
	for c := range 256 {
		for at := range 200 {
			text := bytes.Repeat([]byte("Az09+/"), 35)
			text[at] = byte(c)
			wideDigits = false
			want := hasNonDigit(text)
			wideDigits = true
			if got := hasNonDigit(text); got != want || want != (nonDigit[c] != 0) {
				t.Fatalf("%#x at %d: %v in blocks, %v by bytes", c, at, got, want)
			}
		}
	}
}
