package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamesAreTaken: whatever hist prints for a session, each command that takes a session takes it: the id, its first digits as in a
// list, the name that a user gave the thread, and the path; also of a file with a name that no client gives.
func TestNamesAreTaken(t *testing.T) {
	fixtures, err := filepath.Abs("../fixtures")
	if err != nil {
		t.Fatal(err)
	}
	s := newSituation(t, fixtures)
	s.add("codex")
	s.add("claude")
	const id = "01a21a4f-4980-70c0-b571-8db9bd897c2f"
	s.write(".codex/session_index.jsonl", `{"id":"`+id+`","thread_name":"nightly job","updated_at":"2026-11-27T00:10:00Z"}`+"\n", 0o600)
	path := s.named("$HOME/.codex/sessions/*/*/*/*")
	text, err := os.ReadFile(path)
	s.must(err)
	odd := s.write(".codex/sessions/2026/11/27/saved copy.jsonl", strings.ReplaceAll(string(text), id, "01a21a99-4980-70c0-b571-8db9bd897c2f"), 0o600)
	commands := [][]string{
		{"lint"},
		{"show"},
		{"repair", "-n"},
		{"pre-resume"},
		{"cut", "-n", "--last", "1"},
		{"fork", "-n"},
		{"slim", "-n"},
		{"redact", "--list"},
		{"export"},
		{"handoff", "-n", "--to", "claude"},
		{"move", "-n", "--to", s.home},
	}
	for _, name := range []string{id, id[:idDigits], id[:8], "nightly job", path, odd, "01a21a99-4980"} {
		for _, c := range commands {
			var out strings.Builder
			args := append([]string{"hist"}, append(c[:len(c):len(c)], name)...)
			if code := Main(args, strings.NewReader(""), &out, &out); code == ExitUsage || code == ExitIO {
				t.Errorf("%q: exit %d: %s", args, code, out.String())
			}
		}
	}
}
