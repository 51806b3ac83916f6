package codex

import (
	"sort"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// History follows what the model will be sent: the items since the newest compaction that still counts, without the turns that
// were rolled back. It keeps a few numbers per turn, and no items.
type History struct {
	live tally // what would be sent if the session ended here

	turns       []turnMark // the newest
	dropped     int        // how many older turns are not kept
	compactions []compactionMark
	gone        []interval           // rolled-back parts, separate from each other, in the order of the file
	prompts     map[session.Pos]bool // the places of prompts that are lost
}

// NewHistory begins a session's history.
func NewHistory() *History { return &History{} }

// Items is how many items are sent: those that the client reads from the file as it is, and all once it is mended.
func (h *History) Items() (seen, mended int64) { return h.live.seen, h.live.mended }

// SetSeen sets how many items the client reads at this point.
func (h *History) SetSeen(n int64) { h.live.seen = n }

// tally counts items of the model's history: those in the file once it is mended, and those that the client reads from it as it
// is.
type tally struct{ mended, seen int64 }

// keptMarks is how many turns, at least, are kept for a rollback. One that goes back further is taken to end at the oldest turn
// that is kept.
const keptMarks = 1 << 15

type turnMark struct {
	at   session.Pos
	live tally
}

type compactionMark struct {
	at      session.Pos
	turns   int  // open turns when it happened
	summary bool // it holds nothing else: the prompts before it are sent as well
}

type interval struct{ from, to session.Pos }

// Add takes the next record into account; seen says whether the client can read it from the file as it is.
func (h *History) Add(rec *session.Record, seen bool) {
	switch {
	case rec.Kind == session.Compaction:
		h.compact(rec, seen)
	case rec.Kind == session.Rollback:
		h.rollBack(rec.Pos, int(gjson.ParseBytes(Field(rec, FieldNumTurns)).Int()))
	case rec.Model:
		if rec.Boundary {
			h.turns = append(h.turns, turnMark{rec.Pos, h.live})
			if len(h.turns) > 2*keptMarks {
				h.turns = h.turns[:copy(h.turns, h.turns[keptMarks:])]
				h.dropped += keptMarks
			}
		}
		h.live.mended++
		if seen {
			h.live.seen++
		}
	}
}

// compact replaces all history by what the compaction holds. In old sessions (to 0.79 at least) it holds only a summary, and the client
// keeps the user's prompts beside it (measured with 0.79.0 and 0.171.0).
func (h *History) compact(rec *session.Record, seen bool) {
	mark, n := compactionMark{rec.Pos, h.dropped + len(h.turns), true}, int64(h.dropped+len(h.turns))+1
	if raw := Field(rec, FieldReplacement); len(raw) > 0 && raw[0] == '[' {
		mark.summary, n = false, gjson.ParseBytes(raw).Get("#").Int()
	}
	h.compactions = append(h.compactions, mark)
	h.live.mended = n
	if seen {
		h.live.seen = n
	}
}

func (h *History) rollBack(at session.Pos, n int) {
	keep := max(0, len(h.turns)-max(0, n))
	if keep == len(h.turns) {
		return
	}
	mark := h.turns[keep]
	h.turns = h.turns[:keep]
	h.live = mark.live
	for k := len(h.gone); k > 0 && !h.gone[k-1].from.Less(mark.at); k-- {
		h.gone = h.gone[:k-1]
	}
	h.gone = append(h.gone, interval{mark.at, at})
	for k := len(h.compactions); k > 0 && h.compactions[k-1].turns > h.dropped+keep; k-- {
		h.compactions = h.compactions[:k-1]
	}
}

// ForgetSeen applies what a stray header does to a paginated session: the client reads nothing in front of it.
func (h *History) ForgetSeen() {
	h.live.seen = 0
	for i := range h.turns {
		h.turns[i].live.seen = 0
	}
}

// Base is the place of the newest compaction that still counts, zero if there is none.
func (h *History) Base() session.Pos {
	if k := len(h.compactions); k > 0 {
		return h.compactions[k-1].at
	}
	return session.Pos{}
}

// Counts says whether what is at a place is still part of what the model is sent.
func (h *History) Counts(at session.Pos) bool {
	return (!at.Less(h.Base()) || h.keeps(at)) && !h.RolledBack(at)
}

// keeps says whether a prompt in front of the newest compaction, or one that is lost there, is sent beside its summary.
func (h *History) keeps(at session.Pos) bool {
	i := len(h.compactions) - 1
	for ; i >= 0 && at.Less(h.compactions[i].at); i-- {
		if !h.compactions[i].summary {
			return false
		}
	}
	t := sort.Search(len(h.turns), func(i int) bool { return !h.turns[i].at.Less(at) })
	return h.prompts[at] || t < len(h.turns) && h.turns[t].at == at
}

// LostPrompt says that a prompt is lost at a place.
func (h *History) LostPrompt(at session.Pos) {
	if h.prompts == nil {
		h.prompts = map[session.Pos]bool{}
	}
	h.prompts[at] = true
}

// RolledBack says whether a place lies in turns that were taken back.
func (h *History) RolledBack(at session.Pos) bool {
	i := sort.Search(len(h.gone), func(i int) bool { return at.Less(h.gone[i].to) })
	return i < len(h.gone) && !at.Less(h.gone[i].from)
}
