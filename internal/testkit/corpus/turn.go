package corpus

import (
	"encoding/base64"
	"fmt"
)

// usage is the client's token count for an answer.
const usage = `{"input_tokens":48213,"cached_input_tokens":45056,"cache_write_input_tokens":0,"output_tokens":512,"reasoning_output_tokens":320,"total_tokens":48725}`

// turn writes a prompt, some calls with their outputs, and an answer, with the events that clients write beside them.
func (w *writer) turn() {
	w.turns++
	id := fmt.Sprintf("01a1edff-5f35-7e8c-912f-%012d", w.turns)
	w.record("event_msg", fmt.Sprintf(`{"type":"task_started","turn_id":%q,"model_context_window":258400}`, id))
	w.record("turn_context", fmt.Sprintf(`{"turn_id":%q,"cwd":"/home/dev/demo","approval_policy":"never","model":"gpt-5.1-codex","collaboration_mode":{"mode":"default","settings":{"model":"gpt-5.1-codex","reasoning_effort":null,"developer_instructions":null}},"summary":"auto","sandbox_policy":{"type":"danger-full-access"}}`, id))
	w.prompt(id)
	for range w.rng.Intn(8) {
		w.reasoning()
		w.call(id)
	}
	w.reasoning()
	answer := w.text().once
	message := fmt.Sprintf(`{"type":"message","id":"msg_%d","role":"assistant","content":[{"type":"output_text","text":"%s"}]}`, w.turns, answer)
	w.itemEvent("AgentMessage", id, fmt.Sprintf(`"id":"msg_%d","content":[{"type":"Text","text":"%s"}]`, w.turns, answer), `{"type":"agent_message","message":"`+answer+`"}`)
	w.record("response_item", message)
	w.counted(id)
	w.record("event_msg", fmt.Sprintf(`{"type":"task_complete","turn_id":%q,"last_agent_message":"%s"}`, id, answer))
}

// itemEvent writes the event by which a client shows an item: newer clients put the item into it, older ones have an event
// for each kind of item.
func (w *writer) itemEvent(kind, turn, item, event string) {
	if w.opts.Paginated {
		w.record("event_msg", fmt.Sprintf(`{"type":"item_completed","thread_id":%q,"turn_id":%q,"item":{"type":%q,%s}}`, thread, turn, kind, item))
	} else if event != "" {
		w.record("event_msg", event)
	}
}

func (w *writer) prompt(turn string) {
	image := ""
	if w.opts.Images && w.images < 4 && w.written > w.opts.Size/5*int64(w.images+1) {
		w.images++
		image = `,{"type":"input_image","image_url":"data:image/png;base64,` + w.image() + `"}`
	}
	text := w.text().once
	w.record("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"`+text+`"}`+image+`]}`)
	w.itemEvent("UserMessage", turn, fmt.Sprintf(`"id":"item_%d","content":[{"type":"text","text":"%s","text_elements":[]}]`, w.turns, text),
		`{"type":"user_message","message":"`+text+`","images":[],"local_images":[],"text_elements":[]}`)
}

func (w *writer) reasoning() {
	w.record("response_item", fmt.Sprintf(`{"type":"reasoning","id":"rs_%d_%d","summary":[],"content":null,"encrypted_content":"%s"}`,
		w.turns, w.calls, w.token(w.opts.Text/2+w.rng.Intn(w.opts.Text))))
}

// token returns what looks encrypted: a version, a time, a head and whole blocks, as base64 of about n bytes.
func (w *writer) token(n int) string {
	const head, block = 57, 16
	raw := w.noise(n)
	size := head + max(0, len(raw)-head)/block*block
	raw = append(raw, make([]byte, head)...)[:size]
	copy(raw, "\x80\x00\x00\x00")
	return base64.URLEncoding.EncodeToString(raw)
}

// commandShare is how much shorter commands are than what they print.
const commandShare = 8

// call writes a command or a patch, and what came of it.
func (w *writer) call(turn string) {
	w.calls++
	out := w.text().once
	if w.calls%3 == 0 {
		asked := w.text()
		w.record("response_item", fmt.Sprintf(`{"type":"custom_tool_call","id":"ctc_%d","status":"completed","call_id":"call_%d","name":"apply_patch","input":"*** Begin Patch\n%s*** End Patch\n"}`, w.calls, w.calls, asked.once))
		w.usage(turn)
		w.record("response_item", fmt.Sprintf(`{"type":"custom_tool_call_output","call_id":"call_%d","output":"Success. Updated the following files:\nM note.go\n"}`, w.calls))
	} else {
		asked := w.textOf(w.opts.Text / commandShare)
		w.record("response_item", fmt.Sprintf(`{"type":"function_call","id":"fc_%d","name":"exec_command","arguments":"{\"cmd\":\"%s\",\"yield_time_ms\":30000}","call_id":"call_%d"}`, w.calls, asked.twice, w.calls))
		w.usage(turn)
		w.itemEvent("CommandExecution", turn, fmt.Sprintf(`"id":"call_%d","process_id":"%d","command":["/bin/bash","-lc","%s"],"cwd":"file:///home/dev/demo","source":"unified_exec_startup","status":"completed","aggregated_output":"%s","exit_code":0,"duration":{"secs":0,"nanos":139786550}`,
			w.calls, 60000+w.calls%1000, asked.once, out), "")
		w.record("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%d","output":"Chunk ID: a6f4ed\nWall time: 0.1400 seconds\nProcess exited with code 0\nOriginal token count: 3\nOutput:\n%s"}`, w.calls, out))
	}
	w.count()
}

// counted writes both records of an answer's tokens.
func (w *writer) counted(turn string) {
	w.usage(turn)
	w.count()
}

func (w *writer) usage(turn string) {
	if w.opts.Paginated {
		w.record("token_usage_record", fmt.Sprintf(`{"thread_id":%q,"turn_id":%q,"session_id":%q,"response_id":"resp_%d","usage":%s,"turn_token_usage":%s,"thread_token_usage":%s}`, thread, turn, thread, w.calls, usage, usage, usage))
	}
}

func (w *writer) count() {
	w.record("event_msg", `{"type":"token_count","info":{"total_token_usage":`+usage+`,"last_token_usage":`+usage+`,"model_context_window":258400},"rate_limits":{"limit_id":"codex","limit_name":null,"primary":null,"secondary":null,"credits":null,"plan_type":null}}`)
}
