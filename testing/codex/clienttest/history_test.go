package clienttest

import (
	"encoding/json"
	"slices"
	"testing"
)

func items(texts ...string) []json.RawMessage {
	raw := make([]json.RawMessage, len(texts))
	for i, s := range texts {
		raw[i] = json.RawMessage(s)
	}
	return raw
}

const (
	ask     = `{"type":"message","role":"user","id":"msg_1","content":[{"type":"input_text","text":"list the files"}]}`
	think   = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}]}`
	callA   = `{"type":"function_call","name":"shell","arguments":"{}","call_id":"a"}`
	outA    = `{"type":"function_call_output","call_id":"a","output":"alpha"}`
	outALst = `{"type":"function_call_output","id":"fco_9","call_id":"a","output":[{"type":"input_text","text":"alpha"}]}`
	outALow = `{"type":"function_call_output","call_id":"a","output":"ALPHA"}`
	outAbrt = `{"type":"function_call_output","call_id":"a","output":"aborted"}`
	callB   = `{"type":"custom_tool_call","name":"apply_patch","input":"x","call_id":"b"}`
	outB    = `{"type":"custom_tool_call_output","call_id":"b","output":"done"}`
	answer  = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"All done."}]}`
	where   = `{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n</environment_context>"}]}`
	rules   = `{"type":"message","role":"developer","content":[{"type":"input_text","text":"be good"}]}`
	prompt  = `{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}`
)

func TestCompare(t *testing.T) {
	clean := items(where, ask, think, callA, outA, callB, outB, answer, rules, where, prompt)
	for _, c := range []struct {
		name string
		got  []json.RawMessage
		want Comparison
	}{
		{"same", clean, Comparison{Clean: 8, Sent: 8, OrderKept: true}},
		{
			"other ids, other tail", items(where, ask, think, callA, outALst, callB, outB, answer, prompt),
			Comparison{Clean: 8, Sent: 8, OrderKept: true},
		},
		{"nothing", nil, Comparison{Clean: 8, OrderKept: true, Missing: []string{
			`message user "<environment_context>\n</environment_cont…"`, `message user "list the files"`, `reasoning "hm"`,
			"function_call a", "function_call_output a", "custom_tool_call b", "custom_tool_call_output b", `message assistant "All done."`,
		}}},
		{"pair lost", items(where, ask, think, callA, outA, answer, prompt), Comparison{
			Clean: 8, Sent: 6, OrderKept: true,
			Missing: []string{"custom_tool_call b", "custom_tool_call_output b"},
		}},
		{"aborted", items(where, ask, think, callA, outAbrt, callB, outB, answer, prompt), Comparison{
			Clean: 8, Sent: 7, Aborted: 1,
			OrderKept: true, Missing: []string{"function_call_output a (sent as aborted)"},
		}},
		{
			"changed", items(where, ask, think, callA, outALow, callB, outB, answer, prompt),
			Comparison{Clean: 8, Sent: 7, Changed: 1, OrderKept: true},
		},
		{"order", items(where, ask, think, outA, callA, callB, outB, answer, prompt), Comparison{Clean: 8, Sent: 8}},
		{"twice", items(where, ask, think, callA, outA, outA, callB, outB, answer, prompt), Comparison{
			Clean: 8, Sent: 8, OrderKept: true,
			Extra: []string{"function_call_output a"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Compare(clean, c.got)
			if got.Clean != c.want.Clean || got.Sent != c.want.Sent || got.Changed != c.want.Changed || got.Aborted != c.want.Aborted ||
				got.OrderKept != c.want.OrderKept || !slices.Equal(got.Missing, c.want.Missing) || !slices.Equal(got.Extra, c.want.Extra) {
				t.Errorf("\n got %+v\nwant %+v", got, c.want)
			}
		})
	}
}
