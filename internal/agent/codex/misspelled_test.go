package codex

import (
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

func misspelled(line string) (at int, was byte, ok bool) {
	rec := &session.Record{Raw: []byte(line), Spans: make([]jsonl.Span, fieldCount)}
	shape.ScanOne(rec.Raw, rec.Spans)
	Decoder{}.Decode(rec)
	return Decoder{}.Misspelled(rec)
}

// TestMisspelled turns one bit of each name of a prompt, which is found; names that a later client may write are no damage.
func TestMisspelled(t *testing.T) {
	const whole = `{"timestamp":"2026-11-26T23:44:50.000Z","ordinal":7,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"sow the peas"}]}}`
	for _, name := range []string{"timestamp", "response_item", "payload", "message", "role", "user", "content", "input_text", `"text"`} {
		at := strings.Index(whole, name) + len(name)/2
		line := []byte(whole)
		line[at] ^= 2
		if i, was, ok := misspelled(string(line)); !ok || i != at || was != whole[at] {
			t.Errorf("%s: byte %d was %q (%v), want byte %d, %q", name, i, was, ok, at, whole[at])
		}
	}
	for _, other := range [][2]string{
		{"response_item", "response_iten2"}, {"message", "massage_note"}, {"user", "gardener"}, {"input_text", "input_tune"}, {"peas", "peds"}, {"user", "user"},
	} {
		if i, _, ok := misspelled(strings.Replace(whole, other[0], other[1], 1)); ok {
			t.Errorf("%s for %s: a wrong bit at byte %d, want none", other[1], other[0], i)
		}
	}
}

// TestMisspelledHeader: a fork whose header does not say what it goes on from is sent without that (measured with 0.171.0), and where it
// ends half-said, it is refused.
func TestMisspelledHeader(t *testing.T) {
	const whole = `{"timestamp":"2026-11-26T23:44:50.000Z","ordinal":3,"type":"session_meta","payload":{"id":"01a21a4f-67fa-7621-9ace-2a6a7a931370","history_mode":"paginated",` +
		`"history_base":{"thread_id":"01a21a4f-6216-7531-94c2-b9e0e5f758a8","end_ordinal_exclusive":3,"end_byte_offset":812}}}`
	for _, name := range []string{"history_mode", "history_base", "thread_id", "end_ordinal_exclusive", "end_byte_offset"} {
		at := strings.Index(whole, name) + len(name)/2
		line := []byte(whole)
		line[at] ^= 2
		if i, was, ok := misspelled(string(line)); !ok || i != at || was != whole[at] {
			t.Errorf("%s: byte %d was %q (%v), want byte %d, %q", name, i, was, ok, at, whole[at])
		}
	}
}

// TestMisspelledCompaction: the same of a compaction and of what it holds.
func TestMisspelledCompaction(t *testing.T) {
	const whole = `{"timestamp":"2026-11-26T23:44:50.000Z","type":"compacted","payload":{"message":"so far","replacement_history":[` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"sow the peas"}]}]}}`
	for _, name := range []string{"compacted", `"message":"so`, "replacement_history", `"type":"message"`, "role", "user", "content", "input_text", `"text"`} {
		at := strings.Index(whole, name) + len(name)/2
		line := []byte(whole)
		line[at] ^= 2
		if i, was, ok := misspelled(string(line)); !ok || i != at || was != whole[at] {
			t.Errorf("%s: byte %d was %q (%v), want byte %d, %q", name, i, was, ok, at, whole[at])
		}
	}
	if i, _, ok := misspelled(whole); ok {
		t.Errorf("a wrong bit at byte %d of a whole compaction", i)
	}
}

// TestMisspelledCalls: the same of a call, an output and reasoning, of which the client requires other members.
func TestMisspelledCalls(t *testing.T) {
	for _, payload := range []string{
		`{"type":"function_call","name":"shell","arguments":"{}","call_id":"call_1"}`,
		`{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"12 beds"}]}`,
		`{"type":"function_call","name":"lookup","namespace":"mcp__lab","arguments":"{}","call_id":"call_1"}`,
		`{"type":"additional_tools","role":"developer","tools":[]}`,
		`{"type":"reasoning","summary":[{"type":"summary_text","text":"count the beds"}],"encrypted_content":null}`,
	} {
		whole := `{"timestamp":"2026-11-26T23:44:50.000Z","type":"response_item","payload":` + payload + `}`
		for _, name := range []string{"function_call", `"name"`, "arguments", "call_id", `"output"`, "input_text", `"text"`, "reasoning", `"summary"`, "summary_text", "encrypted_content", "namespace", "additional_tools", `"tools"`} {
			at := strings.Index(whole, name) + len(name)/2
			if !strings.Contains(whole, name) {
				continue
			}
			line := []byte(whole)
			line[at] ^= 2
			if i, was, ok := misspelled(string(line)); !ok || i != at || was != whole[at] {
				t.Errorf("%s of %s: byte %d was %q (%v), want byte %d, %q", name, payload, i, was, ok, at, whole[at])
			}
		}
	}
}

// TestMisspelledAction: the same of what a shell call or a web search does, and of an image's address.
func TestMisspelledAction(t *testing.T) {
	for whole, names := range map[string][]string{
		`{"timestamp":"2026-11-26T23:44:50.000Z","type":"response_item","payload":{"type":"web_search_call","status":"completed","action":{"type":"search","query":"when to sow"}}}`:                     {`"type":"s`, `"search"`, `"query"`},
		`{"timestamp":"2026-11-26T23:44:50.000Z","type":"response_item","payload":{"type":"local_shell_call","call_id":"call_1","status":"completed","action":{"type":"exec","command":["ls"]}}}`:        {`"type":"e`, `"exec"`, `"command"`},
		`{"timestamp":"2026-11-26T23:44:50.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]}}`: {`"image_url"`},
	} {
		for _, name := range names {
			at := strings.Index(whole, name) + 2
			line := []byte(whole)
			line[at] ^= 2
			if i, was, ok := misspelled(string(line)); !ok || i != at || was != whole[at] {
				t.Errorf("%s: byte %d was %q (%v), want byte %d, %q", name, i, was, ok, at, whole[at])
			}
		}
	}
}
