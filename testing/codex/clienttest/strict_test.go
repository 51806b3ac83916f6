package clienttest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/testkit/damage"
	"github.com/hist-cli/hist/lint"
)

// refusable are the rules about what the API answers with 400. Calls without outputs, and outputs without calls, clients
// mend by themselves before they send them.
var refusable = []string{"bad-item-id", "duplicate-item-id", "foreign-reasoning", "undecryptable", "reasoning-order", "empty-content", "bad-image", "output-before-call", "duplicate-output", "bad-arguments"}

// asked resumes a session at a provider that refuses as the API does, and returns what it would have refused.
func asked(t *testing.T, bin Binary, text []byte, name string) (refusal string, code int) {
	t.Helper()
	h := newHome(t, bin)
	h.Server.Strict = true
	path := filepath.Join(h.Root, name)
	if err := os.WriteFile(path, ours(text), 0o600); err != nil {
		t.Fatal(err)
	}
	id, err := h.AddSession(path)
	if err != nil {
		t.Fatal(err)
	}
	res := h.Resume(t.Context(), id, Prompt)
	if len(res.Requests) == 0 {
		t.Fatalf("%s does not resume: %s", name, res.Stderr)
	}
	return Refusal(Input(res.Requests[0].Body)), res.ExitCode
}

// TestRefusedByTheAPI has clients resume sessions with items that the API refuses, at a provider that does. Before the
// repair the request is refused, after it, it is answered.
func TestRefusedByTheAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("resumes dozens of sessions; left out by -short")
	}
	clients(t, func(t *testing.T, bin Binary) {
		before := map[string]int{}
		for _, rule := range refusable {
			paths, err := filepath.Glob(filepath.Join("../../../fixtures/codex/rules", rule, "bad*.jsonl"))
			if err != nil || len(paths) == 0 {
				t.Fatal(rule, err)
			}
			for _, path := range paths {
				if taken[filepath.Base(path)] {
					continue
				}
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				name := sidecar(path, "name", fixtureName(text))
				if refusal, code := asked(t, bin, text, name); refusal != "" && code != 0 {
					before[rule]++
					t.Logf("%s: %s", row(path), refusal)
				} else {
					t.Logf("%s: nothing that the API refuses is sent", row(path))
				}
				repaired := repairText(t, damage.Case{Name: path, Data: text}, name, lint.Options{For: map[string]string{"codex": bin.Version}, StripEncrypted: rule == "undecryptable"})
				if refusal, code := asked(t, bin, repaired, name); refusal != "" || code != 0 {
					t.Errorf("%s: refused after the repair: %s (exit %d)", row(path), refusal, code)
				}
			}
		}
		for _, rule := range refusable {
			if before[rule] == 0 && !slices.Contains(unsent[bin.Version], rule) {
				t.Errorf("no session of %s is refused before its repair", rule)
			}
		}
	})
}

// taken are fixtures of notes: the session's own API has answered what this one refuses.
var taken = map[string]bool{"bad-answered.jsonl": true}

// unsent are the rules whose damage a client does not send on: ids, by which the API tells what belongs together, only from 0.144 on, and of the repeated ones 0.145.0
// sends none.
var unsent = map[string][]string{
	"0.79.0": {"bad-item-id", "duplicate-item-id", "reasoning-order"}, "0.114.0": {"bad-item-id", "duplicate-item-id", "reasoning-order"},
	"0.145.0": {"duplicate-item-id"},
}

// longContent is the row of a message with too many parts: it is found and told, and no repair shortens it.
const longContent = 12

// TestRefusedSessions has clients resume the copies of sessions with each fault that an API names by its place: what they send is taken.
func TestRefusedSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("resumes dozens of sessions; left out by -short")
	}
	clientsSince(t, Newest, func(t *testing.T, bin Binary) {
		for _, c := range damage.RefusedSessions() {
			if c.Agent != "codex" || c.Row == longContent {
				continue
			}
			name := fixtureName(c.Data)
			repaired := repairText(t, damage.Case{Name: c.Error, Data: c.Data}, name, lint.Options{StripEncrypted: true})
			if refusal, code := asked(t, bin, repaired, name); refusal != "" || code != 0 {
				t.Errorf("row %d: %s: refused after the repair: %s (exit %d)", c.Row, c.Error, refusal, code)
			}
		}
	})
}

