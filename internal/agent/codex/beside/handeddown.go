package beside

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"math"
	"slices"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
)

// handedDown are the records of a paginated session that a sub-agent's file begins with, in the session that made the sub-agent and in
// that file. The client copies them in their order, each with what it says as it was, but with another time and number, and leaves
// out events and what it keeps of its own state (measured with 0.171.0). So where one of the two has a gap, the other may have what it lacks.
type handedDown struct {
	made  time.Time // when the session was made, if it is a sub-agent's
	items []handed
	holes int // how many damaged places have come since the last of them
	hole  int // the newest of these
	// places are the items by their sums; nil until a relative is read.
	places map[uint64][]int
}

// index notes the places of the items.
func (h *handedDown) index() {
	h.places = map[uint64][]int{}
	for i, one := range h.items {
		h.places[one.sum] = append(h.places[one.sum], i)
	}
}

// handed is such a record.
type handed struct {
	sum  uint64
	hole int // how many records of the session come before the one damaged place in front of it; -1 if there is none, or not just one
}

// handDown notes the next record of the session, in front of which something may be damaged.
func (c *copies) handDown(rec *session.Record) {
	h := &c.handed
	if c.holes[len(c.records)] {
		h.holes, h.hole = h.holes+1, len(c.records)
	}
	if rec.Ordinal.State != session.GoodOrdinal || !codex.HandedDown(rec) {
		return
	}
	one := handed{sum: c.told(rec), hole: -1}
	if h.holes == 1 {
		one.hole = h.hole
	}
	h.items, h.holes = append(h.items, one), 0
}

// told is a hash of what a record says. What else stands in its line, the client changes when it hands it down.
func (c *copies) told(rec *session.Record) uint64 {
	return mark(c.seed, codex.Field(rec, codex.FieldPayload)) ^ maphash.String(c.seed, rec.Type)
}

// relatives are the records that a session has lost, and that the session which made it as its sub-agent still has, or one of its own
// sub-agents.
func (c *copies) relatives(ctx context.Context, h session.Info) (lost []check.Lost) {
	if !slices.ContainsFunc(c.handed.items, func(one handed) bool { return one.hole >= 0 }) {
		return nil
	}
	var makers []string
	if !c.handed.made.IsZero() {
		makers, _ = home.Find(ctx, c.dir, h.ForkedFrom) // without it, only the others are asked
	}
	c.handed.index()
	filled := map[int]bool{}
	for i, path := range slices.Concat(makers, c.forks.of(ctx, c.dir, c.name.ThreadID)) {
		w := relativeWalk{copies: c, path: path, maker: i < len(makers)}
		w.walk(ctx)
		found := slices.DeleteFunc(w.out, func(l check.Lost) bool { return filled[l.Behind] })
		for _, l := range found {
			filled[l.Behind] = true
		}
		lost = append(lost, found...)
	}
	return lost
}

// relativeWalk goes through the file of a relative beside the session.
type relativeWalk struct {
	*copies
	path    string
	maker   bool         // it made the session
	begun   int64        // otherwise, the number of the first record of its own
	next    int          // how many items of the session the walk has passed
	pending []check.Lost // what the relative has in front of the next one, where something is damaged
	unsure  bool         // there, it has more, or something that can't be read
	out     []check.Lost
}

func (w *relativeWalk) walk(ctx context.Context) {
	for line, err := range linesIn(ctx, w.path) {
		if errors.Is(err, io.EOF) {
			w.end()
		}
		if err != nil || ctx.Err() != nil || !w.line(w.decode(bytes.TrimRight(line.Raw, "\r\n"))) {
			return
		}
	}
}

// line takes the next line of the relative, nil if it can't be read; false if nothing is handed down behind it.
func (w *relativeWalk) line(rec *session.Record) bool {
	switch {
	case rec == nil:
		w.pending, w.unsure = nil, true
	case rec.Kind == session.Header && !w.maker && w.begun == 0:
		w.begun = codex.ReadHeader(rec.Raw).SubagentStart
		return w.begun > 0 // a fork that is no sub-agent goes on from the session's own file
	case !w.maker && rec.Ordinal.State == session.GoodOrdinal && rec.Ordinal.Value >= w.begun:
		return false
	case w.maker && codex.Time(rec).After(w.handed.made):
		w.end()
		return false
	case codex.HandedDown(rec):
		w.see(rec)
	}
	return true
}

// see takes the next record of the relative that is handed down.
func (w *relativeWalk) see(rec *session.Record) {
	sum := w.told(rec)
	if w.next < len(w.handed.items) {
		one := w.handed.items[w.next]
		switch {
		case one.sum == sum:
			w.take()
			w.passed(w.next)
			return
		case one.hole >= 0 && !w.unsure && rec.Kind != session.Compaction && rec.Kind != session.Rollback && len(w.pending) < w.room(one.hole):
			w.pending = append(w.pending, w.lost(rec, one.hole, w.path))
			return
		}
	}
	w.pending, w.unsure = nil, true
	places := w.handed.places[sum]
	if i, _ := slices.BinarySearch(places, w.next); i < len(places) {
		w.passed(places[i])
	}
}

// passed says that the walk has come to an item of the session.
func (w *relativeWalk) passed(item int) { w.next, w.pending, w.unsure = item+1, nil, false }

// end takes what a sub-agent has inherited last: behind that, its file goes on with records of its own.
func (w *relativeWalk) end() {
	if w.maker && !w.unsure {
		w.take()
	}
}

// take takes what is pending, with the numbers that are missing there and the time of the record before.
func (w *relativeWalk) take() {
	if len(w.pending) == 0 {
		return
	}
	g := w.gapBehind(w.pending[0].Behind)
	for i := range w.pending {
		l := &w.pending[i]
		l.Ordinal, l.Placed, l.Sure, l.At = g.last+1+int64(i), false, true, g.from
		l.Line = codex.Renewed(l.Line, l.At, l.Ordinal)
	}
	w.out = append(w.out, w.pending...)
}

// room is how many numbers are missing at a damaged place.
func (c *copies) room(behind int) int {
	if g := c.gapBehind(behind); g != nil && g.behind == behind && g.numbered && g.next < math.MaxInt64 && !g.from.IsZero() {
		return int(g.next - g.last - 1)
	}
	return 0
}
