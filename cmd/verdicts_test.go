package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/testkit/damage"
)

// refusedTimes is a session of Codex that holds items, and in which the API has said something a number of times since the last answer.
func refusedTimes(items []string, said string, times int) []byte {
	text := damage.Session("codex", items).Data
	words, _ := json.Marshal(said)
	for i := range times {
		text = fmt.Appendf(text, `{"timestamp":"2026-11-24T08:11:%02d.000Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"t9","last_agent_message":null,"error":{"message":%s,"codex_error_info":"other"}}}`+"\n", i, words)
	}
	return text
}

// TestVerdictsOfRefusals: exit code 0 is a promise. What the next request will meet again is none; what passes by itself leaves the session
// resumable, and so does what is not known to last, until it has come three times.
func TestVerdictsOfRefusals(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	call := []string{`!{"type":"function_call","id":"fc_1","name":"exec_command","arguments":"{}","call_id":"call_1","namespace":"beds"}`, `{"type":"function_call_output","call_id":"call_1","output":"three"}`}
	sealed := []string{`!{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAABtZXJlLXRlc3Q="}`}
	for _, c := range []struct {
		name    string
		items   []string
		said    string
		times   int
		verdict string
		words   string
	}{
		{"an item", call, "Unknown parameter: 'input[1].namespace'.", 1, "repairable", `"line":5,`},
		{"an item, mended since", sealed, "Unknown parameter: 'input[1].namespace'.", 3, "resumable", ""},
		{"too long", nil, "Your input exceeds the context window of this model. Please adjust your input and try again.", 1, "incompatible", "/compact"},
		{"too large", nil, "Request Entity Too Large", 1, "incompatible", "hist slim"},
		{"another account", sealed, "The encrypted content for item rs_1 could not be verified.", 1, "incompatible", "--strip-encrypted"},
		{"a setting, once", nil, "Unsupported parameter: max_output_tokens", 1, "resumable", "change what the error names"},
		{"a setting, three times", nil, "Unsupported parameter: max_output_tokens", 3, "incompatible", "3 times"},
		{"a missing tool", nil, "Invalid Value: 'tools'. Function 'beds' is not known", 3, "incompatible", "3 times"},
		{"a provider's wish", nil, "Output of tool call should be 'Input text'", 3, "incompatible", "the provider that it was made with"},
		{"a provider's wish, once", nil, "Output of tool call should be 'Input text'", 1, "resumable", "the provider that it was made with"},
		{"unsaid, twice", nil, `{"detail":"Bad Request"}`, 2, "resumable", "hist lint"},
		{"unsaid, three times", nil, `{"detail":"Bad Request"}`, 3, "incompatible", "3 times"},
		{"capacity", nil, "Selected model is at capacity. Please try a different model.", 3, "resumable", ""},
		{"overload", nil, "The server is overloaded", 3, "resumable", ""},
		{"a server's error", nil, "unexpected status 502 Bad Gateway", 3, "resumable", ""},
		{"a rate", nil, "429 Too Many Requests", 3, "resumable", ""},
		{"a limit", nil, "You've hit your usage limit.", 3, "resumable", ""},
		{"a model", nil, "The 'x' model is not supported when using Codex with a ChatGPT account.", 3, "resumable", "--model"},
	} {
		path := filepath.Join(t.TempDir(), "rollout-2026-11-24T08-10-00-01a21e00-4c11-7d20-9b01-6a1f0c2d3e4f.jsonl")
		if err := os.WriteFile(path, refusedTimes(c.items, c.said, c.times), 0o600); err != nil {
			t.Fatal(err)
		}
		want := 1
		if c.verdict == "resumable" {
			want = 0
		}
		var out, errs bytes.Buffer
		code := Main([]string{"hist", "pre-resume", "--json", path}, strings.NewReader(""), &out, &errs)
		if code != want || !strings.Contains(out.String(), `"verdict":"`+c.verdict+`"`) || !strings.Contains(out.String(), c.words) {
			t.Errorf("%s: exit %d: %s%s", c.name, code, &out, &errs)
		}
	}
}

