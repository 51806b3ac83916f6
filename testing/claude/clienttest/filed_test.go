package clienttest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// filedSession is a session whose output, or whose sub-agent's conversation, lies in a file of its own.
type filedSession struct {
	scenario string
	data     Session
	id       string
	beside   string // the file, below the session's folder
	text     []byte // what it holds
	call     int    // the line of the call
}

func filedSessions(t *testing.T) []filedSession {
	big, bigID := recording(t, "2.1.330", "bigout")
	var out strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&out, "%d\n", i+1)
	}
	name := ""
	for _, l := range big {
		if p := get(l, "toolUseResult.persistedOutputPath"); p != "" {
			name = filepath.Base(p)
		}
	}
	sub, subID := recording(t, "2.1.330", "subagent")
	agent, call := "", sub.find(0, isTool("Agent"))
	for _, l := range sub {
		if id := get(l, "toolUseResult.agentId"); id != "" {
			agent = id
		}
	}
	if name == "" || agent == "" || call < 0 {
		t.Fatal("the recordings have no output or sub-agent in a file of its own")
	}
	part := func(typ, id, parent, message, more string) string {
		return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":true,"agentId":%q,"type":%q,"message":%s,"uuid":%q,"timestamp":"2026-11-01T09:00:0%s.000Z","sessionId":%q,"version":"2.1.330"%s}`, parent, agent, typ, message, id, id[len(id)-1:], subID, more)
	}
	lines := []string{
		part("user", "dddddddd-0000-4000-8000-000000000001", "null", `{"role":"user","content":"SUBTASK: print sub"}`, ""),
		part("assistant", "dddddddd-0000-4000-8000-000000000002", `"dddddddd-0000-4000-8000-000000000001"`, `{"id":"msg_s1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"Sub looks."}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`, ""),
		part("assistant", "dddddddd-0000-4000-8000-000000000003", `"dddddddd-0000-4000-8000-000000000002"`, `{"id":"msg_s1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"toolu_sb1","name":"Bash","input":{"command":"echo sub"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`, ""),
		part("user", "dddddddd-0000-4000-8000-000000000004", `"dddddddd-0000-4000-8000-000000000003"`, `{"role":"user","content":[{"tool_use_id":"toolu_sb1","type":"tool_result","content":"sub","is_error":false}]}`, ""),
		part("assistant", "dddddddd-0000-4000-8000-000000000005", `"dddddddd-0000-4000-8000-000000000004"`, `{"id":"msg_s2","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"sub done"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`, ""),
	}
	return []filedSession{
		{"bigout", big, bigID, "tool-results/" + name, []byte(out.String()), big.find(0, isCall)},
		{"subagent", sub, subID, "subagents/agent-" + agent + ".jsonl", []byte(strings.Join(lines, "\n") + "\n"), call},
	}
}

