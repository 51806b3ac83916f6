package lint

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"regexp"

	"github.com/hist-cli/hist/internal/codex"
	"github.com/hist-cli/hist/internal/session"
)

var (
	ruleReasoningOrder = &Rule{
		Name: "reasoning-order", Family: "items", Impact: Rejects, Fix: Exact,
		Title: "reasoning that does not stand in front of the item it belongs to",
		Text: `The API knows which reasoning led to which message or call, and refuses a history that parts them: "Item 'msg_…' of type 'message' was provided without its required 'reasoning' item: 'rs_…'". ` +
			`Clients have written the reasoning behind its message (0.144.2, openai/codex 33044). Which belongs to which only the API knows: hist speaks up where the client recorded the error and no answer came since. ` +
			`Repair moves the reasoning in front of its item. Where it is gone it takes the item's id, which is optional, so that the API has nothing to ask for; reasoning without an item of its own is set aside.`,
	}
	ruleEmptyContent = &Rule{
		Name: "empty-content", Family: "items", Impact: Rejects, Fix: SetAside,
		Title: "a message or an output with nothing in it",
		Text: `An API may refuse an empty list of contents, or an empty text ("Invalid 'input[7].content': empty array. Expected an array with minimum length 1, but got an empty array instead"). OpenAI's own does so with other lists; of contents it is not known, ` +
			`and a tool may well print nothing. So hist speaks up only where the client recorded such an error and no answer came since. Repair sets the empty messages aside, and writes into the outputs that they were empty.`,
	}
)

var (
	unreasoned = regexp.MustCompile(`Item '([A-Za-z0-9_-]{1,64})' of type '[a-z_]+' was provided without its required (?:'reasoning' item(?:: '([A-Za-z0-9_-]{1,64})')?|preceding item)`)
	unfollowed = regexp.MustCompile(`Item '([A-Za-z0-9_-]{1,64})' of type 'reasoning' was provided without its required following item`)
	emptied    = regexp.MustCompile(`Invalid 'input\[[0-9]{1,9}\]\.(?:content|output)[^']{0,40}': empty (?:array|string)`)
)

// keptItems is how many of the newest items of a history are kept, at least.
const keptItems = 1 << 10

// refusals looks for items that the API has refused, in the words that the client recorded.
type refusals struct {
	run   *run
	seed  maphash.Seed
	items []keptItem // the newest, oldest first
	empty []Finding  // items with nothing in them
	found []Finding  // what the newest error is about, with no answer since
}

// keptItem is what is known of an item of the history.
type keptItem struct {
	ref       Ref
	record    string
	id        uint64 // hashed, 0 if it has none
	reasoning bool
	answer    bool // something the model said or did
}

// add takes an item of the history into account.
func (r *refusals) add(it item) {
	if it.Answer {
		r.found = nil
	}
	if it.held() {
		return
	}
	if len(r.items) >= 2*keptItems {
		r.items = append(r.items[:0], r.items[keptItems:]...)
	}
	r.items = append(r.items, keptItem{refOf(it.Record), it.Type, r.hash(it.ID), it.Type == "response_item/reasoning", it.Answer})
	if field, nothing := isEmpty(it.Record); nothing && len(r.empty) < keptItems {
		r.empty = append(r.empty, it.emptyFinding(field))
	}
}

// compact forgets what is not sent any more.
func (r *refusals) compact() { r.items, r.empty, r.found = r.items[:0], nil, nil }

// rollBack forgets what a rollback took away. What was refused is still, if it was not among that.
func (r *refusals) rollBack() {
	for n := len(r.items); n > 0 && r.run.history.rolledBack(r.items[n-1].ref.Pos); n-- {
		r.items = r.items[:n-1]
	}
	for n := len(r.empty); n > 0 && r.run.history.rolledBack(r.empty[n-1].Pos); n-- {
		r.empty = r.empty[:n-1]
	}
}

// turnEnd looks for a refusal in how a turn ended.
func (r *refusals) turnEnd(rec *session.Record) {
	told := recordedError(rec)
	if len(told) == 0 {
		return
	}
	if m := unreasoned.FindSubmatch(told); m != nil {
		r.found = r.unreasoned(m[1], m[2])
	} else if m := unfollowed.FindSubmatch(told); m != nil {
		r.found = r.unfollowed(m[1])
	} else if emptied.Match(told) {
		r.found = r.empty
	}
}

