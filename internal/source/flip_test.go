package source

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// sessionText is lines like a session's, of about size bytes.
func sessionText(size int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"timestamp":"2026-11-18T09:30:%02d.%03dZ","ordinal":%d,"type":"event_msg","payload":{"type":"agent_message","message":"%x"}}`+"\n", i%60, i%1000, i, rnd.Uint64())
	}
	return b.Bytes()
}

func compressed(t *testing.T, text []byte, opts ...zstd.EOption) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil, opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	return e.EncodeAll(text, nil)
}

func TestUnflip(t *testing.T) {
	text := sessionText(6 << 10)
	whole := compressed(t, text)
	var h zstd.Header
	if err := h.Decode(whole); err != nil || !h.HasCheckSum {
		t.Fatalf("%+v, %v", h, err)
	}
	flipped := func(at, bit int) []byte {
		b := bytes.Clone(whole)
		b[at] ^= 1 << bit
		return b
	}
	for _, c := range []struct {
		name   string
		stored []byte
		at     int64 // -1: there is no such bit
	}{
		{"in a block", flipped(len(whole)/2, 3), int64(len(whole) / 2)},
		{"in the first byte", flipped(0, 7), 0},
		{"the flag of the checksum", flipped(magicSize, 2), magicSize},
		{"in the size of the block", flipped(h.HeaderSize+1, 4), int64(h.HeaderSize + 1)},
		{"in the size of the content", flipped(h.HeaderSize-1, 1), int64(h.HeaderSize - 1)},
		{"in the checksum", flipped(len(whole)-2, 0), int64(len(whole) - 2)},
		{"two bits", func() []byte { b := flipped(len(whole)/2, 3); b[len(whole)/3] ^= 1; return b }(), -1},
		{"cut off", whole[:len(whole)/2], -1},
		{"without a checksum", func() []byte { b := compressed(t, text, zstd.WithEncoderCRC(false)); b[len(b)/2] ^= 8; return b }(), -1},
		{"nothing", nil, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.jsonl.zst")
			if err := os.WriteFile(path, c.stored, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			ok, err := s.Unflip(t.Context())
			at, set := s.Flipped()
			if err != nil || ok != (c.at >= 0) || ok != set || ok && at != c.at {
				t.Fatalf("%v at %d, %v, want it at %d", ok, at, err, c.at)
			}
			r, err := s.Reader(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			got, err := io.ReadAll(r)
			if ok && (err != nil || !bytes.Equal(got, text)) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if !ok && err == nil && len(c.stored) > 0 && c.name != "without a checksum" {
				t.Error("it decodes, though no bit was found")
			}
			raw, err := s.Raw(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			if stored, err := io.ReadAll(raw); err != nil || !bytes.Equal(stored, c.stored) {
				t.Errorf("the stored bytes are not what they are: %v", err)
			}
		})
	}
}

// A stream that is too long to be searched is left as it is, at once.
func TestUnflipIsBounded(t *testing.T) {
	stored := compressed(t, sessionText(1<<20))
	stored[len(stored)/2] ^= 1
	if f, err := findFlip(t.Context(), stored); f != nil || err != nil {
		t.Errorf("%+v, %v", f, err)
	}
}
