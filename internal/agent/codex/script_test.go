package codex

import (
	"strings"
	"testing"
)

// An event of what a script ran whose result is damaged does not keep back what its other tools returned.
func TestNestedOutputOfDamagedEvent(t *testing.T) {
	event := []byte(`{"timestamp":"2026-11-18T09:30:00.000Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"McpToolCall","id":"exec-1","server":"s","tool":"look","arguments":{},"status":"completed"}}}`)
	out, err := NestedOutput(Tool{Type: "custom_tool_call", Name: "exec", CallID: "call_1"}, "2026-11-18T09:30:00.000Z", false, [][]byte{event})
	if err != nil || !strings.Contains(string(out), "mcp__s__look") || !strings.Contains(string(out), "what this returned is lost") {
		t.Errorf("%s (%v)", out, err)
	}
}
