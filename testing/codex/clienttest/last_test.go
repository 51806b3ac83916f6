package clienttest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex/home"
)

// The client's --last and hist's are one session, before a repair, after it, and after it was taken back; a copy that a
// repair has made is the last one at once. Each resume here is a real one: the session that grows is the one it took.
func TestLastIsTheClients(t *testing.T) {
	hist := program(t)
	clients(t, func(t *testing.T, bin Binary) {
		h := newHome(t, bin)
		record := func(scenario string) string {
			t.Helper()
			res, err := Record(t.Context(), h, scenario)
			if err != nil {
				t.Fatal(err)
			}
			id, err := SessionID(res.Rollout)
			if err != nil {
				t.Fatal(err)
			}
			h.Server.Reset()
			return id
		}
		older := record("kill_in_tool")
		time.Sleep(1100 * time.Millisecond) // names and rows count in seconds
		newer := record("clean")
		resumed := func(when, want string) (took string) {
			t.Helper()
			time.Sleep(1100 * time.Millisecond)
			if a := h.answer(t, hist, "--last", "--any"); a.Thread != want {
				t.Errorf("%s: hist takes %s for the last one, want %s", when, a.Thread, want)
			}
			res := h.run(t.Context(), nil, nil, "resume", "--last", Prompt)
			took, err := SessionID(res.Rollout)
			if err != nil || res.ExitCode != 0 {
				t.Errorf("%s: the client ended with %d, %v", when, res.ExitCode, err)
			}
			return took
		}
		agree := func(when, want string) {
			t.Helper()
			if took := resumed(when, want); took != want {
				t.Errorf("%s: the client took %s, want %s", when, took, want)
			}
		}
		agree("two sessions", newer)

		// Somebody touches a file: some clients mind, others don't.
		now := time.Now().Add(2 * time.Second)
		for _, path := range h.Rollouts() {
			if strings.Contains(path, older) {
				if err := os.Chtimes(path, now, now); err != nil {
					t.Fatal(err)
				}
			}
		}
		minds := !versionLess(bin.Version, "0.130.0") && versionLess(bin.Version, "0.146.0")
		if !minds {
			agree("the older one touched", newer)
		} else if a := h.answer(t, hist, "--last", "--any"); a.Thread != older {
			t.Errorf("the older one touched: hist takes %s for the last one", a.Thread)
		}

		// The older one is repaired: its copy is what one goes on with.
		time.Sleep(2100 * time.Millisecond)
		out, code := h.hist(t, hist, "repair", older)
		copied := regexp.MustCompile(`resume: codex resume ([0-9a-f-]+)\nundo: +hist undo `).FindStringSubmatch(out)
		if code != 0 || copied == nil {
			t.Fatalf("exit %d: %s", code, out)
		}
		if strings.Contains(out, "does not list the copy") {
			t.Errorf("the copy is not listed: %s", out)
		}
		if a := h.answer(t, hist, "--last", "--any"); a.Thread != copied[1] {
			t.Errorf("repaired: hist takes %s for the last one, want %s", a.Thread, copied[1])
		}
		if out, code := h.hist(t, hist, "undo"); code != 0 {
			t.Fatalf("undo: exit %d: %s", code, out)
		}
		if a := h.answer(t, hist, "--last", "--any"); a.Thread == copied[1] {
			t.Error("a copy that was taken back is still the last one")
		}
		// A client that is killed early has not yet written the prompt into the row, and passes over a row without one.
		if _, err := os.Stat(filepath.Join(h.Codex, home.StateFile)); err == nil {
			without := "title = '', first_user_message = ''"
			if !versionLess(bin.Version, "0.145.0") {
				without += ", preview = ''"
			}
			execute(t, h, home.StateFile, "UPDATE threads SET "+without+" WHERE id = '"+older+"'")
		}
		out, _ = h.hist(t, hist, "repair", older)
		copied = regexp.MustCompile(`resume: codex resume ([0-9a-f-]+)\n`).FindStringSubmatch(out)
		if copied == nil {
			t.Fatal(out)
		}
		agree("repaired", copied[1])
	})
}
