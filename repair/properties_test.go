package repair

import (
	"bytes"
	"os"
	"path/filepath"
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
