package repair

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/testkit/testhome"
)

// TestRolloutsInPlace counts the damaged sessions of Codex that lie in a home, beside its client's databases, copies of them,
// parents and forks, of which some are damaged, too, and whose repair is refused, beside them or in place; it wants none. Nor
// may a second repair in place find something to do, where the first was to mend all.
func TestRolloutsInPlace(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	archives, err := filepath.Glob("../fixtures/codex/rules/*/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no homes", err)
	}
	all := stocks(t)
	s := all[slices.IndexFunc(all, func(s *stock) bool { return s.agent == "codex" })]
	eachMutant(t, s, 100, func(m mutant) error {
		home := t.TempDir()
		defer os.RemoveAll(home)
		rng := rand.New(rand.NewSource(m.seed))
		archive := archives[rng.Intn(len(archives))]
		if err := testhome.Unpack(archive, home); err != nil {
			return err
		}
		rollouts, err := rolloutsIn(home)
		if err != nil || len(rollouts) == 0 {
			return err
		}
		path := rollouts[rng.Intn(len(rollouts))]
		for _, p := range rollouts {
			if p != path && rng.Intn(3) > 0 {
				continue
			}
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			var how string
			if text, how = s.broken(rng, text); p == path {
				m.text, m.name, m.how = text, archive, how
			} else if err := os.WriteFile(p, text, 0o600); err != nil {
				return err
			}
		}
		if err := os.WriteFile(path, m.text, 0o600); err != nil {
			return err
		}
		for n, mode := range []Mode{NewThread, InPlace, InPlace} {
			rep, err := restedRepair(t, m, home, path, mode)
			if meant := errors.Is(err, ErrDependants) || errors.Is(err, disk.ErrBusy); err != nil && !meant {
				return fmt.Errorf("%s%s: %s: %w", m.name, m.how, mode, err)
			}
			if whole := len(m.choice.Only)+len(m.choice.Rules) == 0; whole && n == 2 && err == nil && len(rep.Edits) > 0 {
				return &broken{m.name + m.how + ": a second repair changes the session", fmt.Sprintf("%+v", rep.Edits)}
			}
		}
		return nil
	})
}

// rolloutsIn are the sessions of a home.
func rolloutsIn(home string) (paths []string, err error) {
	err = filepath.WalkDir(home, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".jsonl") && strings.HasPrefix(filepath.Base(path), "rollout-") {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}
