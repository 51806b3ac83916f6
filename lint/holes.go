package lint

import (
	"bytes"

	"github.com/hist-cli/hist/internal/session"
)

// maxHoles is how many holes are remembered: what was lost is looked for near the place where it is missed.
const maxHoles = 32

// maxGap is how many missing ordinals in a row are taken for lost records. More than that is another numbering.
const maxGap = 5

// hole is a place where a record is known to be missing: a dead line, or a jump in the ordinals.
type hole struct {
	at     session.Pos // the dead line; where there is none, the record before the jump
	offset int64       // bytes, where the lost record stood
	dead   bool
	used   bool
}

// insert is the edit that puts a record into the hole.
func (h *hole) insert(c Content) Edit {
	h.used = true
	if h.dead {
		return Edit{At: h.at, Op: Before, New: c}
	}
	return Edit{At: h.at, Op: After, New: c}
}

// holes are the newest holes of a session. Without one nothing is taken for lost that only a second record tells of.
type holes struct {
	list []hole
	dead int64           // dead lines since the last numbered record
	prev session.Pos     // the last readable record
	end  int64           // offset behind it
	last session.Ordinal // its number
}

func (h *holes) record(rec *session.Record) {
	if rec.Kind == session.Unreadable {
		if !rec.Blank {
			h.dead++
			h.add(hole{at: rec.Pos, offset: rec.Offset, dead: true})
		}
		return
	}
	if rec.Ordinal.State == session.GoodOrdinal {
		if h.last.State == session.GoodOrdinal {
			for n := rec.Ordinal.Value - h.last.Value - 1 - h.dead; n > 0 && n <= maxGap; n-- {
				h.add(hole{at: h.prev, offset: h.end})
			}
		}
		h.last = rec.Ordinal
		h.dead = 0
	} else if h.last.State == session.GoodOrdinal {
		h.dead++ // it owns a number, though it does not say so
	}
	h.prev, h.end = rec.Pos, rec.Offset+rec.Size
}

func (h *holes) add(one hole) {
	if len(h.list) == maxHoles {
		h.list = append(h.list[:0], h.list[1:]...)
	}
	h.list = append(h.list, one)
}

// first returns the oldest unused hole at or behind from and before to.
func (h *holes) first(from, to session.Pos) *hole {
	for i := range h.list {
		if one := &h.list[i]; !one.used && !one.at.Less(from) && one.at.Less(to) {
			return one
		}
	}
	return nil
}

// newest returns the newest unused hole at or behind from and before to.
func (h *holes) newest(from, to session.Pos) *hole {
	for i := len(h.list) - 1; i >= 0; i-- {
		if one := &h.list[i]; !one.used && !one.at.Less(from) && one.at.Less(to) {
			return one
		}
	}
	return nil
}

// clip shortens text that is shown in a message to what a person can take in, cut at n bytes.
func clip(text []byte, n int) string {
	if len(text) <= n {
		return string(text)
	}
	return string(bytes.ToValidUTF8(text[:n], nil)) + "…"
}
