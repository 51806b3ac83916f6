package jsonl

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func FuzzScan(f *testing.F) {
	for _, l := range seedLines {
		f.Add([]byte(l))
		f.Add([]byte(l[:len(l)/2]))
	}
	s := NewScanner(mustCompile(wanted...))
	spans := make([]Span, len(wanted))
	f.Fuzz(func(t *testing.T, line []byte) {
		if err := check(s, spans, line); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), uint8(3), uint8(2), uint8(0))
	f.Add([]byte("0123456789abcdef\nx\r\n\n"), uint8(4), uint8(1), uint8(1))
	f.Add(bytes.Repeat([]byte("long"), 100), uint8(1), uint8(9), uint8(2))
	f.Fuzz(func(t *testing.T, text []byte, buffer, piece, kind uint8) {
		readAll(t, text, int(buffer)+1, int(piece)+1, int(kind))
	})
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "plain", "日本😀", "\x00\b\f\n\r\t\x1f\x7f\"\\/<>&\u2028", "\xff", `"\ud83d\ude00\ud83d"`, `"\`, `"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkQuote(t, s) })
}

// checkQuote takes s for a text and for a literal.
func checkQuote(t *testing.T, s string) {
	quoted := AppendQuote([]byte("x"), s)[1:]
	var ref string
	if err := json.Unmarshal(quoted, &ref); err != nil || !utf8.Valid(quoted) {
		t.Fatalf("%q: quoted %q: %v", s, quoted, err)
	}
	want := string([]rune(s)) // bad bytes become U+FFFD
	if got, ok := Unquote(quoted); !ok || got != want || ref != want {
		t.Fatalf("%q: quoted %q, unquoted %q %v", s, quoted, got, ok)
	}

	for _, literal := range []string{s, `"` + s + `"`} {
		got, ok := Unquote([]byte(literal))
		ref, want := "", len(literal) > 0 && literal[0] == '"' && literal[len(literal)-1] == '"'
		if want {
			want = json.Unmarshal([]byte(literal), &ref) == nil
		}
		if ok != want || got != ref {
			t.Fatalf("%q: %q %v, want %q %v", literal, got, ok, ref, want)
		}
	}
}
