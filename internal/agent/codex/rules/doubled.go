package rules

import (
	"bytes"
	"fmt"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

var ruleDoubledItem = texts.Rule(finding.Rule{Name: "doubled-item", Family: "items", Impact: finding.Loses, Fix: finding.SetAside})

// doubledItems finds messages, thoughts and scripts' notes that are in a session twice because a block of the file is. Such a copy is equal
// byte for byte, and so is the record before it or behind it. Besides, it has an ordinal, or the block begins at an earlier
// time than records before it have.
//
// A single equal record counts only if its place or its events show that the client can't have written it twice: a repair may
// write an answer anew from an event that is elsewhere. Nor does a record count with the same time as all around it: in a fork by
// a client before 0.128 all that it inherits has one time, so that a message that was sent twice is the same both times.
type doubledItems struct {
	run     *run
	known   recent[firstCopy]    // by the hashes of their bytes
	newest  uint64               // the key of the previous record in known, 0 if it is not there
	mark    recordMark           // of the current record
	before  recordMark           // of the previous record
	shown   textSum              // what the current record shows, if it is an event
	inFront textSum              // what the previous record shows
	late    []byte               // the latest time so far, as it is written
	lateAt  session.Pos          // of the first record with that time
	earlier []byte               // the latest time before that
	back    session.Pos          // the first record since then whose time is not later than that; zero if there is none
	pending *finding.Finding     // a copy, if the next record is a copy, too
	after   recordMark           // what the next record must be, for pending to be reported
	single  *finding.Finding     // a copy, if the next record does not show it, or if it has to
	wants   bool                 // it has to
	gone    map[session.Pos]bool // the copies that stand by themselves
	text    textSum              // what the item that was taken last says
}

// firstCopy is a message or a thought that may come again, and what is around it.
type firstCopy struct {
	at            session.Pos
	before, after recordMark
	early         bool // the time goes back behind it
	shown         bool // an event beside it shows it
}

// recordMark tells whether two records are copies of each other, by their time and size. The zero value is no record.
type recordMark struct {
	stamp uint64
	size  int
	old   bool // its time is before the latest so far; this is not compared
}

func (m recordMark) same(other recordMark) bool {
	return m.size > 0 && m.size == other.size && m.stamp == other.stamp
}

// maxDoubled is how many messages and thoughts are remembered. That is enough because a doubled block is only a few disk
// blocks long.
const maxDoubled = 256

func newDoubledItems(s *run) doubledItems {
	return doubledItems{run: s, known: recent[firstCopy]{limit: maxDoubled}}
}

// next takes the next record. It comes before copied is asked about the record's item.
func (d *doubledItems) next(rec *session.Record) {
	d.before, d.mark = d.mark, d.markOf(rec)
	d.inFront, d.shown = d.shown, textSum{}
	if rec.Kind == session.Evidence {
		d.shown = shownText(rec)
	}
	shows := d.shown.size > 0 && d.shown == d.text
	switch {
	case d.pending != nil && d.after.same(d.mark):
		d.run.Report(*d.pending)
	case d.single != nil && shows == d.wants:
		d.reportSingle()
	}
	d.pending, d.single = nil, nil
	if d.newest != 0 {
		if first := d.known.get(d.newest); first != nil {
			first.after, first.early, first.shown = d.mark, d.mark.old, first.shown || shows
		}
		d.newest = 0
	}
}

// end reports a copy behind which nothing stands.
func (d *doubledItems) end() {
	if d.single != nil && !d.wants {
		d.reportSingle()
	}
}

// reportSingle reports a copy that stands by itself.
func (d *doubledItems) reportSingle() {
	if d.gone == nil {
		d.gone = map[session.Pos]bool{}
	}
	d.gone[d.single.Edits[0].At] = true
	d.run.Report(*d.single)
}

// markOf is a record's mark, zero if the file does not hold the record or it can't be read.
func (d *doubledItems) markOf(rec *session.Record) recordMark {
	if rec.Kind == session.Unreadable || rec.Pos.Lost > 0 {
		return recordMark{}
	}
	at := codex.Field(rec, codex.FieldTimestamp)
	order := 1
	if len(at) == len(d.late) {
		order = bytes.Compare(at, d.late)
	}
	if order > 0 {
		d.earlier, d.late = d.late, append(d.earlier[:0], at...)
		d.lateAt, d.back = rec.Pos, session.Pos{}
	}
	// A doubled block begins at a time that has been there before. If only the record with the latest time is ahead, that
	// record was moved.
	if order < 0 && d.back == (session.Pos{}) && bytes.Compare(at, d.earlier) <= 0 {
		d.back = rec.Pos
	}
	return recordMark{stamp: codex.SumTime(at), size: len(rec.Raw), old: order < 0}
}

// copied returns a finding if the current item is a copy that has to go, else nil; base is the newest compaction.
func (d *doubledItems) copied(it item, base session.Pos) *finding.Finding {
	if it.held() || it.Torn || d.mark.size == 0 || !d.looksAt(it) || isPlaceholder(it.Record) {
		return nil
	}
	key := codex.RecordSum(it.Record)
	first := d.known.get(key)
	known := first != nil && !first.at.Less(base) && !d.run.history.RolledBack(first.at)
	d.text = firstText(it.Record)
	if known && it.Ordinal.State != session.GoodOrdinal && (d.run.Last() == first.at && d.behindItself(it, first) || d.inFrontOf(it, first)) {
		return nil
	}
	if !known || !d.outOfPlace(it, first.at) {
		kept, _ := d.known.add(key)
		*kept = firstCopy{}
		kept.at, kept.before, kept.shown = it.Pos, d.before, d.inFront.size > 0 && d.inFront == d.text
		d.newest = key
		return nil
	}
	if !it.Boundary && !d.before.same(first.before) && d.inFront.size > 0 && d.inFront == d.text {
		return nil // it was written behind the event that shows it, so a block does not begin with it
	}
	f := it.finding(ruleDoubledItem, finding.SetAside, 0, fmt.Sprintf("a copy of the record on line %d, in a block of records that was written twice: the model is sent both", first.at.Line))
	if d.before.same(first.before) || it.Note {
		return &f
	}
	f.On, f.Unseen, f.Edits = finding.RefOf(it.owner), 1, []finding.Edit{{At: it.Pos, Op: finding.Remove}}
	d.pending, d.after = &f, first.after
	if d.mark.old && !first.early && it.Ordinal.State != session.GoodOrdinal {
		single := f
		single.Message = fmt.Sprintf("a copy of the record on line %d, by itself among later ones: the model is sent both", first.at.Line)
		d.single, d.wants = &single, false
	}
	return nil
}

// inFrontOf says whether the first of two equal records is the copy: it stands among earlier ones, and the second does not. An event
// that shows it would have its item written anew. The second is in its place if the client shows it there.
func (d *doubledItems) inFrontOf(it item, first *firstCopy) bool {
	if !first.early || first.shown || d.mark.old || string(it.Role) == "assistant" && d.inFront != d.text {
		return false
	}
	f := it.finding(ruleDoubledItem, finding.SetAside, 0, fmt.Sprintf("the record on line %d is a copy of this one, by itself among earlier ones: the model is sent both", first.at.Line))
	f.On, f.Unseen, f.Edits = finding.RefOf(it.owner), 1, []finding.Edit{{At: first.at, Op: finding.Remove}}
	d.single, d.wants = &f, it.Boundary
	return true
}

// behindItself waits for the record behind a copy directly behind the first: the client shows each message with an event, a prompt behind
// it, an answer in front of it, and here there is but one for both.
func (d *doubledItems) behindItself(it item, first *firstCopy) bool {
	f := it.finding(ruleDoubledItem, finding.SetAside, 0, fmt.Sprintf("a copy of the record on line %d, directly behind it: the model is sent both", first.at.Line))
	f.On, f.Unseen, f.Edits = finding.RefOf(it.owner), 1, []finding.Edit{{At: it.Pos, Op: finding.Remove}}
	switch {
	case it.Boundary:
		d.single, d.wants = &f, true
	case string(it.Role) == "assistant" && first.shown && !codex.Before(d.run.header.Version, 0, 72), it.Type == "response_item/reasoning" && codex.IsString(it.Record, codex.FieldEncrypted):
		d.single, d.wants = &f, false
	default:
		return false
	}
	return true
}

// looksAt says whether an item can be sent twice because of a copy. Calls and outputs are paired by their ids, which finds their
// copies. A script's notes are not paired, but they have ids, so no two of them are equal.
func (d *doubledItems) looksAt(it item) bool {
	return it.Kind == session.Message || it.Type == "response_item/reasoning" || it.Note && len(it.ID) > 0
}

// isPlaceholder says whether a repair wrote an item in the place of something lost. Two equal placeholders stand for two
// losses.
func isPlaceholder(rec *session.Record) bool {
	return string(rec.Role) == "developer" && bytes.HasPrefix(codex.FirstText(rec), []byte(`"[hist: `))
}

// outOfPlace says whether the client can't have written this equal record a second time: it has an ordinal, and the client
// gives out each only once; or its time, or that of the record before it, is earlier than one written since the first; or
// since the first the time went back, and has only now caught up.
func (d *doubledItems) outOfPlace(it item, first session.Pos) bool {
	return it.Note || it.Ordinal.State == session.GoodOrdinal || (d.mark.old || d.before.old) && !d.lateAt.Less(first) || first.Less(d.back)
}
