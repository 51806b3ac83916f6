package repair

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/lint"
)

// TestPartialSendsNoLess repairs each damaged fixture by one of its rules alone: what is sent of the copy must hold what is sent of the
// session, less what was changed itself and what a compaction has replaced. It is read anew here, from the two texts alone.
func TestPartialSendsNoLess(t *testing.T) {
	paths, err := filepath.Glob("../fixtures/*/rules/*/bad*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	tried, refused := 0, 0
	for _, path := range paths {
		stem := strings.TrimSuffix(path, ".jsonl")
		opts, ok := fixtureOptions(t, stem)
		if !ok {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if base, err := os.ReadFile(stem + ".name"); err == nil {
			opts.Name = lint.NameOf(strings.TrimSpace(string(base)), false)
		}
		found, err := lint.Session(t.Context(), bytes.NewReader(text), opts)
		if err != nil {
			t.Fatal(err)
		}
		rules := ruleNames(choose(found.Findings, Choice{}).Mend)
		if len(rules) < 2 {
			continue
		}
		reader := all.Named(found.Summary.Agent)
		at := agent.ReadAt{Base: opts.Name.Base}
		before, err := reader.ReadSent(text, at, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range rules {
			tried++
			copied, _, err := repairAs(text, opts, Choice{Rules: []string{rule}})
			if errors.Is(err, ErrVerify) {
				refused++
				continue
			}
			if err != nil {
				t.Fatalf("%s --rule %s: %v", path, rule, err)
			}
			after, err := reader.ReadSent(copied, at, "")
			if err != nil {
				t.Fatal(err)
			}
			if lost := lostLines(text, copied, before, after); len(lost) > 0 {
				t.Errorf("%s --rule %s: lines %v are sent of the session, but not of the copy", path, rule, lost)
			}
		}
	}
	t.Logf("%d repairs of one rule, %d refused", tried, refused)
}

// lostLines are lines that the copy holds as they were, and that are sent of the session alone.
func lostLines(text, copied []byte, before, after *session.Sent) (lost []int64) {
	lines, kept := bytes.Split(text, []byte("\n")), map[string]int{}
	for line := range bytes.SplitSeq(copied, []byte("\n")) {
		kept[string(line)]++
	}
	sent := map[[16]byte]bool{}
	for i := range after.Items {
		sent[after.Items[i].Sum] = true
	}
	var from int64
	if n := after.Compacted.Line; n > 0 {
		mark := bytes.Split(copied, []byte("\n"))[n-1]
		for i, line := range lines {
			if bytes.Equal(line, mark) {
				from = int64(i) + 1
			}
		}
		if from == 0 {
			return nil // the mark itself was put back
		}
	}
	for _, i := range before.Missing(after) {
		item := &before.Items[i]
		if kept[string(lines[item.Pos.Line-1])] > 0 && !sent[item.Sum] && item.Pos.Line > from && !(after.Own() >= before.Own() && len(after.Steers) > 0) {
			lost = append(lost, item.Pos.Line)
		}
	}
	return lost
}
