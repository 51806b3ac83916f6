package format

import (
	"io"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/escape"
)

// everyHidden has a character of each kind that must never be printed as it is.
const everyHidden = "a\x01\x1b[31m\x7f\u0085\u009b31m\u061c\u200e\u200f\u202a\u202e\u2066\u2069\u2028\u2029\ufeffz é 日本 👩‍💻"

func raw(s string) bool { return strings.ContainsFunc(s, escape.Hidden) }

// No format lets hidden characters of a path, a message or an error through.
func TestNothingHiddenInAnyFormat(t *testing.T) {
	list := []*Session{{Path: everyHidden, Findings: []Finding{{
		Path: everyHidden, Line: 1, Rule: "torn-tail", Impact: "loses", Fix: "none", Message: everyHidden, Record: everyHidden, Source: everyHidden, Fails: true,
	}, {Path: everyHidden, Rule: "torn-tail", Impact: "loses", Fix: "none", Message: everyHidden}}}, {Path: everyHidden, Err: io.ErrUnexpectedEOF}}
	for name := range printers {
		if text := written(t, name, list); raw(text) {
			t.Errorf("%s: %q", name, text)
		}
	}
	for _, s := range []string{Printable(everyHidden), OneLine(everyHidden), Command(everyHidden)} {
		if raw(s) {
			t.Errorf("%q", s)
		}
	}
}