// TestPartialAnswer: of a large session, and when the time runs out, the answer says that only a part was read, and which; a large one whose last
// turn was refused for good is read whole.
func TestPartialAnswer(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	var items []string
	for i := range 3 {
		items = append(items, fmt.Sprintf(`{"type":"function_call","id":"fc_%d","name":"exec_command","arguments":"{}","call_id":"call_%d"}`, i, i),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%d","output":"%s"}`, i, strings.Repeat("three ", 9<<20/6)))
	}
	items[0] = strings.Replace(items[0], `,"call_id"`, `,"namespace":"beds","call_id"`, 1)
	for _, c := range []struct {
		name  string
		items []string
		said  string
		args  []string
		code  int
		words []string
	}{
		{"large", items, "429 Too Many Requests", nil, 0, []string{`"complete":false`, `"checked":"partial"`, `"not_read":"the part between the first line and byte`}},
		{"large and deep", items, "429 Too Many Requests", []string{"--deep"}, 0, []string{`"complete":true`}},
		{"large and refused", items, "Unknown parameter: 'input[1].namespace'.", nil, 1, []string{`"complete":true`, `"verdict":"repairable"`}},
		{"no time", nil, "429 Too Many Requests", []string{"--timeout", "1ns"}, 0, []string{`"checked":"partial"`, `"reason":"the time ran out before the session was read"`}},
	} {
		path := filepath.Join(t.TempDir(), "rollout-2026-11-24T08-10-00-01a21e00-4c11-7d20-9b01-6a1f0c2d3e4f.jsonl")
		if err := os.WriteFile(path, refusedTimes(c.items, c.said, 1), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code := Main(append(append([]string{"hist", "pre-resume", "--json"}, c.args...), path), strings.NewReader(""), &out, &errs)
		for _, words := range c.words {
			if code != c.code || !strings.Contains(out.String(), words) {
				t.Errorf("%s: exit %d, without %s: %s%s", c.name, code, words, &out, &errs)
			}
		}
	}
}

// TestAskedOutOfSight: of a session whose end is a hole, larger than what is read, it is not said that nobody has asked anything.
func TestAskedOutOfSight(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "rollout-2026-11-24T08-10-00-01a21e00-4c11-7d20-9b01-6a1f0c2d3e4f.jsonl")
	if err := errors.Join(os.WriteFile(path, refusedTimes(nil, "", 1), 0o600), os.Truncate(path, 1<<30)); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if Main([]string{"hist", "pre-resume", path}, strings.NewReader(""), &out, &errs); !strings.Contains(out.String(), "nothing was asked in the part of it that was read\n") {
		t.Errorf("%s%s", &out, &errs)
	}
}

// TestPrintedCommandMends: of each session that an API refuses, the command that pre-resume prints leads to one that is resumed: the session itself,
// or the copy without what is encrypted.
func TestPrintedCommandMends(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	verdict := func(path string) (out string, resumable bool) {
		var b bytes.Buffer
		code := Main([]string{"hist", "pre-resume", path}, strings.NewReader(""), &b, &b)
		return b.String(), code == 0
	}
	mended := 0
	for i, c := range damage.RefusedSessions() {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
		path := filepath.Join(dir, map[string]string{"codex": "rollout-2026-11-24T08-10-00-01a21e00-4c11-7d20-9b01-6a1f0c2d3e4f.jsonl", "claude": "7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a22.jsonl"}[c.Agent])
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, c.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		before, resumable := verdict(path)
		if resumable { // the client leaves out what is refused, tries again without it, or drops it
			continue
		}
		_, command, _ := strings.Cut(before, "  next ")
		command, _, _ = strings.Cut(command, "\n")
		var b bytes.Buffer
		Main(strings.Fields(command), strings.NewReader(""), &b, &b)
		copies, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		ok := false
		for _, p := range copies {
			_, resumable := verdict(p)
			ok = ok || resumable
		}
		if !ok {
			t.Errorf("row %d: %s\n%s\n%s", c.Row, before, command, &b)
		}
		mended++
	}
	if mended < 75 {
		t.Errorf("%d sessions were refused", mended)
	}
}
