package beside

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
)

// compare walks through a copy beside the session, and takes the copy's records between two that are next to each other in the
// session with a hole between them. A parent's records are recognised by what follows their time stamps. Between these, and
// between those of a second file of the session, no hole is needed if something that is sent to the model is missing and
// nothing was taken back.
//
// lost are those records in their order. short is the record of the session in front of which the copy itself ends, -1 if
// nothing is taken there.
func (c *copies) compare(ctx context.Context, path string, kind relation) (lost []check.Lost, short int) {
	beside := &comparison{copies: c, path: path, kind: kind, short: -1, sure: true, again: map[uint64]bool{}}
	for line, err := range linesIn(ctx, path) {
		// What the copy holds behind its own damage is not known.
		if whole := errors.Is(err, io.EOF); !whole && (err != nil || ctx.Err() != nil || !beside.line(bytes.TrimRight(line.Raw, "\r\n"))) {
			return beside.out, -1
		} else if whole || beside.later {
			break
		}
	}
	beside.end(ctx)
	return beside.out, beside.short
}

// relation is what a copy is to the session.
type relation uint8

const (
	aRelative relation = iota // another session that holds some of the same records
	aCopy                     // a file of the session itself
	aTwin                     // the same, and hist has removed nothing from either
	aParent                   // the legacy session that this one was forked from
)

// comparison is the walk through one copy.
type comparison struct {
	*copies

	path  string
	kind  relation
	later bool // in a parent: what follows was written after the fork was made
	again map[uint64]bool
	next  int // how many records of the session the walk has passed
	size  int // of everything that was pending so far, in bytes
	short int // the session's record in front of which the copy ended; -1 if nothing was taken there

	out     []check.Lost
	pending []check.Lost // what the copy has behind the last record that both have
	turns   []int        // which of pending begin a turn
	totals  []total      // the sums of tokens in pending
	sure    bool         // pending is all that the copy has there
	back    bool         // something in pending takes back what was said before
	said    bool         // something in pending is sent to the model
	half    bool         // something in pending is half a pair of which the session has the other half
}

// total is how many tokens a thread has used up to a pending record.
type total struct {
	at     int
	tokens int64
}

// line takes the next line of the copy; false if too much is pending to go on.
func (b *comparison) line(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	if i, here := b.at[b.mark(text)]; here && b.kind != aParent { // nearly always, so it is not decoded for nothing
		b.common(i, text)
		return true
	}
	rec := b.decode(text)
	switch {
	case rec == nil:
		b.sure = false
		return true
	case rec.Kind == session.Header:
		return true
	case b.kind == aParent && !b.forked.IsZero() && codex.Time(rec).After(b.forked):
		b.later = true
		return true
	}
	i, here, known := 0, false, true
	if b.kind == aParent {
		i, here, known = b.inherited(rec, b.next)
	}
	switch {
	case !known:
		b.sure = false
	case here:
		b.common(i, rec.Raw)
	case !b.repeats(rec.Raw):
		return b.hold(rec)
	}
	return true
}

// common takes a line that is record i of the session.
func (b *comparison) common(i int, text []byte) {
	if i >= b.next && !b.repeats(text) {
		b.fill(i)
	}
}

// repeats says whether the copy has had this line before, because it has a doubled block, and remembers the line.
func (b *comparison) repeats(text []byte) bool { return repeats(b.again, maphash.Bytes(b.seed, text)) }

// hold keeps a record that the session does not have until the next common record comes.
func (b *comparison) hold(rec *session.Record) bool {
	if b.size += len(rec.Raw); b.size > maxKeptText {
		return false
	}
	switch {
	case rec.Kind == session.TurnStart:
		b.turns = append(b.turns, len(b.pending))
	case rec.Type == tokenCount:
		if n, _ := codex.Tokens(rec); n > 0 {
			b.totals = append(b.totals, total{len(b.pending), n})
		}
	}
	b.pending = append(b.pending, b.lost(rec, b.next, b.path))
	b.said = b.said || rec.Model
	b.half = b.half || b.kind == aCopy && b.copies.pairs.halved(rec)
	b.back = b.back || rec.Kind == session.Rollback || rec.Kind == session.Compaction
	return true
}

