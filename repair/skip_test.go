package repair

import (
	"bytes"
	"math/rand"
	"reflect"
	"runtime"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit/corpus"
	"github.com/hist-cli/hist/lint"
)

// TestSkip: a repair that copies sound lines in blocks makes what one makes that looks at each.
func TestSkip(t *testing.T) {
	t.Parallel()
	skipped := 0
	for seed := range int64(60) {
		text := damagedCorpus(t, seed)
		blocks, one := rewriteOf(t, text, false), rewriteOf(t, text, true)
		if !bytes.Equal(blocks.out, one.out) {
			t.Fatalf("seed %d: another copy", seed)
		}
		if a, b := blocks.rw, one.rw; a.Totals != b.Totals || a.Proof != b.Proof || a.from != b.from ||
			!reflect.DeepEqual(a.pieces, b.pieces) || !reflect.DeepEqual(places(a.Changes), places(b.Changes)) {
			t.Fatalf("seed %d: another report: %+v, %+v", seed, a.Totals, b.Totals)
		}
		if blocks.read < one.read {
			skipped++
		}
	}
	if skipped < 30 {
		t.Errorf("only %d repairs have skipped anything", skipped)
	}
}

// TestSkipAlone: on one processor, sound lines are copied in blocks also where many lines in front of them had to be read.
func TestSkipAlone(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var sound, text bytes.Buffer
	if err := corpus.Write(&sound, corpus.Options{Size: 3 << 20, Seed: 1, Paginated: true, Text: 300}); err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.SplitAfter(sound.Bytes(), newline) {
		if text.Len() < 1<<20 && i%20 == 19 {
			text.WriteString("garbage\n")
		}
		text.Write(line)
	}
	if got := rewriteOf(t, text.Bytes(), false); got.read > int64(text.Len()/2) {
		t.Errorf("%d of %d bytes were looked into", got.read, text.Len())
	}
}

// damagedCorpus is a session in which a few lines have gone, are torn, glued to the next or garbage.
func damagedCorpus(t *testing.T, seed int64) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := corpus.Write(&text, corpus.Options{Size: 400 << 10, Seed: seed, Paginated: seed%2 == 0, Text: 300}); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewSource(seed))
	lines := bytes.SplitAfter(text.Bytes(), newline)
	for range rng.Intn(4) {
		i := 1 + rng.Intn(len(lines)-2)
		switch rng.Intn(4) {
		case 0:
			lines[i] = nil
		case 1:
			lines[i] = append(bytes.Clone(lines[i][:len(lines[i])/2]), '\n')
		case 2:
			lines[i] = bytes.TrimSuffix(lines[i], newline)
		case 3:
			lines[i] = []byte("garbage\n")
		}
	}
	return append(bytes.Join(lines, nil), `{"timestamp":"2026-11`...)
}

type rewritten struct {
	out  []byte
	rw   *rewrite
	read int64 // bytes that were looked into
}

// rewriteOf repairs a session, looking at each line or not.
func rewriteOf(t *testing.T, text []byte, each bool) rewritten {
	t.Helper()
	src, err := source.Stdin(bytes.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	w := &job{Job: Job{Source: src, Mode: ToStream, Lint: lint.Options{Mend: Choice{}.Allows}}}
	if err := w.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.plan.folded = w.plan.folded || each
	var out bytes.Buffer
	rw := w.newRewrite(nil)
	if err := rw.Run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return rewritten{out.Bytes(), rw, int64(len(text)) - rw.skipped}
}

func places(changes []change) (list [][4]int64) {
	for _, c := range changes {
		list = append(list, [4]int64{c.Line, c.Offset, c.AfterLine, c.AfterAt})
	}
	return list
}
