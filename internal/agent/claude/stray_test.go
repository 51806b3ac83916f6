package claude_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// lintBeside lints one file of a project's folder.
func lintBeside(t *testing.T, files map[string]string, name string) []string {
	t.Helper()
	home := filepath.Join(t.TempDir(), ".claude")
	dir := filepath.Join(home, "projects", "-home-dev-demo")
	for f, text := range files {
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, name)
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	res, err := inspect.Lint(t.Context(), src, lint.Options{Home: home, Name: lint.NameOf(path, true)})
	if err != nil {
		t.Fatal(err)
	}
	if res.Summary.Agent != "claude" {
		t.Errorf("%s is taken for a session of %s", name, res.Summary.Agent)
	}
	var found []string
	for _, f := range res.Findings {
		found = append(found, f.Rule.Name+" "+f.Impact.String())
	}
	return found
}

// TestStrayFiles: what a resume leaves beside the session that it takes up is noted; alone it is a session that is gone, and NULs have
// taken the place of something.
func TestStrayFiles(t *testing.T) {
	const other, stray = "0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4.jsonl", "1fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4.jsonl"
	session := `{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"hi"}}` + "\n" +
		`{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"` + strings.Repeat("yes, ", 200) + `"}]}}` + "\n"
	title := `{"type":"summary","summary":"a talk","leafUuid":"a1"}` + "\n"
	kept := func(id string) string {
		return `{"type":"file-history-snapshot","messageId":"` + id + `","snapshot":{"messageId":"` + id + `","trackedFileBackups":{}},"isSnapshotUpdate":false}` + "\n"
	}
	for name, c := range map[string]struct {
		text        string
		with, alone string
	}{
		"nothing":                     {"", "empty-file notes", "empty-file blocks"},
		"NULs":                        {strings.Repeat("\x00", 900), "nul-bytes notes, empty-file blocks", "nul-bytes notes, empty-file blocks"},
		"a title and NULs":            {title + strings.Repeat("\x00", 700), "no-conversation blocks, nul-bytes notes", "no-conversation blocks, nul-bytes notes"},
		"a title":                     {title, "no-conversation notes", "no-conversation blocks"},
		"titles":                      {title + title + title + title, "no-conversation notes", "no-conversation blocks"},
		"notes of the other's files":  {title + kept("u1") + kept("u1"), "no-conversation notes", "no-conversation blocks"},
		"notes of files that it lost": {title + kept("u9") + kept("u9"), "no-conversation blocks", "no-conversation blocks"},
		"its own prompt":              {`{"type":"last-prompt","lastPrompt":"hello"}` + "\n", "no-conversation blocks", "no-conversation blocks"},
	} {
		if got := strings.Join(lintBeside(t, map[string]string{stray: c.text, other: session}, stray), ", "); got != c.with {
			t.Errorf("%s, beside another session: %q, want %q", name, got, c.with)
		}
		if got := strings.Join(lintBeside(t, map[string]string{stray: c.text}, stray), ", "); got != c.alone {
			t.Errorf("%s, alone: %q, want %q", name, got, c.alone)
		}
	}
}

// TestNothingLeft: of a session in which no line can be read one thing is said, that it is gone: to mend its lines would leave
// none.
func TestNothingLeft(t *testing.T) {
	const name = "0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4.jsonl"
	text := strings.Repeat(`"parentUuid":null,"isSidechain":false,"sessionId":"0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4","type":"user","uuid":`+"\n", 40)
	if found := lintBeside(t, map[string]string{name: text}, name); len(found) != 1 || found[0] != "empty-file blocks" {
		t.Errorf("found %q", found)
	}
}

