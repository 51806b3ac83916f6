package repair

import (
	"bytes"
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// recordings are the sessions that properties are tried on.
func recordings(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../fixtures/codex/*/*/rollout-*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	out := map[string][]byte{}
	for _, p := range paths {
		if out[p], err = os.ReadFile(p); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// break1 damages a session in one random way.
func break1(rng *rand.Rand, text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	i := rng.Intn(len(lines))
	line := bytes.Clone(lines[i])
	at := rng.Intn(len(line) + 1)
	insert := func(what ...byte) []byte { return append(append(bytes.Clone(line[:at]), what...), line[at:]...) }
	switch rng.Intn(11) {
	case 0:
		line = nil
	case 1:
		line = bytes.TrimSuffix(line, []byte("\n"))
	case 2:
		line = line[:at]
	case 3:
		line = insert(byte(rng.Intn(256)))
	case 4:
		line = append(line, line...)
	case 5:
		j := rng.Intn(len(lines))
		line, lines[j] = lines[j], line
	case 6:
		line = append([]byte("garbage\n"), line...)
	case 7:
		line = insert('\n')
	case 8:
		line = insert(0, 0, 0, 0)
	case 9:
		line = bytes.ReplaceAll(line, []byte("_call_output"), []byte("_call"))
	case 10:
		line = bytes.Replace(line, []byte(`"ordinal":`), []byte(`"ordinal":1`), 1)
	}
	lines[i] = line
	return bytes.Join(lines, nil)
}

// TestRandomDamage breaks recordings in up to four ways at once. A repair never panics; it succeeds or refuses with
// ErrVerify, publishing nothing; and what it has repaired it leaves alone.
func TestRandomDamage(t *testing.T) {
	n := 4000
	if testing.Short() {
		n = 400
	}
	all := recordings(t)
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	rng := rand.New(rand.NewSource(20261120))
	refused := 0
	choices := []Choice{{}, {}, {}, {Only: []lint.Fix{lint.Exact}}, {Only: []lint.Fix{lint.Exact, lint.Recovered}}, {Tidy: true}}
	for range n {
		name := names[rng.Intn(len(names))]
		text := all[name]
		for range 1 + rng.Intn(4) {
			text = break1(rng, text)
		}
		choice := choices[rng.Intn(len(choices))]
		out, _, err := repairText(text, filepath.Base(name), choice)
		if err != nil {
			if !errors.Is(err, ErrVerify) {
				t.Fatalf("%v\n%q", err, text)
			}
			refused++
			continue
		}
		again, _, err := repairText(out, filepath.Base(name), choice)
		if err != nil || !bytes.Equal(out, again) {
			t.Errorf("%s: a second repair changes the copy (%v)\n%q", name, err, text)
		}
	}
	t.Logf("%d of %d refused", refused, n)
	if refused > n/100 {
		t.Errorf("%d of %d repairs were refused by their own check", refused, n)
	}
}

// FuzzRepair feeds any bytes to lint and repair.
func FuzzRepair(f *testing.F) {
	for _, text := range recordings(f) {
		f.Add(text[:min(len(text), 4096)])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out, _, err := repairText(text, "", Choice{})
		if err != nil {
			return // refused: nothing is published
		}
		again, _, err := repairText(out, "", Choice{})
		if err != nil || !bytes.Equal(out, again) {
			t.Errorf("a second repair changes the copy (%v)", err)
		}
	})
}
