package mend

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/reader"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// oldTarget says whether a client older than 2.1.100, which does not look for lost parents by time, may read the session.
func (c *Checker) oldTarget() bool { return format.Before(c.oldestReader(), "2.1.100") }

// oldestReader is the version that the user named, or else the one that wrote the session.
func (c *Checker) oldestReader() string { return cmp.Or(c.opts.For, c.written) }

// readers are the versions that may read the session: the one that the user named, or else the one that wrote it and the newest
// known, which is "".
func (c *Checker) readers() []string {
	if c.opts.For != "" {
		return []string{c.opts.For}
	}
	return []string{c.written, ""}
}

// middleTarget says whether a client up to 2.1.215 may read the session.
func (c *Checker) middleTarget() bool { return format.Before(c.oldestReader(), "2.1.216") }

// newTarget says whether the newest client may read the session. It may, unless the user named another.
func (c *Checker) newTarget() bool { return !format.Before(c.opts.For, "2.1.216") }

// worst is the worst that a fault does to a client that may read the session.
func (c *Checker) worst(impact faults.ByVersion) finding.Impact {
	worst := finding.Notes
	if c.oldTarget() {
		worst = max(worst, impact.Old)
	}
	if c.middleTarget() {
		worst = max(worst, impact.Middle)
	}
	if c.newTarget() {
		worst = max(worst, impact.Newest)
	}
	return worst
}

// Settle adapts a finding of the normalizer to what the damage does to the clients that may read the session.
func (c *Checker) Settle(f *finding.Finding) {
	switch f.Rule {
	case normalize.TornTail:
		c.trifled(f)
		return
	case normalize.BadJSON:
		c.trifled(f)
		c.glued(f)
		return
	case normalize.GluedRecords, normalize.NULBytes:
		c.glued(f)
		return
	}
	if !faults.HealsItself(f) {
		return
	}
	usual := f.Impact
	f.Message, f.Impact = faults.Healed[f.Rule], finding.Notes
	readers := c.readers()
	if f.Rule == normalize.NoFinalNewline { // what trims files is rarely their own client: who resumes decides, not who wrote
		readers = []string{c.opts.For}
	}
	for _, version := range readers {
		f.Impact = max(f.Impact, faults.ImpactIn(version, f.Rule))
	}
	if f.Rule == normalize.PrettyPrinted {
		f.Impact = min(f.Impact, usual) // the normalizer gives less if the file does not begin so
	}
}

// trifle is the type of an unreadable record if it was surely bookkeeping, "" if it may have been part of the conversation.
func trifle(rec *session.Record) string {
	rest, ok := bytes.CutPrefix(rec.Raw, []byte(`{"type":"`))
	typ, _, whole := bytes.Cut(rest, []byte(`"`))
	if !ok || !whole || rec.Pos.Part > 0 || !slices.Contains(format.Bookkeeping, string(typ)) {
		return ""
	}
	return string(typ)
}

// trifled lowers the impact of an unreadable line with which nothing of the conversation is lost: the client only shows less.
func (c *Checker) trifled(f *finding.Finding) {
	typ := c.trifles[f.Pos.Line]
	if typ == "" || f.Impact != finding.Loses {
		return
	}
	f.Impact = finding.Shows
	f.Message += "; it was bookkeeping (" + typ + "), no part of the conversation"
}

// led is a line that begins with a whole record, behind which more stands: a tool has taken the newline off the file's end, and the client
// went on, or something else was written there.
type led struct {
	records int
	more    bool // something behind the first record belongs, or may belong, to the conversation
}

// noteLed takes a record, or what is left of one, of a line that is not simply one record.
func (c *Checker) noteLed(rec *session.Record) {
	line := rec.Pos.Line
	l, known := c.led[line]
	switch {
	case rec.Pos.Part == 0 && rec.Kind != session.Unreadable && !rec.Torn && len(rec.Original) > len(rec.Raw) && bytes.HasPrefix(rec.Original, rec.Raw):
		if c.led == nil {
			c.led = map[int64]led{}
		}
	case rec.Pos.Part == 0 || !known:
		return
	default:
		l.more = l.more || rec.Torn || format.InTree(rec) || rec.Kind == session.Unreadable && len(bytes.Trim(rec.Raw, "\x00 ")) > 0
	}
	l.records++
	c.led[line] = l
}

// leads says whether the newest client reads a record although others follow on its line.
func (c *Checker) leads(n *node) bool {
	_, first := c.led[n.Pos().Line]
	return first && n.Pos().Part == 0
}

// behind is what may stand behind a record, by the rule that finds it there.
var behind = map[*finding.Rule]string{normalize.BadJSON: "garbage", normalize.NULBytes: "NUL bytes"}

// glued says what clients make of a line that begins with a whole record, behind which more stands.
func (c *Checker) glued(f *finding.Finding) {
	l, ok := c.led[f.Pos.Line]
	if !ok {
		return
	}
	some, all := false, true // of the clients that may read the session read the first record
	for _, version := range c.readers() {
		reads := !reader.Of(version).LinesAlone
		some, all = some || reads, all && reads
	}
	what, thing := "the client reads the first one only", behind[f.Rule]
	switch {
	case !some:
		return
	case thing != "" && !all:
		f.Message = fmt.Sprintf("a record with %s behind it: versions up to 2.1.100 drop both, newer ones the %[1]s", thing)
		return
	case thing != "":
		f.Message = fmt.Sprintf("a record with %s behind it: the client reads the record only", thing)
		if f.Rule == normalize.NULBytes && !l.more {
			f.Impact = finding.Notes
		}
		return
	case !all:
		what = "versions up to 2.1.100 drop all of them, newer ones all but the first"
	case !l.more:
		f.Impact = finding.Notes
		what += ", and the rest is no part of the conversation"
	}
	f.Message = fmt.Sprintf("%d records are on one line: %s", l.records, what)
}
