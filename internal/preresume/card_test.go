package preresume

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// text is a session in memory.
type text string

func (s text) Reader(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(string(s))), nil
}

// card makes the card of a session, as text.
func card(t *testing.T, session string, opts CardOptions) *Card {
	t.Helper()
	result, err := lint.Session(t.Context(), strings.NewReader(session), lint.Options{Live: opts.Live})
	if err != nil {
		t.Fatal(err)
	}
	c, err := MakeCard(t.Context(), text(session), result, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func recording(t *testing.T, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../../fixtures", pattern))
	if err != nil || len(paths) != 1 {
		t.Fatal(pattern, paths, err)
	}
	raw, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// What the card says of what real clients wrote, and of the restart rules' examples.
func TestCards(t *testing.T) {
	killed := recording(t, "codex/0.169.0/kill_in_tool_resumed0/*.jsonl")
	for name, tc := range map[string]struct {
		session string
		opts    CardOptions
		want    []string
		not     []string
	}{
		"killed, not resumed": {recording(t, "codex/0.169.0/kill_in_tool/*.jsonl"), CardOptions{}, []string{
			"turn 1, which began on line 2, never ended; its last record is of 2026-11-20",
			"side effects unknown, no output of: exec_command (call_2), apply_patch (call_p3)",
			"was worked on, and has no answer in words", "findings that are more than notes: 3",
		}, []string{"since the restart", "list the files"}},
		"killed and resumed": {killed, CardOptions{}, []string{
			"turn 1, which began on line 2, never ended", "the session went on at line 19",
			"no output of: exec_command (call_2), apply_patch (call_p3)", "the last one, line 21 (19:53:58), 12 characters, was answered",
			"since the restart, new: line 21 (19:53:58); the newest counts", "written by Codex 0.169.0",
		}, []string{"calls of other turns", "please go on"}},
		"with content": {killed, CardOptions{Content: true}, []string{"it begins: “please go on”"}, nil},
		// the agent asks for the card in the turn that runs now: its own call is not taken for one that was cut off
		"asked by the agent": {strings.Join(strings.SplitAfter(killed, "\n")[:23], ""), CardOptions{Live: true}, []string{
			"no output of: exec_command (call_2), apply_patch (call_p3)", "the session went on at line 19",
			"12 characters, is being worked on now",
		}, []string{"call_7"}},
		"nothing was cut off": {recording(t, "codex/0.169.0/clean/*.jsonl"), CardOptions{}, []string{
			"nowhere: its last turn, 1, is completed", "was answered",
		}, []string{"side effects", "since the restart", "Sandbox", "Save", "Session file"}},
		"failed":             {recording(t, "codex/0.145.0/capacity/*.jsonl"), CardOptions{}, []string{"is failed (server_overloaded)"}, nil},
		"before turns ended": {recording(t, "codex/0.79.0/kill_in_tool_resumed0/*.jsonl"), CardOptions{}, []string{"calls of other turns that have no output: 2, the newest shell (call_2), apply_patch (call_p3)"}, nil},
		"after a repair":     {recording(t, "codex/rules/restart-gap/bad.repaired"), CardOptions{}, []string{"side effects unknown, no output of: exec_command (call_2)"}, []string{"Session file"}},
		"repaired, resumed": {recording(t, "codex/rules/call-without-output/bad-killed.repaired"), CardOptions{}, []string{
			"was cut off, and has been repaired", "the session went on at line", "side effects unknown, no output of: exec_command (call_1)",
		}, []string{"Session file", "nowhere"}},
		"stale wakes":         {recording(t, "codex/rules/stale-wake/bad.jsonl"), CardOptions{}, []string{"word for word as before it: line 16 (10:01:05)", "since the restart, new: line 23 (10:01:07); the newest counts"}, nil},
		"sandbox":             {recording(t, "codex/rules/sandbox-only-failure/bad.jsonl"), CardOptions{}, []string{"the command of call call_1 failed on the network inside the sandbox"}, nil},
		"save":                {recording(t, "codex/rules/missing-save/bad.jsonl"), CardOptions{}, []string{"save it now"}, nil},
		"no turn, no records": {"", CardOptions{}, []string{"the session has no turn", "the session records none"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := card(t, tc.session, tc.opts).Text()
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("lacks %q:\n%s", want, got)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(got, not) {
					t.Errorf("has %q:\n%s", not, got)
				}
			}
		})
	}
}

const header = `{"timestamp":"2026-11-20T10:00:00.000Z","type":"session_meta","payload":{"id":"019a0000-0000-7000-8000-000000000001","timestamp":"2026-11-20T10:00:00.000Z","cwd":%q,"originator":"x","cli_version":"0.114.0","git":{"commit_hash":%q,"branch":%q}}}` + "\n"

// The recorded checkout is compared with what git says now.
func TestWorkingDirectory(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q", "-b", "main")
	run("commit", "-q", "--allow-empty", "-m", "one")
	first := run("rev-parse", "HEAD")
	says := func(cwd, now string, want ...string) {
		t.Helper()
		got := card(t, fmt.Sprintf(header, cwd, first, "main"), CardOptions{CWD: now}).Text()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("lacks %q:\n%s", w, got)
			}
		}
	}
	says(dir, dir, "commit: "+first+", as when", "branch: main, as when", "no file is changed")
	run("checkout", "-q", "-b", "other")
	run("commit", "-q", "--allow-empty", "-m", "two")
	if err := os.WriteFile(filepath.Join(dir, "new.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	says(dir, "/elsewhere", "moved from "+first+", when the session began, to "+run("rev-parse", "HEAD"), "moved from main", "new ones too: 1", "you are in another one: /elsewhere")
	// settings of the repository that would run a program are not obeyed
	run("config", "core.fsmonitor", "touch "+filepath.Join(dir, "ran"))
	says(dir, dir, "new ones too: 1")
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("git ran what the repository names")
	}
	run("checkout", "-q", "--detach")
	says(dir, dir, "moved from main, when the session began, to none")
	says(t.TempDir(), "", "git knows nothing about it")
	says(filepath.Join(dir, "gone"), "", "the recorded directory does not exist now")
	t.Setenv("PATH", t.TempDir())
	says(dir, dir, "git is not installed")
}

// A card stays short and on its lines, whatever the session holds.
func TestLimits(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, header, "/w/"+strings.Repeat("long/", 1000), strings.Repeat("a", 9000), "x\n# heading `y`\u202e\x1b[31m")
	put := func(payload string) {
		fmt.Fprintf(&b, `{"timestamp":"2026-11-20T10:00:01.000Z","type":"event_msg","payload":{"type":"task_started","turn_id":"t%d"}}`+"\n", b.Len())
		fmt.Fprintf(&b, `{"timestamp":"2026-11-20T10:00:01.000Z","type":"response_item","payload":%s}`+"\n", payload)
	}
	for i := range 300 {
		put(fmt.Sprintf(`{"type":"function_call","name":%q,"arguments":"{}","call_id":"c\n%d"}`, strings.Repeat("`ü", 300), i))
		put(fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":"[WAKE] %d\n%s"}]}`, i%3, strings.Repeat("words ", 300)))
	}
	c := card(t, b.String(), CardOptions{Content: true, CWD: "/now\n"})
	for i := range 30 {
		c.add(fmt.Sprint("more ", i), strings.Repeat("x", 100))
	}
	for _, got := range []string{c.Text(), c.Markdown()} {
		if n := strings.Count(got, "\n"); n > MaxCardLines || len(got) > MaxCardBytes || !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\u202e\r") {
			t.Errorf("%d lines, %d bytes:\n%s", n, len(got), got)
		}
		if strings.Contains(got, "\n# heading") || !strings.HasSuffix(got, cutShort+"\n") {
			t.Errorf("broken lines, or not marked as cut:\n%s", got)
		}
	}
}

// A compressed session that breaks off still has a card; one that can't be read has none.
func TestUnreadable(t *testing.T) {
	result := &lint.Result{}
	for err, want := range map[error]bool{source.ErrCorrupt: true, io.ErrUnexpectedEOF: false} {
		c, got := MakeCard(t.Context(), failing{err}, result, CardOptions{})
		if (got == nil) != want || (c != nil) != want || !want && !errors.Is(got, err) {
			t.Errorf("%v: %v, %v", err, c, got)
		}
	}
}

type failing struct{ err error }

func (f failing) Reader(context.Context) (io.ReadCloser, error) { return io.NopCloser(f), nil }
func (f failing) Read([]byte) (int, error)                      { return 0, f.err }
