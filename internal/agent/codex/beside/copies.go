package beside

import (
	"bytes"
	"context"
	"hash/maphash"
	"math"
	"slices"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// copies finds records that a session has lost in other files that hold the same ones: its compressed twin, its copy in the
// archive, the thread that it was forked from or that was forked from it, and what hist kept of it in an earlier run.
//
// A record is taken only if both its neighbours are in the session, byte for byte and next to each other, with damage between
// them; or behind the session's last record if the session's end is damaged. So another course of events is never mixed in:
// where it diverges, the neighbours differ.
//
// A fork of a legacy session begins with a copy of its parent's records, to all of which the client gives the time of the fork
// (measured with 0.145.0 and 0.150.0). There the neighbours need only agree in what follows their time stamps, and what is
// missing between them was lost even if nothing looks damaged.
type copies struct {
	dir   string
	name  home.FileName
	base  string
	older func() []string // files that hist kept of the session
	forks *Forks

	seed     maphash.Seed
	records  []uint64     // the session's readable records, its header excepted
	holes    map[int]bool // the records in front of which something is damaged; len(records) for the end
	at       map[uint64]int
	timeless map[uint64][]int // of a legacy fork: the places of records, by what follows their time stamps; nil if it is not one
	torn     map[int][]byte   // of a legacy fork: what follows the time stamp of a cut record, by its place; nil if there are several
	forked   time.Time        // when a legacy fork was made
	handed   handedDown
	headed   bool // the session's own header has been seen
	dead     bool // something is damaged since the last of them
	last     session.Ordinal
	open     bool         // the turn in hand has not ended
	ended    bool         // a turn has ended since the newest call
	asked    bool         // all that shows that something may be missing at the end is a call without output
	opened   map[int]bool // the holes that are inside a turn
	any      bool         // there are holes
	pairs    pairs
	jumped   bool // turns or counts of tokens show that something is lost although nothing is damaged there
	gaps     []gap
	prompt   int       // the first prompt among the records
	answer   int       // the first record that the model made; 0 if there is none
	answered time.Time // when that was
	turn     []byte    // id of the turn in hand
	stamp    []byte    // time of the last record
	further  bool      // other files were looked at
	unread   bool      // a database could not be read just then
	spans    []jsonl.Span
}

// maxCompared is up to how many records a session is compared with its copies.
const maxCompared = 1 << 20

func newCopies(dir, base string, name home.FileName, older func() []string, forks *Forks) *copies {
	dec := codex.Decoder{}
	return &copies{
		dir: dir, base: base, name: name, older: older, forks: forks, seed: maphash.MakeSeed(), holes: map[int]bool{}, opened: map[int]bool{}, at: map[uint64]int{},
		spans: make([]jsonl.Span, dec.Paths()),
	}
}

// mark is a hash of a record's time, number and end, which are enough to recognise it.
func (c *copies) mark(raw []byte) uint64 { return mark(c.seed, raw) }

func mark(seed maphash.Seed, raw []byte) uint64 {
	const head, tail = 160, 64
	h := uint64(len(raw))
	if len(raw) > head+tail {
		return h ^ maphash.Bytes(seed, raw[:head]) ^ maphash.Bytes(seed, raw[len(raw)-tail:])<<1
	}
	return h ^ maphash.Bytes(seed, raw)
}

// See notes a record of the session.
func (c *copies) See(rec *session.Record) {
	switch {
	case rec.Kind == session.Unreadable:
		c.dead = c.dead || !rec.Blank || rec.Zeros
		return
	case rec.Torn:
		c.dead = true
		c.cut(rec)
		return
	case rec.Kind == session.Header:
		h := codex.ReadHeader(rec.Raw)
		if !c.headed && h.ForkedFrom != "" && !h.Paginated() {
			c.timeless, c.torn = map[uint64][]int{}, map[int][]byte{}
			c.forked = forkedAt(rec.Raw, h)
		} else if !c.headed && h.SubagentStart > 0 {
			c.handed.made = madeAt(rec.Raw)
		}
		c.headed = true
		switch {
		case len(c.records) > 0:
		case rec.Ordinal.State == session.GoodOrdinal:
			c.last = rec.Ordinal
		case rec.Ordinal.State == session.BadOrdinal && h.BaseThread == "":
			c.last = session.Ordinal{State: session.GoodOrdinal} // as its repair will have it
		}
		return
	case len(c.records) >= maxCompared:
		return
	}
	before := c.last
	if rec.Ordinal.State == session.GoodOrdinal {
		c.dead = c.dead || c.last.State == session.GoodOrdinal && rec.Ordinal.Value > c.last.Value+1
		c.last = rec.Ordinal
	}
	if n := len(c.records); c.dead {
		c.gap(codex.Time(rec), before, rec.Ordinal)
		c.holes[n], c.opened[n], c.any, c.dead = true, c.open, true, false
	}
	switch rec.Kind {
	case session.TurnStart:
		c.open, c.turn = true, append(c.turn[:0], rec.TurnID...)
	case session.TurnEnd:
		c.open, c.turn = false, c.turn[:0]
		c.ended = true
	}
	if c.answer == 0 && answers(rec) {
		c.answer, c.answered = len(c.records), codex.Time(rec)
	}
	c.stamp = append(c.stamp[:0], codex.Text(rec, codex.FieldTimestamp)...)
	mark := c.mark(rec.Raw)
	c.at[mark] = len(c.records)
	if c.timeless != nil {
		rest := c.behindTime(rec)
		c.timeless[rest] = append(c.timeless[rest], len(c.records))
	}
	if rec.Kind == session.Call {
		c.ended = false
	}
	c.handDown(rec)
	c.pairs.see(rec)
	c.records = append(c.records, mark)
}

// damaged is how many records come before the last damaged place, -1 if there is none.
func (c *copies) damaged() int {
	switch n := len(c.gaps); {
	case c.dead:
		return len(c.records)
	case n > 0:
		return c.gaps[n-1].behind
	}
	return -1
}

// answers says whether the model made a record, or it is an event that shows something of that.
func answers(rec *session.Record) bool {
	return rec.Answer || rec.Kind == session.Call || rec.Kind == session.Evidence && !codex.Repeats(rec, codex.TellsUser)
}

// gap notes that something is damaged after the last record. to is the time of the next record, zero if there is none; last and
// next are the ordinals of the two.
func (c *copies) gap(to time.Time, last, next session.Ordinal) {
	if len(c.gaps) >= maxGaps {
		return
	}
	g := gap{behind: len(c.records), to: to, turn: string(c.turn), last: last.Value, next: math.MaxInt64}
	g.from, _ = time.Parse(time.RFC3339, string(c.stamp))
	g.numbered = last.State == session.GoodOrdinal && (to.IsZero() || next.State == session.GoodOrdinal)
	if next.State == session.GoodOrdinal {
		g.next = next.Value
	}
	c.gaps = append(c.gaps, g)
}

// maxGaps is how many damaged places are remembered with their times.
const maxGaps = 1 << 12

// missing are the records that copies still hold; each place is filled from the copy that holds the most there. Other places of
// a legacy fork are filled from its parent. short are the places at which the copy itself ends.
func (c *copies) missing(ctx context.Context, h session.Info) (lost []check.Lost, short map[int]bool) {
	if c.dead {
		c.gap(time.Time{}, c.last, session.Ordinal{})
	}
	switch end := len(c.records); {
	case c.dead || c.open:
		c.holes[end], c.opened[end] = true, c.open
	case c.stopped() && !c.holes[end]:
		c.holes[end], c.opened[end], c.asked = true, true, true
	}
	if !c.headed { // what stood between the header and the first record may be gone with it
		c.holes[0] = true
	}
	if len(c.records) == 0 && (c.dead || !c.headed || c.unrepaired()) { // of a header alone, another file shows that something followed
		c.holes[0] = true
	}
	whole := len(c.holes) == 0 && !c.jumped && !c.pairs.broken() && (c.timeless == nil || len(c.records) == 0)
	if len(c.records) >= maxCompared || whole && !c.doubled() {
		return nil, nil
	}
	c.further = true
	short = map[int]bool{}
	for _, one := range c.candidates(ctx, h) {
		found, end := c.compare(ctx, one.path, one.kind)
		lost = fuller(lost, found, end, short)
	}
	parents, end := c.ofParent(ctx, h)
	if end >= 0 && len(at(end, lost)) == 0 {
		short[end] = true // the fork may have copied more than is certain
	}
	return merged(merged(lost, parents), c.relatives(ctx, h)), short
}

// stopped says whether the session ends within a turn. Clients up to 0.99 don't write where one begins: there a call without output shows it.
func (c *copies) stopped() bool { return c.open || !c.ended && len(c.pairs.open) > 0 }

// fuller merges the records of two copies: at each place it takes those of some, unless others has more there. end is the
// record of the session in front of which the second copy ends. short is updated: the places whose copy ends there.
func fuller(some, others []check.Lost, end int, short map[int]bool) []check.Lost {
	more := map[int]int{}
	for _, l := range some {
		more[l.Behind]--
	}
	for _, l := range others {
		more[l.Behind]++
	}
	for place, n := range more {
		if n > 0 {
			short[place] = place == end
		}
	}
	some = slices.DeleteFunc(some, func(l check.Lost) bool { return more[l.Behind] > 0 })
	others = slices.DeleteFunc(others, func(l check.Lost) bool { return more[l.Behind] <= 0 })
	return append(some, others...)
}

// merged adds the lost records of another source at places where there are none yet.
func merged(lost, others []check.Lost) []check.Lost {
	filled := map[int]bool{}
	for _, l := range lost {
		filled[l.Behind] = true
	}
	for _, l := range others {
		if !filled[l.Behind] {
			lost = append(lost, l)
		}
	}
	return lost
}

// inherited finds a record of the parent in its fork: at the next place, or at the only one that fits.
func (c *copies) inherited(rec *session.Record, next int) (i int, here, known bool) {
	switch places := c.timeless[c.behindTime(rec)]; {
	case len(places) == 0:
		return 0, false, true
	case slices.Contains(places, next):
		return next, true, true
	case rec.Type == tokenCount: // another turn may have used as many
		return 0, false, true
	default:
		return places[0], true, len(places) == 1
	}
}

const tokenCount = "event_msg/token_count"

// behindTime is a hash of what follows a record's time stamp. When a newer client forks, it writes events anew with members of
// its own (0.160.0), so these are recognised by the call that they are about.
func (c *copies) behindTime(rec *session.Record) uint64 {
	if rec.Kind == session.Evidence && len(rec.CallID) > 0 {
		return maphash.String(c.seed, rec.Type) ^ maphash.Bytes(c.seed, rec.CallID)<<1
	}
	return mark(c.seed, rec.Raw[rec.Spans[codex.FieldTimestamp].End:])
}

func (c *copies) lost(rec *session.Record, behind int, path string) check.Lost {
	lost := check.Lost{Ordinal: -1, Behind: behind, Placed: true, At: codex.Time(rec), Line: bytes.Clone(rec.Raw), From: within(c.dir, path)}
	if rec.Ordinal.State == session.GoodOrdinal {
		lost.Ordinal = rec.Ordinal.Value
	}
	return lost
}

// decode reads a record of a copy; nil if the line is not one. It is valid until the next call.
func (c *copies) decode(line []byte) *session.Record {
	if v := (codex.Decoder{}).Shape().ScanOne(line, c.spans); v.Fault != jsonl.None || !v.Object {
		return nil
	}
	rec := &session.Record{Raw: line, Spans: c.spans}
	codex.Decoder{}.Decode(rec)
	return rec
}

// Further is true once missing records were looked for in other files of the home.
func (c *copies) Further() bool { return c.further }

// Unread is true once a database could not be read.
func (c *copies) Unread() bool { return c.unread }

// read says whether a database could be read.
func (c *copies) read(err error) bool {
	c.unread = c.unread || passing(err)
	return err == nil
}
