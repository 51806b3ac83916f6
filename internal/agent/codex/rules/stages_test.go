package rules_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/agent/codex/rules"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/lint"
)

// TestStages: within a stage, the order of the checkers does not matter.
func TestStages(t *testing.T) {
	paths, err := filepath.Glob("../../../../fixtures/codex/*/*/*.jsonl")
	if err != nil || len(paths) < 100 {
		t.Fatal("no fixtures", err)
	}
	made := rules.Agent.NewCheckers
	t.Cleanup(func() { rules.Agent.NewCheckers = made })
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var want []lint.Finding
		for seed := range int64(4) {
			rules.Agent.NewCheckers = func(run *check.Run) []check.Checker {
				stages := rules.Stages(run, run.History().(*codex.History))
				rng := rand.New(rand.NewSource(seed))
				for _, s := range stages {
					if seed > 0 {
						rng.Shuffle(len(s), func(i, k int) { s[i], s[k] = s[k], s[i] })
					}
				}
				return slices.Concat(stages...)
			}
			res, err := lint.Session(context.Background(), bytes.NewReader(text), lint.Options{Agent: codex.Name, Name: lint.NameOf(path, false)})
			if err != nil {
				t.Fatal(err)
			}
			got := res.Findings
			slices.SortFunc(got, func(a, b lint.Finding) int {
				return cmp.Or(a.Pos.Compare(b.Pos), cmp.Compare(a.Rule.Name, b.Rule.Name), cmp.Compare(a.Message, b.Message))
			})
			if seed == 0 {
				want = got
			} else if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: in another order of checkers (seed %d):\n%s\nwant:\n%s", path, seed, listed(got), listed(want))
			}
		}
	}
}

func listed(findings []lint.Finding) (out string) {
	for _, f := range findings {
		out += fmt.Sprintf("%v %s %v %v: %s %+v\n", f.Pos, f.Rule.Name, f.Impact, f.Fix, f.Message, f.Edits)
	}
	return out
}
