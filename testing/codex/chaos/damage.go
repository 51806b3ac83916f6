package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

// damaged damages a whole session so many times, each time in its home as it was, and measures what comes of it.
func (b bench) damaged(ctx context.Context, h *clienttest.Home, whole outcome, said []Element, times int) ([]*outcome, error) {
	healthy := h.Codex + ".healthy"
	defer os.RemoveAll(healthy)
	if err := clone(healthy, h.Codex); err != nil {
		return nil, err
	}
	damagedFile, of := whole.Path, ""
	if b.foreign != nil && whole.Parent != "" && whole.Plan.Seed%3 > 0 {
		damagedFile, of = whole.Parent, " in the file that it was forked from"
	}
	text, err := os.ReadFile(damagedFile)
	if err != nil {
		return nil, err
	}
	// What a healthy session does not send is not what the damage has cost.
	sane := whole
	if err := (bench{hist: b.hist}).measure(ctx, h, &sane, said); err != nil {
		return nil, err
	}
	var kept []Element
	for _, e := range sane.Said {
		if e.Before > 0 {
			kept = append(kept, e.Element)
		}
	}
	sane.Damage = "none"
	outs := []*outcome{&sane}
	rng := rand.New(rand.NewPCG(whole.Plan.Seed, 3))
	for i := range times {
		if err := clone(h.Codex, healthy); err != nil {
			return outs, err
		}
		broken, what := b.spoil(rng, text, i)
		if err := os.WriteFile(damagedFile, broken, 0o600); err != nil {
			return outs, err
		}
		out := whole
		out.Log = append([]string(nil), whole.Log...)
		out.Damage = what + of
		if b.foreign == nil {
			if err := further(ctx, rng, h, &out, text, i); err != nil {
				return outs, err
			}
		}
		if err := b.measure(ctx, h, &out, kept); err != nil {
			return outs, err
		}
		outs = append(outs, &out)
	}
	return outs, nil
}

// spoil damages a file in the ways that are asked for, one after the other.
func (b bench) spoil(rng *rand.Rand, text []byte, i int) (broken []byte, what string) {
	if b.foreign == nil {
		return spoil(rng, text, i)
	}
	return b.foreign[i%len(b.foreign)](newSpoiler(rng, text))
}

// damages are the ways in which spoil damages a file.
const damages = 7

// spoil damages a file in one of the ways that disks, programs and people have.
func spoil(rng *rand.Rand, text []byte, i int) (broken []byte, what string) {
	s := newSpoiler(rng, text)
	switch i % damages {
	case 0:
		n := s.at()
		return s.text[:n], fmt.Sprintf("cut at %d of %d", n, len(text))
	case 1:
		n := s.line()
		torn := s.lines[n][:s.below(len(s.lines[n])-1)]
		return join(s.lines[:n], [][]byte{torn}, s.lines[n+1:]), fmt.Sprintf("torn line %d after %d bytes, the next behind it", n+1, len(torn))
	case 2:
		n := s.line()
		torn := append(bytes.Clone(s.lines[n][:s.below(len(s.lines[n])-1)]), '\n')
		return join(s.lines[:n], [][]byte{torn}, s.lines[n+1:]), fmt.Sprintf("torn line %d after %d bytes", n+1, len(torn)-1)
	case 3:
		size := []int{512, 4096}[rng.IntN(2)]
		from := s.at() &^ (size - 1)
		to := min(from+size, len(text))
		clear(s.text[from:to])
		return s.text, fmt.Sprintf("zeros from %d to %d", from, to)
	case 4:
		n, k := s.run(5)
		return join(s.lines[:n], s.lines[k:]), fmt.Sprintf("lost lines %d to %d", n+1, k)
	case 5:
		n, k := s.run(8)
		return join(s.lines[:k], s.lines[n:k], s.lines[k:]), fmt.Sprintf("doubled lines %d to %d", n+1, k)
	}
	from := s.at()
	to := min(from+4096, len(text))
	return append(append(bytes.Clone(text[:to]), text[from:to]...), text[to:]...), fmt.Sprintf("doubled bytes %d to %d", from, to)
}
