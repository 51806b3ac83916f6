package clienttest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlugin: the newest client loads what hist plugin install writes: its hook says in one line that the session before was damaged,
// to the user and to the model, and the model is offered the skill. Of a sound session nothing is said, and after the removal nothing
// is left.
func TestPlugin(t *testing.T) {
	bin, err := Find("2.1.332")
	if err != nil {
		t.Skip(err)
	}
	hist := filepath.Join(t.TempDir(), "hist")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", hist, "github.com/hist-cli/hist").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h, err := NewHome(bin, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	plugin := func(verb string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), hist, "plugin", verb, "--agent", "claude")
		cmd.Env = h.env()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	const skill = "Finds out what is wrong with a session of a coding agent"
	look := func(damaged string, offered bool) {
		t.Helper()
		res, err := h.Run(t.Context(), "-p", Prompt, "--output-format", "stream-json", "--verbose")
		if err != nil || res.First == nil {
			t.Fatal(err, res)
		}
		shown := strings.Contains(res.Stdout, `\"systemMessage\":\"`+damaged)
		if shown != (damaged != "") || damaged == "" && strings.Contains(res.Stdout, "is damaged") || damaged != "" && !bytes.Contains(res.First, []byte(damaged)) || bytes.Contains(res.First, []byte(skill)) != offered {
			t.Errorf("want %q and the skill %v, got %s\n%s", damaged, offered, res.Stdout, res.Stderr)
		}
	}
	plugin("install")
	look("", true)
	const id = "7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11"
	data, err := os.ReadFile("../../../fixtures/claude/rules/lost-call/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Put(id, bytes.ReplaceAll(data, []byte("/home/dev/demo"), []byte(h.Work))); err != nil {
		t.Fatal(err)
	}
	look("hist: the session before this one is damaged: the model is not sent all of it; hist resume "+id+" repairs and resumes it", true)
	plugin("remove")
	look("", false)
}
