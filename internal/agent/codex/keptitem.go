package codex

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"
)

// The functions of this file turn the database's items into a rollout's, one function per kind.

func keptPrompt(v gjson.Result) any {
	return struct {
		Type    string            `json:"type"`
		ID      string            `json:"id"`
		Content []json.RawMessage `json:"content"`
	}{"UserMessage", v.Get("id").String(), keptInput(v.Get("content"))}
}

// keptInput is the content of a prompt; the rollout names images differently.
func keptInput(content gjson.Result) []json.RawMessage {
	parts := []json.RawMessage{}
	for _, c := range content.Array() {
		raw := []byte(c.Raw)
		if u := c.Get("url"); c.Get("type").String() == "image" && u.Exists() {
			raw = []byte(`{"type":"image","image_url":` + u.Raw + `}`)
		}
		parts = append(parts, raw)
	}
	return parts
}

func keptMessage(v gjson.Result) any {
	type text struct {
		Type string          `json:"type"`
		Text json.RawMessage `json:"text"`
	}
	return struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Content []text `json:"content"`
		Phase   string `json:"phase,omitempty"`
	}{"AgentMessage", v.Get("id").String(), []text{{"Text", rawOr(v.Get("text"), `""`)}}, snake(v.Get("phase").String())}
}

func keptReasoning(v gjson.Result) any {
	return struct {
		Type    string          `json:"type"`
		ID      string          `json:"id"`
		Summary json.RawMessage `json:"summary_text"`
		Content json.RawMessage `json:"raw_content"`
	}{"Reasoning", v.Get("id").String(), rawOr(v.Get("summary"), "[]"), rawOr(v.Get("content"), "[]")}
}

// keptSearch is a web search: as an event's item, or, with a status and without the query, as an item of the history.
type keptSearch struct {
	Type   string          `json:"type"`
	ID     string          `json:"id"`
	Status string          `json:"status,omitempty"`
	Query  string          `json:"query,omitempty"`
	Action json.RawMessage `json:"action"`
}

// searchAction is what was searched for, without null members.
func searchAction(v gjson.Result) json.RawMessage {
	kind := quote(snake(v.Get("type").String()))
	out := append([]byte(`{"type":`), kind...)
	v.ForEach(func(key, value gjson.Result) bool {
		if key.Str != "type" && value.Type != gjson.Null {
			out = append(append(append(append(out, ','), key.Raw...), ':'), value.Raw...)
		}
		return true
	})
	return append(out, '}')
}

func keptCommand(v gjson.Result) any {
	type action struct {
		Type string `json:"type"`
		Cmd  string `json:"cmd"`
	}
	script := shellWords(v.Get("command").String())
	cwd := fileURI(v.Get("cwd").String())
	out := v.Get("aggregatedOutput")
	var output, exit json.RawMessage
	if out.Type == gjson.String {
		output = json.RawMessage(out.Raw)
	}
	if code := v.Get("exitCode"); code.Type == gjson.Number {
		exit = json.RawMessage(code.Raw)
	}
	return struct {
		Type     string          `json:"type"`
		ID       string          `json:"id"`
		Process  string          `json:"process_id,omitempty"`
		Command  []string        `json:"command"`
		CWD      string          `json:"cwd"`
		Parsed   []action        `json:"parsed_cmd"`
		Source   string          `json:"source"`
		Status   string          `json:"status"`
		Stdout   json.RawMessage `json:"stdout,omitempty"`
		Stderr   string          `json:"stderr"`
		Output   json.RawMessage `json:"aggregated_output,omitempty"`
		Exit     json.RawMessage `json:"exit_code,omitempty"`
		Duration *keptDuration   `json:"duration,omitempty"`
	}{
		"CommandExecution", v.Get("id").String(), v.Get("processId").String(), script, cwd,
		[]action{{"unknown", script[len(script)-1]}},
		snake(v.Get("source").String()), snake(v.Get("status").String()), output, "", output, exit, durationOf(v),
	}
}

// fileURI is a path as events name it.
func fileURI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

