package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// ErrTooLong says that a line is too long to be copied.
var ErrTooLong = errors.New("the line is too long")

// rewrite is one pass of a plan over a session.
type rewrite struct {
	Plan *plan
	From *source.Source
	// Header changes the session's header after all other edits; nil leaves it. IsHeader recognizes a header among added lines.
	Header   func(line []byte) []byte
	IsHeader func(line []byte) bool
	// Agent wrote the session.
	Agent *agent.Agent
	// Session is the session's metadata, as lint read it.
	Session session.Info
	// Target is the version of the client that will resume the session, "" if it is not known.
	Target string

	output
	evidence *evidenceReader
	links    agent.Links
	pending  *change // the change in hand; changes next to each other are reported as one
	skipped  int64   // how many bytes were copied without being read
	kept     int64   // the last line of the session that was set aside whole
	piece    place   // end of the last piece of a line that was set aside
}

// Totals counts logical records. A record that only got another ordinal is counted in Read alone.
type Totals struct {
	Read      int64 `json:"read"`      // of the session
	Untouched int64 `json:"untouched"` // byte for byte the same in the copy
	Edited    int64 `json:"edited"`
	Added     int64 `json:"added"`
	SetAside  int64 `json:"set_aside"` // that left the session
}

// Run writes the mended session to w.
func (r *rewrite) Run(ctx context.Context, w io.Writer) error {
	in, err := r.From.Reader(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	defer r.evidence.close()
	r.begin(w)
	r.links = r.Agent.NewLinks(r.Session, r.Target)
	scanners := normalize.Scanners(0)
	if scanners == 1 {
		scanners = 0 // what was read ahead can't be skipped
	}
	framer := normalize.New(in, normalize.Options{Decoder: r.Agent.Decoder, Mend: r.Plan.mend, Scanners: scanners})
	defer framer.Close()
	if framer.Encoding() != normalize.UTF8 {
		r.differ()
	}
	if err := r.records(ctx, framer); err != nil {
		return err
	}
	if r.Totals.Read == 0 {
		if err := r.empty(ctx); err != nil {
			return err
		}
	}
	r.flush()
	if r.open && r.Plan.newline {
		r.diverge()
	}
	return r.finish()
}

// records writes every record of the session, changed as planned.
func (r *rewrite) records(ctx context.Context, framer *normalize.Normalizer) error {
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		rec, err := framer.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, source.ErrCorrupt) && r.Plan.mends(normalize.CorruptZst.Name) {
			return nil
		}
		if err != nil {
			return err
		}
		r.Totals.Read++
		if err := r.record(ctx, rec); err != nil {
			return fmt.Errorf("line %d: %w", rec.Pos.Line, err)
		}
		framer.Faults() // lint has reported them
		if err := r.skip(framer, rec); err != nil {
			return err
		}
	}
}

// fewLines is up to how many lines it is not worth skipping them at once.
const fewLines = 32

// skip copies the lines behind a record without reading them, up to the next one that the plan is about. Only the last
// line before that one is read, because it has the ordinal from which the next one counts.
func (r *rewrite) skip(framer *normalize.Normalizer, rec *session.Record) error {
	line, offset := rec.Pos.Line+physicalLines(rec), rec.Offset+rec.Size
	until := r.Plan.nextTouched(rec.Pos.Line) - 1
	if until-rec.Pos.Line < fewLines || r.Header != nil || r.pending != nil || r.open || !r.links.Steady() {
		return nil
	}
	return framer.Skip(until, func(block []byte, lines int64) error {
		r.Totals.Read += lines
		r.Totals.Untouched += lines
		r.skipped += int64(len(block))
		err := r.stays(line, offset, uint32(lines), block[:len(block)-1], true)
		line, offset = line+lines, offset+int64(len(block))
		return err
	})
}

// physicalLines is how many lines of the session a record was read from.
func physicalLines(rec *session.Record) int64 {
	text := rec.Original
	if text == nil {
		text = rec.Raw
	}
	return 1 + int64(bytes.Count(text, newline))
}

// record writes one record, changed as planned, and what is inserted beside it.
func (r *rewrite) record(ctx context.Context, rec *session.Record) error {
	if rec.Passed > 0 {
		return fmt.Errorf("%w: %d bytes, more than the %d that hist holds; the session was left as it was", ErrTooLong, rec.Size, jsonl.MaxLine)
	}
	if rec.Written != nil {
		rec.Raw = rec.Written
	}
	e := r.Plan.edits[rec.Pos]
	if e == nil {
		e = &edits{}
	}
	if e.renumber {
		r.links.Renumber()
	}
	if err := r.inFront(ctx, rec, e); err != nil {
		return err
	}
	switch {
	case e.removed:
		if err := r.remove(rec, e); err != nil {
			return err
		}
	case rec.Drop:
		if err := r.setAside(rec); err != nil {
			return err
		}
	default:
		if err := r.keep(rec, e); err != nil {
			return err
		}
	}
	return r.behind(ctx, rec, e)
}

// empty writes what is to be inserted into a file without records.
func (r *rewrite) empty(ctx context.Context) error {
	first := &session.Record{Pos: session.Pos{Line: 1}}
	if e := r.Plan.edits[first.Pos]; e != nil {
		return r.inFront(ctx, first, e)
	}
	return nil
}

