package repair

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/lint"
)

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