func keptMCP(v gjson.Result) any {
	type failure struct {
		Message string `json:"message"`
	}
	var failed *failure
	if text := v.Get("error.message"); text.Type == gjson.String {
		failed = &failure{text.String()}
	}
	var result json.RawMessage
	if v.Get("result").IsObject() {
		result = json.RawMessage(v.Get("result").Raw)
	}
	return struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Server    string          `json:"server"`
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
		Status    string          `json:"status"`
		Result    json.RawMessage `json:"result,omitempty"`
		Error     *failure        `json:"error,omitempty"`
		Duration  *keptDuration   `json:"duration,omitempty"`
	}{
		"McpToolCall", v.Get("id").String(), v.Get("server").String(), v.Get("tool").String(), rawOr(v.Get("arguments"), "{}"),
		snake(v.Get("status").String()), result, failed, durationOf(v),
	}
}

func keptChange(v gjson.Result, cwd string) any {
	type change struct {
		Type    string  `json:"type"`
		Content *string `json:"content,omitempty"`
		Diff    *string `json:"unified_diff,omitempty"`
		Move    *string `json:"move_path,omitempty"`
	}
	changes := map[string]change{}
	for _, c := range v.Get("changes").Array() {
		diff := c.Get("diff").String()
		one := change{Type: c.Get("kind.type").String()}
		if one.Type == "update" {
			one.Diff = &diff
			if to := c.Get("kind.move_path").String(); to != "" {
				one.Move = &to
			}
		} else {
			one.Content = &diff
		}
		changes[c.Get("path").String()] = one
	}
	return struct {
		Type    string            `json:"type"`
		ID      string            `json:"id"`
		Changes map[string]change `json:"changes"`
		Status  string            `json:"status"`
		Stdout  string            `json:"stdout,omitempty"`
	}{"FileChange", v.Get("id").String(), changes, snake(v.Get("status").String()), keptPatchOutput(v, cwd)}
}

// keptPatchOutput is what apply_patch said about the files that it changed, "" if that is not known. It names them as the patch
// does, relative to the session's directory, because the model is told to use no other names. The database has the full paths.
func keptPatchOutput(v gjson.Result, cwd string) string {
	lines := map[string]string{}
	for _, c := range v.Get("changes").Array() {
		name, below := strings.CutPrefix(c.Get("path").String(), cwd)
		if !below || cwd == "" || len(name) < 2 || name[0] != '/' && name[0] != '\\' || c.Get("kind.move_path").String() != "" {
			return ""
		}
		kind := c.Get("kind.type").String()
		lines[kind] += cmp.Or(map[string]string{"add": "A", "delete": "D"}[kind], "M") + " " + name[1:] + "\n"
	}
	if len(lines) == 0 || v.Get("status").String() != "completed" {
		return ""
	}
	return patchDone + lines["add"] + lines["update"] + lines["delete"]
}

func keptTool(v gjson.Result) any {
	return struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
		Status    string          `json:"status"`
		Content   json.RawMessage `json:"content_items,omitempty"`
		Success   json.RawMessage `json:"success,omitempty"`
	}{
		"DynamicToolCall", v.Get("id").String(), v.Get("tool").String(), json.RawMessage(v.Get("arguments").Raw), snake(v.Get("status").String()),
		json.RawMessage(v.Get("contentItems").Raw), json.RawMessage(v.Get("success").Raw),
	}
}

type keptDuration struct {
	Secs  int64 `json:"secs"`
	Nanos int64 `json:"nanos"`
}

func durationOf(v gjson.Result) *keptDuration {
	ms := v.Get("durationMs")
	if ms.Type != gjson.Number {
		return nil
	}
	return &keptDuration{ms.Int() / 1000, ms.Int() % 1000 * 1e6}
}

// rawOr is a value as it is written, or missing if it is absent.
func rawOr(v gjson.Result, missing string) json.RawMessage {
	return json.RawMessage(cmp.Or(v.Raw, missing))
}

// snake writes inProgress as in_progress: the database has the rollout's words in another spelling.
func snake(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
