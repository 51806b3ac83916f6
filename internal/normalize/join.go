package normalize

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/finding"
)

// join reads a record that raw newlines have broken over several lines. It takes those lines if they are one record, and
// returns nil if they are not.
func (f *Normalizer) join(raw []byte) []byte {
	if !f.line.Terminated || f.startsRecord(raw) < 0 {
		return nil
	}
	f.line.hold()
	text := bytes.Clone(raw)
	plain := bytes.Clone(raw)
	size := f.line.size
	folded := true // all lines but the last are equally long
	for i := 0; i < maxJoinLines; i++ {
		next := f.peek(i)
		if next == nil || next.Passed > 0 || len(text)+len(next.Raw) > maxJoinBytes || f.startsRecord(next.Raw) >= 0 {
			return nil
		}
		text = append(append(text, '\n'), next.Raw...)
		plain = append(plain, next.Raw...)
		size += next.size
		if end := bytes.TrimRight(next.Raw, " \t\r"); len(end) == 0 || end[len(end)-1] != '}' {
			if !next.Terminated {
				return nil
			}
			folded = folded && len(next.Raw) == len(raw)
			continue
		}
		candidates := [][]byte{escapeControls(wholeWords(text)), plain}
		if folded && len(next.Raw) <= len(raw) && (i > 0 || slices.Contains(widths, len(raw))) {
			slices.Reverse(candidates) // a program has wrapped the text: its newlines are none of it
		}
		for _, candidate := range candidates {
			if p, ok := f.wholeRecord(candidate); ok {
				f.report(SplitRecord, len(raw), max(finding.Exact, p.fix), fmt.Sprintf("one record is broken over %d lines: the client drops all of them", i+2))
				f.line.size, f.rec.Size = size, size
				f.line.Terminated, f.line.Raw = next.Terminated, text
				f.ahead = f.ahead[i+1:]
				// The newlines that are left are between the tokens, where clients write nothing.
				return bytes.ReplaceAll(p.raw, []byte{'\n'}, nil)
			}
		}
		if !next.Terminated {
			return nil
		}
	}
	return nil
}

// widths are how long programs let a line become before they wrap it, in bytes: terminals, mail, buffers.
var widths = []int{72, 76, 78, 79, 80, 100, 120, 132, 160, 200, 998, 1000, 1023, 1024, 2047, 2048, 4095, 4096, 8191, 8192, 16384, 32768, 65535, 65536}

// minWord is the length in bytes from which on a string of the characters of ids, times and encoded bytes is taken for one
// of these, and not for somebody's text.
const minWord = 16

// wholeWords removes the newlines that nobody can have written: those that break the name of a member, a type or a role,
// or a string that is a single word with a digit in it. Newlines in other strings may belong to the text, as in a list of
// names, or behind a hash that a command printed.
func wholeWords(text []byte) []byte {
	out := make([]byte, 0, len(text))
	var name []byte
	for i := 0; i < len(text); {
		if text[i] != '"' {
			out = append(out, text[i])
			i++
			continue
		}
		end := i + 1
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(text))
		whole := bytes.ReplaceAll(bytes.ReplaceAll(text[i:end], []byte("\r\n"), nil), []byte{'\n'}, nil)
		behind := bytes.TrimLeft(text[end:], " \t\r\n")
		isName := len(behind) > 0 && behind[0] == ':'
		if isName || string(name) == `"type"` || string(name) == `"role"` || isBrokenWord(text[i:end]) {
			out = append(out, whole...)
		} else {
			out = append(out, text[i:end]...)
		}
		if name = nil; isName {
			name = whole
		}
		i = end
	}
	return out
}

// isBrokenWord says whether a string, in its quotes, is an id, a time or encoded bytes with a newline inside.
func isBrokenWord(quoted []byte) bool {
	front, back, broken := bytes.Cut(bytes.Trim(quoted, `"`), []byte{'\n'})
	front = bytes.TrimSuffix(front, []byte{'\r'})
	if !broken || len(front) == 0 || len(back) == 0 || len(front)+len(back) < minWord {
		return false
	}
	word := string(front) + string(back)
	if _, err := time.Parse(time.RFC3339, word); err == nil {
		return true
	}
	return strings.ContainsAny(word, "0123456789") && !strings.ContainsFunc(word, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("_+/=-", c))
	})
}

// startsRecord returns where in raw a record begins: 0 at its start, -1 nowhere.
func (f *Normalizer) startsRecord(raw []byte) int {
	at := -1
	for _, s := range f.dec.Starts() {
		if i := bytes.Index(raw, s); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	return at
}
