package rules

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

var ruleDoubledItem = texts.Rule(Rule{Name: "doubled-item", Family: "items", Impact: Loses, Fix: SetAside})

// doubledItems finds messages and thoughts that stand in a session twice because a block of the file does: byte for byte,
// together with the record in front of it or behind it, and with a number, or out of time. One alone is none, for repair
// writes an answer anew from an event that stands elsewhere. Neither is what has the time of all that surrounds it: a
// fork of a client before 0.128 has one time for all that it inherits, and what was said twice is the same there.
type doubledItems struct {
	run     *run
	seed    maphash.Seed
	known   recent[firstCopy] // by their bytes, hashed
	newest  uint64            // the key of the one that is the record in front, 0 if that is none
	mark    recordMark        // of the record in hand
	before  recordMark        // of the one in front of it
	late    []byte            // the latest time so far, as it stands there
	lateAt  session.Pos       // of the first record that has it
	pending *Finding          // a copy that is one if the next record is a copy, too
	after   recordMark        // and then that is this
}

// firstCopy is a message or a thought that may come again, and what stands around it.
type firstCopy struct {
	at            session.Pos
	before, after recordMark
}

// recordMark tells two records apart that are no copies: by their time and size. The zero value is no record.
type recordMark struct {
	stamp uint64
	size  int
	old   bool // its time is before the latest; it does not tell it from another
}

func (m recordMark) same(other recordMark) bool {
	return m.size > 0 && m.size == other.size && m.stamp == other.stamp
}

// maxDoubled is how many messages and thoughts are kept to be met again. A doubled block is a few disk blocks long.
const maxDoubled = 256

func newDoubledItems(s *run, seed maphash.Seed) doubledItems {
	return doubledItems{run: s, seed: seed, known: recent[firstCopy]{limit: maxDoubled}}
}

// next takes a record in hand, before it is asked whether its item is a copy.
func (d *doubledItems) next(rec *session.Record) {
	d.before, d.mark = d.mark, d.markOf(rec)
	if d.pending != nil && d.after.same(d.mark) {
		d.run.report(*d.pending)
	}
	d.pending = nil
	if d.newest != 0 {
		if first := d.known.get(d.newest); first != nil {
			first.after = d.mark
		}
		d.newest = 0
	}
}

// markOf is a record's mark; that of one which the file does not hold, or which can't be read, is none.
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
		d.late, d.lateAt = append(d.late[:0], at...), rec.Pos
	}
	return recordMark{stamp: maphash.Bytes(d.seed, at), size: len(rec.Raw), old: order < 0}
}

// copied says whether the item in hand is a copy that has to go; base is the newest compaction.
func (d *doubledItems) copied(it item, base session.Pos) *Finding {
	if it.held() || it.Torn || d.mark.size == 0 || it.Kind != session.Message && it.Type != "response_item/reasoning" {
		return nil
	}
	key := maphash.Bytes(d.seed, it.Raw)
	first := d.known.get(key)
	if first == nil || first.at.Less(base) || d.run.history.RolledBack(first.at) || !d.outOfPlace(it, first.at) {
		d.known.put(key, firstCopy{at: it.Pos, before: d.before})
		d.newest = key
		return nil
	}
	f := it.finding(ruleDoubledItem, SetAside, 0, fmt.Sprintf("a copy of the record on line %d, in a block of records that was written twice: the model is sent both", first.at.Line))
	if d.before.same(first.before) {
		return &f
	}
	f.On, f.Unseen, f.Edits = refOf(it.owner), 1, []Edit{{At: it.Pos, Op: Remove}}
	d.pending, d.after = &f, first.after
	return nil
}

// outOfPlace says whether the copy of a record stands where its client has not written it: it has a number, and each is
// given once, or its time, or that of the record in front of it, is before one that was written since the first copy.
func (d *doubledItems) outOfPlace(it item, first session.Pos) bool {
	return it.Ordinal.State == session.GoodOrdinal || (d.mark.old || d.before.old) && !d.lateAt.Less(first)
}
