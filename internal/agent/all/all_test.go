package all

import (
	"strings"
	"testing"
)

// A session is its whose records it begins with, though one of another agent's stands farther down, and nobody's if what
// comes farther down shows that the client is none that hist knows.
func TestOf(t *testing.T) {
	const (
		claude = `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Hello."},"uuid":"u1","sessionId":"s"}` + "\n"
		codex  = `{"timestamp":"2026-11-20T10:00:00.000Z","type":"event_msg","payload":{"type":"user_message","message":"Hello."}}` + "\n"
		bare   = `{"parentUuid":null,"uuid":"u1","sessionId":"s","type":"system"}` + "\n"
		parts  = `{"parentUuid":"u1","uuid":"u2","sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"Hello."}]}}` + "\n"
	)
	for head, want := range map[string]string{
		claude: "claude", codex: "codex",
		strings.Repeat(claude, 40) + codex:         "claude",
		strings.Repeat(codex, 40) + claude:         "codex",
		strings.Repeat("\x00", beginSize) + codex:  "codex",
		strings.Repeat("\x00", beginSize) + claude: "claude",
		strings.Repeat(bare, 80) + parts:           "",
	} {
		got := ""
		if a, err := Of("notes.jsonl", []byte(head)); err == nil {
			got = a.Name
		}
		if got != want {
			t.Errorf("%d bytes that begin with %.40q: %q, want %q", len(head), head, got, want)
		}
	}
}
