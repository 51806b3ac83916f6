package reader

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Sent is what a version sends of a session's text, block by block. each, if not nil, takes the items; then the result has neither Items nor Unsent.
func Sent(text []byte, version string, each func(*session.Item)) *session.Sent {
	is := Of(version)
	f := parse(text, is)
	part := f.isPart()
	if part {
		f.alone()
	}
	way := Read(f.session(is), is)
	q := &request{f: f, is: is}
	sent := &session.Sent{}
	if f.leaf != "" {
		sent.Steers = append(sent.Steers, f.leafAt)
	}
	if way.Mark != None {
		sent.Compacted = f.records[way.Mark].pos
	}
	for _, i := range way.Up {
		if r := &f.records[i]; r.Role == Mark || r.summary || r.continues() { // up to 1.0.17 there is no mark
			sent.Compacted = r.pos
		}
	}
	found := false // a client resumes what it has written for itself, too, though nothing is said
	for _, i := range f.inOrder(&way) {
		if r := &f.records[i]; !r.Old {
			q.list = append(q.list, r)
			q.talks = q.talks || r.says() && !r.Side
			found = found || !r.Progress && !r.Side && !r.hollow()
		}
	}
	switch {
	case part:
		sent.Refused = "it is a sub-agent's conversation, with which its client goes on only in the session that it is a part of"
	case !found:
		sent.Refused = "the client finds no conversation in it"
	case way.Round && is.CircleBad:
		sent.Refused = "the client does not come to an end, because its parents go round"
	case is.NullBad && slices.ContainsFunc(q.list, func(r *record) bool { return r.null && r.Role >= Prompt && r.Role <= Answer }):
		sent.Refused = "the client can't read a message without content"
	}
	q.judge()
	for k, r := range q.list {
		q.add(k, r)
	}
	if q.talks {
		q.fill()
	}
	large := false
	q.items(func(item *session.Item) {
		if large = large || tooLarge(item); each != nil {
			each(item)
		} else {
			sent.Items = append(sent.Items, *item)
		}
	})
	if sent.Refused == "" && !is.LargeImages && large {
		sent.Refused = "an image is over the limit of 5 MiB: the client refuses every prompt"
	}
	if sent.Refused == "" && each == nil {
		from := sent.From()
		for i := range f.records {
			if r := &f.records[i]; r.says() && !r.Side && !r.Old && !r.filler && !from[r.pos] {
				sent.Unsent = append(sent.Unsent, r.pos)
			}
		}
	}
	return sent
}

// Reached are the records with messages that a version reads from the end up, whatever it then leaves out of what they say.
func Reached(text []byte, version string) (list []session.Pos) {
	is := Of(version)
	f := parse(text, is)
	way := Read(f.session(is), is)
	for i := range f.records {
		if r := &f.records[i]; way.On[i] && r.says() && !r.filler {
			list = append(list, r.pos)
		}
	}
	return list
}

// largestImage is how many characters of base64 an image may have.
const largestImage = 5 << 20

// tooLarge says whether an item is or holds an image that the client does not send.
func tooLarge(item *session.Item) bool {
	if len(item.Content) <= largestImage {
		return false
	}
	b := parsed(item.Content)
	if len(b.Get("source.data").Str) > largestImage {
		return true
	}
	found := false
	b.Get("content").ForEach(func(_, part gjson.Result) bool {
		found = len(part.Get("source.data").Str) > largestImage
		return !found
	})
	return found
}

// request is a request while it is put together.
type request struct {
	f        *file
	is       Traits
	list     []*record // in order
	talks    bool      // something in it is said
	open     string    // the answer that nothing follows but outputs
	closed   bool      // something follows it
	answers  []int     // by record: how many answers have begun
	called   map[string]int
	answered map[string]int // where a call's first output stands
	done     struct{ calls, outputs map[string]bool }
	messages []message
	summary  int // 1 more than the message that holds a compaction's summary, until the user says something behind it
}

// message is one message of the request: what neighbours of one role say is one message to the API.
type message struct {
	role   string
	answer string // id of the answer
	// outputs come first in a user's message, then what the client reminds of, then the rest
	outputs, reminders, rest []session.Item
}

// judge notes which calls and outputs have a partner, and what stands at the end.
func (q *request) judge() {
	q.called, q.answered = map[string]int{}, map[string]int{}
	q.done.calls, q.done.outputs = map[string]bool{}, map[string]bool{}
	q.answers = make([]int, len(q.list))
	number, current := 0, ""
	for k, r := range q.list {
		if !r.says() {
			continue
		}
		switch r.Role {
		case Answer:
			if r.answer == "" || r.answer != current {
				number++
				current = r.answer
			}
			q.open, q.closed = r.answer, false
			for id := range r.each("tool_use", "id") {
				if _, has := q.called[id]; !has {
					q.called[id] = k
				}
			}
		case Prompt:
			q.closed = true
		}
		q.answers[k] = number
		for id := range r.each("tool_result", "tool_use_id") {
			if _, has := q.answered[id]; !has {
				q.answered[id] = k
			}
		}
	}
}

