package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/hist-cli/hist/internal/normalize"
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

// breaks are the ways in which a session is damaged at random. Each gets the session's lines, with their newlines, and
// a line of them.
var breaks = []struct {
	name string
	do   func(rng *rand.Rand, lines [][]byte, i int) [][]byte
}{
	{"drop", func(_ *rand.Rand, l [][]byte, i int) [][]byte { return slices.Delete(l, i, i+1) }},
	{"glue", edit(func(_ *rand.Rand, l []byte) []byte { return bytes.TrimSuffix(l, newline) })},
	{"tear and glue", edit(func(rng *rand.Rand, l []byte) []byte { return l[:rng.Intn(len(l)+1)] })},
	{"tear", edit(func(rng *rand.Rand, l []byte) []byte { return append(bytes.Clone(l[:rng.Intn(len(l)+1)]), '\n') })},
	{"behead", edit(func(rng *rand.Rand, l []byte) []byte { return l[rng.Intn(len(l)+1):] })},
	{"cut off", func(rng *rand.Rand, l [][]byte, i int) [][]byte {
		l[i] = l[i][:rng.Intn(len(l[i])+1)]
		return l[:i+1]
	}},
	{"byte", insertion1(func(rng *rand.Rand) string { return string([]byte{byte(rng.Intn(256))}) })},
	{"newline", insertion1(func(*rand.Rand) string { return "\n" })},
	{"zeros", insertion1(func(rng *rand.Rand) string { return string(make([]byte, 1+rng.Intn(600))) })},
	{"surrogate", insertion1(func(rng *rand.Rand) string { return fmt.Sprintf(`\ud%x3d`, 8+rng.Intn(8)) })},
	{"control", insertion1(func(rng *rand.Rand) string { return string(rune(rng.Intn(32))) })},
	{"foreign", insertion1(func(*rand.Rand) string { return "\xe9" })},
	{"mark", insertion1(func(*rand.Rand) string { return "\ufeff" })},
	{"separator", insertion1(func(*rand.Rand) string { return "\u2028" })},
	{"lose bytes", edit(func(rng *rand.Rand, l []byte) []byte {
		from := rng.Intn(len(l) + 1)
		to := from + rng.Intn(len(l)-from+1)
		return append(bytes.Clone(l[:from]), l[to:]...)
	})},
	{"overwrite", edit(func(rng *rand.Rand, l []byte) []byte {
		l = bytes.Clone(l)
		for n := rng.Intn(8); n >= 0 && len(l) > 0; n-- {
			l[rng.Intn(len(l))] = byte(rng.Intn(256))
		}
		return l
	})},
	{"zero out", edit(func(rng *rand.Rand, l []byte) []byte {
		l = bytes.Clone(l)
		if from := rng.Intn(len(l) + 1); from < len(l) {
			clear(l[from : from+rng.Intn(len(l)-from)])
		}
		return l
	})},
	{"twice", func(_ *rand.Rand, l [][]byte, i int) [][]byte { return slices.Insert(l, i, l[i]) }},
	{"copy", func(rng *rand.Rand, l [][]byte, i int) [][]byte { return slices.Insert(l, rng.Intn(len(l)), l[i]) }},
	{"swap", func(rng *rand.Rand, l [][]byte, i int) [][]byte {
		j := rng.Intn(len(l))
		l[i], l[j] = l[j], l[i]
		return l
	}},
	{"move", func(rng *rand.Rand, l [][]byte, i int) [][]byte {
		line := l[i]
		l = slices.Delete(l, i, i+1)
		return slices.Insert(l, rng.Intn(len(l)+1), line)
	}},
	{"garbage", func(_ *rand.Rand, l [][]byte, i int) [][]byte { return slices.Insert(l, i, []byte("garbage\n")) }},
	{"scalar", func(_ *rand.Rand, l [][]byte, i int) [][]byte { return slices.Insert(l, i, []byte("[17]\n")) }},
	{"blank", func(_ *rand.Rand, l [][]byte, i int) [][]byte { return slices.Insert(l, i, []byte(" \t\n")) }},
	{"interleave", func(rng *rand.Rand, l [][]byte, i int) [][]byte {
		if i+1 == len(l) {
			return l
		}
		n := rng.Intn(len(l[i]) + 1)
		mixed := slices.Concat(l[i][:n], l[i+1], l[i][n:])
		return slices.Replace(l, i, i+2, bytes.SplitAfter(mixed, newline)...)
	}},
	{"kind", replace(`_call_output"`, `_call"`)},
	{"other kind", replace(`"function_call`, `"custom_tool_call`)},
	{"ordinal", replace(`"ordinal":`, `"ordinal":1`)},
	{"ordinal as text", replace(`"ordinal":`, `"ordinal":"8","x":`)},
	{"no ordinal", replace(`"ordinal":`, `"cardinal":`)},
	{"header", replace(`"response_item"`, `"session_meta"`)},
	{"no header", replace(`"session_meta"`, `"session_beta"`)},
	{"version", replace(`"cli_version":"`, `"cli_version":7,"x":"`)},
	{"key twice", replace(`"payload":{`, `"payload":{"type":"x",`)},
	{"arguments", replace(`"arguments":"`, `"arguments":{},"x":"`)},
	{"crlf", replace("\n", "\r\n")},
}

