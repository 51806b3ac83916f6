package codex

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"
)

// The functions of this file turn the database's items into a rollout's.

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

// newSearch writes the item of a web search that the provider ran.
func newSearch(stamp string, ordinal *int64, id string, action gjson.Result) []byte {
	return record(stamp, ordinal, "response_item", jsonObject{"type", "web_search_call", "id", id, "status", "completed", "action", searchAction(action)})
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

func keptCommand(v gjson.Result) jsonObject {
	script := shellWords(v.Get("command").String())
	var output, exit json.RawMessage
	if out := v.Get("aggregatedOutput"); out.Type == gjson.String {
		output = json.RawMessage(out.Raw)
	}
	if code := v.Get("exitCode"); code.Type == gjson.Number {
		exit = json.RawMessage(code.Raw)
	}
	return jsonObject{
		"type", "CommandExecution", "id", v.Get("id").String(), "process_id?", v.Get("processId").String(), "command", script,
		"cwd", fileURI(v.Get("cwd").String()), "parsed_cmd",
		[]jsonObject{{"type", "unknown", "cmd", script[len(script)-1]}},
		"source", snake(v.Get("source").String()), "status", snake(v.Get("status").String()), "stdout?", output, "stderr", "",
		"aggregated_output?", output, "exit_code?", exit, "duration?", durationOf(v),
	}
}

// fileURI is a path as events name it.
func fileURI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

func keptMCP(v gjson.Result) jsonObject {
	var failed any
	if text := v.Get("error.message"); text.Type == gjson.String {
		failed = jsonObject{"message", text.String()}
	}
	var result json.RawMessage
	if v.Get("result").IsObject() {
		result = json.RawMessage(v.Get("result").Raw)
	}
	return jsonObject{
		"type", "McpToolCall", "id", v.Get("id").String(), "server", v.Get("server").String(), "tool", v.Get("tool").String(),
		"arguments", rawOr(v.Get("arguments"), "{}"), "status", snake(v.Get("status").String()), "result?", result, "error?", failed,
		"duration?", durationOf(v),
	}
}

func keptChange(v gjson.Result, cwd string) jsonObject {
	changes := map[string]jsonObject{}
	for _, c := range v.Get("changes").Array() {
		kind, diff := c.Get("kind.type").String(), c.Get("diff").String()
		one := jsonObject{"type", kind, "content", diff}
		if kind == "update" {
			one = jsonObject{"type", kind, "unified_diff", diff, "move_path?", c.Get("kind.move_path").String()}
		}
		changes[c.Get("path").String()] = one
	}
	return jsonObject{
		"type", "FileChange", "id", v.Get("id").String(), "changes", changes, "status", snake(v.Get("status").String()),
		"stdout?", keptPatchOutput(v, cwd),
	}
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

// durationOf is how long an item took; nil if that is not known.
func durationOf(v gjson.Result) any {
	ms := v.Get("durationMs")
	if ms.Type != gjson.Number {
		return nil
	}
	return jsonObject{"secs", ms.Int() / 1000, "nanos", ms.Int() % 1000 * 1e6}
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
