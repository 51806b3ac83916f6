package repair

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/testkit"
)

// counting is a hist that counts how often each of its statements is run, and what reads its counts.
type counting struct{ dir, hist, covdata string }

func countingHist(t *testing.T) counting {
	if !*testkit.Long {
		t.Skip("builds hist, and repairs with it for a minute")
	}
	dir := t.TempDir()
	c := counting{dir: dir, hist: filepath.Join(dir, "hist")}
	build := exec.Command("go", "build", "-cover", "-covermode=count", "-coverpkg=../...,github.com/tidwall/gjson", "-o", c.hist, "..")
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

// linear fails where an input four times as long takes much more than four times the work in any block of hist's code, or of what reads
// JSON for it, that counts. Work is the number of statements that are run, which no busy machine changes; what is quadratic grows by four
// for each doubling, and the bound is 2.4. It does not see what a single statement costs that hands a whole session to another library.
func (c counting) linear(t *testing.T, input func(n int) string) {
	const small, times, bound, counts = 1000, 4, 2.4 * 2.4, 0.01
	t.Parallel()
	few, many := c.repair(t, input(small)), c.repair(t, input(times*small))
	all := 0
	for _, n := range many {
		all += n
	}
	for block, n := range many {
		if growth := float64(n) / float64(few[block]); growth > bound && float64(n) > counts*float64(all) {
			t.Errorf("%s: %d statements for %d records, %d for %d: %.2f times as many", block, few[block], small, n, times*small, growth)
		}
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