// TestOnlyStarted: a session in which a client was started and ended before anything was said has lost nothing; where a sub-agent has called a
// tool, a prompt went ahead of it.
func TestOnlyStarted(t *testing.T) {
	const name = "7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11.jsonl"
	for _, fixture := range []string{"ok-only-started", "ok-warmed-up"} {
		text, err := os.ReadFile("../../../fixtures/claude/rules/no-conversation/" + fixture + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		if got := lintBeside(t, map[string]string{name: string(text)}, name); len(got) != 1 || got[0] != "no-conversation notes" {
			t.Errorf("%s: %q", fixture, got)
		}
		called := strings.Replace(string(text), `[{"type":"text","text":"I am ready to look for files."}]`, `[{"type":"tool_use","id":"toolu_01a","name":"Glob","input":{}}]`, 1)
		if got := lintBeside(t, map[string]string{name: called}, name); called != string(text) && (len(got) == 0 || got[0] != "no-conversation blocks") {
			t.Errorf("%s, with a call: %q", fixture, got)
		}
	}
}

// TestLongerStranger: a file is of the session of its name if it begins with that, however much of another one was copied behind it.
func TestLongerStranger(t *testing.T) {
	const own, other = "0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4", "7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11"
	record := func(session, id, parent, minute, message string) string {
		return `{"parentUuid":` + parent + `,"isSidechain":false,"cwd":"/home/dev/demo","sessionId":"` + session + `","version":"2.1.332","type":"` + map[bool]string{true: "user", false: "assistant"}[strings.Contains(message, `"user"`)] +
			`","message":` + message + `,"uuid":"` + id + `","timestamp":"2026-11-20T10:` + minute + `:00.000Z"}` + "\n"
	}
	prompt := `{"role":"user","content":"sow the peas"}`
	answer := func(id string) string {
		return `{"id":"` + id + `","role":"assistant","content":[{"type":"text","text":"They are sown."}]}`
	}
	text := record(own, "u1", "null", "01", prompt) + record(own, "a1", `"u1"`, "02", answer("m1")) +
		record(other, "a2", `"u9"`, "03", answer("m2")) + record(other, "u3", `"a2"`, "04", prompt) + record(other, "a3", `"u3"`, "05", answer("m3"))
	found := lintBeside(t, map[string]string{own + ".jsonl": text}, own+".jsonl")
	if !slices.Contains(found, "other-session loses") {
		t.Errorf("found %q, want the other session", found)
	}
}

// TestDestroyedPart: a sub-agent's conversation over which something else was written is one that is destroyed, as a session is.
func TestDestroyedPart(t *testing.T) {
	const other = ".LASF2003:\n\t.string\t\"no word of a conversation\"\n"
	for _, name := range []string{"0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4.jsonl", "0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4/subagents/agent-a205d9fd97cc4b3a8.jsonl"} {
		if got := lintBeside(t, map[string]string{name: other}, name); len(got) != 1 || got[0] != "empty-file blocks" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestExemptionsAreNarrow: what is nothing in a healthy session is a finding where one thing in it is otherwise.
func TestExemptionsAreNarrow(t *testing.T) {
	const sessionID, hexAgent = "7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11.jsonl", "agent-a1b2c3d4e5f6.jsonl"
	const snapshot = `{"type":"file-history-snapshot","messageId":"u1","snapshot":{"messageId":"u1","trackedFileBackups":{}},"isSnapshotUpdate":false}` + "\n"
	for what, c := range map[string]struct {
		healthy, name  string
		old, otherwise string
		want           string
	}{
		"a sub-agent of a version that writes all": {"healthy/untold-parents-of-a-sub-agent/session", hexAgent, "2.1.92", "2.1.91", "broken-parent loses"},
		"a sub-agent whose name has an underscore": {"healthy/helper-that-sums-up/session", "agent-acode_reviewer-293fc7.jsonl", "", "", "lost-call rejects"},
		"what a sub-agent was asked":               {"rules/no-conversation/ok-warmed-up", sessionID, `"Warmup"`, `"look at the boats"`, "no-conversation blocks"},
		"files kept of a prompt":                   {"rules/no-conversation/ok-only-started", sessionID, "", snapshot, "no-conversation blocks"},
		"a title that was thought of":              {"rules/no-conversation/ok-only-started", sessionID, "", `{"type":"ai-title","aiTitle":"Boats"}` + "\n", "no-conversation blocks"},
		"a prompt that was answered":               {"healthy/prompt-taken-back-for-a-command/session", sessionID, `"type":"thinking","thinking":"","signature":"c2lnbmVk"}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":9}},"requestId":"req_01b"`, `"type":"text","text":"Two."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":9}},"requestId":"req_01b"`, "lost-branch loses"},
	} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "fixtures", "claude", filepath.FromSlash(c.healthy)+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), c.old, c.otherwise)
		if c.old == "" {
			text = string(data) + c.otherwise
		}
		if text == string(data) && c.otherwise != "" {
			t.Errorf("%s: the fixture holds no %s", what, c.old)
		}
		if got := lintBeside(t, map[string]string{c.name: text}, c.name); !slices.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

// TestForkUnderItsSourcesName: a session that goes on from this one, in another directory, is no stranger, though the file begins with this one.
func TestForkUnderItsSourcesName(t *testing.T) {
	const own, other = "7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11", "0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4"
	var b strings.Builder
	parent := "null"
	for i, session := range []string{own, own, other, other, other, other} {
		cwd := map[string]string{own: "/home/dev/demo", other: "/home/dev/tide"}[session]
		role := []string{"user", "assistant"}[i%2]
		id := "11111111-1111-4111-8111-00000000000" + string(rune('1'+i))
		b.WriteString(`{"type":"` + role + `","uuid":"` + id + `","parentUuid":` + parent + `,"isSidechain":false,"sessionId":"` + session + `","cwd":"` + cwd + `","version":"2.1.332","timestamp":"2026-11-20T10:00:0` + string(rune('1'+i)) + `.000Z","message":{"id":"m` + id + `","role":"` + role + `","content":[{"type":"text","text":"tide ` + id + `"}]}}` + "\n")
		parent = `"` + id + `"`
	}
	if found := lintBeside(t, map[string]string{own + ".jsonl": b.String()}, own+".jsonl"); slices.Contains(found, "other-session loses") {
		t.Errorf("found %q", found)
	}
}
