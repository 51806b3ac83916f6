package rules

import (
	"fmt"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// bareSession is a session from before 0.32: a first line {id, timestamp, instructions[, git]}, then naked items.
type bareSession struct {
	header finding.Ref
	known  codex.Known
	start  time.Time
	edits  []finding.Edit
	n      int // naked items
	others int // other records
}

// bareRecord takes a record of a bare session; false if it is not one.
func (c *headerChecker) bareRecord(rec *session.Record) bool {
	if c.bare == nil {
		if c.run.Records() > 1 || rec.Pos != c.run.First().Pos || !codex.BareHeader(rec.Raw) {
			return false
		}
		id, stamp := gjson.GetBytes(rec.Raw, "id"), gjson.GetBytes(rec.Raw, "timestamp")
		c.bare = &bareSession{header: finding.RefOf(rec), known: codex.Known{ID: id.String(), Timestamp: stamp.String()}}
		c.bare.start, _ = time.Parse(time.RFC3339, stamp.String())
		return true
	}
	if gjson.GetBytes(rec.Raw, "payload").Exists() {
		return false
	}
	c.bare.item(rec)
	return true
}

// item plans the envelope of a naked item. The old format has no times, so times are made up that count from the header's by
// milliseconds, to keep the order.
func (b *bareSession) item(rec *session.Record) {
	if !codex.BareItem(rec.Raw) {
		b.others++
		b.edits = append(b.edits, finding.Edit{At: rec.Pos, Op: finding.Remove})
		return
	}
	b.n++
	stamp := b.start.Add(time.Duration(b.n) * time.Millisecond).UTC().Format(codex.TimeForm)
	if b.known.CWD == "" {
		b.known.CWD = codex.EnvironmentCWD(rec.Raw)
	}
	wrapped := codex.WrapBare(rec.Raw, stamp)
	if wrapped == nil {
		b.edits = append(b.edits, finding.Edit{At: rec.Pos, Op: finding.Remove})
		return
	}
	b.edits = append(b.edits, finding.Edit{At: rec.Pos, Op: finding.Splice, Cuts: []finding.Cut{{End: len(rec.Raw), New: wrapped}}})
}

func (b *bareSession) report(c *headerChecker) {
	c.run.setHeader(codex.ReadHeader(codex.NewHeader(b.known)), session.Pos{})
	replace := []finding.Edit{{At: b.header.Pos, Op: finding.Remove}, {At: b.header.Pos, Op: finding.Before, New: finding.Content{Literal: codex.NewHeader(b.known)}}}
	f := ruleBareFormat.At(b.header, "", fmt.Sprintf("a session from before 0.32: its %d records have no envelope, and today's client reads none of them", b.n)).With(append(replace, b.edits...)...)
	if b.others > 0 {
		f.Fix = finding.SetAside
		f.Message += fmt.Sprintf("; %d records of another kind are among them", b.others)
	}
	c.run.Report(f)
}
