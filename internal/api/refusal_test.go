package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/session"
)

// TestExamples: each text of the table is recognised as what it is, however it is wrapped, and each has a next step.
func TestExamples(t *testing.T) {
	wraps := map[string]func(string) string{
		"alone": func(s string) string { return s },
		"json":  func(s string) string { return `{"error":{"message":` + quoted(s) + `,"type":"x","code":null}}` },
		"twice": func(s string) string { return quoted(`{"error":{"message":` + quoted(s) + `}}`) },
		"gateway": func(s string) string {
			return `{"status":400,"detail":{"upstream":` + quoted(`{"message":`+quoted(s)+`}`) + `}}`
		},
		"claude": func(s string) string {
			return `API Error: 400 {"type":"error","error":{"type":"x","message":` + quoted(s) + `},"request_id":"req_1"}`
		},
		"codex": func(s string) string {
			return `unexpected status 400: ` + s + `, url: https://api.example/v1/responses`
		},
		"log": func(s string) string { return "2026-11-01 begin\n  at " + s + "\n2026-11-01 end" },
	}
	for _, want := range refusals {
		if want.Way().Step == "" || want.Meaning == "" {
			t.Errorf("row %d has no meaning or no step", want.Row)
		}
		for name, wrap := range wraps {
			found := Explain(wrap(want.Example))
			if len(found) != 1 || found[0].Row != want.Row {
				t.Errorf("row %d, %s: %s\nis recognised as %v", want.Row, name, wrap(want.Example), rows(found))
			}
		}
	}
}

func rows(found []Refusal) (list []string) {
	for _, r := range found {
		list = append(list, fmt.Sprintf("%d %q", r.Row, r.Words))
	}
	return list
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// TestPlaces: where in the request the fault is, as the text says it.
func TestPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"Unknown parameter: 'input[9].namespace'.":                                                                                                                                   "9 -1 -1 namespace []",
		"[ObjectParam] [input[13].namespace] [unknown_parameter] Unknown parameter: 'input[13].namespace'.":                                                                          "13 -1 -1 namespace []",
		`{"error":{"message":"Invalid value: 'other'. Supported values are: 'search', 'open_page', and 'find_in_page'.","param":"input[33].action.type"}}`:                           "33 -1 -1 action.type [other]",
		"{\n \"error\": {\n  \"message\": \"Invalid value: 'output_text'. Supported values are: 'input_text'.\",\n  \"code\": 1,\n  \"param\": \"input[7].content[1]\"\n }\n}":       "7 -1 -1 content[1] []",
		`input.4: item type "compaction" is not supported`:                                                                                                                           "4 -1 -1  [compaction]",
		"1 validation error: input.list[ResponseInputItem].12.ResponseReasoningItem.content Field required":                                                                          "12 -1 -1 ResponseReasoningItem.content []",
		"messages.6: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1, toolu_2. Each":                                                               "6 -1 -1  [toolu_1 toolu_2]",
		"messages.5.content.0.tool_result.content.2.image.source.base64: Could not process image":                                                                                    "5 0 2 image.source.base64 []",
		"Missing reasoning_content at message index 7":                                                                                                                               "7 -1 -1  []",
		"  ⎿  API Error: 400 {\"message\":\"messages.5.content.0.image.source.base64.data:\n     At least one of the image dimensions exceed max allowed size: 8000\n     pixels\"}": "5 0 -1 image.source.base64.data []",
		"{\"mess\n     age\":\"Unknown parameter: 'input[9].\n     namespace'.\"}":                                                                                                   "9 -1 -1 namespace []",
		"<pre>Unknown parameter: &#39;input[9].namespace&#39;.</pre>":                                                                                                                "9 -1 -1 namespace []",
		"Unknown parameter: ‘input[9].namespace’.":                                                                                                                                   "9 -1 -1 namespace []",
		"Item 'fc_1' of type 'function_call' was provided without its required preceding item.":                                                                                      "-1 -1 -1  [fc_1]",
		"Invalid 'input[3].id': 'call_00_abc'. Expec":                                                                                                                                "3 -1 -1 id []",
	} {
		r := Newest(Explain(text))
		if r == nil {
			t.Errorf("%s: not recognised", text)
			continue
		}
		if got := fmt.Sprint(r.Message, r.Block, r.Inner, " ", r.Field, " ", r.IDs); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%s\nis at %s, want %s", text, got, want)
		}
	}
}

