package normalize

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/testkit/corpus"
)

// TestAhead: what is read of a long session, damaged in many places, does not depend on whether its lines are scanned ahead, nor by how
// many goroutines.
func TestAhead(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 6 {
		var sound bytes.Buffer
		if err := corpus.Write(&sound, corpus.Options{Size: 2 << 20, Seed: rng.Int64(), Paginated: true, Text: 50 << rng.IntN(8)}); err != nil {
			t.Fatal(err)
		}
		text := damaged(rng, sound.Bytes())
		want := readAll(t, text, 0)
		for _, scanners := range []int{1, 2, 5} {
			got := readAll(t, text, scanners)
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("%d scanners: record %d is\n%.300s\nwant\n%.300s", scanners, i, got[i], want[i])
				}
			}
			if len(got) != len(want) {
				t.Fatalf("%d scanners: %d records and faults, want %d", scanners, len(got), len(want))
			}
		}
	}
}

// damaged cuts, turns over, doubles and breaks up pieces of a text.
func damaged(rng *rand.Rand, text []byte) []byte {
	for range 60 {
		at, n := rng.IntN(len(text)), 1+rng.IntN(4000)
		end := min(at+n, len(text))
		switch rng.IntN(6) {
		case 0:
			text = append(bytes.Clone(text[:at]), text[end:]...)
		case 1:
			clear(text[at:end])
		case 2:
			text[at] ^= 1 << rng.IntN(8)
		case 3:
			text = append(bytes.Clone(text[:end]), text[at:]...)
		case 4:
			text = append(append(bytes.Clone(text[:at]), '\n'), text[at:]...)
		case 5:
			if k := bytes.IndexByte(text[at:], '\n'); k >= 0 {
				text = append(bytes.Clone(text[:at+k]), text[at+k+1:]...)
			}
		}
	}
	return text
}

// readAll is all that is read of a text, in words.
func readAll(t *testing.T, text []byte, scanners int) (all []string) {
	f := New(bytes.NewReader(text), Options{Decoder: codex.Decoder{}, Scanners: scanners})
	defer f.Close()
	for {
		rec, err := f.Next()
		for _, fault := range f.Faults() {
			all = append(all, fmt.Sprintf("%v %s %v %d", fault.Pos, fault.Rule.Name, fault.Fix, fault.Offset))
		}
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%v %d %d %s %s %q %q %v %v %v %v %v %q", rec.Pos, rec.Offset, rec.Size, rec.Kind, rec.Type, rec.ID, rec.CallID, rec.Ordinal,
			rec.Torn, rec.Mended, rec.Drop, rec.Begins, rec.Raw))
	}
}
