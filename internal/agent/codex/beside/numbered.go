package beside

import (
	"cmp"
	"context"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
)

// nearCalls are the calls of a paginated session that stand near damaged places, in the file or by an event that tells them: what the log
// tells of there may be one of them. A long session has too many to keep all.
type nearCalls struct {
	seed   maphash.Seed
	newest [nearBy]uint64
	count  int
	known  map[uint64]bool
	behind int // how many of those that follow a damaged place are still to come
	place  int // the newest damaged place: so many readable records stand in front of it
}

// nearBy is how many calls count as near, on either side.
const nearBy = 64

// see notes a record. damaged is how many records stand in front of the newest damaged place, -1 if there is none.
func (n *nearCalls) see(rec *session.Record, damaged int) {
	if damaged >= 0 && damaged != n.place {
		n.place = damaged
		n.keep()
		n.behind = nearBy
	}
	if !tellsCall(rec) {
		return
	}
	sum := maphash.Bytes(n.seed, rec.CallID)
	n.newest[n.count%nearBy] = sum
	n.count++
	if n.behind > 0 {
		n.known[sum] = true
		n.behind--
	}
}

// keep notes those in front of a damaged place.
func (n *nearCalls) keep() {
	for _, sum := range n.newest[:min(n.count, nearBy)] {
		n.known[sum] = true
	}
}

// tellsCall says whether a record is a call, or an event of which one can be made.
func tellsCall(rec *session.Record) bool {
	return len(rec.CallID) > 0 && (rec.Kind == session.Call || rec.Kind == session.Evidence && !codex.Nested(rec))
}

// numberedCalls are the calls that a paginated session has lost and that the log tells of, in the damaged place that their time falls into.
// Those of a turn that began before are not lost there: the clock was set back. Of had, which other sources tell, none is put back twice.
// The log does not tell a server's tool from its name.
func (b *sources) numberedCalls(ctx context.Context, had []check.Lost) (lost []check.Lost) {
	near := &b.sent.near
	near.keep()
	for _, l := range had {
		if rec := b.decode(l.Line); rec != nil && tellsCall(rec) {
			near.known[maphash.Bytes(near.seed, rec.CallID)] = true
		}
	}
	for _, call := range b.callsInLog(ctx) {
		behind, ok := b.gapAt(call.at)
		if !ok || call.ID == "" || near.known[maphash.String(near.seed, call.ID)] || strings.HasPrefix(call.Tool, "mcp__") {
			continue
		}
		if g := b.gapBehind(behind); g == nil || call.Turn != g.turn && b.sent.begins(call.Turn) {
			continue
		}
		if line := codex.CallRecord(call.at, call.Type, call.ID, call.Tool, call.Input); b.decode(line) != nil {
			lost = append(lost, check.Lost{Ordinal: -1, Placed: true, Behind: behind, At: call.at, From: call.file, Retold: true, Line: line})
		}
	}
	return lost
}

// cutBefore notes that the session's end is lost if that is only told by records that are known from elsewhere.
func (b *sources) cutBefore(told []check.Lost) {
	n := len(b.gaps)
	if n > 0 && b.gaps[n-1].behind == len(b.records) || b.last.State != session.GoodOrdinal {
		return
	}
	from, _ := time.Parse(time.RFC3339, string(b.stamp))
	if slices.ContainsFunc(told, func(l check.Lost) bool { return l.Ordinal > b.last.Value && l.At.After(from) }) {
		b.gap(time.Time{}, b.last, session.Ordinal{})
	}
}

// gapBehind is the damaged place behind so many records, or the last one in front of that; nil if there is none.
func (b *sources) gapBehind(records int) *gap {
	i, there := slices.BinarySearchFunc(b.gaps, records, func(g gap, at int) int { return cmp.Compare(g.behind, at) })
	if there {
		return &b.gaps[i]
	}
	if i == 0 {
		return nil
	}
	return &b.gaps[i-1]
}

// numbered gives lost records of a paginated session, of which only the time is known, numbers that nothing has: between those of the
// lost records whose numbers are known. Where there is no room, they stay lost, and what belongs to a turn that had begun elsewhere is none.
func (b *sources) numbered(told, others []check.Lost) (out []check.Lost) {
	told = slices.Clone(told)
	slices.SortStableFunc(told, func(a, b check.Lost) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	slices.SortStableFunc(others, func(a, b check.Lost) int { return cmp.Compare(a.Behind, b.Behind) })
	starts := map[string]int64{} // the numbers of those that begin turns
	for i := range told {
		if rec := b.decode(told[i].Line); rec != nil && rec.Kind == session.TurnStart {
			starts[string(rec.TurnID)] = told[i].Ordinal
		}
	}
	s := slots{told: told}
	for _, l := range others {
		g := b.gapBehind(l.Behind)
		if g == nil || !g.numbered {
			continue
		}
		turn := ""
		if rec := b.decode(l.Line); rec != nil {
			turn = string(rec.TurnID)
		}
		if turn != "" && turn != g.turn && b.sent.begins(turn) {
			continue
		}
		s.add(g, starts[turn], l)
	}
	s.close()
	return s.out
}

// slots fills the room between numbers. The records come in the order of their places and times.
type slots struct {
	told  []check.Lost
	at    int // the first of told that does not come before the newest record
	gap   *gap
	prev  int64 // the numbers on both sides of the newest record
	next  int64
	these []check.Lost // that come between them
	out   []check.Lost
}

// add puts a record into a damaged place, behind the record that begins its turn, if that is known by its number.
func (s *slots) add(g *gap, turn int64, l check.Lost) {
	prev, next := g.last, g.next
	if s.gap == g {
		prev = s.prev
	}
	for prev = max(prev, turn); s.at < len(s.told); s.at++ {
		one := &s.told[s.at]
		if one.Ordinal <= prev {
			continue
		}
		if one.Ordinal >= g.next && (g.to.IsZero() || !one.At.Before(g.to)) {
			break // it comes later
		}
		if next = one.Ordinal; one.At.After(l.At) {
			break
		}
		prev, next = one.Ordinal, g.next
	}
	if next <= prev { // the client went on under the same numbers
		next = math.MaxInt64
	}
	if s.gap != g || s.prev != prev || s.next != next {
		s.close()
		s.gap, s.prev, s.next = g, prev, next
	}
	s.these = append(s.these, l)
}

// close numbers what has come between the same numbers.
func (s *slots) close() {
	n := int64(len(s.these))
	from := s.prev + 1
	if s.next != math.MaxInt64 {
		from = max(from, s.next-n)
	}
	for i, l := range s.these {
		if l.Ordinal, l.Placed = from+int64(i), false; l.Ordinal < s.next {
			s.out = append(s.out, l)
		}
	}
	s.these = nil
}
