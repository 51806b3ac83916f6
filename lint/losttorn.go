package lint

import (
	"bytes"
	"slices"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

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
