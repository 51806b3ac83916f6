package repair

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/source"
)

// comparison reads a session, and the text that several passes have made of it, side by side.
type comparison struct {
	rw     *rewrite // takes the results: totals, changes and proof
	closed []io.Closer
	was    side
	is     side
	ties   agent.Links
	by     []change // the passes' changes that are not part of a hunk yet, sorted by line
}

// side is one of the two texts.
type side struct {
	lines *jsonl.Reader
	line  jsonl.Line // in hand
	ended bool
}

func (s *side) next() error {
	line, err := s.lines.Next()
	if errors.Is(err, io.EOF) {
		s.ended = true
		s.line = jsonl.Line{Number: s.line.Number + 1, Offset: s.end()}
		return nil
	}
	s.line = line
	return err
}

// end is the offset behind the line in hand.
func (s *side) end() int64 {
	end := s.line.Offset + int64(len(s.line.Raw))
	if s.line.Terminated {
		end++
	}
	return end
}

func newComparison(ctx context.Context, s *settled, who *agent.Agent, src *source.Source, to, aside io.Writer) (*comparison, error) {
	was, err := src.Reader(ctx)
	if err != nil {
		return nil, err
	}
	is, err := s.text.Reader(ctx)
	if err != nil {
		was.Close()
		return nil, err
	}
	enc, text := normalize.Text(was)
	rw := &rewrite{Aside: aside, out: &counter{w: to}}
	rw.tee, _ = to.(*source.Tee)
	rw.Proof = newProof(rw.tee)
	rw.Totals.Read = s.read
	c := &comparison{
		rw: rw, ties: who.NewLinks(s.header, ""), closed: []io.Closer{was, is}, by: s.changes,
		was: side{lines: jsonl.NewReader(text)}, is: side{lines: jsonl.NewReader(is)},
	}
	if enc != normalize.UTF8 {
		rw.differ(0)
	}
	return c, errors.Join(c.was.next(), c.is.next())
}

func (c *comparison) close() {
	for _, r := range c.closed {
		r.Close()
	}
}

// put writes the line of the copy that is in hand.
func (c *comparison) put() error {
	return c.rw.write(c.is.line.Raw, c.is.line.Terminated)
}

// same goes through n lines that should be the same on both sides, except for their ordinals.
func (c *comparison) same(ctx context.Context, n int64) error {
	for i := range n {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		was, is := c.was.line, c.is.line
		if bytes.Equal(was.Raw, is.Raw) {
			c.rw.Totals.Untouched++
			c.rw.Proof.line(is.Offset, is.Raw, is.Terminated)
			if was.Terminated != is.Terminated {
				c.rw.differ(c.was.end())
			}
		} else {
			if !c.ties.Same(was.Raw, is.Raw) {
				if err := c.hunk(was.Number+1, is.Number+1); err != nil {
					return err
				}
				continue
			}
			c.rw.differ(was.Offset)
			c.rw.Proof.touched(c.rw.out.open)
			c.rw.tied.add(is.Number)
		}
		if err := errors.Join(c.put(), c.was.next(), c.is.next()); err != nil {
			return err
		}
	}
	return nil
}

// hunk goes through the lines of the session before line was, and those of the copy before line is: the former have become
// the latter.
func (c *comparison) hunk(was, is int64) error {
	from, to := c.was.line, c.is.line
	ch := change{Line: from.Number, Offset: from.Offset, AfterLine: to.Number, AfterAt: to.Offset}
	var gone, came int64
	for !c.was.ended && c.was.line.Number < was {
		c.rw.differ(c.was.line.Offset)
		ch.Before.show(c.was.line.Raw)
		if len(bytes.Trim(c.was.line.Raw, "\x00 \t\r")) > 0 {
			gone++
			if err := keepAside(c.rw.Aside, c.was.line.Raw, c.was.line.Number, c.was.line.Offset); err != nil {
				return err
			}
		}
		if err := c.was.next(); err != nil {
			return err
		}
	}
	for !c.is.ended && c.is.line.Number < is {
		c.rw.differ(c.was.line.Offset)
		came++
		ch.After.show(c.is.line.Raw)
		c.rw.Proof.touched(c.rw.out.open)
		if err := c.put(); err != nil {
			return err
		}
		if err := c.is.next(); err != nil {
			return err
		}
	}
	edited := min(gone, came)
	c.rw.Totals.Edited += edited
	c.rw.Totals.Added += came - edited
	c.rw.Totals.SetAside += gone - edited
	c.name(&ch)
	if ch.Before.count()+ch.After.count() > 0 {
		c.rw.Changes = append(c.rw.Changes, ch)
	}
	return nil
}

// name adds the findings by which a change was made: those of the passes' changes up to its end.
func (c *comparison) name(ch *change) {
	for len(c.by) > 0 && (c.was.ended || c.by[0].Line <= c.was.line.Number) {
		for _, f := range c.by[0].By {
			ch.add(f)
			ch.found(f, c.by[0].foundLine(f))
		}
		c.by = c.by[1:]
	}
}

// end goes through what is left of both sides.
func (c *comparison) end() error {
	if err := c.hunk(math.MaxInt64, math.MaxInt64); err != nil {
		return err
	}
	c.rw.Proof.finish(c.rw.out.open)
	return c.rw.out.err
}