// refusedFixture is a fixture of refused, repaired by these options unless they are nil.
func refusedFixture(t *testing.T, fixture string, opts *lint.Options) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../fixtures/codex/rules/refused", fixture+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if opts == nil {
		return text
	}
	return repairText(t, damage.Case{Name: fixture, Data: text}, fixtureName(text), *opts)
}

// resumed is what a client whose provider is called mock sends of a session.
func resumed(t *testing.T, bin Binary, text []byte) Result {
	t.Helper()
	h := newHome(t, bin)
	path := filepath.Join(h.Root, fixtureName(text))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	id, err := h.AddSession(path)
	if err != nil {
		t.Fatal(err)
	}
	return h.Resume(t.Context(), id, Prompt)
}

// TestAnotherProvider: the newest client refuses a session of another provider than the one that it uses. The copy for that provider
// resumes, and holds nothing that the provider does not know.
func TestAnotherProvider(t *testing.T) {
	clientsSince(t, Newest, func(t *testing.T, bin Binary) {
		if res := resumed(t, bin, refusedFixture(t, "bad-other-provider", nil)); len(res.Requests) > 0 {
			t.Error("a session of another provider resumes: it needs no other name")
		}
		res := resumed(t, bin, refusedFixture(t, "bad-other-provider", &lint.Options{Provider: "compatible=mock"}))
		if len(res.Requests) == 0 {
			t.Fatalf("the copy does not resume: %s", res.Stderr)
		}
		body := string(res.Requests[0].Body)
		for _, kind := range []string{"reasoning", "custom_tool_call", "custom_tool_call_output", "web_search_call"} {
			if strings.Contains(body, `"type":"`+kind+`"`) {
				t.Errorf("the copy still sends a %s", kind)
			}
		}
		for _, words := range []string{"*** Add File: a.txt", "note formats", "There is one file, notes.txt.", `"call_1"`} {
			if !strings.Contains(body, words) {
				t.Errorf("the copy does not send %q", words)
			}
		}
	})
}

// TestAgentsSetting: the header's setting decides whether the tools are offered that the API refuses, and repair takes it back.
func TestAgentsSetting(t *testing.T) {
	clientsSince(t, "0.145.0", func(t *testing.T, bin Binary) {
		offered := func(opts *lint.Options) bool {
			res := resumed(t, bin, ours(refusedFixture(t, "bad-agents", opts)))
			if len(res.Requests) == 0 {
				t.Fatalf("it does not resume: %s", res.Stderr)
			}
			return strings.Contains(string(res.Requests[0].Body), "spawn_agent")
		}
		if !offered(nil) || offered(&lint.Options{}) {
			t.Error("the tools are not offered before the repair, or still are behind it")
		}
	})
}

// TestRefusal: the words that users have reported, by which hist explain knows them.
func TestRefusal(t *testing.T) {
	for input, want := range map[string]string{
		`{"type":"message","id":"msg_1","role":"user","content":[{"type":"input_text","text":"x"}]}`:                "",
		`{"type":"message","id":"fc_1","role":"user","content":[{"type":"input_text","text":"x"}]}`:                 "its id does not begin with msg",
		`{"type":"message","role":"assistant","content":[]}`:                                                        "empty array",
		`{"type":"message","id":"msg_needs_rs_1","role":"assistant","content":[{"type":"output_text","text":"x"}]}`: "without its required 'reasoning' item: 'rs_1'",
		`{"type":"reasoning","id":"rs_of_1","summary":[]}`:                                                          "without its required following item",
		`{"type":"function_call","call_id":"c","arguments":"{}"}`:                                                   "No tool output found for function call c",
		`{"type":"function_call_output","call_id":"c","output":"x"}`:                                                "No tool call found",
		`{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"x"}]}`:            "its content is not empty",
		`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAABvdGhlcg=="}`:                      "could not be verified",
		`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x1:abc"}`:                                "could not be verified",
		`{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,!"}]}`: "Invalid image",
	} {
		if got := Refusal(Input([]byte(`{"input":[` + input + `]}`))); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}
