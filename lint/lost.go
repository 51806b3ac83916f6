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

// slack is how far the times of a record and of what was made of it may be apart: the client writes turns' in seconds.
const slack = 2 * time.Second

// lostFeed puts lost records in their places while the session is read.
type lostFeed struct {
	run     *check.Run
	mark    func(*session.Record)
	kept    check.Kept
	decoder session.Decoder
	rest    []check.Lost
	scanner *jsonl.Scanner
	rec     session.Record
	prev    session.Pos // the last line, dead or not
	end     int64       // bytes, the offset behind it
	at      time.Time   // of the last readable record
	dead    bool        // lines without a record stand behind that
	ordinal int64       // its number
	count   int         // of the readable records, the header excepted
	torn    bool        // the record in hand was cut
	block   *Finding    // the lost records in hand
	from    string      // the file that holds them, "" if none does
	retold  bool        // it holds only what they told
}

func newLostFeed(run *check.Run, mark func(*session.Record), kept check.Kept, decoder session.Decoder, lost []check.Lost) *lostFeed {
	f := &lostFeed{run: run, mark: mark, kept: kept, decoder: decoder, rest: lost, scanner: jsonl.NewScanner(decoder.Shape()), ordinal: -1}
	f.rec.Spans = make([]jsonl.Span, decoder.Paths())
	return f
}

// before takes what was lost in front of a record; rec is nil at the end of the session. It returns true if the record
// itself is one that was cut, and the whole of it has been taken in its place.
func (f *lostFeed) before(rec *session.Record, checkers []check.Checker) (replaced bool) {
	f.torn = rec != nil && rec.Torn
	if f.torn && f.whole(rec) {
		rec.Torn = false // what else is known of it is not better
	}
	replaced = f.torn && rec.Torn && (f.known(rec, checkers) || f.told(rec))
	if rec == nil || f.counts(rec) {
		f.placed(checkers)
	}
	if rec != nil && (rec.Kind == session.Unreadable || rec.Ordinal.State != session.GoodOrdinal) {
		f.pass(rec)
		return replaced
	}
	f.dead = f.dead || replaced
	for len(f.rest) > 0 {
		one := &f.rest[0]
		if rec != nil && one.Ordinal > rec.Ordinal.Value && !(f.dead && f.at.Before(latest(one)) && one.At.Before(f.kept.Time(rec))) {
			break
		}
		if f.fits(one, rec) {
			f.take(one, checkers)
		}
		f.rest = f.rest[1:]
	}
	f.flush()
	if rec != nil {
		f.pass(rec)
	}
	return replaced
}

// latest is when a lost record was written at the latest.
func latest(one *check.Lost) time.Time {
	if one.Rounded {
		return one.At.Add(time.Second)
	}
	return one.At
}

