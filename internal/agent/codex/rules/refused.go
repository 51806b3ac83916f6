package rules

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

var (
	ruleReasoningOrder = texts.Rule(finding.Rule{Name: "reasoning-order", Family: "items", Impact: finding.Rejects, Fix: finding.Exact})
	ruleEmptyContent   = texts.Rule(finding.Rule{Name: "empty-content", Family: "items", Impact: finding.Rejects, Fix: finding.SetAside})
)

// keptItems is how many of the newest items of a history are kept, at least.
const keptItems = 1 << 10

// keptEmpty is how many of the newest empty items are kept, at least.
const keptEmpty = 1 << 12

// refusals looks for items that the API has refused, by the errors that the client recorded.
type refusals struct {
	run          *run
	items        []keptItem        // the newest, oldest first
	empty        []emptyItem       // the newest items with nothing in them
	found        []finding.Finding // about the newest error, as long as no answer follows it
	refusedEmpty *emptyRefusal     // the newest error, if it is about all items that are empty in one way
}

// keptItem is what is known of an item of the history.
type keptItem struct {
	ref       finding.Ref
	record    string
	id        uint64 // hashed, 0 if it has none
	reasoning bool
	answer    bool          // something the model said or did
	blank     *finding.Edit // the edit that removes its id; nil unless a compaction holds the item
}

// emptyItem is an item with nothing in it, and the words in which the API's error describes it.
type emptyItem struct {
	finding.Finding
	member, kind string
}

// add takes the next item of the history. dropped says that another rule removes it.
func (r *refusals) add(it item, dropped bool) {
	if it.Answer && !dropped {
		r.found, r.refusedEmpty = nil, nil
	}
	if dropped || r.run.opts.StripEncrypted && isSealed(it.Record) {
		return
	}
	if len(r.items) >= 2*keptItems {
		r.items = append(r.items[:0], r.items[keptItems:]...)
	}
	r.items = append(r.items, keptItem{})
	kept := &r.items[len(r.items)-1]
	kept.ref.Set(it.owner)
	kept.record, kept.id, kept.reasoning, kept.answer = it.owner.Type, r.hash(it.ID), it.Type == "response_item/reasoning", it.Answer
	if it.held() && len(it.ID) > 0 {
		blank := it.blankID()
		kept.blank = &blank
	}
	if field, kind := emptiness(it.Record); kind != "" {
		if len(r.empty) >= 2*keptEmpty {
			r.empty = append(r.empty[:0], r.empty[keptEmpty:]...)
		}
		r.empty = append(r.empty, it.empty(field, kind))
	}
}

// rollBack forgets the items that a rollback removed. A refusal of other items still counts.
func (r *refusals) rollBack() {
	for n := len(r.items); n > 0 && r.run.history.RolledBack(r.items[n-1].ref.Pos); n-- {
		r.items = r.items[:n-1]
	}
	for n := len(r.empty); n > 0 && r.run.history.RolledBack(r.empty[n-1].Pos); n-- {
		r.empty = r.empty[:n-1]
	}
}

// said takes what the API said at a place of the session.
func (r *refusals) said(why *api.Refusal, at session.Pos) {
	switch {
	case why.Mend == "order" && strings.HasSuffix(why.Words, "following item"):
		r.found, r.refusedEmpty = r.unfollowed([]byte(why.IDs[0])), nil
	case why.Mend == "order":
		r.found, r.refusedEmpty = r.unreasoned([]byte(why.IDs[0]), []byte(why.Wanted)), nil
	case why.Mend == "empty":
		member, _, _ := strings.Cut(why.Field, ".")
		member, _, _ = strings.Cut(member, "[")
		r.found, r.refusedEmpty = nil, &emptyRefusal{member, why.Words[strings.LastIndexByte(why.Words, ' ')+1:], at}
	}
}

// emptyRefusal is a refusal of empty items: the words of the error, and where it came.
type emptyRefusal struct {
	member, kind string
	at           session.Pos
}

// recordedError is the error that ended a turn, empty if there is none. Clients from 0.145 on record it with the turn's end,
// older ones in an event of its own.
func recordedError(rec *session.Record) []byte {
	if rec.Type == "event_msg/error" {
		return codex.Field(rec, codex.FieldMessage)
	}
	return codex.Field(rec, codex.FieldError)
}

// wordsOf is the message of an error, which is a text or an object that holds one.
func wordsOf(said []byte) []byte {
	v := gjson.ParseBytes(said)
	if v.IsObject() {
		v = v.Get("message")
	}
	return []byte(v.String())
}

// End reports what the last refusal was about.
func (r *refusals) End() {
	for _, f := range r.found {
		if r.run.history.Counts(f.Pos) {
			r.run.Report(f)
		}
	}
	for _, e := range r.empty {
		if h := r.refusedEmpty; h != nil && e.member == h.member && e.kind == h.kind && e.Pos.Less(h.at) && r.run.history.Counts(e.Pos) {
			r.run.Report(e.Finding)
		}
	}
}

func (r *refusals) hash(id []byte) uint64 {
	if len(id) == 0 {
		return 0
	}
	return codex.Sum(id) | 1
}

// find is the index of the first item with an id, -1 if it is not kept. The first counts, because a second one is a copy.
func (r *refusals) find(id []byte) int {
	h := r.hash(id)
	base := r.run.history.Base()
	return slices.IndexFunc(r.items, func(it keptItem) bool { return h != 0 && it.id == h && !it.ref.Pos.Less(base) })
}

