package lint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
)

// ErrUnclaimed: no agent that hist knows wrote the session.
var ErrUnclaimed = agent.ErrUnclaimed

// Result is what lint knows of a session at its end.
type Result struct {
	Findings []Finding // by place
	Summary  Summary
}

// Summary is what a session is and holds.
type Summary struct {
	Agent    string // that wrote it
	Bytes    int64  // of the uncompressed file
	Records  int64  // logical records that can be read once mended
	Header   session.Info
	Encoding Encoding
	// Seen is the number of items of the model's history that the client reads from the file as it is; Items the
	// number in it once every line is mended.
	Seen, Items int64
	// Lost is the number of items that are known to be missing and can't be had back.
	Lost int64
	// Partial is why the file could not be read to its end, nil if it was.
	Partial error
	// TooLong: a line is longer than any that is held, so that no copy of the session can be made.
	TooLong bool
}

// Session lints the session in r. Findings come back sorted by place; the error is ctx's, or wraps ErrUnclaimed. What
// ends the reading too early (a read error, a broken compressed stream) is in Summary.Partial, with all findings up to
// there.
func Session(ctx context.Context, r io.Reader, opts Options) (*Result, error) {
	return read(ctx, r, opts, &beside{})
}

// beside is what an agent's home keeps of a session: asked for in a first pass, and used in a second.
type beside struct {
	home string
	kept check.Kept // nil if nothing is
	lost []check.Lost
}

func read(ctx context.Context, r io.Reader, opts Options, home *beside) (*Result, error) {
	a, r, err := wrote(r, opts)
	if err != nil {
		return nil, err
	}
	in := normalize.New(r, normalize.Options{Decoder: a.Decoder(), Mend: opts.Mend, Live: opts.Live, Scanners: normalize.Scanners(opts.Processors)})
	defer in.Close()
	run := check.NewRun(opts, a.NewHistory(), in)
	checkers := a.NewCheckers(run)
	var lost *lostFeed
	if home.home != "" && home.kept == nil {
		home.kept = opts.Kept(ctx, a.Name(), home.home, opts.Name.Base)
	} else if home.kept != nil {
		lost = newLostFeed(run, in.Mark, home.kept, a.Decoder(), home.lost)
	}
	var partial error
	tooLong := false
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rec, err := in.Next()
		run.Begin(rec)
		takeFaults(run, in)
		if err != nil {
			partial = ended(run, err)
			break
		}
		tooLong = tooLong || rec.Passed > 0
		replaced := false
		switch {
		case lost != nil:
			replaced = lost.before(rec, checkers)
		case home.kept != nil:
			home.kept.See(rec)
		}
		if !replaced {
			for _, c := range checkers {
				c.Record(rec)
			}
		}
		run.Done(rec)
	}
	if lost != nil {
		lost.before(nil, checkers)
	}
	run.History().End()
	for _, c := range checkers {
		c.End()
	}
	takeFaults(run, in)
	res := settled(run, checkers)
	res.Summary.Agent, res.Summary.Bytes, res.Summary.Encoding, res.Summary.Partial = a.Name(), in.Offset(), in.Encoding(), partial
	res.Summary.TooLong = tooLong
	return res, nil
}

// wrote is the agent that wrote the session in r, and a reader that gives all of it.
func wrote(r io.Reader, opts Options) (agent.Agent, io.Reader, error) {
	if a := all.Named(opts.Agent); a != nil {
		return a, r, nil
	}
	if a := all.ByName(opts.Name.Base); a != nil {
		return a, r, nil
	}
	head, r := normalize.Head(r)
	a, err := all.Of(opts.Name.Base, head)
	return a, r, err
}

// takeFaults takes over what the normalizer found.
func takeFaults(run *check.Run, in *normalize.Normalizer) {
	for _, f := range in.Faults() {
		run.Report(f)
	}
}

// ended notes why there are no more records. A compressed stream that breaks off is damage like any other: what came
// before the break is the session. Any other error than the end of the file is returned.
func ended(run *check.Run, err error) error {
	switch {
	case errors.Is(err, io.EOF):
	case errors.Is(err, source.ErrCorrupt):
		f := Finding{
			Rule: normalize.CorruptZst, Impact: Blocks, Fix: Recovered, Pos: session.Pos{Line: run.Last().Line + 1}, Offset: run.Offset(),
			Message: "the compressed stream breaks off here: the client can't read the file at all", Source: "the part before the break",
		}
		if run.Records() == 0 {
			f.Fix, f.Source = NoFix, ""
		}
		run.Report(f)
	default:
		return err
	}
	return nil
}

// settled settles what could not be known before the end: which findings still count.
func settled(run *check.Run, checkers []check.Checker) *Result {
	found := settle(run, checkers)
	slices.SortStableFunc(found, func(a, b Finding) int {
		switch {
		case a.Pos.Less(b.Pos):
			return -1
		case b.Pos.Less(a.Pos):
			return 1
		}
		return 0
	})
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

// settle turns losses in a part of the history that a compaction or a rollback has removed into notes.
func settle(run *check.Run, checkers []check.Checker) []Finding {
	history := run.History()
	found := run.Findings()
	kept := found[:0]
	for _, f := range found {
		for _, c := range checkers {
			if s, ok := c.(check.Settler); ok {
				s.Settle(&f)
			}
		}
		if !f.Framing && (f.Rule.Family == "calls" || f.Rule.Family == "items") && history.RolledBack(f.Pos) {
			continue // whatever a rolled-back turn holds is no damage
		}
		if (f.Impact == Loses || f.Impact == Rejects) && !f.Rule.Always && !f.More && !sent(history, &f) {
			f.Impact, f.Edits, f.Lost, f.Unseen = Notes, nil, 0, 0
			if !f.Framing { // the normalizer mends its own
				f.Fix, f.Source = NoFix, ""
			}
			f.Message += " (in a part of the history that is no longer sent)"
		}
		if f.Through > f.Pos.Line {
			f.Message += fmt.Sprintf("; so are the lines behind it, up to line %d", f.Through)
		}
		kept = append(kept, f)
	}
	return kept
}

// sent says whether what a finding is about is still sent to the model. A fault of a line's framing is about all records on it.
func sent(history check.History, f *Finding) bool {
	return history.Counts(f.Pos) || f.Framing && history.Counts(session.Pos{Line: f.Pos.Line, Part: math.MaxInt})
}
