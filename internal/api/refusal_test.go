package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
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