// fill takes what is pending in front of record i of the session, if that is the next record and something is lost in front of
// it.
func (b *comparison) fill(i int) {
	lost, unseen := b.holes[i] || b.half && !b.back, b.said && b.next > 0 && !b.back
	switch b.kind {
	case aParent:
		lost = lost && !b.back || unseen && !b.forked.IsZero() // a sub-agent inherits a part on purpose
	case aTwin:
		lost = lost || unseen
	}
	if lost && i == b.next && b.sure {
		b.take(i, b.pending)
	}
	b.pending, b.turns, b.totals, b.sure, b.back, b.said, b.half, b.next = nil, nil, nil, true, false, false, false, i+1
}

// end takes what a copy has after the session's end, and what a parent has after the part that its fork has copied. A file of
// the session itself that is older than the damage may end within what is lost in the middle.
func (b *comparison) end(ctx context.Context) {
	switch {
	case !b.sure || !b.holes[b.next]:
	case b.asked && b.next == len(b.records) && (b.kind == aParent || b.kind == aRelative): // it may have gone on without an answer to that call
	case b.kind == aParent:
		b.take(b.next, b.pending[:b.copied(ctx)])
		b.short = b.next
	case b.next == len(b.records) || b.kind != aRelative && b.next > 0:
		b.take(b.next, b.pending)
		b.short = b.next
	}
}

// take takes lost records in front of record i of the session. If a record of a fork was cut off there, its parent must have
// exactly one record that can be the whole of it, though under another time.
func (b *comparison) take(i int, lost []check.Lost) {
	if torn, cut := b.torn[i]; cut && b.kind == aParent {
		whole := wholeOf(torn, lost)
		if whole == nil {
			return
		}
		whole.Whole = true
	}
	b.out = append(b.out, lost...)
}

// wholeOf is the lost record of which a cut one is a part, given what follows the cut one's time stamp. Of several, it is the
// one with the longest common beginning; nil if there is none, or not just one.
func wholeOf(torn []byte, lost []check.Lost) (whole *check.Lost) {
	longest, two := 0, false
	for i := range lost {
		line := lost[i].Line
		at := bytes.Index(line, endOfTime)
		if at < 0 || !check.TornFrom(torn, line[at:]) {
			continue
		}
		switch n := commonStart(torn, line[at:]); {
		case n > longest:
			whole, longest, two = &lost[i], n, false
		case n == longest:
			two = true
		}
	}
	if two {
		return nil
	}
	return whole
}

// commonStart is how many bytes two texts have in common at the start.
func commonStart(a, b []byte) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// endOfTime is what follows the time stamp in a record.
var endOfTime = []byte(`Z",`)

// copied is how many of the pending records a legacy fork once had that was cut off inside what it copied from its parent. The
// turn of which it holds a part was copied whole, because clients fork between turns. Later turns may have been left out. But
// if nothing follows in the fork, the list of threads shows more: a fork that has used as many tokens as its parent had by then
// has left out nothing, and one that has used exactly as many as its parent at the end of a turn ends with that turn.
func (b *comparison) copied(ctx context.Context) int {
	if b.forked.IsZero() {
		return 0
	}
	used := int64(0)
	if l, err := threadRow(ctx, b.dir, b.name.ThreadID); b.read(err) && l != nil && b.next == len(b.records) {
		used = l.Tokens
	}
	through := -1 // the pending record up to which the tokens show that the fork went
	for i, t := range b.totals {
		if t.tokens == used || t.tokens < used && i+1 == len(b.totals) {
			through = t.at
		}
	}
	if !b.opened[b.next] && through < 0 {
		return 0
	}
	for _, turn := range b.turns {
		if turn > through {
			return turn
		}
	}
	return len(b.pending)
}

// repeats says whether this record was in the copy before, and remembers it. Two different records are never the same to the
// last byte, because each has its time.
func repeats(seen map[uint64]bool, sum uint64) bool {
	again := seen[sum]
	seen[sum] = true
	return again
}
