package clienttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/agent/codex/beside"
	"github.com/hist-cli/hist/repair"
)

// Prompts, and calls one by one, come back from what a server of 0.148 to 0.160 logs, where neither the session nor the client's
// database has them. Up to 0.155.1, the log has what a call asks.
func TestRepairFromLoggedCalls(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	clientsSince(t, "0.148.0", func(t *testing.T, bin Binary) {
		if !versionLess(bin.Version, "0.163.0") {
			return // its log has neither
		}
		h := newHome(t, bin)
		const second = "count the files"
		turns := []servedTurn{
			{listFiles, []Reply{unhurried(Message("msg_1", "I look first."), Shell("fc_1", "call_1", "echo one")), unhurried(Message("msg_2", "One is done."))}},
			{second, []Reply{unhurried(Shell("fc_2", "call_2", "echo two")), unhurried(Message("msg_3", "All done."))}},
		}
		_, path := served(t, h, turns, func(id string) bool { return loggedEnd(t, h, id, "call_2") })
		whole := readAll(t, path)
		if err := os.WriteFile(path, []byte(whole[:strings.Index(whole, `"call_1"`)]), 0o600); err != nil {
			t.Fatal(err)
		}
		views, err := filepath.Glob(filepath.Join(h.Codex, "thread_history_1.sqlite*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, view := range views {
			if err := os.Remove(view); err != nil {
				t.Fatal(err)
			}
		}
		repairFile(t, h, path, repair.InPlace)
		lintClean(t, path)
		wanted := []string{second}
		if versionLess(bin.Version, "0.156.0") {
			wanted = append(wanted, "echo one", "echo two")
		}
		for _, want := range wanted {
			if after := readAll(t, path); !strings.Contains(after, want) {
				t.Errorf("%q has not come back", want)
			}
		}
	})
}

// loggedEnd says whether the client has logged that a call has ended.
func loggedEnd(t *testing.T, h *Home, thread, call string) (found bool) {
	t.Helper()
	err := beside.LoggedCalls(t.Context(), h.Codex, thread, func(row beside.LogRow) bool {
		c, told := codex.CallFromLog(thread, row.Text)
		found = told && c.ID == call
		return !found
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
