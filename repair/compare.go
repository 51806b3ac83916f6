package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/source"
)

// comparison reads a session, and the text that several passes have made of it, side by side.
type comparison struct {
	output
	was side
	is  side
	by  []change // the passes' changes that are not part of a hunk yet, sorted by line
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
		end := s.line.Offset + int64(len(s.line.Raw))
		if s.line.Terminated {
			end++
		}
		s.ended, s.line = true, jsonl.Line{Number: s.line.Number + 1, Offset: end}
		return nil
	}
	s.line = line
	return err
}

// write writes the text and compares it with the session: which lines are untouched, and what replaces the others. All lines
// that are not untouched are set aside. The result has what the report needs.
func (s *settled) write(ctx context.Context, src *source.Source, to, aside io.Writer) (*output, error) {
	was, err := src.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer was.Close()
	is, err := s.text.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer is.Close()
	slices.SortStableFunc(s.changes, func(a, b change) int { return int(a.Line - b.Line) })
	enc, text := normalize.Text(was)
	c := &comparison{output: output{Aside: aside}, was: side{lines: jsonl.NewReader(text)}, is: side{lines: jsonl.NewReader(is)}, by: s.changes}
	c.begin(to)
	c.Totals.Read = s.read
	if enc != normalize.UTF8 {
		c.differ()
	}
	err = errors.Join(c.was.next(), c.is.next())
	for i := 0; i < len(s.pieces) && err == nil; i++ {
		if err = c.hunk(s.pieces[i].from, s.pieces[i].copied); err == nil {
			err = c.piece(ctx, s.pieces[i])
		}
	}
	if err == nil {
		err = c.hunk(math.MaxInt64, math.MaxInt64)
	}
	if err != nil {
		return nil, err
	}
	return &c.output, c.finish()
}

// piece goes through lines that are the same on both sides, unless they are tied.
func (c *comparison) piece(ctx context.Context, p piece) error {
	for i := range p.n {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		was, is := c.was.line, c.is.line
		var err error
		switch {
		case bytes.Equal(was.Raw, is.Raw):
			c.Totals.Untouched++
			if err = c.stays(was.Number, was.Offset, 1, is.Raw, was.Terminated && is.Terminated); is.Terminated && !was.Terminated {
				c.diverge()
			}
		case p.tied:
			err = c.follows(was.Number, is.Raw, is.Terminated)
			c.renumbered.add(is.Number)
		default:
			return fmt.Errorf("%w: line %d changed, which no edit touched", ErrVerify, was.Number)
		}
		if err := errors.Join(err, c.was.next(), c.is.next()); err != nil {
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
		ch.Before.show(c.was.line.Raw)
		if len(bytes.Trim(c.was.line.Raw, "\x00 \t\r")) > 0 {
			gone++
			if err := keepAside(c.Aside, c.was.line.Raw, c.was.line.Number, c.was.line.Offset); err != nil {
				return err
			}
		}
		if err := c.was.next(); err != nil {
			return err
		}
	}
	for !c.is.ended && c.is.line.Number < is {
		came++
		ch.After.show(c.is.line.Raw)
		if err := errors.Join(c.puts(c.is.line.Raw, c.is.line.Terminated), c.is.next()); err != nil {
			return err
		}
	}
	edited := min(gone, came)
	c.Totals.Edited += edited
	c.Totals.Added += came - edited
	c.Totals.SetAside += gone - edited
	c.name(&ch)
	if ch.Before.count()+ch.After.count() > 0 {
		c.Changes = append(c.Changes, ch)
	}
	return nil
}

// name adds the findings by which a change was made: those of the passes' changes up to its end.
func (c *comparison) name(ch *change) {
	for len(c.by) > 0 && (c.was.ended || c.by[0].Line <= c.was.line.Number) {
		for _, f := range c.by[0].By {
			ch.add(f)
			ch.found(f, c.by[0].lines[f])
		}
		c.by = c.by[1:]
	}
}
