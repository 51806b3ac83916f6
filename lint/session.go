package lint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
)

// ErrUnclaimed says that no agent that hist knows wrote the session.
var ErrUnclaimed = agent.ErrUnclaimed

// Result is what lint knows of a session at its end.
type Result struct {
	Findings []Finding // by place
	Summary  Summary
}

// Summary is what lint knows of a session besides its findings.
type Summary struct {
	Agent    string // that wrote it
	Bytes    int64  // of the uncompressed file
	Records  int64  // logical records that can be read once their lines are repaired
	Header   session.Info
	Encoding Encoding
	// Seen is how many items of the model's history the client reads from the file as it is; Items is how many there are once
	// every line is repaired.
	Seen, Items int64
	// Lost is how many items are known to be missing and can't be recovered.
	Lost int64
	// Partial is why the file could not be read to its end, nil if it was.
	Partial error
	// TooLong says that a line is longer than lint holds in memory, so no copy of the session can be made.
	TooLong bool
}

// Session lints the session in r. Its findings are sorted by place. The error is ctx's, or wraps ErrUnclaimed. If something
// else ends the reading too early, such as a read error, it is in Summary.Partial, and the findings up to there are returned. A
// compressed stream that breaks off is a finding.
func Session(ctx context.Context, r io.Reader, opts Options) (*Result, error) {
	return read(ctx, r, opts, &beside{}, func() (io.Reader, error) {
		text := opts.Text
		if at, ok := r.(io.ReaderAt); ok && text == nil {
			text = at
		}
		switch {
		case text == nil && opts.Reopen != nil:
			return opts.Reopen()
		case text == nil:
			return nil, nil
		}
		return io.NewSectionReader(text, 0, math.MaxInt64), nil
	})
}

// beside is what an agent's home keeps of a session. The first pass asks for it, a second one uses it.
type beside struct {
	home string
	kept check.Kept   // nil if the home keeps nothing
	lost []check.Lost // the records that the file lacks; only known after the first pass
}

// read takes a session through the rules once; again gives its text a second time, nil if it can't. If the context ends, it returns soon,
// whatever the file: what it leaves behind ends by itself, and uses nothing but r and home, which are of no use any more.
func read(ctx context.Context, r io.Reader, opts Options, home *beside, again func() (io.Reader, error)) (*Result, error) {
	return source.Promptly(ctx, func() (*Result, error) { return readAll(ctx, r, opts, home, again) })
}

func readAll(ctx context.Context, r io.Reader, opts Options, home *beside, again func() (io.Reader, error)) (*Result, error) {
	a, r, err := agentOf(r, opts)
	if err != nil {
		return nil, err
	}
	opts.Name.Canonical = opts.Name.Canonical && a.ReadName(opts.Name.Base).Canonical // it may be a name by the rules of another agent only
	in := normalize.New(r, normalize.Options{Decoder: a.Decoder, Mend: opts.Mend, Live: opts.Live, Scanners: normalize.Scanners(opts.Processors), Prepare: true})
	defer in.Close()
	p := &pass{in: in, run: check.NewRun(opts, a.NewHistory(), in)}
	p.checkers = a.NewCheckers(p.run)
	switch {
	case home.kept != nil: // the second pass
		p.lost = newLostFeed(lostFeed{run: p.run, checkers: p.checkers, mark: in.Mark, kept: home.kept, decoder: a.Decoder, pending: home.lost})
	case home.home != "":
		home.kept = opts.Kept(ctx, a.Name, home.home, opts.Name.Base)
		p.kept = home.kept
	}
	partial, err := p.records(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.end(ctx, partial != nil); err != nil {
		return nil, err
	}
	end := int64(math.MaxInt64)
	if partial != nil {
		end = p.last // nothing is said of the line at which the reading ended
	}
	p.run.Settle(p.checkers)
	res := settled(p.run, end)
	res.Summary.Agent, res.Summary.Bytes, res.Summary.Encoding = a.Name, in.Offset(), in.Encoding()
	res.Summary.Partial, res.Summary.TooLong = partial, p.tooLong
	if err := res.resolve(ctx, a, p.run, again); err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return res, nil
}

// pass is one run of a session's records from the normalizer through the checkers.
type pass struct {
	in       *normalize.Normalizer
	run      *check.Run
	checkers []check.Checker
	kept     check.Kept // sees the records in the first pass; nil if the home keeps nothing
	lost     *lostFeed  // adds the lost records in the second pass; nil in the first
	tooLong  bool       // a line was too long to be held
	last     int64      // the newest record's line
}

// records shows all records to the checkers. partial is why the reading ended too early, nil if it reached the end of the file;
// err is ctx's.
func (p *pass) records(ctx context.Context) (partial, err error) {
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rec, err := p.in.Next()
		p.run.Begin(rec)
		p.takeFaults()
		if err != nil {
			return reportEnd(p.run, err), nil
		}
		p.tooLong, p.last = p.tooLong || rec.Passed > 0, rec.Pos.Line
		p.record(rec)
		p.run.Done(rec)
	}
}

// record shows one record to the checkers, after the lost records that belong in front of it.
func (p *pass) record(rec *session.Record) {
	if p.lost != nil && p.lost.before(rec) {
		return
	}
	if p.kept != nil {
		p.kept.See(rec)
	}
	for _, c := range p.checkers {
		c.Record(rec)
	}
}

