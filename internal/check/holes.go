package check

import (
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// maxHoles is how many holes are remembered: a lost record is looked for only near the place where it is missing.
const maxHoles = 32

// maxGap is how many missing ordinals in a row are holes. Behind a larger gap, what an event shows may have moved elsewhere.
const maxGap = 5

// Hole is a place where a record is known to be missing: an unreadable line, a line of NULs, or a jump in the ordinals.
type Hole struct {
	At     session.Pos // the unreadable line or, if there is none, the record before the jump
	Offset int64       // bytes, where the lost record was
	dead   bool
	used   bool
	of     *Holes
}

// Insert is the edit that puts a record into the hole.
func (h *Hole) Insert(c finding.Content) finding.Edit {
	h.used = true
	if h.of.filled == nil {
		h.of.filled = map[session.Pos]int64{}
	}
	h.of.filled[h.At]++
	if h.dead {
		return finding.Edit{At: h.At, Op: finding.Before, New: c}
	}
	return finding.Edit{At: h.At, Op: finding.After, New: c}
}

// WithEvent says that the event of the record that was put into the hole is missing there, too.
func (h *Hole) WithEvent() { h.of.filled[h.At]++ }

// Holes are the newest holes of a session. Without a hole, a record is not taken for lost just because another one repeats
// what it should say.
type Holes struct {
	list []Hole
	dead int64           // unreadable lines, and records without a number, since the last numbered record
	prev session.Pos     // the last readable record
	end  int64           // offset behind it
	last session.Ordinal // the last number
	// filled is how many records are accounted for, by the places of the holes.
	filled map[session.Pos]int64
}

// Filled is how many of the records that are missing at a place are known: those that were put into holes, and their events.
func (h *Holes) Filled(at session.Pos) int64 { return h.filled[at] }

// Any says whether any record of the session is known to be missing.
func (h *Holes) Any() bool { return len(h.list) > 0 }

func (h *Holes) record(rec *session.Record) {
	if rec.Kind == session.Unreadable {
		if !rec.Blank || rec.Zeros {
			h.dead++
			h.add(Hole{At: rec.Pos, Offset: rec.Offset, dead: true})
		}
		return
	}
	if rec.Ordinal.State == session.GoodOrdinal {
		h.jump(rec.Ordinal.Value)
		h.last = rec.Ordinal
		h.dead = 0
	} else if h.last.State == session.GoodOrdinal {
		h.dead++ // one of the numbers is this record's, though it does not say so
	}
	h.prev, h.end = rec.Pos, rec.Offset+rec.Size
}

// Unread says that the client can't read the newest record, which is as good as a line that nobody can.
func (h *Holes) Unread(rec *session.Record) {
	h.add(Hole{At: rec.Pos, Offset: rec.Offset, dead: true})
}

// jump notes the holes between the last number and the next.
func (h *Holes) jump(next int64) {
	if h.last.State != session.GoodOrdinal {
		return
	}
	for n := next - h.last.Value - 1 - h.dead; n > 0 && n <= maxGap; n-- {
		h.add(Hole{At: h.prev, Offset: h.end})
	}
}

// AtEnd says that the session went on behind its last record, up to one with a number, which comes back.
func (h *Holes) AtEnd(newest int64) { h.jump(newest + 1) }

// Restored says that n lost records come back behind a line. They fill as many jumps in the ordinals there; the holes that are
// left there are now behind the last of them.
func (h *Holes) Restored(behind, last session.Pos, n int) {
	kept := h.list[:0]
	for _, one := range h.list {
		switch {
		case one.At != behind:
		case one.dead:
			one.At, one.dead = last, false // an unreadable line may have hidden any number of records
		default:
			if n--; n >= 0 {
				continue
			}
			one.At = last
		}
		kept = append(kept, one)
	}
	h.list = kept
}

func (h *Holes) add(one Hole) {
	if len(h.list) == maxHoles {
		h.list = append(h.list[:0], h.list[1:]...)
	}
	one.of = h
	h.list = append(h.list, one)
}

// First returns the oldest unused hole at or behind from and before to.
func (h *Holes) First(from, to session.Pos) *Hole {
	for i := range h.list {
		if one := &h.list[i]; !one.used && !one.At.Less(from) && one.At.Less(to) {
			return one
		}
	}
	return nil
}

// Newest returns the newest unused hole at or behind from and before to.
func (h *Holes) Newest(from, to session.Pos) *Hole {
	for i := len(h.list) - 1; i >= 0; i-- {
		if one := &h.list[i]; !one.used && !one.At.Less(from) && one.At.Less(to) {
			return one
		}
	}
	return nil
}
