package lint

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"testing"

	"github.com/hist-cli/hist/internal/testkit/corpus"
	"github.com/hist-cli/hist/internal/testkit/testfile"
)

// TestManyProcessors: what is found in a long session, damaged in a hundred places, does not depend on how many
// processors scan it.
func TestManyProcessors(t *testing.T) {
	var claude bytes.Buffer
	if err := corpus.WriteClaude(&claude, corpus.Options{Size: 2 << 20, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"Codex 0.114.0": long(t, "0.114.0", 6<<20), "Codex 0.169.0": long(t, "0.169.0", 6<<20), "Claude Code": claude.Bytes()} {
		rng := rand.New(rand.NewSource(7))
		for range 100 {
			at := rng.Intn(len(text) - 600)
			switch rng.Intn(5) {
			case 0:
				text[at] = byte(rng.Intn(256))
			case 1:
				clear(text[at : at+rng.Intn(500)])
			case 2:
				text = append(text[:at], text[at+rng.Intn(500):]...)
			case 3:
				text = append(text[:at], append(bytes.Repeat([]byte("z"), rng.Intn(400<<10)), text[at:]...)...)
			case 4:
				if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
					text = slices.Insert(text, at+end, '\r')
				}
			}
		}
		one := withProcessors(t, 1, text)
		if len(one.Findings) < 40 {
			t.Fatalf("%s: only %d findings", name, len(one.Findings))
		}
		for _, n := range []int{2, 5} {
			if many := withProcessors(t, n, text); allOf(one) != allOf(many) {
				t.Errorf("%s: %d processors find something else than one", name, n)
			}
		}
	}
}

// allOf is all of a result but the functions in its edits, which can't be compared.
func allOf(res *Result) string {
	text := fmt.Sprintf("%+v\n", res.Summary) + testfile.Findings(res.Findings)
	for _, f := range res.Findings {
		for _, e := range f.Edits {
			text += fmt.Sprintln(f.Record, e.At, e.Op, e.Cuts, string(e.New.Literal), e.New.From != nil && e.New.From.Pos == f.Pos, e.Moved, e.Lead)
		}
	}
	return text
}

func withProcessors(t *testing.T, n int, text []byte) *Result {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	res, err := Session(context.Background(), bytes.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}
