package repair

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// counting is a hist that counts how often each of its statements is run, and what reads its counts.
type counting struct{ dir, hist, covdata string }

func countingHist(t *testing.T) counting {
	if testing.Short() {
		t.Skip("builds hist, and repairs with it for a minute")
	}
	dir := t.TempDir()
	c := counting{dir: dir, hist: filepath.Join(dir, "hist")}
	build := exec.Command("go", "build", "-cover", "-covermode=count", "-coverpkg=../...", "-o", c.hist, "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	covdata, err := exec.Command("go", "tool", "-n", "covdata").Output()
	if err != nil {
		t.Fatal(err)
	}
	c.covdata = strings.TrimSpace(string(covdata))
	return c
}

// linear fails where the repair of an input four times as long is much more than four times the work. Work is the number of
// statements that are run, which no busy machine changes; quadratic work is sixteen times as much, and the bound is 2.2 for
// each doubling. It does not see what a single statement costs that hands a whole session to another library.
func (c counting) linear(t *testing.T, input func(n int) string) {
	const small, times, bound = 1000, 4, 2.2 * 2.2
	t.Parallel()
	few, many := c.repair(t, input(small)), c.repair(t, input(times*small))
	ratio := float64(total(many)) / float64(total(few))
	t.Logf("%.2f times the work for %d times the input", ratio, times)
	if ratio > bound {
		worst := slices.MaxFunc(slices.Collect(maps.Keys(many)), func(a, b string) int {
			return cmp.Compare(many[a]-times*few[a], many[b]-times*few[b])
		})
		t.Errorf("more than %.2f times; most of it is %s: %d statements became %d", bound, worst, few[worst], many[worst])
	}
}

// repair returns how many statements are run in each block of hist's code while it repairs a session.
func (c counting) repair(t *testing.T, session string) map[string]int {
	dir, err := os.MkdirTemp(c.dir, "") // its name is in a list of folders, and is to have no comma, as names of tests have
	file, counts, profile := filepath.Join(dir, "session.jsonl"), filepath.Join(dir, "counts"), filepath.Join(dir, "profile")
	if err := errors.Join(err, os.WriteFile(file, []byte(session), 0o600), os.Mkdir(counts, 0o700)); err != nil {
		t.Fatal(err)
	}
	repair := exec.Command(c.hist, "repair", "-o", file+".repaired", file)
	repair.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir, "GOCOVERDIR="+counts)
	if out, err := repair.CombinedOutput(); err != nil && repair.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command(c.covdata, "textfmt", "-i="+counts, "-o="+profile).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	run := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if block := strings.Fields(line); len(block) == 3 { // its place, its statements, how often they were run
			statements, _ := strconv.Atoi(block[1])
			times, _ := strconv.Atoi(block[2])
			run[block[0]] = statements * times
		}
	}
	return run
}

func total(run map[string]int) (all int) {
	for _, n := range run {
		all += n
	}
	return all
}