// TestReported: other words of one refusal than the table's example, as reports have them.
func TestReported(t *testing.T) {
	for text, want := range map[string]string{
		"diagnostics.previous_message_id: must be the id from a prior /v1/messages response (starts with msg_)":                                                  "127 last -1 []",
		`API Error: 422 {"detail":[{"type":"literal_error","loc":["body","messages",1,"role"],"msg":"Input should be 'user' or 'assistant'","input":"system"}]}`: "151 gateway -1 []",
		"role must be either 'user' or 'assistant', but got 'system'":                                                                                            "151 gateway -1 []",
		"System messages are not allowed":                                                                           "151 gateway -1 []",
		"unknown Anthropic role: system":                                                                            "151 gateway -1 []",
		"Missing reasoning_content field in the assistant message at message index 12":                              "57 provider 12 []",
		"Error running remote compact task: Your input exceeds the context window of this model.":                   "42 shorten -1 []",
		"Error running remote compact task: stream disconnected before completion":                                  "169 compact -1 []",
		"compact_error=timeout waiting for child process to exit":                                                   "169 compact -1 []",
		`Error running remote compact task: Invalid 'input[3].id': 'call_1'. Expected an ID that begins with 'fc'.`: "1 id 3 [call_1]",
		"Error running remote compact task":                                                                         "125 unsaid -1 []",
		`input[31]: unknown item type "agent_message"; expected one of "message", "function_call"`:                  "147 item-type 31 [agent_message]",
		"reasoning_content is missing in assistant tool call message at index 5":                                    "56 provider -1 []",
		"The `reasoning_text` in the thinking mode must be passed back to the API.":                                 "56 provider -1 []",
		"404 No endpoints found that support image input":                                                           "172 blind -1 []",
		"messages[408]: unknown variant `image_url`, expected `text` at line 1 column 4795048":                      "172 blind 408 []",
		"Missing namespace for function_call 'execute_query'. It does not exist in the default namespace.":          "173 namespace -1 [execute_query]",
		"Reconnecting... 5/5": "137 broken -1 []",
		"Encrypted content item_id did not match the target item id": "41 encrypted -1 []",
		"Invalid input type 'agent_message' at index 17":             "152 item-type 17 [agent_message]",
		"invalid property name in input[286]":                        "10 key 286 []",
		`{"error":{"message":"Unsupported value: 'xhigh' is not supported with the 'gpt-5.1' model. Supported values are: 'low' and 'high'.","param":"reasoning.effort","code":"x"}}`: "156 effort -1 []",
		"Invalid value: 'max'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', and 'xhigh'.":                                                                        "156 effort -1 []",
		"Invalid 'input': array too long. Expected an array with maximum length 131072, but got an array with length 159085 instead.":                                                 "164 shorten -1 []",
		"Error running remote compact task: Fatal error: remote compaction v2 expected exactly one compaction output item, got 0 from 3 output items":                                 "166 compact -1 []",
		"input: missing field `call_id`":          "157 alone -1 []",
		"websocket: close 1009 (message too big)": "103 shorten -1 []",
		"request (33056 tokens) exceeds the available context size (32768 tokens), try increasing it": "107 shorten -1 []",
		"500 no user query found in messages":                                                                              "180 shorten -1 []",
		"500 system message must be at the beginning":                                                                      "181 gateway -1 []",
		"'type' of tool must be 'function'":                                                                                "50 settings -1 []",
		"Cannot determine type of 'item'":                                                                                  "179 item-type -1 []",
		"messages with role 'tool' must be a response to a preceeding message with 'tool_calls'":                           "55 no-call -1 []",
		"cause: The request failed because it is missing `messages.tool_call_id` parameter.":                               "183 gateway -1 []",
		"codex websocket closed before a Responses terminal event":                                                         "137 broken -1 []",
		"An error occurred while processing your request. You can retry your request":                                      "138 now -1 []",
		"Custom tool call output is missing for call id: call_9":                                                           "158 no-output -1 [call_9]",
		"messages.3.content.1.tool_result.tool_use_id: Input should be a valid string":                                     "118 path 3 []",
		"invalid params, tool result's tool id not found (2013)":                                                           "178 no-call -1 []",
		"invalid params, tool result's tool id() not found (2013)":                                                         "178 no-call -1 []",
		"invalid params, tool call and result not match (2013)":                                                            "59 pairs -1 []",
		"invalid params, tool call id is invalid (2013)":                                                                   "69 call-id -1 []",
		"thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'": "176 settings -1 []",
		`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"`:                            "176 settings -1 []",
		"Validation: `thinking.type` must be `enabled` or `disabled`":                                                      "176 settings -1 []",
		"Only 'enabled' and 'disabled' are supported for thinking; 'adaptive' is not supported.":                           "176 settings -1 []",
		"messages.4: `tool_result` block(s) provided when previous message does not contain any `tool_use` blocks":         "65 no-call 4 []",
		"messages.4: Did not find 1 tool_result block(s) at the beginning of this message.":                                "64 no-output 4 []",
	} {
		r := Newest(Explain(text))
		if r == nil {
			t.Errorf("%s: not recognised", text)
			continue
		}
		if got := fmt.Sprint(r.Row, " ", r.Mend, " ", r.Message, " ", r.IDs); got != want {
			t.Errorf("%s\nis %s, want %s", text, got, want)
		}
	}
	if r := Newest(Explain("`input[66]` missing required field `id`")); r == nil || r.Message != 66 || r.Field != "id" {
		t.Errorf("the field that an item lacks: %+v", r)
	}
}

