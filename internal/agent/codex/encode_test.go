package codex

import (
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/session"
)

// TestWholeStdout: up to 0.160, the event of a command holds its output twice. If the second is cut, the first is whole.
func TestWholeStdout(t *testing.T) {
	event := func(stderr string) []byte {
		return []byte(`{"timestamp":"2026-11-26T23:45:14.000Z","type":"event_msg","payload":{"type":"exec_command_end","call_id":"call_1","stdout":"one\ntwo\nthree\n","stderr":"` + stderr +
			`","aggregated_output":"one\ntw` + strings.ReplaceAll(session.CutMark, "\n", `\n`) + `"}}`)
	}
	for stderr, whole := range map[string]bool{"": true, "oh": false} {
		out, err := OutputFrom(Tool{Type: "function_call", Name: "exec_command", CallID: "call_1"}, event(stderr))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(out), "three") && !strings.Contains(string(out), "[hist:"); got != whole {
			t.Errorf("stderr %q: whole is %v, want %v: %s", stderr, got, whole, out)
		}
	}
}
