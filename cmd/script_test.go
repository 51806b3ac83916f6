package cmd

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hist-cli/hist/internal/publish"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "hist" { // tests leave the user's cache alone
		os.Setenv("XDG_CACHE_HOME", filepath.Join(os.TempDir(), "hist-test-cache"))
	}
	publish.Sync = publish.NoSync // no power is lost where only processes are killed
	testscript.Main(m, map[string]func(){
		"hist": func() {
			watchSteps()
			if path := os.Getenv(syncsFile); path != "" {
				publish.Sync = func(f *os.File) error { return errors.Join(f.Sync(), addTo(path, f.Name()+"\n")) }
			}
			code := Main(os.Args, os.Stdin, os.Stdout, os.Stderr)
			reportPeak()
			os.Exit(code)
		},
	})
}

// syncsFile names the variable that tells a child where to write what it waits for the disk to take.
const syncsFile = "HIST_TEST_SYNCS"

func addTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// peakFile names the variable that tells a child where to leave its peak of memory.
const peakFile = "HIST_TEST_PEAK"

// reportPeak leaves this process's peak of memory where the variable says. Linux counts it since exec, while what
// wait4 tells includes the parent's.
func reportPeak() {
	path := os.Getenv(peakFile)
	status, err := os.ReadFile("/proc/self/status")
	if path == "" || err != nil {
		return
	}
	if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
		os.WriteFile(path, []byte(strings.Fields(after)[0]), 0o600) //nolint:errcheck // its reader sees to it
	}
}

// TestScripts runs the sessions in testdata/script: terminal sessions as a user might have them. $FIXTURES is the
// repository's fixtures; each script has a home and a state folder of its own.
func TestScripts(t *testing.T) {
	fixtures, err := filepath.Abs("../fixtures")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("FIXTURES", fixtures)
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("CODEX_HOME", filepath.Join(e.WorkDir, "codex"))
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("KILLED", "rollout-2026-11-20T19-53-51-01a1fa85-bfc3-74d1-9684-43a82083e7d1.jsonl")
			e.Setenv("CLEAN", "rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-f6ebde981289.jsonl")
			e.Setenv("ID", "01a1fa85-bfc3-74d1-9684-43a82083e7d1")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "capture": capture, "aged": aged, "mtime": mtime, "mode": mode,
		},
	})
}

// exits CODE PROGRAM ARGS... runs the program, which must end with the code. What it printed is for stdout and stderr.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var ee *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &ee) {
		got = ee.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// capture VARIABLE PATTERN FILE keeps what the pattern's first group matches in a file, or in stdout.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	m := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile(args[2]))
	if m == nil {
		ts.Fatalf("%s does not match %s", args[2], args[1])
	}
	ts.Setenv(args[0], m[1])
}

var longAgo = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// aged FILE... gives files a modification time long ago; mtime FILE... checks that they have it still.
func aged(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		ts.Check(os.Chtimes(ts.MkAbs(name), longAgo, longAgo))
	}
}

func mtime(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if !info.ModTime().Equal(longAgo) {
			ts.Fatalf("%s: modified %s", name, info.ModTime())
		}
	}
}

// mode BITS PATH... checks permission bits.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args[1:] {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[0] {
			ts.Fatalf("%s: mode %s, want %s", name, got, args[0])
		}
	}
}
