package normalize

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

// frames reads all records of a text: their places and bytes.
func frames(t *testing.T, text []byte) (at []session.Pos, raw [][]byte, end int64) {
	t.Helper()
	f := New(bytes.NewReader(text), Options{Decoder: codex.Decoder{}})
	for {
		rec, err := f.Next()
		if errors.Is(err, io.EOF) {
			return at, raw, f.Offset()
		}
		if err != nil {
			t.Fatal(err)
		}
		at, raw = append(at, rec.Pos), append(raw, bytes.Clone(rec.Raw))
	}
}

// FuzzNormalizer: the same bytes give the same records at the same places, in order, and all bytes are read.
func FuzzNormalizer(f *testing.F) {
	for _, seed := range []string{
		"{\"timestamp\":\"t\",\"type\":\"a\",\"payload\":{}}\n{\"timestamp\":\"t\",\"type\":\"b\",\"payload\":{}}",
		"{\"timestamp\":\"t\",\"type\":\"a\",\"payl{\"timestamp\":\"t\",\"type\":\"b\",\"payload\":{}}\n",
		"\xef\xbb\xbf{}\n\x00\x00\n", "{\"timestamp\":\"t\",\"type\":\"a\",\"payload\":{\"x\":\"a\nb\"}}\n", "{\x00\"\x00", "\xff\xfe{\x00}\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		at, raw, end := frames(t, text)
		at2, raw2, _ := frames(t, text)
		if len(at) != len(at2) {
			t.Fatalf("%d records, then %d", len(at), len(at2))
		}
		for i := range at {
			if at[i] != at2[i] || !bytes.Equal(raw[i], raw2[i]) {
				t.Fatalf("record %d: %v %q, then %v %q", i, at[i], raw[i], at2[i], raw2[i])
			}
			if i > 0 && !at[i-1].Less(at[i]) {
				t.Fatalf("%v comes before %v", at[i-1], at[i])
			}
		}
		if sniff(text[:min(4, len(text))]) == UTF8 && end != int64(len(text)) {
			t.Fatalf("%d of %d bytes were read", end, len(text))
		}
	})
}