// TestNoList: an error about an element of a list leads to no item that has no such list.
func TestNoList(t *testing.T) {
	sent := &session.Sent{Items: []session.Item{
		{Message: 0, Role: "user", Content: []byte(`{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}`)},
		{Message: 1, Kind: session.ReasoningItem, Content: []byte(`{"type":"reasoning","summary":[],"content":null,"encrypted_content":"gAAAAAB"}`)},
	}}
	if places, _ := Locate(Newest(Explain("Something is wrong with 'input[0].content[0].foo'.")), sent); len(places) != 0 {
		t.Errorf("found %+v", places)
	}
}

// TestNewest: of a log, the error that lasts counts, not the one that passed.
func TestNewest(t *testing.T) {
	log := "Selected model is at capacity\nUnknown parameter: 'input[2].status'.\nretrying\nUnknown parameter: 'input[2].status'.\nstream disconnected before completion\n"
	if r := Newest(Explain(log)); r == nil || r.Row != 17 || r.Times != 2 {
		t.Errorf("got %+v", r)
	}
	if found := Explain("nothing that anybody knows"); found != nil {
		t.Errorf("recognised %v", rows(found))
	}
}

// TestWays: one of the API's moods must not keep a sound session from being resumed, and what lasts must.
func TestWays(t *testing.T) {
	for text, want := range map[string]agent.Verdict{
		"API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}": agent.Resumable,
		"API Error: 429 rate_limit_error":                                    agent.Resumable,
		"API Error: 500 Internal Server Error":                               agent.Resumable,
		"You have hit your usage limit.":                                     agent.Resumable,
		"messages.3: `tool_use` ids were found without `tool_result` blocks": agent.Repairable,
		"messages: text content blocks must be non-empty":                    agent.Repairable,
		"prompt is too long: 205000 tokens > 200000 maximum":                 agent.Incompatible,
		"The encrypted content for item rs_1 could not be verified.":         agent.Incompatible,
	} {
		if r := Newest(Explain(text)); r == nil || r.Way().Verdict != want || r.Lasts() != (want != agent.Resumable) {
			t.Errorf("%s: %+v, want %s", text, r, want)
		}
	}
}

