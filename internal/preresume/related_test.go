package preresume

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/timeline"
)

// TestRelatedSubAgents: for a sub-agent within a sub-agent, and for a copy of it, only the main thread's command is named: the client
// refuses to resume a sub-agent by its own id (measured with 0.171.0).
func TestRelatedSubAgents(t *testing.T) {
	const root, outer, inner, copied = "01a21a4e-cea8-7e01-8122-297762c5f6bf", "01a21a4e-d032-7610-bf4d-85976fe48711", "01a21a4e-d08f-7f70-bc93-d49804e30ac9", "01a21fa2-ac7e-774b-adf3-8bcfed2652c2"
	home := t.TempDir()
	dir := filepath.Join(home, "sessions", "2026", "11", "27")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lay := func(id, text string) string {
		path := filepath.Join(dir, "rollout-2026-11-27T00-01-42-"+id+".jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, id := range map[string]string{"subagent-prefix-nested-inner": outer, "subagent-prefix-nested": inner} {
		text, err := os.ReadFile("../../fixtures/codex/healthy/" + name + "/session.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		lay(id, string(text))
	}
	lay(copied, `{"timestamp":"2026-11-28T00:51:24.000Z","ordinal":0,"type":"session_meta","payload":{"session_id":"`+copied+`","id":"`+copied+
		`","forked_from_id":"`+inner+`","timestamp":"2026-11-28T00:51:24.000Z","cwd":"/home/dev/demo","originator":"codex_exec","cli_version":"0.171.0","source":"cli","history_mode":"paginated"}}`+"\n")
	for _, id := range []string{inner, copied} {
		g, err := timeline.Look(t.Context(), filepath.Join(dir, "rollout-2026-11-27T00-01-42-"+id+".jsonl"), timeline.LookOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := related(t.Context(), home, g)
		if err != nil || len(list) != 1 || !strings.HasSuffix(strings.Join(list[0].Resume, " "), root) {
			t.Errorf("%s: %+v, %v, want the command of %s", id, list, err, root)
		}
		a := about(g, false)
		if where := a.elsewhere(); id == inner && (strings.Contains(where, inner) || !strings.Contains(where, root)) {
			t.Errorf("in another directory: %s", where)
		}
	}
}
