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

// TestImageSeen: the database's row of an image that the model looked at becomes its event, and that tells the call.
func TestImageSeen(t *testing.T) {
	event := EventFromKept(KeptPlace{Thread: "t", Turn: "u", Ordinal: 7}, []byte(`{"type":"imageView","id":"call_9","path":"/srv/my garden/beds.png"}`))
	if !strings.Contains(string(event), `{"type":"ImageView","id":"call_9","path":"file:///srv/my%20garden/beds.png"}`) {
		t.Fatalf("%s", event)
	}
	call, err := CallFrom("call_9", "function_call_output", Naming{}, event)
	if err != nil || !strings.Contains(string(call), `"name":"view_image","arguments":"{\"path\":\"/srv/my garden/beds.png\"}"`) {
		t.Errorf("%s %v", call, err)
	}
}

// TestServerTools: a server's tool has the name that the session's version writes; the client's own server has none.
func TestServerTools(t *testing.T) {
	event := func(server string) []byte {
		return []byte(`{"timestamp":"2026-11-27T08:00:03.000Z","type":"event_msg","payload":{"type":"item_completed","turn_id":"u","item":{"type":"McpToolCall","id":"c","server":"` + server + `","tool":"list_beds","arguments":{},"status":"completed"}}}`)
	}
	for _, c := range []struct {
		server string
		naming Naming
		want   string
	}{
		{"shed", Naming{}, `"name":"list_beds","namespace":"mcp__shed",`},
		{"shed", Naming{OneWord: true}, `"name":"mcp__shed__list_beds","arguments"`},
		{"codex", Naming{}, `"name":"list_beds","arguments"`},
	} {
		if call, err := CallFrom("c", "", c.naming, event(c.server)); err != nil || !strings.Contains(string(call), c.want) {
			t.Errorf("%s %v, want %s", call, err, c.want)
		}
	}
}

// TestOutputOfCutEvent: how a command ended stands behind its text, so of an event that was cut in that only the status may be known. No
// code is made up, and no such command is said to run.
func TestOutputOfCutEvent(t *testing.T) {
	text := `"aggregated_output":"12` + strings.ReplaceAll(session.CutMark, "\n", `\n`) + `"`
	item := func(status string) string {
		return `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"call_1","process_id":"4711",` + status + text + `}}}`
	}
	for _, c := range []struct{ tool, evidence, has, not string }{
		{"exec_command", item(`"status":"completed",`), "Process exited with code 0", "running"},
		{"exec_command", item(`"status":"failed",`), "Process exited with a code other than 0", "running"},
		{"exec_command", item(`"exit_code":null,"status":"failed",`), "Process exited with a code other than 0", "code 0"},
		{"exec_command", item(""), "12", "Process"},
		{"shell", item(`"status":"completed",`), `exit_code\":0`, "running"},
		{"shell", item(`"status":"failed",`), "12", "exit_code"},
		{"shell", `{"type":"event_msg","payload":{"type":"exec_command_end","call_id":"call_1",` + text + `}}`, "12", "exit_code"},
		{"shell_command", item(""), "12", "Exit code"},
	} {
		out, err := OutputFrom(Tool{Type: "function_call", Name: c.tool, CallID: "call_1"}, []byte(c.evidence))
		if err != nil || !strings.Contains(string(out), c.has) || strings.Contains(string(out), c.not) {
			t.Errorf("of %s the output of %s is %s (%v), want %q in it, and not %q", c.evidence, c.tool, out, err, c.has, c.not)
		}
	}
}
