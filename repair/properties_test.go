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
	"github.com/hist-cli/hist/internal/testkit"
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
// fixable is left in the copy if a record is, a second repair changes nothing, and lines change only where the report says so.
func TestRandomDamage(t *testing.T) {
	all := recordings(t)
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for seed := range testkit.Times(3000, 8) {
		rng := rand.New(rand.NewSource(int64(seed)))
		name := names[rng.Intn(len(names))]
		text, how := all[name], ""
		for range 1 + rng.Intn(4) {
			var way string
			text, way = break1(rng, text, rolloutBreaks)
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
	plan := choose(res.Findings, choice)
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
	if before.Summary.Records == 0 && bytes.Equal(out, text) {
		return nil // a repair that would leave an empty file leaves it as it is
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