// unreasoned reports an item without the reasoning that led to it.
func (r *refusals) unreasoned(id, reasoning []byte) []finding.Finding {
	at, from := r.find(id), r.find(reasoning)
	if at < 0 || from >= 0 && from == at-1 {
		return nil // since the error, the item has been moved to where the API wants it
	}
	it := r.items[at]
	f := it.finding(id, finding.Exact)
	if from >= 0 {
		f.Message += fmt.Sprintf("the reasoning that led to %s is on line %d", id, r.items[from].ref.Pos.Line)
	} else {
		f.Message += fmt.Sprintf("the reasoning that led to %s does not come before it", id)
	}
	switch {
	case from >= 0 && (it.blank != nil || r.items[from].blank != nil):
		f.Fix = finding.NoFix
		f.Message += "; a compaction holds it"
	case from >= 0:
		f.Edits = move(r.items[from].ref, it.ref)
	case it.blank != nil:
		f.Edits = []finding.Edit{*it.blank}
	default:
		f.Edits = []finding.Edit{{At: it.ref.Pos, Op: finding.Remove, Moved: true}, {At: it.ref.Pos, Op: finding.Before, New: finding.Content{From: &it.ref, Recipe: codex.UnnamedRecipe{}}}}
	}
	return []finding.Finding{f}
}

// unfollowed reports reasoning that is not followed by the item it led to. That item is the one in front of it, unless that has
// reasoning of its own.
func (r *refusals) unfollowed(id []byte) []finding.Finding {
	at := r.find(id)
	if at < 0 || at+1 < len(r.items) && r.items[at+1].answer {
		return nil
	}
	it := r.items[at]
	f := it.finding(id, finding.Exact)
	if it.blank != nil {
		f.Fix = finding.NoFix
		f.Message += fmt.Sprintf("%s is not followed by what it led to; a compaction holds it", id)
	} else if at > 0 && r.items[at-1].answer && r.items[at-1].blank == nil && (at == 1 || !r.items[at-2].reasoning) {
		f.Message += fmt.Sprintf("%s comes after what it led to", id)
		f.Edits = move(it.ref, r.items[at-1].ref)
	} else {
		f.Message += fmt.Sprintf("%s is followed by nothing that it could have led to", id)
		f.Fix, f.Unseen, f.Edits = finding.SetAside, 1, []finding.Edit{{At: it.ref.Pos, Op: finding.Remove}}
	}
	return []finding.Finding{f}
}

// finding is a finding of reasoning-order about an item.
func (it keptItem) finding(id []byte, fix finding.Fix) finding.Finding {
	return finding.Finding{
		Rule: ruleReasoningOrder, Impact: finding.Rejects, Fix: fix, Pos: it.ref.Pos, Offset: it.ref.Offset, Record: it.record,
		Message: "the API refuses every request: ", On: it.ref, IDs: string(id),
	}
}

// move moves a record in front of another record.
func move(from, before finding.Ref) []finding.Edit {
	return []finding.Edit{{At: from.Pos, Op: finding.Remove, Moved: true}, {At: before.Pos, Op: finding.Before, New: finding.Content{From: &from}}}
}

// emptiness says which field of a message or an output is empty, and whether the API calls that an empty array or an empty
// string; kind is "" if the field is not empty.
func emptiness(rec *session.Record) (field int, kind string) {
	switch {
	case rec.Kind == session.Output:
		field = codex.FieldOutput
	case rec.Type == "response_item/message":
		field = codex.FieldContent
	default:
		return field, ""
	}
	raw := codex.Field(rec, field)
	switch {
	case len(raw) == 0 || len(raw) > maxEmpty:
		return field, ""
	case string(raw) == `""`:
		return field, "string"
	case raw[0] != '[', raw[1] == '{' && !bytes.Contains(raw, noText):
		return field, ""
	}
	kind = "array"
	gjson.ParseBytes(raw).ForEach(func(_, part gjson.Result) bool {
		kind = "string"
		if text := part.Get("text"); text.Raw != `""` {
			kind = ""
		}
		return kind != ""
	})
	return field, kind
}

// noText is an element of every list of empty texts.
var noText = []byte(`""`)

// maxEmpty is up to how many bytes a list of empty texts is recognised.
const maxEmpty = 256

// empty is the finding about an item with an empty field.
func (it item) empty(field int, kind string) emptyItem {
	member, what := "content", "a message"
	if it.Kind == session.Output {
		member, what = "output", "an output"
	}
	f := it.finding(ruleEmptyContent, finding.StandIn, it.Spans[field].Start, what+" with nothing in it: the API refuses every request")
	cut := finding.Cut{Start: it.Spans[field].Start, End: it.Spans[field].End}
	switch {
	case it.Kind == session.Output:
		cut.New = quoted("[hist: this output was empty]")
		f.Edits = []finding.Edit{it.splice(cut)}
	case it.held():
		part := "input_text"
		if it.Answer {
			part = "output_text"
		}
		cut.New = append(append([]byte(`[{"type":"`+part+`","text":`), quoted("[hist: this message was empty]")...), "}]"...)
		f.Edits = []finding.Edit{it.splice(cut)}
	default:
		f.Fix, f.Unseen, f.Edits = finding.SetAside, 1, []finding.Edit{{At: it.owner.Pos, Op: finding.Remove}}
	}
	return emptyItem{f, member, kind}
}
