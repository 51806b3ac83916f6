package lint

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// clockSlack is how far apart the times of a record and of what was made from it may be: the client writes the times of
// turns in whole seconds.
const clockSlack = 2 * time.Second

// lostFeed puts lost records in their places while the session is read a second time: it shows them to the checkers
// that ask for them, and reports them with the edits that bring them back.
type lostFeed struct {
	run      *check.Run
	checkers []check.Checker
	mark     func(*session.Record) // tells the normalizer of a record that is not in the file
	kept     check.Kept
	decoder  session.Decoder
	scanner  *jsonl.Scanner

	pending []check.Lost   // lost records that have not been placed yet, in their order
	rec     session.Record // the lost record in hand

	// The newest line of the file, and the newest readable record.
	prev    session.Pos // the newest line, dead or not
	end     int64       // bytes, the offset behind it
	at      time.Time   // when the newest readable record was written
	ordinal int64       // its number, -1 if none has come
	count   int         // how many readable records have come, not counting the header
	dead    bool        // lines without a record follow it
	torn    bool        // the record of the file in hand was cut

	// Lost records that stand together make one finding.
	block  *Finding // nil if there are none in hand
	from   string   // the file that holds them, "" if none does
	retold bool     // From does not hold the records themselves, only what they said
}

func newLostFeed(feed lostFeed) *lostFeed {
	feed.scanner, feed.ordinal = jsonl.NewScanner(feed.decoder.Shape()), -1
	feed.rec.Spans = make([]jsonl.Span, feed.decoder.Paths())
	return &feed
}

// before restores what was lost in front of a record; rec is nil at the end of the session. It returns true if the record
// itself was cut and a whole one has taken its place, so that the checkers must not see the cut one.
func (f *lostFeed) before(rec *session.Record) (replaced bool) {
	f.torn = rec != nil && rec.Torn
	if f.torn && f.completeTorn(rec) {
		rec.Torn = false // nothing better is known of it
	}
	replaced = f.torn && rec.Torn && (f.replaceTorn(rec) || f.replaceByRetelling(rec))
	if rec == nil || f.counts(rec) {
		f.restorePlaced()
	}
	if rec != nil && (rec.Kind == session.Unreadable || rec.Ordinal.State != session.GoodOrdinal) {
		f.follow(rec)
		return replaced
	}
	f.dead = f.dead || replaced
	if rec == nil {
		f.missingAtEnd()
	}
	for len(f.pending) > 0 && (rec == nil || !f.pending[0].Placed || f.pending[0].Ordinal >= 0) && f.precedes(&f.pending[0], rec) {
		if one := &f.pending[0]; f.fits(one, rec) {
			f.restore(one)
		}
		f.pending = f.pending[1:]
	}
	f.report()
	if rec != nil {
		f.follow(rec)
	}
	return replaced
}

// missingAtEnd notes that records are missing behind the last one, up to the newest that is known of. No later record of the
// file has a number that would show the gap.
func (f *lostFeed) missingAtEnd() {
	for i := len(f.pending) - 1; i >= 0 && f.ordinal >= 0; i-- {
		if one := &f.pending[i]; f.fits(one, nil) {
			f.run.Holes().AtEnd(one.Ordinal)
			return
		}
	}
}

// precedes says whether a lost record was written before a record of the file; next is nil at the end. Usually its ordinal
// shows that. Behind dead lines, a time between those of the records on both sides does, too.
func (f *lostFeed) precedes(one *check.Lost, next *session.Record) bool {
	if next == nil || one.Ordinal <= next.Ordinal.Value {
		return true
	}
	return f.dead && !one.Sure && (f.at.Before(latest(one)) || one.Begun && f.goesOn(next)) && one.At.Before(f.kept.Time(next))
}

// goesOn is for a first pending record whose time is not when it was written: it says whether what was written after it was
// written before a record of the file.
func (f *lostFeed) goesOn(next *session.Record) bool {
	for i := 1; i < len(f.pending) && i <= maxAhead; i++ {
		if one := &f.pending[i]; !one.Begun {
			return f.at.Before(latest(one)) && one.At.Before(f.kept.Time(next))
		}
	}
	return false
}

