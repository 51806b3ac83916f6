package repair

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/lint"
)

// TestTreesAreMended: what is left of random damage to a session of Claude Code after a repair is no damage that a client
// sees, the client sends no less of it than before, unless that is all that it sent of the sound one, and a second repair changes nothing.
func TestTreesAreMended(t *testing.T) {
	eachMutant(t, trees(t), 2000, func(m mutant) error { return mended(t, m) })
}

// trees are the sessions of Claude Code.
func trees(t testing.TB) *stock {
	all := stocks(t)
	return all[slices.IndexFunc(all, func(s *stock) bool { return s.agent == "claude" })]
}

// TestTreesInPlace: a damaged session that lies in its client's home is mended there, and copied beside, as elsewhere: alone
// in its folder, and beside damaged copies of it, which are where it looks for what it has lost.
func TestTreesInPlace(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, copies := range []int{0, 3} {
		t.Run(fmt.Sprintf("%d copies", copies), func(t *testing.T) {
			s := trees(t)
			eachMutant(t, s, 200, func(m mutant) error {
				home := t.TempDir()
				defer os.RemoveAll(home)
				rng := rand.New(rand.NewSource(m.seed))
				project := filepath.Join(home, "projects", "-home-dev-demo")
				if err := os.MkdirAll(project, 0o700); err != nil {
					return err
				}
				for n := range copies {
					text, _ := s.damaged(rng, m.name)
					if err := os.WriteFile(filepath.Join(project, treeName(n+1)), text, 0o600); err != nil {
						return err
					}
				}
				return inItsHome(t, m, home, filepath.Join(project, treeName(0)))
			})
		})
	}
}

// treeName is the name of the n-th session of a folder.
func treeName(n int) string { return fmt.Sprintf("11111111-1111-4111-8111-%012d.jsonl", n) }

// inItsHome repairs a damaged session beside itself and in place, where a second repair is to change nothing.
func inItsHome(t *testing.T, m mutant, home, path string) error {
	if err := os.WriteFile(path, m.text, 0o600); err != nil {
		return err
	}
	var once []byte
	for _, mode := range []Mode{NewThread, InPlace, InPlace} {
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil { // nobody writes it
			return err
		}
		rep, err := repairInHome(t, m, home, path, mode)
		if err != nil {
			return fmt.Errorf("%s: %w", mode, err)
		}
		if mode == NewThread && rep.Target != "" {
			if err := repairedStays(t, m, home, rep.Target); err != nil {
				return err
			}
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
}

func repairInHome(t *testing.T, m mutant, home, path string, mode Mode) (*Report, error) {
	m.opts.Name = lint.NameOf(path, true)
	return Do(t.Context(), Job{
		Path: path, Lint: m.opts, Choice: m.choice, Mode: mode, Home: home,
		Begin:   func() (*runs.Run, error) { return runs.New("test") },
		Records: func() []runs.Manifest { return nil },
	})
}

// repairedStays says whether the copy beside a session is mended for good: a repair of it finds nothing to do.
func repairedStays(t *testing.T, m mutant, home, path string) error {
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		return err
	}
	was, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	rep, err := repairInHome(t, m, home, path, InPlace)
	if err != nil {
		return fmt.Errorf("the copy beside: %w", err)
	}
	if is, err := os.ReadFile(path); err != nil || !bytes.Equal(was, is) {
		return &broken{"a repair changes the copy beside", fmt.Sprintf("%+v, %v", rep.Edits, err)}
	}
	return nil
}

// mended tries these laws. A repair that was asked to leave something owes less, none makes a conversation of a file that
// holds none, and damage stays that lint says can't be mended, or the repair says would take something from the conversation.
func mended(t testing.TB, m mutant) error {
	before, err := lint.Session(t.Context(), bytes.NewReader(m.text), m.opts)
	if err != nil {
		return err
	}
	out, rep, err := repairAs(m.text, m.opts, m.choice)
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
		beyond := func(b lint.Finding) bool { return b.Rule == f.Rule && b.Fix == lint.NoFix && f.Fix == lint.NoFix }
		// What a mend made readable may be damage that nothing mends: the report tells of it.
		told := func(l Left) bool { return l.Rule == f.Rule.Name && f.Fix == lint.NoFix }
		if f.Impact != lint.Notes && !slices.ContainsFunc(before.Findings, beyond) && !slices.ContainsFunc(rep.Left, told) && !leftOut(rep, f.Rule.Name) {
			return &broken{"damage is left", f.Rule.Name + " on " + f.Pos.String() + ": " + f.Message}
		}
	}
	if after.Summary.Seen < before.Summary.Seen && !slices.ContainsFunc(before.Findings, takesOut) {
		if whole := seenOfWhole(t, m); after.Summary.Seen < whole {
			return &broken{"the client sends less", fmt.Sprintf("%d items before, %d after, %d of the session that was damaged", before.Summary.Seen, after.Summary.Seen, whole)}
		}
	}
	return nil
}

// leftOut says whether a repair has told that it leaves a rule out, because mending it would take something from the conversation.
func leftOut(rep *Report, rule string) bool {
	return slices.ContainsFunc(rep.Notes, func(note string) bool {
		rules, _, ok := strings.Cut(note, " left as ")
		return ok && slices.Contains(strings.Fields(rules), rule)
	})
}

// seenOfWhole is how many items the client sends of the session that was damaged, mended if it was damaged before. It may be
// less than of the damaged one: what the client leaves out on purpose it sends where it can't tell any more.
func seenOfWhole(t testing.TB, m mutant) int64 {
	t.Helper()
	out, _, err := repairAs(m.whole, m.opts, m.choice)
	if err != nil {
		t.Fatal(err)
	}
	res, err := lint.Session(t.Context(), bytes.NewReader(out), m.opts)
	if err != nil {
		t.Fatal(err)
	}
	return res.Summary.Seen
}

// none says whether nothing of a conversation is in the file.
func none(f lint.Finding) bool {
	return slices.Contains([]string{"no-conversation", "empty-file", "torn-tail", "bad-json"}, f.Rule.Name)
}

// takesOut says whether a mend takes out of the history what a client sends: what the API refuses, what stands there twice,
// or all that was compacted, as where the mark of a compaction is read again, or the client begins behind it again.
func takesOut(f lint.Finding) bool {
	behindMark := f.Rule.Name == "wrong-leaf" && strings.Contains(f.Message, "before a compaction")
	return behindMark || f.Fix == lint.SetAside || f.Rule.Family == "compaction" || f.Rule.Name == "empty-text" || f.Rule.Name == "duplicate-call-id" ||
		f.Rule.Name == "missing-uuid" && f.Record == "system"
}
