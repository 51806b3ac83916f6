package repair

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/lint"
)

// TestTreesAreMended: what is left of random damage to a session of Claude Code after a repair is no damage that a client
// sees, the client sends no less of it than before, and a second repair changes nothing.
func TestTreesAreMended(t *testing.T) {
	eachMutant(t, trees(t), 2000, func(m mutant) error { return mended(t, m) })
}

// trees are the sessions of Claude Code.
func trees(t testing.TB) *stock {
	all := stocks(t)
	return all[slices.IndexFunc(all, func(s *stock) bool { return s.agent == "claude" })]
}

// TestTreesInPlace: a damaged session that lies in its client's home is mended there, and copied beside, as elsewhere.
func TestTreesInPlace(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := t.TempDir()
	var number atomic.Int64
	eachMutant(t, trees(t), 200, func(m mutant) error {
		n := number.Add(1)
		project := filepath.Join(home, "projects", fmt.Sprintf("-home-dev-demo%d", n))
		path := filepath.Join(project, fmt.Sprintf("11111111-1111-4111-8111-%012d.jsonl", n))
		if err := os.MkdirAll(project, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, m.text, 0o600); err != nil {
			return err
		}
		m.opts.Name, m.opts.Path = lint.NameOf(path, true), path
		var once []byte
		for _, mode := range []Mode{NewThread, InPlace, InPlace} {
			if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil { // nobody writes it
				return err
			}
			_, err := Do(t.Context(), Job{
				Path: path, Lint: m.opts, Choice: m.choice, Mode: mode, Home: home,
				Begin:   func() (*runs.Run, error) { return runs.New("test") },
				Records: func() []runs.Manifest { return nil },
			})
			if err != nil {
				return fmt.Errorf("%s: %w", mode, err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if mode == InPlace && once != nil && !bytes.Equal(text, once) {
				return &broken{law: "a second repair changes the session"}
			}
			if mode == InPlace {
				once = text
			}
		}
		return nil
	})
}

// mended tries these laws. A repair that was asked to leave something owes less, and none makes a conversation of a file
// that holds none.
func mended(t testing.TB, m mutant) error {
	before, err := lint.Session(t.Context(), bytes.NewReader(m.text), m.opts)
	if err != nil {
		return err
	}
	out, _, err := repairAs(m.text, m.opts, m.choice)
	if err != nil {
		return nil // TestNoRefusals counts those
	}
	again, _, err := repairAs(out, m.opts, m.choice)
	if err != nil || !bytes.Equal(again, out) {
		return &broken{"a second repair changes the copy", fmt.Sprint(err)}
	}
	after, err := lint.Session(t.Context(), bytes.NewReader(out), m.opts)
	if err != nil || len(m.choice.Only)+len(m.choice.Rules) > 0 || slices.ContainsFunc(after.Findings, none) {
		return err
	}
	for _, f := range after.Findings {
		if f.Impact != lint.Notes {
			return &broken{"damage is left", f.Rule.Name + " on " + f.Pos.String() + ": " + f.Message}
		}
	}
	if after.Summary.Seen < before.Summary.Seen && !slices.ContainsFunc(before.Findings, takesOut) {
		return &broken{"the client sends less", fmt.Sprintf("%d items before, %d after", before.Summary.Seen, after.Summary.Seen)}
	}
	return nil
}

// none says whether nothing of a conversation is in the file.
func none(f lint.Finding) bool {
	return slices.Contains([]string{"no-conversation", "empty-file", "torn-tail", "bad-json"}, f.Rule.Name)
}

// takesOut says whether a mend takes out of the history what a client sends: what the API refuses, what stands there twice,
// or all that was compacted, as where the mark of a compaction is read again.
func takesOut(f lint.Finding) bool {
	return f.Fix == lint.SetAside || f.Rule.Family == "compaction" || f.Rule.Name == "empty-text" || f.Rule.Name == "duplicate-call-id" ||
		f.Rule.Name == "missing-uuid" && f.Record == "system"
}
