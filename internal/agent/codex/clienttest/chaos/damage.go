package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/hist-cli/hist/internal/agent/codex/clienttest"
)

// damaged damages a whole session so many times, each time in its home as it was, and measures what comes of it.
func (b bench) damaged(ctx context.Context, h *clienttest.Home, whole outcome, said []Element, times int) ([]*outcome, error) {
	healthy := h.Codex + ".healthy"
	defer os.RemoveAll(healthy)
	if err := clone(healthy, h.Codex); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(whole.Path)
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
		broken, what := spoil(rng, text, i)
		if err := os.WriteFile(whole.Path, broken, 0o600); err != nil {
			return outs, err
		}
		out := whole
		out.Log = append([]string(nil), whole.Log...)
		out.Damage = what
		if err := further(ctx, rng, h, &out, text, i); err != nil {
			return outs, err
		}
		if err := b.measure(ctx, h, &out, kept); err != nil {
			return outs, err
		}
		outs = append(outs, &out)
	}
	return outs, nil
}

// damages are the ways in which spoil damages a file.
const damages = 7

// spoil damages a file in one of the ways that disks, programs and people have.
func spoil(rng *rand.Rand, text []byte, i int) (broken []byte, what string) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	below := func(n int) int { return rng.IntN(max(1, n)) }    // 0 of nothing
	first := len(lines[0])                                     // the header is seldom what is hit
	at := func() int { return first + below(len(text)-first) } // a byte
	line := func() int { return 1 + below(len(lines)-1) }
	join := func(parts ...[][]byte) []byte {
		var all [][]byte
		for _, p := range parts {
			all = append(all, p...)
		}
		return bytes.Join(all, nil)
	}
	broken = bytes.Clone(text)
	switch i % damages {
	case 0:
		n := at()
		return broken[:n], fmt.Sprintf("cut at %d of %d", n, len(text))
	case 1:
		n := line()
		torn := lines[n][:below(len(lines[n])-1)]
		return join(lines[:n], [][]byte{torn}, lines[n+1:]), fmt.Sprintf("torn line %d after %d bytes, the next behind it", n+1, len(torn))
	case 2:
		n := line()
		torn := append(bytes.Clone(lines[n][:below(len(lines[n])-1)]), '\n')
		return join(lines[:n], [][]byte{torn}, lines[n+1:]), fmt.Sprintf("torn line %d after %d bytes", n+1, len(torn)-1)
	case 3:
		size := []int{512, 4096}[rng.IntN(2)]
		from := at() &^ (size - 1)
		to := min(from+size, len(text))
		for j := from; j < to; j++ {
			broken[j] = 0
		}
		return broken, fmt.Sprintf("zeros from %d to %d", from, to)
	case 4:
		n := line()
		k := min(n+1+rng.IntN(5), len(lines))
		return join(lines[:n], lines[k:]), fmt.Sprintf("lost lines %d to %d", n+1, k)
	case 5:
		n := line()
		k := min(n+1+rng.IntN(8), len(lines))
		return join(lines[:k], lines[n:k], lines[k:]), fmt.Sprintf("doubled lines %d to %d", n+1, k)
	}
	from := at()
	to := min(from+4096, len(text))
	return append(append(bytes.Clone(text[:to]), text[from:to]...), text[to:]...), fmt.Sprintf("doubled bytes %d to %d", from, to)
}
