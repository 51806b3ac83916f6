package repair

import (
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
	c.grows(t, 1000, func(n int) map[string]int { return c.repair(t, input(n)) })
}

func (c counting) grows(t *testing.T, small int, work func(n int) map[string]int) {
	const times, bound, counts = 4, 2.4 * 2.4, 0.01
	t.Parallel()
	few, many := work(small), work(times*small)
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
	dir := c.folder(t)
	file := filepath.Join(dir, "session.jsonl")
	if err := os.WriteFile(file, []byte(session), 0o600); err != nil {
		t.Fatal(err)
	}
	return c.run(t, dir, "repair", "-o", file+".repaired", file)
}

// folder is a new one, without a comma in its name, as names of tests have: it is in a list of folders.
func (c counting) folder(t *testing.T) string {
	dir, err := os.MkdirTemp(c.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// run returns how many statements are run in each block of hist's code by a command, for which a directory is the user's home.
func (c counting) run(t *testing.T, dir string, args ...string) map[string]int {
	counts, profile := filepath.Join(dir, "counts"), filepath.Join(dir, "profile")
	if err := os.Mkdir(counts, 0o700); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(c.hist, args...)
	command.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir, "GOCOVERDIR="+counts)
	if out, err := command.CombinedOutput(); err != nil && command.ProcessState.ExitCode() != 1 {
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
