package clienttest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPlugin: the newest client offers the model the skill that hist plugin install writes, and no longer after its removal.
func TestPlugin(t *testing.T) {
	bin, err := Find("0.171.0")
	if err != nil {
		t.Skip(err)
	}
	hist := filepath.Join(t.TempDir(), "hist")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", hist, "github.com/hist-cli/hist").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h := newHome(t, bin)
	h.Config = []string{"features.plugins=true"}
	for _, verb := range []string{"install", "remove"} {
		cmd := exec.CommandContext(t.Context(), hist, "plugin", verb)
		cmd.Env = append(os.Environ(), "CODEX_HOME="+h.Codex, "CLAUDE_CONFIG_DIR="+filepath.Join(h.Root, "none"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		res := h.Exec(t.Context(), Prompt)
		if res.Err != nil || len(res.Requests) == 0 {
			t.Fatalf("%v: %s", res.Err, res.Stderr)
		}
		offered := bytes.Contains(res.Requests[0].Body, []byte("Finds out what is wrong with a session of a coding agent")) && bytes.Contains(res.Requests[0].Body, []byte("/hist/SKILL.md)"))
		if offered != (verb == "install") {
			t.Errorf("after %s: offered %v\n%s", verb, offered, res.Requests[0].Body)
		}
	}
}