// add puts what a record says into the request.
func (q *request) add(k int, r *record) {
	switch {
	case r.Role == Link && r.renderedRole != "":
		q.remind(r)
		return
	case r.local && !q.is.CommandsOff:
		item := q.item(r, r.content, "content", "user")
		item.Kind = session.ContextItem
		to := q.message("user", "")
		to.rest = append(to.rest, item)
		return
	case !r.says():
		return
	}
	role := "user"
	if r.Role == Answer {
		role = "assistant"
	}
	switch {
	case r.summary:
		q.message(role, "")
		q.summary = len(q.messages)
	case r.Role == Prompt && !r.commands():
		q.summary = 0
	}
	if !r.content.IsArray() {
		if r.content.Type == gjson.String && !q.drops(r, r.content.Str) {
			to := q.message(role, r.answer)
			to.rest = append(to.rest, q.item(r, r.content, "message.content", role))
		}
		return
	}
	n := 0
	r.content.ForEach(func(_, b gjson.Result) bool {
		path := "message.content." + strconv.Itoa(n)
		n++
		if q.sends(k, r, b) {
			item := q.item(r, b, path, role)
			to := q.message(role, r.answer)
			if item.Kind == session.OutputItem && role == "user" {
				to.outputs = append(to.outputs, item)
			} else {
				to.rest = append(to.rest, item)
			}
			if item.Kind == session.CallItem {
				q.interrupt(r, &item)
			}
		}
		return true
	})
}

// drops says whether a text is one that the client leaves out.
func (q *request) drops(r *record, text string) bool {
	return r.Role == Answer && !q.is.SendsEmpty && strings.TrimSpace(text) == ""
}

// sends says whether the client sends a block.
func (q *request) sends(k int, r *record, b gjson.Result) bool {
	switch typ := str(b.Get("type")); typ {
	case "tool_use":
		id := b.Get("id").String()
		_, has := q.answered[id]
		if q.done.calls[id] || !has && !q.stays(r) {
			return false
		}
		q.done.calls[id] = true
	case "tool_result":
		id := b.Get("tool_use_id").String()
		from, has := q.called[id]
		switch {
		case q.done.outputs[id], !q.is.Alone && (!has || q.answers[from] != q.answers[k]): // its call is gone, or another answer came first
			return false
		}
		q.done.outputs[id] = true
	case "thinking", "redacted_thinking":
		if r.old && !q.is.OldThoughts && (typ != "thinking" || str(b.Get("signature")) != "") {
			return false
		}
		return q.is.Alone || q.closed || r.answer != q.open || k != q.last()
	case "text":
		return !q.drops(r, str(b.Get("text")))
	default:
		return b.Type != gjson.Null
	}
	return true
}

// last is the last record that says anything.
func (q *request) last() int {
	for k := len(q.list) - 1; k >= 0; k-- {
		if q.list[k].says() {
			return k
		}
	}
	return -1
}

// stays says whether a call of a record is sent without an output: the client says itself that it was interrupted.
func (q *request) stays(r *record) bool {
	return !q.is.Alone && !q.closed && r.answer != "" && r.answer == q.open
}

// interrupt adds the output that the client makes up for a call that has none.
func (q *request) interrupt(r *record, call *session.Item) {
	if _, has := q.answered[call.CallID]; has {
		return
	}
	made := session.Item{Pos: r.pos, Made: "interrupted", Kind: session.OutputItem, Role: "user", CallID: call.CallID, Turn: r.turn}
	to := q.message("user", "")
	to.outputs = append(to.outputs, made)
}

// remind adds what an attachment tells the model. The client makes these texts anew at each start.
func (q *request) remind(r *record) {
	item := session.Item{Pos: r.pos, Made: "reminder", Kind: session.ContextItem, Role: r.renderedRole, Turn: r.turn}
	if item.Role == "user" {
		to := q.message("user", "")
		for range max(1, r.rendered) {
			to.reminders = append(to.reminders, item)
		}
		return
	}
	var to *message
	if q.summary > 0 {
		to = q.behindSummary()
	} else {
		to = q.message(item.Role, "")
	}
	to.rest = append(to.rest[:0], item) // one text holds them all
}

// behindSummary is the message with what the client reminds of at a compaction: it stands between the summary and what was kept.
func (q *request) behindSummary() *message {
	if q.summary == len(q.messages) || q.messages[q.summary].role != "system" {
		q.messages = slices.Insert(q.messages, q.summary, message{role: "system"})
	}
	return &q.messages[q.summary]
}

// fill adds what the client adds to the request by itself at its beginning and end.
func (q *request) fill() {
	if q.is.Opens && len(q.messages) > 0 {
		if q.messages[0].role != "user" {
			q.messages = slices.Insert(q.messages, 0, message{role: "user"})
		}
		first := &q.messages[0]
		first.reminders = slices.Insert(first.reminders, 0, session.Item{Pos: q.list[0].pos, Made: "reminder", Kind: session.ContextItem, Role: "user"})
	}
	if k := q.last(); k >= 0 && q.waits() {
		r := q.list[k]
		to := q.message("assistant", "")
		to.rest = append(to.rest, session.Item{Pos: r.pos, Made: "filler", Kind: session.TextItem, Role: "assistant", Turn: r.turn})
	}
}

