package codex

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"
)

// KeptPlace is to whom and when something belongs that the client keeps beside the rollout.
type KeptPlace struct {
	Thread, Turn string
	At           time.Time
	Ordinal      int64
}

// NewPromptEvent writes the event that shows a prompt, in the form of a legacy session or of a paginated one.
func NewPromptEvent(at time.Time, thread, turn, text string, paginated bool) []byte {
	stamp := at.UTC().Format(TimeForm)
	if !paginated || turn == "" {
		return record(stamp, nil, "event_msg", struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		}{"user_message", text})
	}
	type part struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type item struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Content []part `json:"content"`
	}
	return record(stamp, nil, "event_msg", struct {
		Type   string `json:"type"`
		Thread string `json:"thread_id"`
		Turn   string `json:"turn_id"`
		Item   item   `json:"item"`
		Done   int64  `json:"completed_at_ms"`
	}{"item_completed", thread, turn, item{"UserMessage", uuid.NewSHA1(uuid.NameSpaceOID, []byte(thread+stamp+text)).String(), []part{{"text", text}}}, at.UnixMilli()})
}

// EventFromKept writes the event again of which an item in thread_history_1.sqlite was made (clients 0.145 to 0.169: the
// same content under other names); nil if the item is of a kind that no history can be made of.
func EventFromKept(p KeptPlace, item []byte) []byte {
	v := gjson.ParseBytes(item)
	var made any
	switch v.Get("type").String() {
	case "userMessage":
		made = struct {
			Type    string            `json:"type"`
			ID      string            `json:"id"`
			Content []json.RawMessage `json:"content"`
		}{"UserMessage", v.Get("id").String(), keptInput(v.Get("content"))}
	case "agentMessage":
		type text struct {
			Type string          `json:"type"`
			Text json.RawMessage `json:"text"`
		}
		made = struct {
			Type    string `json:"type"`
			ID      string `json:"id"`
			Content []text `json:"content"`
			Phase   string `json:"phase,omitempty"`
		}{"AgentMessage", v.Get("id").String(), []text{{"Text", json.RawMessage(cmp.Or(v.Get("text").Raw, `""`))}}, snake(v.Get("phase").String())}
	case "reasoning":
		made = struct {
			Type    string          `json:"type"`
			ID      string          `json:"id"`
			Summary json.RawMessage `json:"summary_text"`
			Content json.RawMessage `json:"raw_content"`
		}{"Reasoning", v.Get("id").String(), json.RawMessage(cmp.Or(v.Get("summary").Raw, "[]")), json.RawMessage(cmp.Or(v.Get("content").Raw, "[]"))}
	case "webSearch":
		made = keptSearch{Type: "WebSearch", ID: v.Get("id").String(), Query: v.Get("query").String(), Action: searchAction(v.Get("action"))}
	case "commandExecution":
		made = keptCommand(v)
	case "mcpToolCall":
		made = keptMCP(v)
	case "fileChange":
		made = keptChange(v)
	case "dynamicToolCall":
		made = struct {
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
	if made == nil {
		return nil
	}
	ms := p.At.UnixMilli()
	return record(p.At.UTC().Format(TimeForm), &p.Ordinal, "event_msg", struct {
		Type      string `json:"type"`
		Thread    string `json:"thread_id"`
		Turn      string `json:"turn_id"`
		Item      any    `json:"item"`
		Started   int64  `json:"started_at_ms"`
		Completed int64  `json:"completed_at_ms"`
	}{"item_completed", p.Thread, p.Turn, made, ms, ms})
}

type keptSearch struct {
	Type   string          `json:"type"`
	ID     string          `json:"id"`
	Status string          `json:"status,omitempty"`
	Query  string          `json:"query,omitempty"`
	Action json.RawMessage `json:"action"`
}

// SearchFromKept writes the item of a search of the provider again, which stands right behind its event (clients 0.150
// to 0.169); nil if what is kept is another item.
func SearchFromKept(p KeptPlace, item []byte) []byte {
	v := gjson.ParseBytes(item)
	if v.Get("type").String() != "webSearch" || !v.Get("action").IsObject() {
		return nil
	}
	p.Ordinal++
	return record(p.At.UTC().Format(TimeForm), &p.Ordinal, "response_item",
		keptSearch{Type: "web_search_call", ID: v.Get("id").String(), Status: "completed", Action: searchAction(v.Get("action"))})
}

// searchAction is what was searched, without the members that say nothing.
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

// keptInput is the content of a prompt: images are named otherwise in the rollout.
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

func keptCommand(v gjson.Result) any {
	type action struct {
		Type string `json:"type"`
		Cmd  string `json:"cmd"`
	}
	script := shellWords(v.Get("command").String())
	cwd := (&url.URL{Scheme: "file", Path: v.Get("cwd").String()}).String()
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
		"McpToolCall", v.Get("id").String(), v.Get("server").String(), v.Get("tool").String(), json.RawMessage(cmp.Or(v.Get("arguments").Raw, "{}")),
		snake(v.Get("status").String()), result, failed, durationOf(v),
	}
}

func keptChange(v gjson.Result) any {
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
	}{"FileChange", v.Get("id").String(), changes, snake(v.Get("status").String())}
}

