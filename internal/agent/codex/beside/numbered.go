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

// nearCalls are the calls of a paginated session near damaged places, from the file or from events: a call that the log shows
// there may be one of them. A long session has too many calls to keep all.
type nearCalls struct {
	seed   maphash.Seed
	newest [nearBy]uint64
	count  int
	known  map[uint64]bool
	behind int // how many calls after a damaged place are still to be kept
	place  int // the newest damaged place: how many readable records come before it
}

// nearBy is how many calls count as near, on either side.
const nearBy = 64

// see takes a record. damaged is how many records come before the newest damaged place, -1 if there is none.
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

// keep keeps the calls in front of a damaged place.
func (n *nearCalls) keep() {
	for _, sum := range n.newest[:min(n.count, nearBy)] {
		n.known[sum] = true
	}
}

// tellsCall says whether a record is a call, or an event from which one can be made.
func tellsCall(rec *session.Record) bool {
	return len(rec.CallID) > 0 && (rec.Kind == session.Call || rec.Kind == session.Evidence && !codex.Nested(rec))
}

// numberedCalls are the calls that a paginated session has lost and that the log shows, in the damaged place into which their
// time falls. A call of a turn that began earlier is not lost there: the clock was set back. had are records from other
// sources; none of these is restored twice. In the log, a server's tool looks like any other.
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

// cutBefore notes that the session's end is lost if only records from elsewhere show that.
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

// gapBehind is the damaged place after so many records, or the last one before that; nil if there is none.
func (c *copies) gapBehind(records int) *gap {
	i, there := slices.BinarySearchFunc(c.gaps, records, func(g gap, at int) int { return cmp.Compare(g.behind, at) })
	if there {
		return &c.gaps[i]
	}
	if i == 0 {
		return nil
	}
	return &c.gaps[i-1]
}

// numbered gives free ordinals to lost records of a paginated session of which only the time is known: between those of the
// lost records whose ordinals are known. If there is no room, they stay lost. Records of a turn that began elsewhere are left
// out.
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

// slots fills the free ordinals between two known ones. The records come in the order of their places and times.
type slots struct {
	told  []check.Lost
	at    int // the first record with a known ordinal that does not come before the newest record
	gap   *gap
	prev  int64 // the known ordinals on both sides of the newest record
	next  int64
	these []check.Lost // the records that go between these
	out   []check.Lost
}

// add adds a record at a damaged place, after the record that begins its turn if that one's ordinal is known.
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
	if next <= prev { // the client reused the ordinals
		next = math.MaxInt64
	}
	if s.gap != g || s.prev != prev || s.next != next {
		s.close()
		s.gap, s.prev, s.next = g, prev, next
	}
	s.these = append(s.these, l)
}

// close numbers the records that go between two known ordinals.
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
