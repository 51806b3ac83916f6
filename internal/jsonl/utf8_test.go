package jsonl

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestBadUTF8: one byte changed in a run of characters of three bytes is found wherever it stands, and only where
// unicode/utf8 finds it.
func TestBadUTF8(t *testing.T) {
	run := []byte(strings.Repeat("テストは成功しました。한국어漢字", 5))
	for at := range run {
		for c := range 256 {
			text := slices.Clone(run)
			text[at] = byte(c)
			bad := badUTF8(text)
			if (bad < 0) != utf8.Valid(text) || bad >= 0 && (!utf8.Valid(text[:bad]) || utf8.Valid(text[:bad+1])) {
				t.Fatalf("byte %#02x at %d: %d", c, at, bad)
			}
		}
	}
}