func edit(do func(*rand.Rand, []byte) []byte) func(*rand.Rand, [][]byte, int) [][]byte {
	return func(rng *rand.Rand, lines [][]byte, i int) [][]byte {
		lines[i] = do(rng, lines[i])
		return lines
	}
}

func insertion1(what func(*rand.Rand) string) func(*rand.Rand, [][]byte, int) [][]byte {
	return edit(func(rng *rand.Rand, l []byte) []byte {
		at := rng.Intn(len(l) + 1)
		return slices.Concat(l[:at], []byte(what(rng)), l[at:])
	})
}

func replace(old, with string) func(*rand.Rand, [][]byte, int) [][]byte {
	return edit(func(_ *rand.Rand, l []byte) []byte { return bytes.Replace(l, []byte(old), []byte(with), 1) })
}

// break1 damages a session in one random way and says which.
func break1(rng *rand.Rand, text []byte) ([]byte, string) {
	lines := bytes.SplitAfter(text, newline)
	b := breaks[rng.Intn(len(breaks))]
	i := rng.Intn(len(lines))
	return bytes.Join(b.do(rng, lines, i), nil), fmt.Sprintf("%s at line %d", b.name, i+1)
}

// choices are what a user may ask for.
var choices = []struct {
	name   string
	choice Choice
}{
	{"all", Choice{}},
	{"--only exact", Choice{Only: []lint.Fix{lint.Exact}}},
	{"--only exact,recovered", Choice{Only: []lint.Fix{lint.Exact, lint.Recovered}}},
	{"--only stand-in,set-aside", Choice{Only: []lint.Fix{lint.StandIn, lint.SetAside}}},
	{"--tidy", Choice{Tidy: true}},
}

// TestRandomDamage breaks recordings in up to four ways at once. Whatever the bytes are, a repair never panics, nothing
// fixable is left in the copy, a second repair changes nothing, and lines change only where the report says so.
func TestRandomDamage(t *testing.T) {
	n := 3000
	if testing.Short() {
		n = 300
	}
	all := recordings(t)
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for seed := range n {
		rng := rand.New(rand.NewSource(int64(seed)))
		name := names[rng.Intn(len(names))]
		text, how := all[name], ""
		for range 1 + rng.Intn(4) {
			var way string
			text, way = break1(rng, text)
			how += "; " + way
		}
		c := choices[max(0, seed%(2*len(choices))-len(choices))]
		if err := laws(t, text, filepath.Base(name), c.choice); err != nil {
			t.Errorf("seed %d, %s%s: %s: %v", seed, name, how, c.name, err)
		}
	}
}