// snake writes inProgress as in_progress: databases and rollouts write the same words in two ways.
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

// shellWords parts a command line as a shell does that only knows quotes; never empty.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	quote, open := rune(0), false
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("$`\"\\", r) {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, open = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if quote != 0 || escaped {
		return []string{line}
	}
	if open || len(words) == 0 {
		words = append(words, word.String())
	}
	return words
}

// NewTurnStarted writes the beginning of a turn in the client's own form, without a number if that is negative.
func NewTurnStarted(p KeptPlace) []byte {
	ordinal := &p.Ordinal
	if p.Ordinal < 0 {
		ordinal = nil
	}
	return record(p.At.UTC().Format(TimeForm), ordinal, "event_msg", struct {
		Type    string `json:"type"`
		Turn    string `json:"turn_id"`
		Started int64  `json:"started_at"`
	}{"task_started", p.Turn, p.At.Unix()})
}

// KeptEnd is how the client says that a turn ended.
type KeptEnd struct {
	Status  string // completed, interrupted, failed
	Error   string // JSON, "" if there is none
	Last    string // the last answer, "" if it is not known
	Started time.Time
	Took    time.Duration
}

// NewTurnEnded writes the end of a turn as the client kept it; nil for a status that is none.
func NewTurnEnded(p KeptPlace, end KeptEnd) []byte {
	stamp := p.At.UTC().Format(TimeForm)
	type failure struct {
		Message string          `json:"message"`
		Info    json.RawMessage `json:"codex_error_info,omitempty"`
	}
	var failed *failure
	switch end.Status {
	case "interrupted":
		return record(stamp, &p.Ordinal, "event_msg", json.RawMessage(gjson.GetBytes(NewTurnAborted(p.Turn, stamp), "payload").Raw))
	case "failed":
		info := gjson.Get(end.Error, "codexErrorInfo")
		failed = &failure{gjson.Get(end.Error, "message").String(), json.RawMessage(`"other"`)}
		if info.Type == gjson.String {
			failed.Info = quote(snake(info.String()))
		}
	case "completed":
	default:
		return nil
	}
	var last *string
	if end.Last != "" {
		last = &end.Last
	}
	return record(stamp, &p.Ordinal, "event_msg", struct {
		Type      string   `json:"type"`
		Turn      string   `json:"turn_id"`
		Last      *string  `json:"last_agent_message"`
		Error     *failure `json:"error,omitempty"`
		Started   int64    `json:"started_at"`
		Completed int64    `json:"completed_at"`
		Took      int64    `json:"duration_ms"`
	}{"task_complete", p.Turn, last, failed, end.Started.Unix(), p.At.Unix(), end.Took.Milliseconds()})
}

// KeptAnswer is the text of an answer that the client keeps, "" if the item is none.
func KeptAnswer(item []byte) string { return gjson.GetBytes(item, "text").String() }
