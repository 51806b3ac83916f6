package clienttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLastAtATerminal asks the newest client at a terminal, and hist, which session is the last one: neither takes what codex exec
// wrote, what works in another directory, or what was archived, although all of that is newer. codex exec takes its own.
func TestLastAtATerminal(t *testing.T) {
	h, hist := atATerminal(t), program(t)
	other := filepath.Join(h.Root, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	h.trust(t, h.Work, other)
	defer h.codex(t, "app-server", "daemon", "stop")

	// says has a person say something at a terminal, and returns the id of the session in which it is then.
	says := func(prompt string, args ...string) string {
		t.Helper()
		h.Server.Queue(Reply{Items: []Item{Message("m", "answer to "+prompt)}})
		c := h.begun(t, args...)
		c.asks(t, prompt, "answer to "+prompt)
		c.leaves(t)
		for _, path := range h.Rollouts() {
			if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), prompt) {
				id, err := SessionID(path)
				if err != nil {
					t.Fatal(err)
				}
				return id
			}
		}
		t.Fatalf("%q is in no session:\n%s", prompt, c.text())
		return ""
	}
	execs := func(prompt string, args ...string) string {
		t.Helper()
		h.Server.Queue(Reply{Items: []Item{Message("m", "answer to "+prompt)}})
		res := h.run(t.Context(), nil, nil, append(args, prompt)...)
		id, err := SessionID(res.Rollout)
		if err != nil || res.ExitCode != 0 {
			t.Fatalf("exit %d, %v: %s", res.ExitCode, err, res.Stderr)
		}
		return id
	}
	mine := says("mine in the work folder")
	archived := says("soon in the archive")
	elsewhere := says("begun elsewhere", "-C", other)
	h.codex(t, "app-server", "daemon", "stop")
	h.codex(t, "archive", archived)
	night := execs("nightly job")
	if got := says("which one is this", "resume", "--last"); got != mine {
		t.Errorf("codex resume --last took %s; %s is the person's, %s was archived, %s is elsewhere, %s of codex exec", got, mine, archived, elsewhere, night)
	}
	h.codex(t, "app-server", "daemon", "stop")
	if a := h.answer(t, hist, "--last"); a.Thread != mine {
		t.Errorf("hist takes %s, not %s", a.Thread, mine)
	}
	time.Sleep(1100 * time.Millisecond)
	last := execs("nightly job, once more")
	if a := h.answer(t, hist, "--last", "--any"); a.Thread != last {
		t.Errorf("hist takes %s with --any, not %s", a.Thread, last)
	}
	if got := execs("and on", "resume", "--last"); got != last {
		t.Errorf("codex exec resume --last took %s, not %s", got, last)
	}
	if a := h.answer(t, hist, "--last"); a.Thread != mine {
		t.Errorf("hist takes %s after codex exec, not %s", a.Thread, mine)
	}
}
