package beside

import (
	"bytes"
	"cmp"
	"encoding/json"
	"hash/maphash"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// sent follows which items the session would send to the model, for comparing them with a logged request.
type sent struct {
	seed      maphash.Seed
	items     []sentItem
	turns     []int           // the indexes of items with which turns begin
	base      []byte          // what the newest compaction left, as it is in its record
	behind    int             // the record of that compaction, -1 if there is none
	unknown   bool            // it is not known what is sent
	paginated bool            // no client that writes such sessions logs its requests
	open      map[uint64]bool // calls that wait for their outputs, by their keys
	pairs     bool            // some call or output has no partner
	torn      []tornItem
	shown     []sentItem        // events that show a text, with the keys of the texts
	thoughts  []sentItem        // events that show a thought
	begun     map[string]int    // the turns that begin in the session, by their records
	at        map[int]time.Time // when the items after damaged places were written, by record
	jumps     jumps
	asked     [newestCalls][]byte // what the newest calls ask for, as it is in the file: a ring, by the count of calls
	calls     int
	near      nearCalls // of a paginated session
}

// newestCalls is how many calls are compared with a logged call without an id: those that may still have run at the session's
// end.
const newestCalls = 16

// sentItem is an item and which of the session's readable records holds it.
type sentItem struct {
	key    uint64
	record int32
	kind   session.Kind
	asks   bool
}

// tornItem is an item that was cut off and closed again.
type tornItem struct {
	behind           int // how many readable records come before it
	kind, call, role string
	head             []byte // how its text begins
}

// maxHead is how many bytes of that text are compared.
const maxHead = 256

// maxBegun is how many turns are remembered.
const maxBegun = 1 << 16

// maxBase is how long the history that a compaction leaves may be, in bytes.
const maxBase = 16 << 20

func newSent() *sent {
	begun, seed := map[string]int{}, maphash.MakeSeed()
	near := nearCalls{seed: seed, known: map[uint64]bool{}, place: -1}
	return &sent{seed: seed, near: near, behind: -1, begun: begun, open: map[uint64]bool{}, at: map[int]time.Time{}, jumps: jumps{begun: begun}}
}

// key is a hash of an item of the model's history: of the id for a call or an output, otherwise of the beginning and the end of
// its text. It is the same in a session and in a request, in which items have no ids.
func (s *sent) key(rec *session.Record) uint64 {
	if len(rec.CallID) > 0 {
		return maphash.Bytes(s.seed, rec.CallID) + uint64(rec.Kind)
	}
	sum := maphash.String(s.seed, rec.Type)
	sum ^= maphash.Bytes(s.seed, rec.Role) << 1
	for i, field := range []int{codex.FieldContent, codex.FieldEncrypted, codex.FieldSummary} {
		if raw := codex.Field(rec, field); len(raw) > 0 && raw[0] != 'n' { // null
			sum ^= mark(s.seed, raw) << (2 + i)
		}
	}
	if rec.Type == "response_item/web_search_call" {
		sum ^= maphash.String(s.seed, gjson.GetBytes(rec.Raw, "payload.action").Raw) << 5
	}
	return sum
}

// callKey is the key of a call with an id.
func (s *sent) callKey(id string) uint64 { return maphash.String(s.seed, id) + uint64(session.Call) }

// See takes a record of the session that count readable ones come before; damaged of these come before the last damaged place,
// -1 if there is none.
func (s *sent) See(rec *session.Record, count, damaged int) {
	if !s.paginated {
		s.jumps.See(rec, count)
	} else {
		s.near.see(rec, damaged)
	}
	switch {
	case rec.Kind == session.TurnStart && !rec.Torn:
		if len(s.begun) < maxBegun {
			s.begun[string(rec.TurnID)] = count
		}
	case rec.Torn && (rec.Model || rec.Kind == session.Evidence):
		if len(s.torn) < maxGaps {
			head, _, _ := bytes.Cut(wordsOf(rec), []byte(`[hist: `))
			head = bytes.TrimSuffix(bytes.Trim(head, `"`), []byte(`\n`))
			s.torn = append(s.torn, tornItem{count, rec.Type, string(rec.CallID), string(rec.Role), bytes.Clone(head[:min(len(head), maxHead)])})
		}
	case rec.Torn || rec.Kind == session.Unreadable || s.paginated:
	case rec.Kind == session.Header:
		s.paginated = string(codex.Text(rec, codex.FieldHistoryMode)) == "paginated"
	case rec.Kind == session.Evidence:
		if text := codex.ShownText(rec); text != nil && len(s.shown) < maxCompared {
			s.shown = append(s.shown, sentItem{mark(s.seed, text), int32(count), rec.Kind, false})
		} else if codex.Repeats(rec, codex.TellsThought) && len(s.thoughts) < maxCompared {
			s.thoughts = append(s.thoughts, sentItem{mark(s.seed, codex.ShownWords(rec)), int32(count), rec.Kind, false})
		}
	case rec.Kind == session.Compaction:
		kept := codex.Field(rec, codex.FieldReplacement)
		s.unknown = len(kept) == 0 || kept[0] != '[' || len(kept) > maxBase
		s.items, s.turns, s.behind, s.base, s.pairs = s.items[:0], s.turns[:0], count, s.base[:0], false
		clear(s.open)
		if !s.unknown {
			s.base = append(s.base, kept...)
		}
	case rec.Kind == session.Rollback:
		s.rollBack(int(gjson.ParseBytes(codex.Field(rec, codex.FieldNumTurns)).Int()), damaged)
	case inHistory(rec) && len(s.items) < maxCompared:
		if rec.Boundary {
			s.turns = append(s.turns, len(s.items))
		}
		if last := len(s.items) - 1; damaged >= 0 && (last < 0 || damaged > int(s.items[last].record)) {
			s.at[count] = codex.Time(rec)
		}
		if rec.Kind == session.Call {
			s.ask(rec)
		}
		item := sentItem{s.key(rec), int32(count), rec.Kind, asks(rec)}
		s.pair(item)
		s.items = append(s.items, item)
	}
}

// ask notes what a call asks for.
func (s *sent) ask(rec *session.Record) {
	what := codex.Field(rec, codex.FieldArguments)
	if len(what) == 0 {
		what = codex.Field(rec, codex.FieldInput)
	}
	if len(what) > codex.MaxArguments {
		what = nil
	}
	one := &s.asked[s.calls%newestCalls]
	*one = append((*one)[:0], what...)
	s.calls++
}

// hasAsked says whether one of the newest calls asks for this.
func (s *sent) hasAsked(what string) bool {
	for _, raw := range s.asked {
		if text, ok := jsonl.Unquote(raw); ok && text == what {
			return true
		}
	}
	return false
}

// call is the key of the call that an item is, or answers.
func (i sentItem) call() uint64 { return i.key - uint64(i.kind) + uint64(session.Call) }

// pair notes which calls have no output, and that an output has no call.
func (s *sent) pair(item sentItem) {
	switch item.kind {
	case session.Call:
		if len(s.open) < maxGaps {
			s.open[item.call()] = true
		}
	case session.Output:
		if !s.open[item.call()] {
			s.pairs = true
		}
		delete(s.open, item.call())
	}
}

// alone says whether some call or output has no partner.
func (s *sent) alone() bool { return s.pairs || len(s.open) > 0 }

// halves are the places where the missing partner of a call or an output may have been, though nothing else shows it: in front
// of the output and of the calls and outputs before it, or behind the call and the calls and outputs after it.
func (s *sent) halves(have []sentItem) (gaps []gap) {
	if !s.alone() {
		return nil
	}
	called, answered := map[uint64]bool{}, map[uint64]bool{}
	for _, item := range have {
		switch item.kind {
		case session.Call:
			called[item.call()] = true
		case session.Output:
			answered[item.call()] = true
		}
	}
	in := make([]bool, len(have))
	for j, item := range have {
		switch {
		case item.kind == session.Output && !called[item.call()]:
			markBefore(in, have, j)
		case item.kind == session.Call && !answered[item.call()]:
			markBehind(in, have, j)
		}
	}
	for j, item := range have {
		if !in[j] || int(item.record) <= s.behind {
			continue
		}
		behind := int(item.record)
		if j > 0 && int(have[j-1].record) > s.behind { // before the events that belong to the item
			behind = min(behind, s.next(have[j-1]))
		}
		gaps = append(gaps, gap{behind: behind})
	}
	return gaps
}

// markBefore marks an output, then the outputs and the calls before it, up to a marked item.
func markBefore(in []bool, have []sentItem, k int) {
	for _, kind := range []session.Kind{session.Output, session.Call} {
		for ; k >= 0 && have[k].kind == kind && !in[k]; k-- {
			in[k] = true
		}
	}
}

// markBehind marks the calls and outputs after a call, and the item that follows them, up to a marked item.
func markBehind(in []bool, have []sentItem, call int) {
	for k := call + 1; k < len(have) && !in[k]; k++ {
		in[k] = true
		if have[k].kind != session.Call && have[k].kind != session.Output {
			break
		}
	}
}

// next is the record behind an item, and behind the event that shows it, if it is a prompt.
func (s *sent) next(item sentItem) int {
	next := int(item.record) + 1
	i, _ := slices.BinarySearchFunc(s.shown, next, func(e sentItem, at int) int { return cmp.Compare(int(e.record), at) })
	if item.asks && i < len(s.shown) && int(s.shown[i].record) == next {
		next++
	}
	return next
}

// rollBack removes the last n turns. If something is damaged in the remaining ones, it is not known which turns those are.
func (s *sent) rollBack(n, damaged int) {
	keep := len(s.turns) - n
	if n < 1 {
		return
	}
	if keep < 0 || damaged > int(s.items[s.turns[keep]].record) {
		s.unknown = true
		return
	}
	s.items, s.turns = s.items[:s.turns[keep]], s.turns[:keep]
}

// wordsOf is the text of a message, or of one that an event shows, as it is in the record.
func wordsOf(rec *session.Record) []byte {
	if rec.Kind == session.Evidence {
		return codex.ShownText(rec)
	}
	return codex.FirstText(rec)
}

// all are the items that would be sent, beginning with those that the newest compaction left, which are in its record.
func (s *sent) all(decode func([]byte) *session.Record) []sentItem {
	if len(s.base) == 0 {
		return s.items
	}
	var out []sentItem
	gjson.ParseBytes(s.base).ForEach(func(_, item gjson.Result) bool {
		if rec := decode(codex.ItemRecord(epoch, json.RawMessage(item.Raw))); rec != nil && inHistory(rec) {
			out = append(out, sentItem{s.key(rec), int32(s.behind), rec.Kind, asks(rec)})
		}
		return true
	})
	return append(out, s.items...)
}

// begins says whether a turn begins in the session.
func (s *sent) begins(turn string) bool {
	_, ok := s.begun[turn]
	return ok
}

// shownBetween is the index of the event between two records that shows an item; for a thought, of the last such event. It is
// -1 if there is none.
func (s *sent) shownBetween(from, to int, item *session.Record) int {
	events, key := s.shown, mark(s.seed, codex.FirstText(item))
	if item.Type == "response_item/reasoning" {
		words := codex.WordsOf(item)
		if len(words) == 0 {
			return -1
		}
		events, key = s.thoughts, mark(s.seed, []byte(words[len(words)-1]))
	}
	i, _ := slices.BinarySearchFunc(events, from, func(e sentItem, at int) int { return cmp.Compare(int(e.record), at) })
	for ; i < len(events) && int(events[i].record) <= to; i++ {
		if events[i].key == key {
			return int(events[i].record)
		}
	}
	return -1
}

// fits says whether a cut item can be a part of a whole one.
func (t *tornItem) fits(rec *session.Record) bool {
	return t.kind == rec.Type && t.call == string(rec.CallID) && t.role == string(rec.Role) &&
		bytes.HasPrefix(bytes.TrimPrefix(wordsOf(rec), []byte(`"`)), t.head)
}
