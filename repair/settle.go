package repair

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// Mending can reveal other damage: once a copy is gone, two items with one id are neighbours; once a line is closed, its call
// has no output. The copy is then linted and mended again, until nothing is left to mend.

// maxPasses is how many passes are tried. Random damage has needed three at most.
const maxPasses = 24

// pass is one pass: a text, what lint found in it, and the plan for it.
type pass struct {
	src   *source.Source
	found *lint.Result
	plan  *plan
}

func (p pass) rewrite(w *job, aside io.Writer) *rewrite {
	who := w.agent
	return &rewrite{
		Plan: p.plan, From: p.src, Agent: who, Target: w.Lint.For[who.Name], Session: p.found.Summary.Header, output: output{Aside: aside},
		evidence: &evidenceReader{dec: who.Decoder, src: p.src, enc: p.found.Summary.Encoding},
	}
}

// errInherits is the ErrVerify of a copy that inherits records from other sessions. Whether they still have them is checked
// between two passes, so such a copy always takes more than one.
var errInherits = fmt.Errorf("%w: what it inherits was not compared with the sessions that hold it", ErrVerify)

// compared returns errInherits if what the copy inherits has not been compared yet.
func (w *job) compared() error {
	if w.passes == nil && w.Home != "" && w.copied.Summary.Header.BaseThread != "" {
		return errInherits
	}
	return nil
}

// settled is the session after the passes so far.
type settled struct {
	text    *source.Source
	pieces  pieces   // what the text has of the session
	changes []change // of all passes, with the lines of the session
	read    int64    // records
}

func (s *settled) close() {
	if s != nil && s.text != nil {
		s.text.Close()
	}
}

// attempt makes a copy in one pass or, if that leaves something to mend, in as many as it takes. do makes and verifies the
// copy.
func (w *job) attempt(ctx context.Context, spoolDir string, do func() error) error {
	err := do()
	if w.op != nil {
		return err // its changes are made in one pass, and nothing is mended
	}
	if left := new(unsettledError); !errors.As(err, &left) && !errors.Is(err, errInherits) {
		return err
	}
	if err := w.settle(ctx, spoolDir); err != nil {
		return err
	}
	return do()
}

// settle repeats lint and repair until nothing is left to mend, and combines the plans of all passes for the report.
func (w *job) settle(ctx context.Context, spoolDir string) (err error) {
	var s settled
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	p := pass{w.Source, w.found, w.plan}
	var mended []*lint.Finding
	for n := 0; p.plan == w.plan || fixable(p.plan) != nil; n++ {
		if n == maxPasses {
			return &unsettledError{fixable(p.plan)}
		}
		if err := s.add(ctx, p.rewrite(w, nil), spoolDir); err != nil {
			return err
		}
		mended = appendMended(mended, p.plan.Mend)
		found, err := w.lintOf(ctx, s.text)
		if err != nil {
			return err
		}
		if found.Summary.Records == 0 {
			return errNothing
		}
		p = pass{s.text, found, choose(found.Findings, w.Choice)}
		found.Findings = nil // the plan has its own
		if fixable(p.plan) == nil && w.Home != "" {
			if err := w.lintWithoutHome(ctx, &p); err != nil {
				return err
			}
		}
	}
	if w.effectiveMode() == NewThread {
		rw := pass{p.src, p.found, choose(nil, w.Choice)}.rewrite(w, nil)
		w.reidentify(rw, p.found)
		if err := s.add(ctx, rw, spoolDir); err != nil {
			return err
		}
	}
	for _, f := range p.plan.Rest {
		f.Pos.Line = s.pieces.session(f.Pos.Line)
	}
	w.plan.Mend, w.plan.Rest, w.passes = mended, append(besideIn(w.plan.Rest, p.plan.Rest), p.plan.Rest...), &s
	return nil
}

// besideIn are the findings of before about what lies beside the session. The text that a pass leaves is not compared with
// that, so they are missing from rest, the findings about that text, although they are still true.
func besideIn(before, rest []*lint.Finding) (list []*lint.Finding) {
	for _, f := range before {
		again := func(r *lint.Finding) bool { return r.Rule == f.Rule && r.Message == f.Message }
		if f.Rule.Home && f.Pos.Line == 0 && !slices.ContainsFunc(rest, again) {
			list = append(list, f)
		}
	}
	return list
}

// appendMended adds the findings that a pass has mended, without those that only count others. The edits are made: nobody asks for them
// again, and they are most of what a finding holds.
func appendMended(list, mend []*lint.Finding) []*lint.Finding {
	for _, f := range mend {
		if f.Edits = nil; !f.More || f.Framing {
			list = append(list, f)
		}
	}
	return list
}

// lintWithoutHome checks that a text of a home has nothing left to mend for somebody without that, either: records that the home
// keeps, and that this repair does not restore, may hide damage. If there is something, p becomes the pass that mends it.
func (w *job) lintWithoutHome(ctx context.Context, p *pass) error {
	opts := w.lintOptions()
	opts.Home = ""
	found, err := lint.Source(ctx, p.src, opts)
	if err != nil {
		return err
	}
	if plan := choose(found.Findings, w.Choice); fixable(plan) != nil {
		p.found, p.plan = found, plan
	}
	return nil
}

// add runs one more pass over the text of the one before.
func (s *settled) add(ctx context.Context, rw *rewrite, spoolDir string) error {
	pr, pw := io.Pipe()
	go func() {
		lines := bufio.NewWriterSize(pw, 1<<16)
		err := rw.Run(ctx, lines)
		pw.CloseWithError(cmp.Or(err, lines.Flush()))
	}()
	text, err := source.Spool(pr, spoolDir)
	pr.CloseWithError(err)
	first := s.text == nil
	s.close()
	if err != nil {
		return err
	}
	if s.text = text; first {
		s.pieces, s.changes, s.read = rw.pieces, rw.Changes, rw.Totals.Read
		return nil
	}
	for _, c := range rw.Changes {
		c.Line = s.pieces.session(c.Line)
		for _, f := range c.By {
			c.found(f, s.pieces.session(f.Pos.Line))
		}
		s.changes = append(s.changes, c)
	}
	s.pieces = s.pieces.then(rw.pieces)
	return nil
}