// latest is the latest time at which a lost record can have been written.
func latest(one *check.Lost) time.Time {
	if one.Rounded {
		return one.At.Add(time.Second)
	}
	return one.At
}

// counts says whether a record is one of those that Lost.Behind counts.
func (f *lostFeed) counts(rec *session.Record) bool {
	return rec.Kind != session.Unreadable && rec.Kind != session.Header && !f.torn
}

// restorePlaced restores the lost records without ordinals whose place is here.
func (f *lostFeed) restorePlaced() {
	for len(f.pending) > 0 && f.pending[0].Placed && f.pending[0].Ordinal < 0 && f.pending[0].Behind <= f.count {
		if f.pending[0].Behind == f.count {
			f.restore(&f.pending[0])
		}
		f.pending = f.pending[1:]
	}
	if len(f.pending) == 0 || f.pending[0].Ordinal < 0 {
		f.report()
	}
}

// fits says whether a lost record belongs behind the newest record and in front of the next. A record whose ordinal the
// file has given to another one was lost only if something is damaged here: otherwise the client went on from an
// earlier point and wrote another history under the same ordinals.
func (f *lostFeed) fits(one *check.Lost, next *session.Record) bool {
	free := next == nil || one.Ordinal < next.Ordinal.Value // no record has its ordinal
	switch {
	case one.Ordinal <= f.ordinal, !free && !f.dead:
		return false
	case one.Sure && free:
		return true
	case one.At.Add(clockSlack).Before(f.at) && !(one.Begun && free):
		return false
	case next == nil:
		return true
	}
	return !one.At.After(f.kept.Time(next).Add(clockSlack))
}

// follow makes a record of the file the newest.
func (f *lostFeed) follow(rec *session.Record) {
	f.prev, f.end = rec.Pos, rec.Offset+rec.Size
	if f.counts(rec) {
		f.count++
	}
	if rec.Kind == session.Unreadable {
		f.dead = true
		return
	}
	f.dead = f.torn // what followed a cut record may be lost with the rest of it
	if at := f.kept.Time(rec); !at.IsZero() {
		f.at = at
	}
	if rec.Ordinal.State == session.GoodOrdinal {
		f.ordinal = rec.Ordinal.Value
	}
}

// decode makes a lost record the one in hand; false if its line is not a record. at and offset say where it belongs.
func (f *lostFeed) decode(one *check.Lost, at session.Pos, offset int64) bool {
	if !f.scanner.Scan(one.Line, f.rec.Spans).Object {
		return false
	}
	f.rec = session.Record{Pos: at, Offset: offset, Raw: one.Line, Spans: f.rec.Spans, From: one.From}
	f.decoder.Decode(&f.rec)
	return true
}

// restore puts a lost record behind the newest line, and shows it to the checkers that ask for lost records.
func (f *lostFeed) restore(one *check.Lost) {
	at := f.prev
	at.Lost++
	if !f.decode(one, at, f.end) {
		return
	}
	if f.block != nil && f.from != one.From {
		f.report()
	}
	f.prev, f.from, f.retold = at, one.From, one.Retold
	f.mark(&f.rec)
	if f.block == nil {
		block := f.kept.Finding()
		block.Pos, block.Offset = f.prev, f.end
		if one.From != "" {
			block.Source = one.From
		}
		f.block = &block
	}
	if one.From != "" && f.rec.Model {
		f.run.History().Add(&f.rec, false)
	}
	f.block.Edits = append(f.block.Edits, finding.Edit{At: f.prev, Op: finding.Restore, New: finding.Content{Literal: one.Line}})
	f.show()
}

// show shows the lost record in hand to the checkers that ask for lost records.
func (f *lostFeed) show() {
	for _, c := range f.checkers {
		if r, ok := c.(check.Restorer); ok {
			r.Lost(&f.rec)
		}
	}
}

