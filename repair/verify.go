package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hist-cli/hist/internal/sum"
	"github.com/hist-cli/hist/lint"
)

// ErrVerify: the copy is not what the plan promised; nothing was published.
var ErrVerify = errors.New("the repaired copy failed its check")

// Proof is the hash over all untouched lines in their order, taken while they are copied, and which lines of the
// copy are not among them.
type Proof struct {
	Hash  string // SHA-256, hexadecimal
	sum   *sum.Sum
	lines []lineRange // touched lines of the copy
}

type lineRange struct{ first, last int64 }

func (p *Proof) untouched(line []byte) {
	p.block(line)
	p.block(newline)
}

func (p *Proof) block(lines []byte) {
	if p.sum == nil {
		p.sum = sum.New()
	}
	p.sum.Write(lines)
}

func (p *Proof) touched(line int64) {
	if n := len(p.lines); n > 0 && p.lines[n-1].last == line-1 {
		p.lines[n-1].last = line
		return
	}
	p.lines = append(p.lines, lineRange{line, line})
}

func (p *Proof) finish() {
	if p.sum == nil {
		p.sum = sum.New()
	}
	p.Hash = p.sum.Hex()
}

// lineHash hashes the untouched lines of a copy as it is read.
type lineHash struct {
	skip []lineRange
	sum  *sum.Sum
	line int64 // in hand, from 1
	some bool  // bytes of it have been seen
}

func (h *lineHash) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		part := b
		if i >= 0 {
			part = b[:i+1]
		}
		for len(h.skip) > 0 && h.skip[0].last < h.line {
			h.skip = h.skip[1:]
		}
		if len(h.skip) == 0 || h.line < h.skip[0].first {
			h.sum.Write(part)
		}
		h.some = i < 0
		if i >= 0 {
			h.line++
		}
		b = b[len(part):]
	}
	return n, nil
}

func (h *lineHash) hash() string {
	if h.some && (len(h.skip) == 0 || h.line < h.skip[0].first || h.line > h.skip[0].last) {
		h.sum.Write(newline)
	}
	return h.sum.Hex()
}

// Verify lints a copy and compares its untouched lines with the session's. It returns what lint found in the copy,
// and an ErrVerify if a finding is left that the plan's choice would mend, or if a line is not what it was.
func Verify(ctx context.Context, copied io.Reader, proof Proof, choice Choice, opts lint.Options) (*lint.Result, error) {
	h := &lineHash{skip: proof.lines, sum: sum.New(), line: 1}
	res, err := lint.Session(ctx, io.TeeReader(copied, h), opts)
	if err != nil {
		return nil, err
	}
	if res.Summary.Partial != nil {
		return nil, fmt.Errorf("%w: reading it back: %w", ErrVerify, res.Summary.Partial)
	}
	if got := h.hash(); got != proof.Hash {
		return nil, fmt.Errorf("%w: a line that no edit touched is not what it was", ErrVerify)
	}
	if err := nothingLeft(res, choice); err != nil {
		return nil, err
	}
	return res, nil
}

// nothingLeft is an ErrVerify if a copy, as lint sees it, still has what the choice would mend, or nothing else.
func nothingLeft(copied *lint.Result, choice Choice) error {
	if copied.Summary.Records == 0 {
		return fmt.Errorf("%w: nothing would be left of the session", ErrVerify)
	}
	again, err := Choose(copied.Findings, choice)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrVerify, err)
	}
	for i := range again.Mend {
		if f := &again.Mend[i]; f.Rename == "" && !f.Reproject {
			return fmt.Errorf("%w: line %d still has %s (%s); a first repair with --output and --rule of a single rule may leave less in the way",
				ErrVerify, f.Pos.Line, f.Rule.Name, f.Message)
		}
	}
	return nil
}