// told says whether a record that was cut is a second telling of what the client's database holds as a whole: then that
// takes its place.
func (f *lostFeed) told(rec *session.Record) bool {
	if rec.Kind != session.Evidence || rec.Ordinal.State != session.GoodOrdinal {
		return false
	}
	for i := range f.rest {
		one := &f.rest[i]
		if one.From != "" || one.Ordinal > rec.Ordinal.Value || i > maxAhead {
			return false
		}
		if one.Ordinal < rec.Ordinal.Value || !f.scanner.Scan(one.Line, f.rec.Spans).Object {
			continue
		}
		f.rec = session.Record{Raw: one.Line, Spans: f.rec.Spans}
		f.decoder.Decode(&f.rec)
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

// counts says whether a record is one of those by which the place of a lost one is told.
func (f *lostFeed) counts(rec *session.Record) bool {
	return rec.Kind != session.Unreadable && rec.Kind != session.Header && !f.torn
}

// placed takes the lost records whose place is here, though they have no numbers.
func (f *lostFeed) placed(checkers []check.Checker) {
	for len(f.rest) > 0 && f.rest[0].Placed && f.rest[0].Ordinal < 0 && f.rest[0].Behind <= f.count {
		if f.rest[0].Behind == f.count {
			f.take(&f.rest[0], checkers)
		}
		f.rest = f.rest[1:]
	}
	if len(f.rest) == 0 || f.rest[0].Ordinal < 0 {
		f.flush()
	}
}

// A record that was closed where it had been cut ends with what closes it, one of which a part was lost has a mark in its
// place: so many bytes at most are not the whole one's, and so many at least at the start must be.
const (
	closing = 160
	alike   = 60
)

// known does as whole where it is known which lost record is the whole one: what was lost in front of it is taken first.
func (f *lostFeed) known(rec *session.Record, checkers []check.Checker) bool {
	for i := range f.rest {
		one := &f.rest[i]
		if !one.Placed || one.Ordinal >= 0 || one.Behind != f.count {
			return false
		}
		if !one.Whole {
			continue
		}
		for k := range i {
			f.take(&f.rest[k], checkers)
		}
		f.flush()
		f.instead(rec, one)
		f.rest = f.rest[i+1:]
		if f.scanner.Scan(one.Line, f.rec.Spans).Object {
			f.rec = session.Record{Pos: rec.Pos, Offset: rec.Offset, Raw: one.Line, Spans: f.rec.Spans, From: one.From}
			f.decoder.Decode(&f.rec)
			f.show(checkers)
		}
		return true
	}
	return false
}

// instead puts the whole record in the place of one that was cut.
func (f *lostFeed) instead(rec *session.Record, one *check.Lost) {
	line, from := one.Line, one.From
	f.run.AmendFraming(rec.Pos.Line, func(found *finding.Finding) {
		found.Source, found.Fix = from, finding.Recovered
		found.Edits = append(found.Edits,
			finding.Edit{At: rec.Pos, Op: finding.Remove, Moved: true},
			finding.Edit{At: rec.Pos, Op: finding.Before, New: finding.Content{Literal: line}})
	})
}

// whole replaces a record that was closed where it had been cut by the whole one, where another file holds it.
func (f *lostFeed) whole(rec *session.Record) bool {
	for i := range f.rest {
		one := &f.rest[i]
		if one.From == "" || i > maxAhead {
			break
		}
		same := 0
		for same < len(one.Line) && same < len(rec.Raw) && one.Line[same] == rec.Raw[same] {
			same++
		}
		ends := 0 // what was lost may have stood in the middle
		for ends < len(one.Line)-same && ends < len(rec.Raw)-same && one.Line[len(one.Line)-1-ends] == rec.Raw[len(rec.Raw)-1-ends] {
			ends++
		}
		if same < alike || len(rec.Raw)-same-ends > closing || one.Placed && one.Ordinal < 0 && one.Behind != f.count {
			continue
		}
		f.instead(rec, one)
		f.rest = slices.Delete(f.rest, i, i+1)
		return true
	}
	return false
}

// maxAhead is how far ahead the whole of a torn record is looked for.
const maxAhead = 64

// fits says whether a lost record belongs behind the last record and in front of the next. Under the number of a record
// that is there it was lost only where something is damaged: the client went on from there.
func (f *lostFeed) fits(one *check.Lost, next *session.Record) bool {
	free := next == nil || one.Ordinal < next.Ordinal.Value // no record has its number
	switch {
	case one.Ordinal <= f.ordinal, !free && !f.dead:
		return false
	case one.At.Add(slack).Before(f.at) && !(one.Begun && free):
		return false
	case next == nil:
		return true
	}
	return !one.At.After(f.kept.Time(next).Add(slack))
}

func (f *lostFeed) pass(rec *session.Record) {
	f.prev, f.end = rec.Pos, rec.Offset+rec.Size
	if f.counts(rec) {
		f.count++
	}
	if rec.Kind == session.Unreadable {
		f.dead = true
		return
	}
	f.dead = f.torn // what stood behind it may be lost with the rest of it
	if at := f.kept.Time(rec); !at.IsZero() {
		f.at = at
	}
	if rec.Ordinal.State == session.GoodOrdinal {
		f.ordinal = rec.Ordinal.Value
	}
}

// take shows a lost record to those that ask what becomes of calls, messages and turns.
func (f *lostFeed) take(one *check.Lost, checkers []check.Checker) {
	spans := f.rec.Spans
	if !f.scanner.Scan(one.Line, spans).Object {
		return
	}
	if f.block != nil && f.from != one.From {
		f.flush()
	}
	f.from, f.retold = one.From, one.Retold
	f.prev.Lost++
	f.rec = session.Record{Pos: f.prev, Offset: f.end, Raw: one.Line, Spans: spans, From: one.From}
	f.decoder.Decode(&f.rec)
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
	f.show(checkers)
}

// show shows the record in hand to those that ask for lost ones.
func (f *lostFeed) show(checkers []check.Checker) {
	for _, c := range checkers {
		if r, ok := c.(check.Restorer); ok {
			r.Lost(&f.rec)
		}
	}
}

// flush reports the lost records that stood together.
func (f *lostFeed) flush() {
	if f.block == nil {
		return
	}
	behind := f.prev
	behind.Lost = 0
	f.run.Holes().Restored(behind, f.prev, len(f.block.Edits))
	switch n := len(f.block.Edits); {
	case f.retold && n == 1:
		f.block.Message = "a record that stood here is lost; another file still holds what it told"
	case f.retold:
		f.block.Message = fmt.Sprintf("%d records that stood here are lost; another file still holds what they told", n)
	case f.from != "" && n == 1:
		f.block.Message = "a record that stood here is lost; another file still holds it"
	case f.from != "":
		f.block.Message = fmt.Sprintf("%d records that stood here are lost; another file still holds them", n)
	case n == 1:
		f.block.Message = "a record that stood here is lost; its client's database still holds what it told"
	default:
		f.block.Message = fmt.Sprintf("%d records that stood here are lost; its client's database still holds what they told", n)
	}
	f.run.Report(*f.block)
	f.block = nil
}