// recordedError is the error that ended a turn, as the client recorded it (0.145 and later with the turn's end, older ones
// in an event of its own), empty if there is none.
func recordedError(rec *session.Record) []byte {
	if rec.Type == "event_msg/error" {
		return codex.Field(rec, codex.FieldMessage)
	}
	return codex.Field(rec, codex.FieldError)
}

// End reports what was refused last.
func (r *refusals) End() {
	for _, f := range r.found {
		r.run.report(f)
	}
}

func (r *refusals) hash(id []byte) uint64 {
	if len(id) == 0 {
		return 0
	}
	return maphash.Bytes(r.seed, id) | 1
}

// find is the place of the newest item with an id, -1 if it is not kept.
func (r *refusals) find(id []byte) int {
	h := r.hash(id)
	for i := len(r.items) - 1; i >= 0 && h != 0; i-- {
		if r.items[i].id == h {
			return i
		}
	}
	return -1
}

// unreasoned is about an item without its reasoning.
func (r *refusals) unreasoned(id, reasoning []byte) []Finding {
	at, from := r.find(id), r.find(reasoning)
	if at < 0 || from >= 0 && from == at-1 {
		return nil // as the API wants it by now
	}
	it := r.items[at]
	f := it.finding(id, Exact)
	if from < 0 {
		f.Message += fmt.Sprintf("the reasoning that led to %s is not in front of it", id)
		f.Edits = []Edit{{At: it.ref.Pos, Op: Remove, Moved: true}, {At: it.ref.Pos, Op: Before, New: Content{From: &it.ref, Build: codex.WithoutID}}}
	} else {
		f.Message += fmt.Sprintf("the reasoning that led to %s stands on line %d", id, r.items[from].ref.Pos.Line)
		f.Edits = move(r.items[from].ref, it.ref)
	}
	return []Finding{f}
}

// unfollowed is about reasoning without the item that it led to: the one in front of it, if that has none of its own.
func (r *refusals) unfollowed(id []byte) []Finding {
	at := r.find(id)
	if at < 0 || at+1 < len(r.items) && r.items[at+1].answer {
		return nil
	}
	it := r.items[at]
	f := it.finding(id, Exact)
	if at > 0 && r.items[at-1].answer && (at == 1 || !r.items[at-2].reasoning) {
		f.Message += fmt.Sprintf("%s stands behind what it led to", id)
		f.Edits = move(it.ref, r.items[at-1].ref)
	} else {
		f.Message += fmt.Sprintf("nothing follows %s that it could have led to", id)
		f.Fix, f.Unseen, f.Edits = SetAside, 1, []Edit{{At: it.ref.Pos, Op: Remove}}
	}
	return []Finding{f}
}

// finding is a reasoning-order about an item.
func (it keptItem) finding(id []byte, fix Fix) Finding {
	return Finding{
		Rule: ruleReasoningOrder, Impact: Rejects, Fix: fix, Pos: it.ref.Pos, Offset: it.ref.Offset, Record: it.record,
		Message: "the API refuses every request: ", On: it.ref, IDs: string(id),
	}
}

// move takes a record from one place and puts it in front of another.
func move(from, before Ref) []Edit {
	return []Edit{{At: from.Pos, Op: Remove, Moved: true}, {At: before.Pos, Op: Before, New: Content{From: &from}}}
}

// isEmpty says whether a message or an output has nothing in it, and in which field.
func isEmpty(rec *session.Record) (field int, nothing bool) {
	field = codex.FieldOutput
	if rec.Kind == session.Message {
		if field = codex.FieldContent; rec.Type != "response_item/message" {
			return field, false
		}
	} else if rec.Kind != session.Output {
		return field, false
	}
	raw := codex.Field(rec, field)
	if len(raw) == 0 || raw[0] == '"' {
		return field, string(raw) == `""`
	}
	return field, raw[0] == '[' && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0 ||
		field == codex.FieldContent && string(codex.FirstText(rec)) == `""` && bytes.Count(raw, []byte("{")) == 1
}

// emptyFinding is about an item with nothing in a field.
func (it item) emptyFinding(field int) Finding {
	if it.Kind == session.Output {
		f := it.finding(ruleEmptyContent, StandIn, it.Spans[field].Start, "an output with nothing in it: the API refuses every request")
		f.Edits = []Edit{it.splice(Cut{Start: it.Spans[field].Start, End: it.Spans[field].End, New: quoted("[hist: this output was empty]")})}
		return f
	}
	f := it.finding(ruleEmptyContent, SetAside, it.Spans[field].Start, "a message with nothing in it: the API refuses every request")
	f.Unseen, f.Edits = 1, []Edit{{At: it.owner.Pos, Op: Remove}}
	return f
}
