package timeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLostOfCopies: a session that Claude Code 1.0.17 has copied when it resumed it was not abandoned, though the records of the
// copy have other ids and times; one that was begun anew was.
func TestLostOfCopies(t *testing.T) {
	const killed = `{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/dev/demo","sessionId":"SESSION","version":"1.0.17","type":"user","message":{"role":"user","content":"run it"},"uuid":"UUID-1","timestamp":"2026-01-20T10:TIME.000Z"}
{"parentUuid":"UUID-1","isSidechain":false,"userType":"external","cwd":"/home/dev/demo","sessionId":"SESSION","version":"1.0.17","message":{"content":[{"id":"toolu_1","input":{"command":"sleep 30"},"name":"Bash","type":"tool_use"}],"id":"ANSWER","model":"claude-sonnet-4-20250514","role":"assistant","stop_reason":null,"type":"message"},"type":"assistant","uuid":"UUID-2","timestamp":"2026-01-20T10:TIME.000Z"}
`
	const more = `{"parentUuid":"UUID-2","isSidechain":false,"userType":"external","cwd":"/home/dev/demo","sessionId":"SESSION","version":"1.0.17","type":"user","message":{"role":"user","content":"what was it"},"uuid":"UUID-3","timestamp":"2026-01-20T10:TIME.500Z"}
`
	at := func(session, uuid, time, answer, text string) string {
		return strings.NewReplacer("SESSION", session, "UUID", uuid, "TIME", time, "ANSWER", answer).Replace(text)
	}
	const old, fresh = "2148fdaa-a438-40fa-8ed1-b2fc0b44e872", "651c6dfa-daeb-46b8-8072-aebef1d55ac9"
	for answer, want := range map[string]int{"msg_01": 0, "msg_02": 1} {
		dir := filepath.Join(t.TempDir(), "projects", "-home-dev-demo")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		var list []*Glance
		for id, text := range map[string]string{
			old: at(old, "a", "05:00", "msg_01", killed), fresh: at(fresh, "b", "06:00", answer, killed+more),
		} {
			path := filepath.Join(dir, id+".jsonl")
			write(t, path, []byte(text))
			list = append(list, look(t, path, LookOptions{Content: true}))
		}
		found := 0
		for _, f := range Lost(t.Context(), list) {
			found += len(f)
		}
		if found != want {
			t.Errorf("first answer %s: %d findings, want %d", answer, found, want)
		}
	}
}
