package normalize

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// wideText is a text as UTF-16.
func wideText(text string, big bool) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return b
}

// TestWide: each line is read as what it begins as, however the file came to have both.
func TestWide(t *testing.T) {
	const one, two, three = "{\"a\":\"é😀\n", "{\"b\":\"\u7b0a\u227b\"}\r\n", "{\"c\":\"ü\"}\n"
	for _, big := range []bool{false, true} {
		mark := wideText("\ufeff", big)
		for name, c := range map[string]struct {
			parts [][]byte
			want  string
		}{
			"all wide":       {[][]byte{mark, wideText(one+two, big)}, "\ufeff" + one + two},
			"appended":       {[][]byte{mark, wideText(one+two, big), []byte(three + "\n" + three)}, "\ufeff" + one + two + three + "\n" + three},
			"and wide again": {[][]byte{wideText(one, big), []byte(three), mark, wideText(two+"\n"+one, big)}, one + three + two + "\n" + one},
			"a long line":    {[][]byte{wideText(one, big), []byte(strings.Repeat("x", 200_000) + "\n"), wideText(two+strings.Repeat("é", 100_000), big)}, one + strings.Repeat("x", 200_000) + "\n" + two + strings.Repeat("é", 100_000)},
			"half a unit":    {[][]byte{wideText(one+"{", big), []byte("x")}, one + "{\ufffd"},
			"half a pair":    {[][]byte{wideText("{\"", big), wideText("😀", big)[:2]}, "{\"\ufffd"},
		} {
			raw := bytes.Join(c.parts, nil)
			enc, r := Text(iotest.OneByteReader(bytes.NewReader(raw)))
			got, err := io.ReadAll(r)
			if err != nil || string(got) != c.want || (enc != UTF16LE && enc != UTF16BE) {
				t.Errorf("%s, big %v: %v, %v: %.200q, want %.200q", name, big, err, enc, got, c.want)
			}
		}
	}
}