// waits says whether the session ends in something that wants an answer: the client says by itself that none was requested. It says
// nothing behind what it told about an error, nor, where attachments are written, behind a command of its own.
func (q *request) waits() bool {
	for k := len(q.list) - 1; k >= 0; k-- {
		switch r := q.list[k]; r.Role {
		case Answer:
			return q.is.FillsErrors && r.Mute
		case Prompt, Output:
			return q.is.CommandsOff || !r.commands()
		}
	}
	return false
}

// continues says whether a record is a compaction's summary by its first words, as 1.0.17 begins those that it does not mark.
func (r *record) continues() bool {
	return r.Role == Prompt && r.parent == "" && strings.HasPrefix(r.content.Str, "This session is being continued from a previous conversation")
}

// commands says whether a record is about a command of the client's, and not something that the user said.
func (r *record) commands() bool {
	return r.meta || strings.HasPrefix(r.content.Str, "<local-command-") || strings.HasPrefix(r.content.Str, "<command-name>")
}

// message is the message that takes what a role says next: parts of one answer come together although outputs stand between them, and
// what the client tells as "system" comes behind what the user says, until the next answer.
func (q *request) message(role, answer string) *message {
	for i := len(q.messages) - 1; i >= 0; i-- {
		m := &q.messages[i]
		if m.role == role && (role != "assistant" || i == len(q.messages)-1 || answer != "" && m.answer == answer) {
			return m
		}
		onlyOutputs := m.role == "user" && len(m.rest) == 0 && answer != "" && !q.is.Unmerged
		if m.role == "assistant" || role == "assistant" && !onlyOutputs {
			break
		}
	}
	q.messages = append(q.messages, message{role: role, answer: answer})
	if n := len(q.messages); role == "user" && n > 1 && q.messages[n-2].role == "system" {
		q.messages[n-1], q.messages[n-2] = q.messages[n-2], q.messages[n-1]
		return &q.messages[n-2]
	}
	return &q.messages[len(q.messages)-1]
}

// items calls each with the request's, which get their places.
func (q *request) items(each func(*session.Item)) {
	no, role := -1, ""
	block := 0
	for i := range q.messages {
		m := &q.messages[i]
		for _, part := range [...][]session.Item{m.outputs, m.reminders, m.rest} {
			for k := range part {
				if m.role != role {
					no, role, block = no+1, m.role, 0
				}
				part[k].Message, part[k].Block = no, block
				block++
				each(&part[k])
			}
		}
	}
}

// item is a block of a record, or a text that stands in place of a list of blocks.
func (q *request) item(r *record, b gjson.Result, path, role string) session.Item {
	item := session.Item{Pos: r.pos, Path: path, Role: role, Turn: r.turn, ID: r.answer}
	if b.Index > 0 {
		item.Content = json.RawMessage(q.f.text[r.at+b.Index : r.at+b.Index+len(b.Raw)])
	}
	if r.filler {
		item.Made = "filler"
	}
	kind := b.Get("type").Str
	if b.Type == gjson.String {
		kind = "text"
	}
	var said *session.Saying
	switch {
	case strings.HasSuffix(kind, "tool_use"):
		item.Kind, item.CallID, item.Tool = session.CallItem, b.Get("id").String(), b.Get("name").String()
		said = session.NewSaying(item.Kind, role)
		said.Value(b, "id", "cache_control")
	case strings.HasSuffix(kind, "tool_result"):
		item.Kind, item.CallID = session.OutputItem, b.Get("tool_use_id").String()
		said = session.NewSaying(item.Kind, role)
		content := b.Get("content")
		if content.Type == gjson.String {
			said.Text(content.Str)
		} else if only := content.Get("#"); only.Int() == 1 && content.Get("0.type").Str == "text" {
			said.Text(content.Get("0.text").Str)
		} else {
			said.Value(content)
		}
		said.Text(b.Get("is_error").String())
	case kind == "text":
		switch {
		case r.summary || r.continues():
			item.Kind = session.SummaryItem
		case r.meta:
			item.Kind = session.ContextItem
		}
		said = session.NewSaying(session.TextItem, role)
		if b.Type == gjson.String {
			said.Text(b.Str)
		} else {
			said.Text(b.Get("text").String())
		}
	default:
		item.Kind = session.OtherItem
		if known, ok := kinds[kind]; ok {
			item.Kind = known
		}
		said = session.NewSaying(item.Kind, role)
		said.Value(b, "cache_control")
	}
	item.Sum, item.Bound, item.Other = said.Sum(), item.Kind == session.ReasoningItem && r.bound, r.other
	return item
}

var kinds = map[string]session.ItemKind{
	"thinking": session.ReasoningItem, "redacted_thinking": session.ReasoningItem, "image": session.ImageItem, "document": session.ImageItem,
}