// TestCutOff: the beginning of a text tells which one it is, if it is long enough and nothing else begins so.
func TestCutOff(t *testing.T) {
	for text, want := range map[string]string{
		"No tool output found for custom tool ca":                                          "no-output",
		"API Error: 400 Tool reference 'mcp__beds__water' not found in avail":              "tool-reference",
		"{\"error\":{\"message\":\"Item 'rs_9f' of type 'reasoning' was provided without…": "order",
		"No tool": "",
		"The tool output found in the garden was": "",
	} {
		found := Explain(text)
		if (len(found) > 0) != (want != "") || want != "" && found[0].Mend != want {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

// A kind of item that a server does not know, and says so by the item's place alone, becomes text.
func TestUnknownKind(t *testing.T) {
	item := []byte(`{"type":"agent_message","author":"/root","content":[{"type":"input_text","text":"report, please"}]}`)
	sent := &session.Sent{Items: []session.Item{{Content: item, Message: 0, Block: -1}}}
	places, _ := Locate(Newest(Explain("input.0.type: Invalid input")), sent)
	if len(places) != 1 || places[0].Fault.Mend != "tell" {
		t.Errorf("%+v", places)
	}
}

// An output that answers no call becomes the message that it is, for a server that refuses such outputs.
func TestAlone(t *testing.T) {
	r := Newest(Explain("Invalid Value: 'input.call_id'. Function call output requires call_id."))
	for item, want := range map[string]string{
		`{"type":"function_call_output","name":"x","output":"is it \"ready\"?"}`:                               `{"type":"message","role":"user","content":[{"type":"input_text","text":"is it \"ready\"?"}]}`,
		`{"type":"function_call_output","call_id":null,"output":[{"type":"input_image","image_url":"data:"}]}`: `{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:"}]}`,
		`{"type":"function_call_output","call_id":"call_1","output":"done"}`:                                   "",
	} {
		sent := &session.Sent{Items: []session.Item{{Content: []byte(item), Kind: session.OutputItem, Message: 0, Block: -1}}}
		places, _ := Locate(r, sent)
		if want == "" {
			if len(places) > 0 {
				t.Errorf("%s: %+v", item, places)
			}
			continue
		}
		if len(places) != 1 {
			t.Errorf("%s is not found", item)
			continue
		}
		m, ok := Mend([]byte(item), "", places[0].Fault)
		text, err := session.Apply([]byte(item), m.Cuts)
		if !ok || err != nil || string(text) != want {
			t.Errorf("%s becomes %s, %v", item, text, err)
		}
	}
}

// TestUnsealed: thoughts without their encrypted form are found although no specification asks for it, each, wherever the error counts from.
func TestUnsealed(t *testing.T) {
	sent := &session.Sent{Items: []session.Item{
		{Message: 0, Kind: session.ReasoningItem, Content: []byte(`{"type":"reasoning","id":"rs_1","summary":[]}`)},
		{Message: 1, Kind: session.ReasoningItem, Content: []byte(`{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gAAAAAB"}`)},
		{Message: 2, Kind: session.ReasoningItem, Content: []byte(`{"type":"reasoning","id":"rs_3","summary":[],"encrypted_content":null}`)},
	}}
	places, _ := Locate(Newest(Explain("Missing required parameter: 'input[1].encrypted_content'.")), sent)
	if len(places) != 2 || places[0].Item != 0 || places[1].Item != 2 {
		t.Errorf("found %+v", places)
	}
}

// TestPlainWords: what has not the form of encrypted text is plain, however short; what may be encrypted in another program's way is left.
func TestPlainWords(t *testing.T) {
	for text, plain := range map[string]bool{
		"Done.":                      true,
		"ok\tdone":                   true,
		"Готово: файл записан":       true,
		"all of it is written now":   true,
		"gAAAAABtZXJlLXRlc3Q=":       false,
		"eyJhbGciOiJkaXIifQ..aXY.c2": false,
	} {
		if mayBeSealed(text) == plain {
			t.Errorf("%q", text)
		}
	}
}

// TestOthersWords: what a program says of its own work is no refusal.
func TestOthersWords(t *testing.T) {
	for _, text := range []string{
		"404 Not Found GET https://example.org/api/responses?x=1",
		`unexpected status 404 Not Found: {"message":"Item 'rs_12' not found"}, url: https://api.example/responses`,
		"reading item['type'] in parse.py",
		"value did not match any expected variant in your config.toml",
		"commit message too big",
		"System message must be the first thing a user reads",
	} {
		for _, r := range Explain(text) {
			if slices.Contains([]int{103, 179, 181, 183}, r.Row) {
				t.Errorf("%s: row %d", text, r.Row)
			}
		}
	}
	for text, row := range map[string]int{
		`unexpected status 404 Not Found: {"error":{"message":"model 'kettle-3' not found"}}, url: http://localhost:11434/v1/responses`: 124,
		"unexpected status 404 Not Found: 404 page not found, url: https://api.example/v1/responses":                                    183,
		`unexpected status 404 Not Found: {"detail":"Not Found"}, url: https://api.example/responses`:                                   183,
	} {
		if r := Newest(Explain(text)); r == nil || r.Row != row {
			t.Errorf("%s: %+v", text, r)
		}
	}
}
