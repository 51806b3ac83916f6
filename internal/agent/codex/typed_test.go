package codex

import (
	"strings"
	"testing"
)

// TestMisfit: what 0.169.0 was seen to read, and to skip.
func TestMisfit(t *testing.T) {
	const (
		shell = `{"type":"local_shell_call","status":"completed","call_id":"c","action":{"type":"exec","command":["ls"]`
		said  = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}`
		told  = `{"type":"function_call_output","call_id":"c","output":`
		meant = `{"type":"reasoning","summary":[]`
	)
	for payload, what := range map[string]string{
		shell + `}}`:                                           "",
		shell + `,"timeout_ms":1000}}`:                         "",
		shell + `,"timeout_ms":null}}`:                         "",
		shell + `,"timeout_ms":-1}}`:                           "action",
		shell + `,"timeout_ms":1000.5}}`:                       "action",
		shell + `,"timeout_ms":"1000"}}`:                       "action",
		strings.Replace(shell, `["ls"]`, `"ls"`, 1) + `}}`:     "action",
		strings.Replace(shell, `["ls"]`, `[1]`, 1) + `}}`:      "action",
		strings.Replace(shell, `"exec"`, `"other"`, 1) + `}}`:  "action",
		strings.Replace(shell, `completed`, `weird`, 1) + `}}`: "status",
		said + `]}`:                "",
		said + `],"end_turn":"x"}`: "",
		said + `,{"type":"input_image","image_url":"data:,","detail":"high"}]}`:  "",
		said + `,{"type":"input_image","image_url":"data:,","detail":"weird"}]}`: "content",
		said + `,{"type":"input_image","detail":"low"}]}`:                        "content",
		said + `, {"type":"bad","q":"x"}]}`:                                      "content",
		said + `,{"type":"summary_text","text":"b"}]}`:                           "content",
		said + `,{"type":"reasoning_text","text":"b"}]}`:                         "content",
		said + `,{"type":"encrypted_content","encrypted_content":"b"}]}`:         "content",
		said + `,{"type":"refusal","refusal":"no"}]}`:                            "content",
		told + `"x"}`: "",
		told + `[{"type":"input_text","text":"\"},{\""}]}`:                            "",
		told + `[{"type":"input_text","text":"t"},{"type":"input_text","text":"t"}]}`: "",
		told + `[{"type":"output_text","text":"t"}]}`:                                 "output",
		told + `null}`: "output",
		`{"type":"function_call_output","output":"x"}`:                                          "",
		`{"type":"function_call_output","output":"x","call_id":3}`:                              "call_id",
		`{"type":"function_call","name":"a","arguments":"{}","call_id":"c","namespace":"n"}`:    "",
		`{"type":"function_call","name":"a","arguments":"{}","call_id":"c","namespace":3}`:      "namespace",
		meant + `,"content":null,"encrypted_content":null}`:                                     "",
		meant + `,"content":[{"type":"reasoning_text","text":"a"},{"type":"text","text":"a"}]}`: "",
		meant + `,"content":"hm"}`:                                                                            "content",
		meant + `,"content":[{"type":"output_text","text":"a"}]}`:                                             "content",
		meant + `,"encrypted_content":5}`:                                                                     "encrypted_content",
		`{"type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}}`:              "",
		`{"type":"web_search_call"}`:                                                                          "",
		`{"type":"web_search_call","action":"x"}`:                                                             "action",
		`{"type":"web_search_call","status":3}`:                                                               "status",
		`{"type":"image_generation_call","status":"completed","result":"AA","revised_prompt":4}`:              "revised_prompt",
		`{"type":"context_compaction"}`:                                                                       "",
		`{"type":"context_compaction","encrypted_content":4}`:                                                 "encrypted_content",
		`{"type":"agent_message","author":"a","recipient":"b","content":[{"type":"input_text","text":"x"}]}`:  "",
		`{"type":"agent_message","author":"a","recipient":"b","content":[{"type":"output_text","text":"x"}]}`: "content",
	} {
		if got := Misfit(scanned(t, payload)); (got == "") != (what == "") || !strings.Contains(got, what) {
			t.Errorf("%s: %q, want %q", payload, got, what)
		}
	}
}

// TestSkips: what 0.171.0 was seen to read, and to skip.
func TestSkips(t *testing.T) {
	for record, want := range map[string]bool{
		`"event_msg","payload":{"type":"token_count","info":{"model_context_window":1},"rate_limits":{"primary":{"used_percent":1.5}}}`:      false,
		`"event_msg","payload":{"type":"token_count","info":{"model_context_window":1.5}}`:                                                   true,
		`"event_msg","payload":{"type":"token_count","info":{"new_tokens":1.5,"cost":0.25},"rate_limits":{"primary":{"used_percent":-1.5}}}`: false,
		`"event_msg","payload":{"type":"user_message","message":"a"}`:                                                                        false,
		`"event_msg","payload":{"type":"user_message"}`:                                                                                      true,
		`"event_msg","payload":{"type":"agent_message","message":3}`:                                                                         true,
		`"event_msg","payload":{"type":"agent_reasoning","text":3}`:                                                                          true,
		`"event_msg","payload":{"type":"web_search_end","call_id":"a","query":"b"}`:                                                          false,
		`"turn_context","payload":{"cwd":"/","model":"m","approval_policy":"never","sandbox_policy":{"type":"read-only"}}`:                   false,
		`"turn_context","payload":{"cwd":"/"}`:                                                                                               true,
		`"response_item","payload":{"type":"function_call","arguments":"{}"}`:                                                                true,
		`"response_item","payload":{"type":"message","role":"assistant","content":"a"}`:                                                      true,
		`"response_item","payload":{"type":"brand_new"}`:                                                                                     false,
		`"dynamic_tools_updated","payload":{"tools":[]}`:                                                                                     false,
		`"brand_new","payload":{}`: true,
	} {
		rec := scannedLine(t, []byte(`{"timestamp":"2026-11-27T00:01:33.860Z","ordinal":40,"type":`+record+`}`))
		Decoder{}.Decode(rec)
		if got := Skips(rec); got != want {
			t.Errorf("%s: %v, want %v", record, got, want)
		}
	}
}