// failsCheck is the law that a copy passes its own check.
const failsCheck = "the copy fails its check"

// lintChosen lints as a repair with that choice does: what may not be mended is taken for what the client sees in it.
func lintChosen(t testing.TB, text []byte, name string, choice Choice) *lint.Result {
	t.Helper()
	res, err := lint.Session(context.Background(), bytes.NewReader(text), lint.Options{Name: lint.NameOf(name, false), Mend: choice.Allows})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// broken says which law of repair does not hold.
type broken struct {
	law, detail string
}

func (b *broken) Error() string { return b.law + ": " + b.detail }

// mendable is a finding that a repair in the same place would mend, nil if there is none.
func mendable(t testing.TB, res *lint.Result, choice Choice) *lint.Finding {
	t.Helper()
	plan := Choose(res.Findings, choice)
	for i := range plan.Mend {
		if plan.Mend[i].Rename == "" {
			return &plan.Mend[i]
		}
	}
	return nil
}

// laws repairs a session and tries what holds for every repair.
func laws(t testing.TB, text []byte, name string, choice Choice) (law *broken) {
	defer func() {
		if p := recover(); p != nil {
			law = &broken{"panic", fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
	}()
	if _, _, err := repairText(text, name, choice); errors.Is(err, lint.ErrUnclaimed) {
		return nil // nothing is repaired that no agent wrote
	}
	before := lintChosen(t, text, name, choice)
	out, rep, err := repairText(text, name, choice)
	switch {
	case errors.Is(err, ErrVerify):
		return &broken{failsCheck, err.Error()}
	case err != nil:
		return &broken{"refused", err.Error()}
	}
	after := lintChosen(t, out, name, choice)
	if f := mendable(t, after, choice); f != nil {
		return &broken{"something fixable is left", f.Rule.Name + " on " + f.Pos.String() + ": " + f.Message}
	}
	if again, _, err := repairText(out, name, choice); err != nil || !bytes.Equal(out, again) {
		return &broken{"a second repair changes the copy", fmt.Sprint(err)}
	}
	if mendable(t, before, choice) == nil && !bytes.Equal(text, out) {
		return &broken{"a session with nothing to mend is changed", ""}
	}
	if before.Summary.Encoding != normalize.UTF8 {
		return nil
	}
	was := map[string]int{}
	for _, l := range bytes.Split(text, newline) {
		was[unnumbered(l)]++
	}
	fresh := int64(0)
	for _, l := range bytes.Split(out, newline) {
		if key := unnumbered(l); was[key] > 0 {
			was[key]--
		} else if len(l) > 0 {
			fresh++
		}
	}
	if fresh > rep.Totals.Edited+rep.Totals.Added {
		return &broken{"lines changed that the report does not tell of", fmt.Sprintf("%d lines, %+v", fresh, rep.Totals)}
	}
	return nil
}

// TestHealthyUnderEveryChoice: whatever is asked for, a healthy recording is copied byte for byte.
func TestHealthyUnderEveryChoice(t *testing.T) {
	for name, text := range recordings(t) {
		if scenario := filepath.Base(filepath.Dir(name)); scenario != "clean" && scenario != "compact" {
			continue
		}
		for _, c := range choices {
			if out, _, err := repairText(text, filepath.Base(name), c.choice); err != nil || !bytes.Equal(out, text) {
				t.Errorf("%s, %s: changed (%v)", name, c.name, err)
			}
		}
	}
}

// unnumbered is a line without its ordinal.
func unnumbered(l []byte) string {
	if i := bytes.Index(l, []byte(`"ordinal":`)); i >= 0 && i < 60 {
		if j := bytes.IndexByte(l[i:], ','); j >= 0 {
			return string(l[:i]) + string(l[i+j+1:])
		}
	}
	return string(l)
}
