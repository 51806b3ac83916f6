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
	// Aside receives the bytes that leave the session, with their places; nil drops them (a dry run).
	Aside io.Writer
	// Differs, if not nil, is called once: when the copy begins to differ from the session, or at its end if it never does.
	// same is the sum of the first size bytes, which both are known to have in common.
	Differs func(same *source.Sum, size int64)

	Changes []change
	Proof   proof
	Totals  Totals

	out      *counter
	tee      *source.Tee // what out writes to, if that hashes; else nil
	evidence *evidenceReader
	links    agent.Links
	differs  bool    // the copy differs from the session
	from     int64   // from this byte of the session on
	pending  *change // the change in hand; changes next to each other are reported as one
	skipped  int64   // how many bytes were copied without being read
	kept     int64   // the last line of the session that was set aside whole
	piece    place   // end of the last piece of a line that was set aside
	tied     span    // with several passes: lines that differ only in how they refer to others
	lines    lineMap // which lines of the copy are lines of the session
}

// Totals counts logical records. A record that only got another ordinal is counted in Read alone.
type Totals struct {
	Read      int64 `json:"read"`      // of the session
	Untouched int64 `json:"untouched"` // byte for byte the same in the copy
	Edited    int64 `json:"edited"`
	Added     int64 `json:"added"`
	SetAside  int64 `json:"set_aside"` // that left the session
}

// Run writes the mended session to w. If w is a source.Tee to which nothing has been written, its sum is also used for what the
// copy has in common with the session, so that those bytes are hashed once.
func (r *rewrite) Run(ctx context.Context, w io.Writer) error {
	in, err := r.From.Reader(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	defer r.evidence.close()
	r.out = &counter{w: w}
	r.tee, _ = w.(*source.Tee)
	r.Proof = newProof(r.tee)
	r.links = r.Agent.NewLinks(r.Session, r.Target)
	scanners := normalize.Scanners(0)
	if scanners == 1 {
		scanners = 0 // what was read ahead can't be skipped
	}
	framer := normalize.New(in, normalize.Options{Decoder: r.Agent.Decoder, Mend: r.Plan.mend, Scanners: scanners})
	defer framer.Close()
	if framer.Encoding() != normalize.UTF8 {
		r.differ(0)
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
	r.Proof.finish(r.out.open)
	if r.out.open && r.Plan.newline {
		r.differ(r.out.bytes)
		return r.out.terminate()
	}
	if !r.differs {
		r.tell(r.out.bytes)
	}
	return r.out.err
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
		if err := r.skip(framer, rec.Pos.Line); err != nil {
			return err
		}
	}
}

// fewLines is up to how many lines it is not worth skipping them at once.
const fewLines = 32

// skip copies the lines behind the given one without reading them, up to the next one that the plan is about. Only the last
// line before that one is read, because it has the ordinal from which the next one counts.
func (r *rewrite) skip(framer *normalize.Normalizer, behind int64) error {
	until := r.Plan.nextTouched(behind) - 1
	if until-behind < fewLines || r.Header != nil || r.pending != nil || r.out.open || !r.links.Steady() {
		return nil
	}
	return framer.Skip(until, func(block []byte, lines int64) error {
		r.Totals.Read += lines
		r.Totals.Untouched += lines
		r.Proof.lines(r.out.bytes, block)
		r.skipped += int64(len(block))
		r.lines.add(r.out.lines+1, behind+1, lines)
		behind += lines
		return r.out.block(block, lines)
	})
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
		if line, err = r.links.Keep(line, r.out.lines+1); err != nil {
			return err
		}
	} else {
		r.links.Leave(line)
	}
	if !edited && bytes.Equal(line, rec.Raw) {
		return r.untouched(rec)
	}
	r.differ(rec.Offset)
	if edited {
		err = r.edited(rec, e, line)
	} else {
		r.flush() // only its ordinal has changed: all such lines are reported as one range
		r.lines.add(r.out.lines+1, rec.Pos.Line, 1)
	}
	if err != nil {
		return err
	}
	r.Proof.touched(r.out.open)
	return r.write(line, !rec.Open || edited)
}

// untouched writes a record as it is in the session.
func (r *rewrite) untouched(rec *session.Record) error {
	r.Totals.Untouched++
	r.flush()
	from, more := r.out.lines+1, int64(0)
	if rec.Kind == session.Unreadable { // these may be several lines that were not joined
		more = int64(bytes.Count(rec.Raw, newline))
		r.out.lines += more
	}
	r.lines.add(from, rec.Pos.Line, 1+more)
	at := r.out.bytes
	if r.out.open {
		at += int64(len(newline))
	}
	r.Proof.line(at, rec.Raw, !rec.Open)
	return r.write(rec.Raw, !rec.Open)
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
	} else if line, err = r.links.Keep(line, r.out.lines+1); err != nil {
		return err
	}
	r.Totals.Added++
	if in.behind {
		r.differ(rec.Offset + rec.Size)
	} else {
		r.differ(rec.Offset)
	}
	alone := r.pending == nil
	c := r.change(rec, []*lint.Finding{in.by})
	if alone && in.behind {
		c.Line, c.Offset = rec.Pos.Line+1, rec.Offset+rec.Size
	}
	c.After.show(line)
	r.Proof.touched(r.out.open)
	return r.write(line, true)
}

func (r *rewrite) remove(rec *session.Record, e *edits) error {
	r.differ(rec.Offset)
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

// write puts one line into the copy. terminated is false only for a last line without a newline.
func (r *rewrite) write(line []byte, terminated bool) error { return r.out.line(line, terminated) }
