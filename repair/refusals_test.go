package repair

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/hist-cli/hist/lint"
)

var (
	mutants   = flag.Int("mutants", 0, "how many damaged sessions TestNoRefusals repairs; 0: a few thousand")
	firstSeed = flag.Int64("seed", 0, "the seed of the first of them")
)

// mutant is a session that was damaged at random, and what a repair of it is asked for.
type mutant struct {
	name, how string
	text      []byte
	choice    Choice
	opts      lint.Options
}

// mutable are the sessions that mutants are made of: recordings, and the fixtures of the rules, which are damaged already.
func mutable(t testing.TB) map[string][]byte {
	t.Helper()
	all := recordings(t)
	for _, pattern := range []string{"../fixtures/codex/rules/*/*.jsonl", "../fixtures/codex/healthy/*/session.jsonl"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("no fixtures: %v", err)
		}
		for _, p := range paths {
			if all[p], err = os.ReadFile(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// newMutant damages a session in one way (two of three seeds) or in up to five ways at once. Some are repaired under
// other choices and conditions than the usual ones.
func newMutant(all map[string][]byte, names []string, seed int64) mutant {
	rng := rand.New(rand.NewSource(seed))
	m := mutant{name: names[rng.Intn(len(names))]}
	m.text = all[m.name]
	ways := 1
	if rng.Intn(3) == 0 {
		ways = 2 + rng.Intn(4)
	}
	for range ways {
		var way string
		m.text, way = break1(rng, m.text)
		m.how += "; " + way
	}
	m.opts.Name = lint.NameOf(filepath.Base(m.name), false)
	switch rng.Intn(9) {
	case 0, 1, 2:
		m.opts.Provider = "openrouter"
	case 3:
		m.opts.KeepOrphans = true
	case 4:
		m.opts.StripEncrypted = true
	case 5:
		m.opts.For = map[string]string{"codex": []string{"0.58.0", "0.145.0", "0.153.0"}[rng.Intn(3)]}
	}
	if rng.Intn(4) == 0 {
		if n := rng.Intn(len(choices) + 3); n < len(choices) {
			m.choice = choices[n].choice
		} else {
			for range n - len(choices) + 1 {
				m.choice.Rules = append(m.choice.Rules, lint.Rules[rng.Intn(len(lint.Rules))].Name)
			}
		}
	}
	m.opts.Mend, m.opts.Agent = m.choice.Allows, "codex"
	return m
}

func (m mutant) String() string {
	o := m.opts
	return fmt.Sprintf("%s%s: %+v, provider %q, keep orphans %v, strip %v, for %q", m.name, m.how, m.choice, o.Provider, o.KeepOrphans, o.StripEncrypted, o.For["codex"])
}

// TestNoRefusals counts the damaged sessions whose repair is refused, and wants none: whatever the damage, and whatever
// was chosen, what is mended passes its own check. With -mutants N it repairs so many, from -seed on.
func TestNoRefusals(t *testing.T) {
	n := int64(*mutants)
	if n == 0 {
		if n = 4000; testing.Short() {
			n = 400
		}
	}
	all := mutable(t)
	names := slices.Sorted(maps.Keys(all))
	var lock sync.Mutex
	refused := map[string]int{}
	seeds := make(chan int64)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := range seeds {
				m := newMutant(all, names, seed)
				_, _, err := repairAs(m.text, m.opts, m.choice)
				if err == nil {
					continue
				}
				what := "other"
				if errors.Is(err, ErrVerify) {
					what = failsCheck
				}
				lock.Lock()
				refused[what]++
				lock.Unlock()
				t.Errorf("seed %d: %s: %v", seed, m, err)
			}
		})
	}
	for seed := *firstSeed; seed < *firstSeed+n; seed++ {
		seeds <- seed
	}
	close(seeds)
	workers.Wait()
	t.Logf("%d repairs, refused: %v", n, refused)
}
