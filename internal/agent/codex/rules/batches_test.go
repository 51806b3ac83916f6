package rules

import (
	"fmt"
	"strings"
	"testing"
)

// TestBatches: what is made several at a time stays what it was while more is made.
func TestBatches(t *testing.T) {
	var numbers batch[int]
	var texts textBatch
	var made []*int
	var written []string
	for i := range 1000 {
		n := numbers.one()
		if *n != 0 {
			t.Fatalf("number %d is %d from the beginning", i, *n)
		}
		*n = i
		text := []byte(fmt.Sprintf("%d%s", i, strings.Repeat("x", i%300)))
		made, written = append(made, n), append(written, texts.of(text))
		clear(text) // it was the line's
	}
	for i := range made {
		if want := fmt.Sprintf("%d%s", i, strings.Repeat("x", i%300)); *made[i] != i || written[i] != want {
			t.Fatalf("%d and %q, want %d and %q", *made[i], written[i], i, want)
		}
	}
}
