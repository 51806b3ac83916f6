package repair

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// TestNothingLeft: of a session in which nothing can be read, a copy is the session itself.
func TestNothingLeft(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	path, out := filepath.Join(dir, "session.jsonl"), filepath.Join(dir, "copy.jsonl")
	text := `{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/dev/demo","sessionId":"7c1f0b1e-5a1-1111-4111-8111-000000000001","isSidechain":false,"userType":"external","cwd":"/home/dev/demo","sessionId":"7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11","version":"2.1.330","gitBranch":"main","type":"assistant","message":{"id":"msg_01a","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"t0e-4d53-9a6b-0f5d3f6f2a11","version":"2.1.330","gitBranch":"main","type":"user","message":{"role":"user","content":"which files are here"},"uuid":"11111111-1111-4111-8111-000000000001","timestamp":"2026-11-20T10:00:00.000Z"}` + "\n" + `{"parentUuid":"1111111`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	rep, err := Do(t.Context(), Job{Source: src, Lint: lint.Options{Agent: "claude"}, Mode: ToFile, Output: out})
	if err != nil || len(rep.Edits) > 0 {
		t.Fatal(rep, err)
	}
	if copied, err := os.ReadFile(out); err != nil || string(copied) != text {
		t.Errorf("%v: %q", err, copied)
	}
}

// TestManyMarks: however many compactions were cut off before their summaries at the end, the session is repaired at once.
func TestManyMarks(t *testing.T) {
	text := worstTrees["marks of compactions at the end"](40)
	out, rep, err := repairText([]byte(text), "", Choice{})
	if err != nil || strings.Contains(string(out), "compact_boundary") || !strings.Contains(string(out), "answer 1") {
		t.Errorf("%v, %+v: %s", err, rep, out)
	}
}
