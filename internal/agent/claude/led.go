package claude

import (
	"bytes"
	"fmt"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// firstThatLeads is the first version known to read the first record of a line on which others follow: 2.1.100 reads none of them, 2.1.215
// and newer ones read that one (measured).
const firstThatLeads = "2.1.215"

// led is a line that begins with a whole record, on which others follow: a tool has taken the newline off the file's end, and the client
// went on.
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
		l.more = l.more || rec.Kind == session.Unreadable || rec.Torn || format.InTree(rec)
	}
	l.records++
	c.led[line] = l
}

// leads says whether the newest client reads a record although others follow on its line.
func (c *Checker) leads(n *node) bool {
	_, first := c.led[n.Pos().Line]
	return first && n.Pos().Part == 0
}

// glued says what clients make of a line that begins with a whole record, on which others follow.
func (a *adapter) glued(f *finding.Finding) {
	l, ok := a.led[f.Pos.Line]
	if !ok {
		return
	}
	some, all := false, true // of the clients that may read the session read the first record
	for _, version := range a.readers() {
		reads := version == "" || !format.Before(version, firstThatLeads)
		some, all = some || reads, all && reads
	}
	what := "the client reads the first one only"
	switch {
	case !some:
		return
	case !all:
		what = "versions up to 2.1.100 drop all of them, newer ones all but the first"
	case !l.more:
		f.Impact = finding.Notes
		what += ", and the rest is no part of the conversation"
	}
	f.Message = fmt.Sprintf("%d records are on one line: %s", l.records, what)
}
