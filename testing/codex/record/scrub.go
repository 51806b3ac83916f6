package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

// What stands in a recording for the texts of the client and for its places.
const (
	demoDir         = "/home/dev/demo"
	demoHome        = "/home/dev"
	baseText        = "You are a coding agent."
	developerText   = "(developer instructions)"
	userText        = "(user instructions)"
	contextText     = "(instructions)"
	environmentText = "<environment_context>\n  <cwd>" + demoDir + "</cwd>\n  <shell>bash</shell>\n</environment_context>"
	abortedText     = "<turn_aborted>\nThe turn was interrupted.\n</turn_aborted>"
	summaryText     = "(summary of earlier work)\n" + clienttest.Summary
)

// leftovers are openings of the client's own texts: none may remain.
var leftovers = []string{
	"You are Codex", "running in the Codex CLI", "Another language model", "<permissions", "<skills_instructions",
	"# AGENTS.md", "SKILL.md", "<user_instructions",
}

// scrub replaces the client's own texts by placeholders and its directories by
// invented ones. All else keeps its bytes, and every line stays valid JSON.
func scrub(data []byte, work, root string) ([]byte, error) {
	var out []byte
	for n, line := range bytes.SplitAfter(data, []byte("\n")) {
		body := bytes.TrimSuffix(line, []byte("\n"))
		if len(body) == 0 || !gjson.ValidBytes(body) {
			if len(body) > 0 {
				return nil, fmt.Errorf("line %d: not JSON, so it cannot be scrubbed", n+1)
			}
			out = append(out, line...)
			continue
		}
		s := &scrubber{line: bytes.Clone(body)}
		s.record()
		if s.err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, s.err)
		}
		clean := s.line
		for _, r := range [][2]string{{work, demoDir}, {root, demoHome}} {
			clean = bytes.ReplaceAll(clean, inside(r[0]), inside(r[1]))
		}
		if !gjson.ValidBytes(clean) {
			return nil, fmt.Errorf("line %d: scrubbing broke it", n+1)
		}
		for _, l := range append([]string{filepath.Base(root)}, leftovers...) {
			if bytes.Contains(clean, inside(l)) {
				return nil, fmt.Errorf("line %d: %q is still there", n+1, l)
			}
		}
		out = append(append(out, clean...), line[len(body):]...)
	}
	return out, nil
}

type scrubber struct {
	line []byte
	err  error
}

func (s *scrubber) get(path string) gjson.Result { return gjson.GetBytes(s.line, path) }

// set replaces the value at the path, if there is one.
func (s *scrubber) set(path, raw string) {
	if s.err != nil || !s.get(path).Exists() {
		return
	}
	line, err := sjson.SetRawBytes(s.line, path, []byte(raw))
	s.line, s.err = line, errors.Join(s.err, err)
}

// setText replaces a text by a placeholder; null stays null.
func (s *scrubber) setText(path, text string) {
	if s.get(path).Type == gjson.String {
		s.set(path, string(quote(text)))
	}
}

func (s *scrubber) record() {
	switch s.get("type").String() {
	case "session_meta":
		s.setText("payload.instructions", baseText)
		if s.get("payload.base_instructions.text").Exists() {
			s.set("payload.base_instructions", `{"text":`+string(quote(baseText))+`}`)
		}
	case "turn_context":
		s.setText("payload.user_instructions", contextText)
		s.setText("payload.developer_instructions", contextText)
		s.setText("payload.collaboration_mode.settings.developer_instructions", contextText)
	case "event_msg":
		s.setText("payload.thread_settings.collaboration_mode.settings.developer_instructions", contextText)
	case "response_item":
		s.item("payload")
	case "compacted":
		s.summary("payload.message")
		for i := range s.get("payload.replacement_history.#").Int() {
			s.item(fmt.Sprintf("payload.replacement_history.%d", i))
		}
	case "world_state":
		environments := s.get("payload.state.environments.environments").Raw
		if environments == "" {
			s.set("payload.state", `{}`)
			return
		}
		s.set("payload.state", `{"environments":{"environments":`+environments+`}}`)
	}
}

// tools leaves of the description of tools their kinds and names.
func tools(list gjson.Result) string {
	var out []string
	for _, t := range list.Array() {
		one := `{"type":` + string(quote(t.Get("type").String())) + `,"name":` + string(quote(t.Get("name").String())) + `,"description":""`
		switch {
		case t.Get("tools").Exists():
			one += `,"tools":` + tools(t.Get("tools"))
		case t.Get("format").Exists():
			one += `,"format":{"type":"text"}`
		default:
			one += `,"strict":false,"parameters":{"type":"object","properties":{}}`
		}
		out = append(out, one+"}")
	}
	return "[" + strings.Join(out, ",") + "]"
}

// item scrubs the response item at the path.
func (s *scrubber) item(path string) {
	if s.get(path+".type").String() == "additional_tools" {
		s.set(path+".tools", tools(s.get(path+".tools")))
		return
	}
	if s.get(path+".type").String() != "message" {
		return
	}
	if s.get(path+".role").String() == "developer" {
		s.set(path+".content", `[{"type":"input_text","text":`+string(quote(developerText))+`}]`)
		return
	}
	for i := range s.get(path + ".content.#").Int() {
		text := fmt.Sprintf("%s.content.%d.text", path, i)
		switch t := s.get(text).String(); {
		case strings.HasPrefix(t, "<environment_context>"):
			s.setText(text, environmentText)
		case strings.HasPrefix(t, "# AGENTS.md"), strings.HasPrefix(t, "<user_instructions>"):
			s.setText(text, userText)
		case strings.HasPrefix(t, "<turn_aborted>"):
			s.setText(text, abortedText)
		default:
			s.summary(text)
		}
	}
}

// summary scrubs the text that the client puts in front of a summary.
func (s *scrubber) summary(path string) {
	if t := s.get(path).String(); strings.HasSuffix(t, clienttest.Summary) && t != clienttest.Summary {
		s.setText(path, summaryText)
	}
}

// quote is a JSON string that leaves <, > and & alone.
func quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// inside is a text as it stands inside a JSON string.
func inside(s string) []byte {
	q := quote(s)
	return q[1 : len(q)-1]
}