// report reports the lost records that stand together here, if there are any.
func (f *lostFeed) report() {
	if f.block == nil {
		return
	}
	behind := f.prev
	behind.Lost = 0
	n := len(f.block.Edits)
	f.run.Holes().Restored(behind, f.prev, n)
	f.block.Message = f.message(n)
	f.run.Report(*f.block)
	f.block = nil
}

// message says that n records are lost here, and what is left of them.
func (f *lostFeed) message(n int) string {
	missing, them, said := "a record is missing here", "it", "what it said"
	if n > 1 {
		missing, them, said = fmt.Sprintf("%d records are missing here", n), "them", "what they said"
	}
	switch {
	case f.from == "":
		return missing + "; the client's database still has " + said
	case f.retold:
		return missing + "; another file still has " + said
	}
	return missing + "; another file still has " + them
}

// A record that was cut off, and that the normalizer has closed at the cut, may still be whole elsewhere. Then the whole one
// replaces it.

// maxAhead is how many pending lost records are searched for the whole of a torn one.
const maxAhead = 64

// completeTorn replaces a torn record by the whole one, if a lost record from another file begins and ends like it. The
// finding of the cut brings the whole record; the checkers still see the torn one.
func (f *lostFeed) completeTorn(rec *session.Record) bool {
	for i := range f.pending {
		one := &f.pending[i]
		if one.From == "" || i > maxAhead {
			break
		}
		if one.Placed && one.Ordinal < 0 && one.Behind != f.count || !check.TornFrom(rec.Raw, one.Line) {
			continue
		}
		f.putInPlaceOf(rec, one)
		f.pending = slices.Delete(f.pending, i, i+1)
		return true
	}
	return false
}

// replaceTorn replaces a torn record by the lost record that is known to be the whole of it (check.Lost.Whole). What was
// lost in front of it is restored first. The checkers see the whole record.
func (f *lostFeed) replaceTorn(rec *session.Record) bool {
	for i := range f.pending {
		one := &f.pending[i]
		if !one.Placed || one.Ordinal >= 0 || one.Behind != f.count {
			return false
		}
		if !one.Whole {
			continue
		}
		for k := range i {
			f.restore(&f.pending[k])
		}
		f.report()
		f.putInPlaceOf(rec, one)
		f.pending = f.pending[i+1:]
		if f.decode(one, rec.Pos, rec.Offset) {
			f.show()
		}
		return true
	}
	return false
}

// replaceByRetelling removes a torn event if the client's database has the same event whole, under the same ordinal: that one
// is restored when its turn comes.
func (f *lostFeed) replaceByRetelling(rec *session.Record) bool {
	if rec.Kind != session.Evidence || rec.Ordinal.State != session.GoodOrdinal {
		return false
	}
	for i := range f.pending {
		one := &f.pending[i]
		if one.From != "" || one.Ordinal > rec.Ordinal.Value || i > maxAhead {
			return false
		}
		if one.Ordinal < rec.Ordinal.Value || !f.decode(one, session.Pos{}, 0) {
			continue
		}
		if f.rec.Type == rec.Type && len(rec.CallID) > 0 && bytes.Equal(f.rec.CallID, rec.CallID) && bytes.Equal(f.rec.TurnID, rec.TurnID) {
			f.run.AmendFraming(rec.Pos.Line, func(found *finding.Finding) {
				found.Fix, found.Source = finding.Recovered, f.kept.Finding().Source
				found.Edits = append(found.Edits, finding.Edit{At: rec.Pos, Op: finding.Remove, Moved: true})
			})
			return true
		}
	}
	return false
}

// putInPlaceOf makes the finding about a torn record put the whole one in its place.
func (f *lostFeed) putInPlaceOf(rec *session.Record, whole *check.Lost) {
	line, from := whole.Line, whole.From
	f.run.AmendFraming(rec.Pos.Line, func(found *finding.Finding) {
		found.Source, found.Fix = from, finding.Recovered
		found.Edits = append(found.Edits,
			finding.Edit{At: rec.Pos, Op: finding.Remove, Moved: true},
			finding.Edit{At: rec.Pos, Op: finding.Before, New: finding.Content{Literal: line}})
	})
}
