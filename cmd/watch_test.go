package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/testkit/testhome"
	"github.com/hist-cli/hist/lint"
)

// TestWatchTellsHidden: a name that would turn a terminal's text around, or command it, is printed in no form as it is.
func TestWatchTellsHidden(t *testing.T) {
	for _, args := range [][]string{nil, {"--json"}} {
		flags := flag.NewFlagSet("watch", flag.ContinueOnError)
		flags.Bool("json", false, "")
		if err := flags.Parse(args); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		w := &watchRun{env: &env{out: &out}, c: cli.NewContext(nil, flags, nil)}
		if err := w.tell(sessionState{Path: "a\u202eb\u009bc.jsonl", State: goneState}); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); strings.ContainsAny(text, "\u202e\u009b") || !strings.Contains(text, ".jsonl") {
			t.Errorf("%v: %q", args, text)
		}
	}
}

// TestWatch: a session that gets damaged, is mended, breaks in a new directory and goes is told each time, and only then.
func TestWatch(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	fixture := func(name string) []byte {
		text, err := os.ReadFile("../fixtures/codex/rules/call-without-output/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	bad, sound := fixture("bad.jsonl"), fixture("ok.jsonl")
	dir := t.TempDir()
	put := func(path string, text []byte) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+".new", text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	const name = "rollout-2026-11-18T09-30-00-01a1edfd-e191-74b0-9003-79b97f4a7c15.jsonl"
	one, other := filepath.Join(dir, "21", name), filepath.Join(dir, "22", strings.Replace(name, "7c15", "7c16", 1))
	put(one, sound)

	ctx, cancel := context.WithCancel(t.Context())
	out, printed := io.Pipe()
	problems, complained := io.Pipe()
	ended := make(chan error, 1)
	e := &env{in: strings.NewReader(""), out: printed, err: complained}
	ran := filepath.Join(t.TempDir(), "ran")
	go func() {
		args := []string{"hist", "watch", "--json", "--rest", "20ms", "--exec", `echo "$HIST_SESSION" >>"` + ran + `"`, dir}
		err := newApp(e).RunContext(ctx, args)
		printed.Close()
		complained.Close()
		ended <- err
	}()
	first, err := bufio.NewReader(problems).ReadString('\n')
	if err != nil || !strings.Contains(first, "watching 2 directories") {
		t.Fatal(first, err)
	}
	go io.Copy(io.Discard, problems) //nolint:errcheck // nothing more is expected
	lines := json.NewDecoder(out)
	expect := func(path, state string) {
		t.Helper()
		var got sessionState
		if err := lines.Decode(&got); err != nil || got.Path != path || got.State != state || (state == damagedState) != (got.Findings > 0 && len(got.Rules) > 0 && got.Worst != "") {
			t.Fatalf("%+v, %v; want %s of %s", got, err, state, path)
		}
		if (state == unreadableState) != (got.Error != "") || strings.Contains(got.Error, path) {
			t.Errorf("%s: the error is %q", path, got.Error)
		}
	}
	put(one, bad)
	expect(one, damagedState)
	put(one, bytes.Clone(bad)) // the same state: no line
	put(other, bad)
	expect(other, damagedState)
	put(one, sound)
	expect(one, soundState)
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	expect(other, goneState)
	foreign := filepath.Join(dir, "22", "foreign.jsonl")
	put(foreign, []byte("nobody's\n"))
	expect(foreign, unreadableState)
	cancel()
	if err := <-ended; err == nil {
		t.Error("it ended by itself")
	}
	if text, err := os.ReadFile(ran); err != nil || string(text) != one+"\n"+other+"\n" {
		t.Errorf("ran for %q, %v", text, err)
	}
}

// TestWatchStray: what comes into an agent's home and is no session is not told of.
func TestWatchStray(t *testing.T) {
	home := t.TempDir()
	for name, dir := range map[string]string{"XDG_CACHE_HOME": "cache", "CODEX_HOME": "codex", "CLAUDE_CONFIG_DIR": "claude"} {
		t.Setenv(name, filepath.Join(home, dir))
	}
	dir := filepath.Join(home, "codex", "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	bad, err := os.ReadFile("../fixtures/codex/rules/call-without-output/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	out, printed := io.Pipe()
	problems, complained := io.Pipe()
	ended := make(chan error, 1)
	e := &env{in: strings.NewReader(""), out: printed, err: complained}
	go func() {
		err := newApp(e).RunContext(ctx, []string{"hist", "watch", "--json", "--rest", "20ms"})
		printed.Close()
		complained.Close()
		ended <- err
	}()
	if first, err := bufio.NewReader(problems).ReadString('\n'); err != nil {
		t.Fatal(first, err)
	}
	go io.Copy(io.Discard, problems) //nolint:errcheck // nothing more is expected
	session := filepath.Join(dir, "rollout-2026-11-18T09-30-00-01a1edfd-e191-74b0-9003-79b97f4a7c15.jsonl")
	put := func(path string, text []byte) { // at once: on a busy machine an empty file may rest for long
		made := filepath.Join(home, "made")
		if err := errors.Join(os.WriteFile(made, text, 0o600), os.Rename(made, path)); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(dir, "notes.jsonl"), []byte("{}\n"))
	put(session, bad) // told of behind the other: they are in the order in which they rest
	var got sessionState
	if err := json.NewDecoder(out).Decode(&got); err != nil || got.Path != session || got.State != damagedState {
		t.Errorf("%+v, %v; want the damaged session alone", got, err)
	}
	cancel()
	go io.Copy(io.Discard, out) //nolint:errcheck // nothing more is expected
	<-ended
}

// TestWatchUnnoticed: a call without an output is no damage yet where the client may still run it and leaves no sign of
// that. It is once the file has rested for long, or where the client would have left a sign.
func TestWatchUnnoticed(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	open, err := filepath.Glob("../fixtures/claude/2.1.2/kill_in_tool/*.jsonl")
	if err != nil || len(open) != 1 {
		t.Fatal(open, err)
	}
	text, err := os.ReadFile(open[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(open[0]))
	app := newApp(&env{in: strings.NewReader(""), out: io.Discard, err: io.Discard})
	w := &watchRun{c: cli.NewContext(app, flag.NewFlagSet("", flag.ContinueOnError), &cli.Context{Context: t.Context()}), threshold: lint.Loses}
	for _, c := range []struct {
		version string
		rested  time.Duration
		state   string
		live    bool
	}{
		{"2.1.2", 0, soundState, true},
		{"2.1.2", unsure + time.Minute, damagedState, false},
		{"2.1.100", 0, damagedState, false},
	} {
		if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(`"version":"2.1.2"`), []byte(`"version":"`+c.version+`"`)), 0o600); err != nil {
			t.Fatal(err)
		}
		changed := time.Now().Add(-c.rested)
		if err := os.Chtimes(path, changed, changed); err != nil {
			t.Fatal(err)
		}
		now, live, err := w.state(path)
		if err != nil || now.State != c.state || live != c.live {
			t.Errorf("%s, changed %s ago: %s, in use %v, %v; want %s, %v", c.version, c.rested, now.State, live, err, c.state, c.live)
		}
	}
}

func TestWatchRefuses(t *testing.T) {
	for _, args := range [][]string{{"--rest", "-1s", "."}, {"--exec", "true", "--exec-timeout", "-1s", "."}, {"--exec-timeout", "1s", "."}, {"--fail-on", "all", "."}} {
		if code := Main(append([]string{"hist", "watch"}, args...), strings.NewReader(""), io.Discard, io.Discard); code != ExitUsage {
			t.Errorf("%v: exit %d", args, code)
		}
	}
	var errs bytes.Buffer
	if code := Main([]string{"hist", "watch", filepath.Join(t.TempDir(), "none")}, strings.NewReader(""), io.Discard, &errs); code != ExitIO || !strings.Contains(errs.String(), "none: no such file") {
		t.Errorf("exit %d, %s", code, errs.String())
	}
}

// TestWatchStatus: the help page lists no exit code that hist watch does not end with.
func TestWatchStatus(t *testing.T) {
	for _, row := range exitStatus("watch") {
		if row[0] == strconv.Itoa(ExitOK) {
			t.Errorf("exit code %s: %s", row[0], row[1])
		}
	}
}

// TestWatchedHomes: a home in which no session was ever begun is waited for.
func TestWatchedHomes(t *testing.T) {
	codex, claude, pi := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("CODEX_HOME", codex)
	t.Setenv("CLAUDE_CONFIG_DIR", claude)
	t.Setenv("PI_CODING_AGENT_DIR", pi)
	paths, err := watched(nil)
	if want := []string{filepath.Join(codex, "sessions"), filepath.Join(claude, "projects"), filepath.Join(pi, "sessions")}; err != nil || !slices.Equal(paths, want) {
		t.Errorf("%q, %v, want %q", paths, err, want)
	}
}

// TestWatchBeside: what is wrong between a session and the client's list of its home counts, once nobody has the session open.
func TestWatchBeside(t *testing.T) {
	for name, want := range map[string]int{"bad": 1, "ok": 0} {
		home := t.TempDir()
		if err := testhome.Unpack("../fixtures/codex/rules/projection-stale/"+name+".txtar", home); err != nil {
			t.Fatal(err)
		}
		paths, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.jsonl"))
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		w := &watchRun{c: cli.NewContext(nil, flag.NewFlagSet("watch", flag.ContinueOnError), nil)}
		w.c.Context = t.Context()
		res, live, err := w.lint(paths[0])
		if err != nil || live {
			t.Fatal(live, err)
		}
		if n := len(slices.DeleteFunc(res.Findings, func(f lint.Finding) bool { return f.Impact == lint.Notes })); n != want {
			t.Errorf("%s: %d findings, want %d", name, n, want)
		}
	}
}