// inFront writes what is inserted in front of a record; for the first record, also the lost records from before it.
func (r *rewrite) inFront(ctx context.Context, rec *session.Record, e *edits) error {
	for _, in := range e.before {
		if err := r.insert(ctx, rec, in, nil); err != nil {
			return err
		}
	}
	if lost := r.Plan.edits[session.Pos{}]; lost != nil && r.Totals.Read <= 1 {
		return r.behind(ctx, &session.Record{}, lost)
	}
	return nil
}

// behind writes what is inserted behind a record.
func (r *rewrite) behind(ctx context.Context, rec *session.Record, e *edits) error {
	for _, in := range e.after {
		own := e.lost[in.lost]
		if own != nil && own.removed && in.lost > 0 {
			continue // this record is in the session already
		}
		if err := r.insert(ctx, rec, in, own); err != nil {
			return err
		}
	}
	return nil
}

// keep writes a record that stays, changed or not.
func (r *rewrite) keep(rec *session.Record, e *edits) error {
	line := rec.Raw
	var err error
	if len(e.cuts) > 0 {
		if line, err = session.Apply(rec.Raw, e.cuts); err != nil {
			return err
		}
	}
	if r.Header != nil && rec.Kind == session.Header {
		line = r.Header(line)
		r.Header = nil
	}
	mended := rec.Mended || rec.Pos.Part > 0
	edited := len(e.cuts) > 0 || mended || !bytes.Equal(line, rec.Raw)
	if rec.Kind != session.Unreadable {
		if line, err = r.numbered(line); err != nil {
			return err
		}
	} else {
		r.links.Leave(line)
	}
	if edited {
		if err := r.edited(rec, e, line); err != nil {
			return err
		}
		return r.puts(line, true)
	}
	r.flush()
	if !bytes.Equal(line, rec.Raw) { // only its ordinal has changed: all such lines are reported as one range
		return r.follows(rec.Pos.Line, line, !rec.Open)
	}
	r.Totals.Untouched++
	lines := uint32(1)
	if rec.Kind == session.Unreadable { // these may be several lines that were not joined
		lines += uint32(bytes.Count(line, newline))
	}
	return r.stays(rec.Pos.Line, rec.Offset, lines, line, !rec.Open)
}

// numbered is the line of a record, as it must stand next in the copy.
func (r *rewrite) numbered(line []byte) ([]byte, error) {
	now, err := r.links.Keep(line)
	if err == nil && !bytes.Equal(now, line) {
		r.renumbered.add(r.lines + 1)
	}
	return now, err
}

// edited reports a record that was changed to line, and sets its old bytes aside if some of them are not in it.
func (r *rewrite) edited(rec *session.Record, e *edits, line []byte) error {
	r.Totals.Edited++
	c := r.change(rec, e.by)
	if rec.Pos.Part == 0 {
		c.Before.show(rec.Original)
	}
	if r.loses(rec, e) {
		if err := r.aside(rec); err != nil {
			return err
		}
	}
	c.After.show(line)
	return nil
}

// insert writes a new record in front of rec or behind it. own are the edits of a lost record that is restored.
func (r *rewrite) insert(ctx context.Context, rec *session.Record, in insertion, own *edits) error {
	line, err := r.newLine(ctx, in)
	if err == nil && own != nil && in.lost > 0 && len(own.cuts) > 0 {
		line, err = session.Apply(line, own.cuts)
	}
	if err != nil {
		return err
	}
	if r.Header != nil && r.IsHeader(line) {
		line = r.Header(line)
		r.Header = nil
	}
	if !in.content.Numbered {
		line = r.links.Insert(line)
	} else if line, err = r.numbered(line); err != nil {
		return err
	}
	r.Totals.Added++
	alone := r.pending == nil
	c := r.change(rec, []*lint.Finding{in.by})
	if alone && in.behind {
		c.Line, c.Offset = rec.Pos.Line+1, rec.Offset+rec.Size
	}
	c.After.show(line)
	return r.puts(line, true)
}

func (r *rewrite) remove(rec *session.Record, e *edits) error {
	c := r.change(rec, e.by)
	c.Before.show(rec.Original)
	if !e.numbered {
		r.links.Remove(rec.Raw)
	}
	if !e.moved {
		r.Totals.SetAside++
	}
	if !e.moved || r.loses(rec, e) {
		return r.aside(rec)
	}
	return nil
}

// loses says whether some bytes of a record's line may be missing from the result, either because the line is mended by more
// than rearranging or decoding, or because an edit replaces or removes some.
func (r *rewrite) loses(rec *session.Record, e *edits) bool {
	for _, f := range r.Plan.faults(rec.Pos.Line) {
		if f.Fix != lint.Exact {
			return true
		}
	}
	for _, f := range e.by {
		if f.Fix == lint.StandIn || f.Fix == lint.SetAside {
			return true
		}
	}
	for _, c := range e.cuts {
		if was := bytes.Trim(rec.Raw[c.Start:c.End], " \t\r\n,"); !bytes.Contains(c.New, was) {
			return true
		}
	}
	return false
}
