package lint

import (
	"sort"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

// history follows what the model will be sent: the items since the newest compaction that still stands, less the
// turns that were rolled back. It keeps a few numbers a turn, no items.
type history struct {
	live tally // what would be sent if the session ended here

	turns       []turnMark // the newest
	dropped     int        // how many older ones are not kept
	compactions []compactionMark
	gone        []interval // rolled back; apart from each other, in the order of the file
}

// tally counts model items: those in the file once it is mended, and those the client reads from it as it is.
type tally struct{ mended, seen int64 }

// keptMarks is how many turns, at least, are kept for a rollback. One that goes back further is taken to go back to the
// oldest that is kept.
const keptMarks = 1 << 15

type turnMark struct {
	at   session.Pos
	live tally
}

type compactionMark struct {
	at    session.Pos
	turns int // open turns when it happened
}

type interval struct{ from, to session.Pos }

// add takes the next record into account; seen says whether the client can read it from the file as it is.
func (h *history) add(rec *session.Record, seen bool) {
	switch {
	case rec.Kind == session.Compaction:
		h.compact(rec, seen)
	case rec.Kind == session.Rollback:
		h.rollBack(rec.Pos, int(gjson.ParseBytes(codex.Field(rec, codex.FieldNumTurns)).Int()))
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

// compact replaces all history by what the compaction holds; before 0.59 it holds a summary only, and the client
// keeps the user's prompts beside it.
func (h *history) compact(rec *session.Record, seen bool) {
	n := int64(h.dropped+len(h.turns)) + 1
	if raw := codex.Field(rec, codex.FieldReplacement); len(raw) > 0 && raw[0] == '[' {
		n = gjson.ParseBytes(raw).Get("#").Int()
	}
	h.compactions = append(h.compactions, compactionMark{rec.Pos, h.dropped + len(h.turns)})
	h.live.mended = n
	if seen {
		h.live.seen = n
	}
}

func (h *history) rollBack(at session.Pos, n int) {
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

// forgetSeen is what a stray header does to a paginated session: the client reads nothing above it.
func (h *history) forgetSeen() {
	h.live.seen = 0
	for i := range h.turns {
		h.turns[i].live.seen = 0
	}
}

// base is the place of the newest compaction that still stands, zero if there is none.
func (h *history) base() session.Pos {
	if k := len(h.compactions); k > 0 {
		return h.compactions[k-1].at
	}
	return session.Pos{}
}

// counts says whether what stands at a place is still part of what the model is sent.
func (h *history) counts(at session.Pos) bool {
	return !at.Less(h.base()) && !h.rolledBack(at)
}

// rolledBack says whether a place lies in turns that were taken back.
func (h *history) rolledBack(at session.Pos) bool {
	i := sort.Search(len(h.gone), func(i int) bool { return at.Less(h.gone[i].to) })
	return i < len(h.gone) && !at.Less(h.gone[i].from)
}