// lay puts the session into a home, with the file beside it; nil for none.
func (f filedSession) lay(t *testing.T, data, beside []byte) (path, home string) {
	home = filepath.Join(t.TempDir(), ".claude")
	path = filepath.Join(home, "projects", "-home-dev-demo", f.id+".jsonl")
	at := filepath.Join(strings.TrimSuffix(path, ".jsonl"), filepath.FromSlash(f.beside))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if f.scenario == "subagent" {
		meta := fmt.Sprintf(`{"agentType":"general-purpose","toolUseId":%q,"finished":true}`, get(f.data[f.call], "message.content.0.id"))
		if err := os.WriteFile(strings.TrimSuffix(at, ".jsonl")+".meta.json", []byte(meta), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if beside != nil {
		if err := os.WriteFile(at, beside, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.write(t, path, data)
	f.write(t, filepath.Join(home, "settings.json"), []byte(`{"cleanupPeriodDays":36500}`))
	return path, home
}

func (filedSession) write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFilesAsTheyAre: files are not damaged that a client may have deleted for their age, whose length is told in characters, or of
// a sub-agent that was asked to go on after its answer; and nothing is missed that the session does not name.
func TestFilesAsTheyAre(t *testing.T) {
	for _, f := range filedSessions(t) {
		data := f.data.Bytes()
		none := func(what, path, home string) {
			t.Helper()
			for _, found := range lintIn(t, path, home) {
				t.Errorf("%s, %s: %s", f.scenario, what, found.Message)
			}
		}
		path, home := f.lay(t, data, nil)
		f.write(t, filepath.Join(home, "settings.json"), []byte(`{"cleanupPeriodDays":1}`))
		none("deleted", path, home)
		if f.scenario == "subagent" {
			lines := Lines(f.text)
			path, home = f.lay(t, data, append(bytes.Clone(f.text), append(bytes.Clone(lines[3]), '\n')...))
			none("asked to go on", path, home)
			at := f.data.resultOf(f.call)
			unnamed := bytes.Replace(f.data[at], []byte(`"agentId":`), []byte(`"else":`), 1)
			path, home = f.lay(t, f.data.with(at, unnamed).Bytes(), f.text)
			none("no agent is named", path, home)
			continue
		}
		wide := bytes.Clone(f.text)
		copy(wide[len(wide)-4:], "é\n\n")
		at := f.data.resultOf(f.call)
		told := f.data.with(at, Set(f.data[at], "toolUseResult", "persistedOutputSize", fmt.Sprint(len(wide)-1))).Bytes()
		path, home = f.lay(t, told, wide)
		none("a length in characters", path, home)
	}
}

// fileWays damage a file beside a session; nil: it is gone.
var fileWays = []struct {
	name string
	do   func(text []byte, r *rand.Rand) []byte
}{
	{"gone", func([]byte, *rand.Rand) []byte { return nil }},
	{"emptied", func([]byte, *rand.Rand) []byte { return []byte{} }},
	{"cut", func(text []byte, r *rand.Rand) []byte { return text[:r.IntN(len(text))] }},
	{"zeroed", func(text []byte, r *rand.Rand) []byte {
		out := bytes.Clone(text)
		from := r.IntN(len(out))
		clear(out[from:min(len(out), from+1+r.IntN(4096))])
		return out
	}},
	{"torn line", func(text []byte, r *rand.Rand) []byte {
		at := r.IntN(len(text))
		return append(append(bytes.Clone(text[:at]), '\n'), text[at+r.IntN(len(text)-at):]...)
	}},
	{"flipped", func(text []byte, r *rand.Rand) []byte {
		out := bytes.Clone(text)
		out[r.IntN(min(len(out), 8<<10))] ^= 1 << r.IntN(7) // what is behind the beginning that the session shows, nothing tells
		return out
	}},
}

// TestFilesBeside: whatever happens to the files beside a session, lint of the session names it, except for a letter that changed in what
// a sub-agent said, and a repair of the session changes nothing for it. Where the output itself is lost, nothing of a damaged file is
// taken for it that shows its damage.
func TestFilesBeside(t *testing.T) {
	for _, f := range filedSessions(t) {
		whole := f.data.Bytes()
		path, home := f.lay(t, whole, f.text)
		for _, found := range lintIn(t, path, home) {
			t.Errorf("%s: nothing is damaged, but: %s", f.scenario, found.Message)
		}
		r := rand.New(rand.NewPCG(7, 0))
		for n := range 60 {
			way := fileWays[n%len(fileWays)]
			beside := way.do(f.text, r)
			if bytes.Equal(beside, f.text) && beside != nil {
				continue
			}
			path, home := f.lay(t, whole, beside)
			found := lintIn(t, path, home)
			if len(found) == 0 && !f.sameButLetters(beside) {
				t.Errorf("%s, %s (%d): not named", f.scenario, way.name, n)
			}
			for _, g := range found {
				if g.Rule.Name != "damaged-file" {
					t.Errorf("%s, %s (%d): %s", f.scenario, way.name, n, g.Message)
				}
			}
			if got := mendIn(t, path, home); !bytes.Equal(got, whole) {
				t.Errorf("%s, %s (%d): the session was changed", f.scenario, way.name, n)
			}
			f.withoutOutput(t, way.name, n, beside)
		}
	}
}

// sameButLetters says whether a sub-agent's file still has all its records, ended by an answer.
func (f filedSession) sameButLetters(beside []byte) bool {
	if f.scenario != "subagent" {
		return false
	}
	lines := Lines(beside)
	for _, l := range lines {
		if !gjson.ValidBytes(l) || bytes.IndexByte(l, 0) >= 0 {
			return false
		}
	}
	last := lines[len(lines)-1]
	return len(lines) == len(Lines(f.text)) && get(last, "message.content.0.text") != ""
}

// withoutOutput repairs the session after it has lost the output: what it gets must stand in the file, whole or from its start.
func (f filedSession) withoutOutput(t *testing.T, way string, n int, beside []byte) {
	damaged := f.data.without(f.data.resultOf(f.call)).Bytes()
	path, home := f.lay(t, damaged, beside)
	id := get(f.data[f.call], "message.content.0.id")
	for _, l := range Lines(mendIn(t, path, home)) {
		if get(l, "message.content.0.tool_use_id") != id {
			continue
		}
		words := get(l, "message.content.0.content")
		if strings.ContainsRune(words, 0) || strings.ContainsRune(words, '\ufffd') || words == "Sub looks." {
			t.Errorf("%s, %s (%d): the output became %.60q", f.scenario, way, n, words)
		}
	}
}

func lintIn(t *testing.T, path, home string) []lint.Finding {
	t.Helper()
	res, err := lint.File(t.Context(), path, lint.Options{Agent: "claude", Home: home, Name: lint.NameOf(path, true)})
	if err != nil {
		t.Fatal(err)
	}
	return res.Findings
}

func mendIn(t *testing.T, path, home string) []byte {
	t.Helper()
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var out bytes.Buffer
	opts := lint.Options{Agent: "claude", Home: home, Name: lint.NameOf(path, true)}
	if _, err := repair.Do(t.Context(), repair.Job{Source: src, Lint: opts, Mode: repair.ToStream, Stream: &out, Home: home}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
