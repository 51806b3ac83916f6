package source

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
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

// Any bit of what says how large things are is found, in a stream of several blocks, of which one is stored as it is.
func TestUnflipSizes(t *testing.T) {
	var b bytes.Buffer
	e, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	random := make([]byte, 1<<10)
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range random {
		random[i] = byte(rnd.Uint32())
	}
	for _, block := range [][]byte{sessionText(1 << 10), random, sessionText(1 << 10), []byte("the end\n")} {
		if _, err := e.Write(block); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(); err != nil { // which ends a block
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	headers, raw := blockHeaders(t, whole)
	if len(headers) < 4 || raw == 0 {
		t.Fatalf("%d blocks, %d of them raw", len(headers), raw)
	}
	for _, at := range headers {
		for bit := range 8 * blockHeaderSize {
			stored := bytes.Clone(whole)
			f := flip{int64(at + bit/8), 1 << (bit % 8)}
			f.apply(stored, 0)
			if found, err := findFlip(t.Context(), stored); err != nil || found == nil || *found != f {
				t.Errorf("bit %d of the block at %d: found %+v, %v", bit, at, found, err)
			}
		}
	}
	if cutOff(whole) {
		t.Error("a whole stream is taken for one that is broken off")
	}
	for cut := headers[1]; cut < len(whole); cut += 97 {
		if !cutOff(whole[:cut]) {
			t.Errorf("cut off at %d: not seen", cut)
		}
		if found, err := findFlip(t.Context(), whole[:cut]); found != nil || err != nil {
			t.Errorf("cut off at %d: found %+v, %v", cut, found, err)
		}
	}
}

// blockHeaders are the offsets of the headers of a sound stream's blocks, and how many blocks are stored as they are.
func blockHeaders(t *testing.T, stored []byte) (at []int, raw int) {
	t.Helper()
	var h zstd.Header
	if err := h.Decode(stored); err != nil {
		t.Fatal(err)
	}
	for next := h.HeaderSize; next+blockHeaderSize <= len(stored)-checksumSize; {
		header := int(stored[next]) | int(stored[next+1])<<8 | int(stored[next+2])<<16
		at = append(at, next)
		length := header >> 3
		switch header >> 1 & 3 {
		case rawBlock:
			raw++
		case repeatedBlock:
			length = 1
		}
		next += blockHeaderSize + length
	}
	return at, raw
}

// A stream that is too long to be searched is left as it is, at once.
func TestUnflipIsBounded(t *testing.T) {
	stored := compressed(t, sessionText(1<<20))
	stored[len(stored)/2] ^= 1
	if f, err := findFlip(t.Context(), stored); f != nil || err != nil {
		t.Errorf("%+v, %v", f, err)
	}
}

// A stream that asks for a window of 512 MiB is not given one to see whether it is broken off.
func TestBrokenOffIsBounded(t *testing.T) {
	const window = 19 << 3
	stored := []byte{0x28, 0xb5, 0x2f, 0xfd, 4, window}
	for range 4096 { // all of it
		const length = maxBlock<<3 | repeatedBlock<<1
		stored = append(stored, length&0xff, length>>8&0xff, length>>16, 'x')
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if cutOff(stored) {
		t.Error("it was decoded")
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > maxWindow {
		t.Errorf("%d MiB were asked for", (after.TotalAlloc-before.TotalAlloc)>>20)
	}
}
