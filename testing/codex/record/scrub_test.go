package main

import "testing"

func TestScrub(t *testing.T) {
	for name, c := range map[string]struct{ in, out string }{
		"header": {
			`{"type":"session_meta","payload":{"id":"x","cwd":"/t/home-1/demo","base_instructions":{"text":"You are Codex, …","provenance":{"type":"model"}},"z":1.0}}`,
			`{"type":"session_meta","payload":{"id":"x","cwd":"/home/dev/demo","base_instructions":{"text":"You are a coding agent."},"z":1.0}}`,
		},
		"old header": {`{"type":"session_meta","payload":{"instructions":"SKILL.md"}}`, `{"type":"session_meta","payload":{"instructions":"You are a coding agent."}}`},
		"null stays": {`{"type":"session_meta","payload":{"instructions":null}}`, `{"type":"session_meta","payload":{"instructions":null}}`},
		"developer": {
			`{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"<permissions"},{"type":"input_text","text":"b"}],"k":0}}`,
			`{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"(developer instructions)"}],"k":0}}`,
		},
		"user": {
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md for /t/home-1"},{"type":"input_text","text":"<environment_context>x"}]}}`,
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"(user instructions)"},{"type":"input_text","text":"<environment_context>\n  <cwd>/home/dev/demo</cwd>\n  <shell>bash</shell>\n</environment_context>"}]}}`,
		},
		"compacted": {
			`{"type":"compacted","payload":{"message":"Another language model\nSummary of the work so far.","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Another language model\nSummary of the work so far."}]}]}}`,
			`{"type":"compacted","payload":{"message":"(summary of earlier work)\nSummary of the work so far.","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"(summary of earlier work)\nSummary of the work so far."}]}]}}`,
		},
		"world": {
			`{"type":"world_state","payload":{"full":true,"state":{"host_skills":{"body":"SKILL.md"},"environments":{"current_date":"d","environments":{"local":{"cwd":"/t/home-1/demo"}}}}}}`,
			`{"type":"world_state","payload":{"full":true,"state":{"environments":{"environments":{"local":{"cwd":"/home/dev/demo"}}}}}}`,
		},
		"output": {
			`{"type":"response_item","payload":{"type":"function_call_output","output":"ls /t/home-1/codex <b>"}}`,
			`{"type":"response_item","payload":{"type":"function_call_output","output":"ls /home/dev/codex <b>"}}`,
		},
	} {
		got, err := scrub([]byte(c.in+"\n"), "/t/home-1/demo", "/t/home-1")
		if err != nil || string(got) != c.out+"\n" {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, c.out)
		}
	}
}

func TestScrubRefuses(t *testing.T) {
	for _, in := range []string{
		`{"type":"event_msg","payload":{"text":"You are Codex, based on"}}`,
		`not JSON`,
	} {
		if got, err := scrub([]byte(in+"\n"), "/t/home-1/demo", "/t/home-1"); err == nil {
			t.Errorf("%s was passed as %s", in, got)
		}
	}
}
