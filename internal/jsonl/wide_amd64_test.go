package jsonl

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// bothWays gives what do returns with and without assembly.
func bothWays[T any](do func() T) (words, blocks T) {
	wide = false
	words = do()
	wide = true
	return words, do()
}

// manyTexts is how many are compared.
func manyTexts() int {
	if testing.Short() {
		return 20_000
	}
	return 200_000
}

// pieceOf takes a number of pieces at random.
func pieceOf(r *rand.Rand, pieces []string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// TestWideText: texts end in the same place, with the same faults, whether they are looked at by words, by blocks, or with the
// marks of the whole line.
func TestWideText(t *testing.T) {
	if !wide {
		t.Skip("this processor has no AVX2")
	}
	type seen struct {
		end, control int
		verdict      Verdict
		high         bool
	}
	odd := []string{`\n`, `\\`, `\`, `\\\`, `\u0041`, `\ud83d\ude00`, `\ud83d`, `\u00`, `\x`, `"`, "\x1f", "\x00", "\x7f", "日", "\x80", "\xff", `\"`, `\/`, `\b\f\r\t`}
	plain := []string{"a", "words ", strings.Repeat("-", 31), strings.Repeat("plain text ", 6), " ", "/"}
	r := rand.New(rand.NewPCG(8, 8))
	ends, escaped, shut := 0, 0, 0 // texts that are long, have a wrong escape, or are not marked
	texts := manyTexts()
	for i := range texts {
		line := []byte{'"'}
		if i < 256 { // every byte behind a backslash
			line = fmt.Appendf(line, `%0*d\%c%080d"`, 80+i%64, 0, 0, 0)
			line[bytes.IndexByte(line, '\\')+1] = byte(i)
		}
		for range r.IntN(8) {
			line = append(line, pieceOf(r, plain, r.IntN(12))...)
			line = append(line, pieceOf(r, odd[:1+r.IntN(len(odd))], r.IntN(5))...)
		}
		words, blocks := bothWays(func() seen {
			s := NewScanner(nil)
			s.begin()
			end := s.text(line, 1)
			return seen{end, s.control, *s.verdict, s.high&highs != 0}
		})
		marked := func() seen {
			s := NewScanner(nil)
			s.begin()
			s.mark(line)
			if len(line) < 64 || len(line) > maxMarked {
				shut++
			} else if s.marked != len(line) {
				t.Fatalf("%q: marked up to %d", line, s.marked)
			}
			return seen{s.text(line, 1), s.control, *s.verdict, s.high&highs != 0}
		}()
		if end := max(blocks.end, 0); bytes.ContainsFunc(line[:end], func(c rune) bool { return c > 0x7f }) && !(blocks.high && marked.high) {
			t.Fatalf("%q: bytes above 0x7f went unseen", line)
		}
		blocks.high, marked.high = words.high, words.high // each looks some way beyond the end
		if words != blocks || words != marked {
			t.Fatalf("%q: %+v by blocks, %+v with marks, %+v by words", line, blocks, marked, words)
		}
		if words.end > 64 {
			ends++
		}
		if words.verdict.Fault == Syntax {
			escaped++
		}
	}
	if ends < texts/20 || escaped < texts/200 || shut > texts/2 {
		t.Errorf("only %d texts were long, %d had a wrong escape, %d were not marked", ends, escaped, shut)
	}
}

// TestWideUTF8: the first byte that is no UTF-8 is the same.
func TestWideUTF8(t *testing.T) {
	if !wide {
		t.Skip("this processor has no AVX2")
	}
	pieces := []string{"a", "é", "日", "😀", "ascii and more of it ", strings.Repeat("本", 9), strings.Repeat("x", 32), "\U0010ffff", "\ud7ff", "\ue000", "\u0800", "\u07ff", "\u0080"}
	wrong := []string{"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5", "\xff", "\xe3\x81", "\xf0\x9f\x98", "\xc3"}
	r := rand.New(rand.NewPCG(9, 9))
	for i := range manyTexts() {
		text := pieceOf(r, pieces, r.IntN(30))
		switch i % 3 {
		case 1:
			text += pieceOf(r, wrong, 1) + pieceOf(r, pieces, r.IntN(30))
		case 2:
			b := []byte(text)
			if len(b) > 0 {
				b[r.IntN(len(b))] = byte(r.IntN(256))
			}
			text = string(b)
		}
		if words, blocks := bothWays(func() int { return badUTF8([]byte(text)) }); words != blocks {
			t.Fatalf("%q: at %d by blocks, %d by words", text, blocks, words)
		}
	}
}