// end tells the checkers that there are no more records, unless there may be some that could not be read: then nothing that is not there
// is missed. The error is ctx's.
func (p *pass) end(ctx context.Context, partial bool) error {
	if p.lost != nil && !partial {
		p.lost.before(nil)
	}
	if partial {
		p.takeFaults()
		return nil
	}
	for _, c := range p.checkers {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.End()
	}
	p.takeFaults()
	return ctx.Err()
}

// takeFaults reports what the normalizer found since the last call.
func (p *pass) takeFaults() {
	for _, f := range p.in.Faults() {
		p.run.Report(f)
	}
}

// agentOf is the agent that wrote the session in r, and a reader that gives all of r.
func agentOf(r io.Reader, opts Options) (*agent.Agent, io.Reader, error) {
	if a := all.Named(opts.Agent); a != nil {
		return a, r, nil
	}
	if a := all.ByName(opts.Name.Base); a != nil {
		return a, r, nil
	}
	head, r := normalize.Head(r)
	path := opts.Name.Base
	if opts.Path != "" {
		path = filepath.Join(filepath.Dir(opts.Path), path)
	}
	a, err := all.Of(path, head)
	return a, r, err
}

// reportEnd handles the error that ended the reading. A compressed stream that breaks off is damage like any other, and is
// reported: what came before the break is the session. Any error other than that and the end of the file is returned.
func reportEnd(run *check.Run, err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case !errors.Is(err, source.ErrCorrupt):
		return err
	}
	f := Finding{
		Rule: normalize.CorruptZst, Impact: Blocks, Fix: Recovered, Pos: session.Pos{Line: run.Last().Line + 1}, Offset: run.Offset(),
		Message: "the compressed stream breaks off here: the client can't read the file at all", Source: "the part before the break", Gap: true,
	}
	switch {
	case errors.Is(err, source.ErrMisnamed):
		f.Message, f.Source, f.Gap, f.Fix = "the file's name says whether it is compressed, and that is not so: the client can't read it", "", false, Exact
	case errors.Is(err, source.ErrUncompressed):
		f.Message, f.Source, f.Gap = "the last records of this compressed file are not compressed: the client can't read the file at all", "both parts of the file", false
	case errors.Is(err, source.ErrBehind):
		f.Message, f.Source, f.Gap = "zeros stand behind the compressed session: the client can't read the file at all", "the part before them", false
	case errors.Is(err, source.ErrChecksum):
		f.Message, f.Source, f.Gap = "this does not have the checksum of what was compressed: some of it is wrong, nobody can tell what, and the client can't read the file at all", "what it unpacks to, right or wrong", false
	}
	if errors.Is(err, source.ErrPartWrong) {
		f.Message += "; what comes before does not have its checksum: some of it is wrong, nobody can tell what"
	}
	if run.Records() == 0 {
		f.Fix, f.Source = NoFix, ""
	}
	run.Report(f)
	return nil
}

// settled makes the result, of the lines in front of end, once all records have been seen: only then is it known which findings still count.
func settled(run *check.Run, end int64) *Result {
	found := settle(run, end)
	slices.SortStableFunc(found, func(a, b Finding) int { return a.Pos.Compare(b.Pos) })
	sum := Summary{Records: run.Records()}
	sum.Header, _ = run.Header()
	sum.Seen, sum.Items = run.History().Items()
	blocked := false
	for i := range found {
		blocked = blocked || found[i].Impact == Blocks
		sum.Lost += found[i].Lost
		sum.Seen -= found[i].Unseen
	}
	if blocked || sum.Seen < 0 {
		sum.Seen = 0
	}
	return &Result{Findings: found, Summary: sum}
}

// settle gives the findings their final impact. Losses in a part of the history that is no longer sent, because a
// compaction replaced it or a rollback undid it, become notes.
func settle(run *check.Run, end int64) []Finding {
	history := run.History()
	found := run.Findings()
	kept := found[:0]
	for _, f := range found {
		if f.Pos.Line >= end || !f.Framing && (f.Rule.Family == "calls" || f.Rule.Family == "items") && history.RolledBack(f.Pos) {
			continue // nothing in a rolled-back turn is damage
		}
		if (f.Impact == Loses || f.Impact == Rejects) && !f.Rule.Always && !f.More && !sent(history, &f) {
			f.Impact, f.Edits, f.Lost, f.Unseen = Notes, nil, 0, 0
			if !f.Framing { // the normalizer mends a line's framing in any case
				f.Fix, f.Source = NoFix, ""
			}
			f.Message += " (in a part of the history that is no longer sent)"
		}
		if f.Through > f.Pos.Line {
			f.Message += fmt.Sprintf("; so are the lines after it, up to line %d", f.Through)
		}
		kept = append(kept, f)
	}
	return kept
}

// sent says whether the subject of a finding is still sent to the model. A fault in a line's framing concerns all records on the
// line, and on all lines that the finding counts: a compaction may be on one of them.
func sent(history check.History, f *Finding) bool {
	if history.Counts(f.Pos) {
		return true
	}
	for line := f.Pos.Line; f.Framing && line <= max(f.Pos.Line, f.Through); line++ {
		if history.Counts(session.Pos{Line: line, Part: math.MaxInt32}) {
			return true
		}
	}
	return false
}
