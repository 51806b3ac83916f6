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
	"github.com/hist-cli/hist/internal/session"
)

// sent follows which items a session would have the model be sent, so that they can be compared with a request.
type sent struct {
	seed      maphash.Seed
	items     []sentItem
	turns     []int  // of items: where turns begin
	base      []byte // what the newest compaction left, as its record has it
	behind    int    // the record of that compaction, -1 if there is none
	unknown   bool   // it can't be told what is sent
	paginated bool   // no client that writes such sessions keeps such a log
	torn      []tornItem
	shown     []sentItem        // events that show a text, with the keys of that
	begun     map[string]bool   // turns that begin in the session
	at        map[int]time.Time // when the items behind damaged places were written, by their records
}

// sentItem is an item and which of the session's readable records holds it.
type sentItem struct {
	key    uint64
	record int
}

// tornItem is an item that was cut and closed again.
type tornItem struct {
	behind           int // so many readable records stand in front of it
	kind, call, role string
	head             []byte // how its text begins
}

// maxHead is how much of that is compared, in bytes.
const maxHead = 256

// maxBegun is how many turns are remembered.
const maxBegun = 1 << 16

// maxBase is how long the history that a compaction leaves may be, in bytes.
const maxBase = 16 << 20

func newSent() *sent {
	return &sent{seed: maphash.MakeSeed(), behind: -1, begun: map[string]bool{}, at: map[int]time.Time{}}
}

// key stands for an item of the model's history: a call or an output by its id, any other by the beginning and the end of
// what it says. It is the same in a session and in a request, which has no ids of items.
func (s *sent) key(rec *session.Record) uint64 {
	sum := maphash.String(s.seed, rec.Type)
	if len(rec.CallID) > 0 {
		return sum ^ maphash.Bytes(s.seed, rec.CallID)<<1
	}
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

// See notes a record of the session, in front of which count readable ones stand, and damaged of those in front of the last
// place that is damaged, -1 if none is.
func (s *sent) See(rec *session.Record, count, damaged int) {
	switch {
	case rec.Torn && (rec.Model || rec.Kind == session.Evidence):
		if len(s.torn) < maxGaps {
			head, _, _ := bytes.Cut(wordsOf(rec), []byte(`[hist: `))
			head = bytes.TrimSuffix(bytes.Trim(head, `"`), []byte(`\n`))
			s.torn = append(s.torn, tornItem{count, rec.Type, string(rec.CallID), string(rec.Role), bytes.Clone(head[:min(len(head), maxHead)])})
		}
	case rec.Torn || rec.Kind == session.Unreadable || s.paginated:
	case rec.Kind == session.Header:
		s.paginated = string(codex.Text(rec, codex.FieldHistoryMode)) == "paginated"
	case rec.Kind == session.TurnStart:
		if len(s.begun) < maxBegun {
			s.begun[string(rec.TurnID)] = true
		}
	case rec.Kind == session.Evidence:
		if text := codex.ShownText(rec); text != nil && len(s.shown) < maxCompared {
			s.shown = append(s.shown, sentItem{mark(s.seed, text), count})
		}
	case rec.Kind == session.Compaction:
		kept := codex.Field(rec, codex.FieldReplacement)
		s.unknown = len(kept) == 0 || kept[0] != '[' || len(kept) > maxBase
		s.items, s.turns, s.behind, s.base = s.items[:0], s.turns[:0], count, s.base[:0]
		if !s.unknown {
			s.base = append(s.base, kept...)
		}
	case rec.Kind == session.Rollback:
		s.rollBack(int(gjson.ParseBytes(codex.Field(rec, codex.FieldNumTurns)).Int()), damaged)
	case inHistory(rec) && len(s.items) < maxCompared:
		if rec.Boundary {
			s.turns = append(s.turns, len(s.items))
		}
		if last := len(s.items) - 1; damaged >= 0 && (last < 0 || damaged > s.items[last].record) {
			s.at[count] = codex.Time(rec)
		}
		s.items = append(s.items, sentItem{s.key(rec), count})
	}
}

// rollBack takes the last n turns back. Where something is damaged in those that are left to be counted, it can't be told
// which they are.
func (s *sent) rollBack(n, damaged int) {
	keep := len(s.turns) - n
	if n < 1 {
		return
	}
	if keep < 0 || damaged > s.items[s.turns[keep]].record {
		s.unknown = true
		return
	}
	s.items, s.turns = s.items[:s.turns[keep]], s.turns[:keep]
}

// wordsOf is the text of a message, or of one that an event shows, as it stands in the record.
func wordsOf(rec *session.Record) []byte {
	if rec.Kind == session.Evidence {
		return codex.ShownText(rec)
	}
	return codex.FirstText(rec)
}

// all are the items with those that the newest compaction left in front of them; these stand in its record.
func (s *sent) all(decode func([]byte) *session.Record) []sentItem {
	if len(s.base) == 0 {
		return s.items
	}
	var out []sentItem
	gjson.ParseBytes(s.base).ForEach(func(_, item gjson.Result) bool {
		if rec := decode(codex.ItemRecord(epoch, json.RawMessage(item.Raw))); rec != nil && inHistory(rec) {
			out = append(out, sentItem{s.key(rec), s.behind})
		}
		return true
	})
	return append(out, s.items...)
}

// begins says whether a turn begins in the session.
func (s *sent) begins(turn string) bool { return s.begun[turn] }

// showsBetween says whether an event between two records shows the text of an item.
func (s *sent) showsBetween(from, to int, item *session.Record) bool {
	i, _ := slices.BinarySearchFunc(s.shown, from, func(e sentItem, at int) int { return cmp.Compare(e.record, at) })
	key := mark(s.seed, codex.FirstText(item))
	for ; i < len(s.shown) && s.shown[i].record <= to; i++ {
		if s.shown[i].key == key {
			return true
		}
	}
	return false
}

// fits says whether a whole item is what a cut one was.
func (t *tornItem) fits(rec *session.Record) bool {
	return t.kind == rec.Type && t.call == string(rec.CallID) && t.role == string(rec.Role) &&
		bytes.HasPrefix(bytes.TrimPrefix(wordsOf(rec), []byte(`"`)), t.head)
}
