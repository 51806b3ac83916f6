package repair

import (
	"math"
	"sort"
)

// piece is n lines that begin at line copied of a copy and at line from of its session: the same bytes or, if they are tied, the same
// but for what agent.Links changes in them.
type piece struct {
	copied, from int64
	n            uint32 // there may be a piece for each record
	tied         bool
}

// copiedEnd is the line of the copy behind a piece, fromEnd that of the session.
func (p *piece) copiedEnd() int64 { return p.copied + int64(p.n) }
func (p *piece) fromEnd() int64   { return p.from + int64(p.n) }

// pieces are what a copy has of its session, sorted in both texts.
type pieces []piece

func (m *pieces) add(p piece) {
	if k := len(*m); k > 0 {
		last := &(*m)[k-1]
		if last.tied == p.tied && last.copiedEnd() == p.copied && last.fromEnd() == p.from && p.n <= math.MaxUint32-last.n {
			last.n += p.n
			return
		}
	}
	*m = append(*m, p)
}

// then composes the pieces of two passes: m are those of a copy, next those of a copy of that copy. The result are the second copy's
// pieces of the session.
func (m pieces) then(next pieces) (out pieces) {
	i := 0
	for _, p := range next {
		for i < len(m) && m[i].copiedEnd() <= p.from {
			i++
		}
		for _, was := range m[i:] {
			from, to := max(p.from, was.copied), min(p.fromEnd(), was.copiedEnd())
			if from >= to {
				break
			}
			out.add(piece{copied: p.copied + from - p.from, from: was.from + from - was.copied, n: uint32(to - from), tied: p.tied || was.tied})
		}
	}
	return out
}

// copiedUpTo is how many pieces begin up to a line of the copy.
func (m pieces) copiedUpTo(line int64) int {
	return sort.Search(len(m), func(i int) bool { return m[i].copied > line })
}

// upTo is how many pieces begin up to a line of the session.
func (m pieces) upTo(line int64) int {
	return sort.Search(len(m), func(i int) bool { return m[i].from > line })
}

// session returns the line of the session that a line of the copy is or, if it is new, the one that it comes after or
// replaces.
func (m pieces) session(line int64) int64 {
	i := m.copiedUpTo(line)
	if i == 0 {
		return 1
	}
	p := m[i-1]
	return p.from + min(line-p.copied, int64(p.n))
}

// isCopied says whether a line of the copy is one of the session, the same except perhaps for its ordinal.
func (m pieces) isCopied(line int64) bool {
	i := m.copiedUpTo(line)
	return i > 0 && line < m[i-1].copiedEnd()
}

// holds says whether a line of the session is in the copy, the same except perhaps for its ordinal.
func (m pieces) holds(line int64) bool {
	i := m.upTo(line)
	return i > 0 && line < m[i-1].fromEnd()
}

// behind is the first line of the stretch, between lines that the copy has as they are, that a line of the session is in.
func (m pieces) behind(line int64) int64 {
	i := m.upTo(line)
	if i == 0 {
		return 1
	}
	return m[i-1].fromEnd()
}

// gap are the lines of session and copy around a line of the copy that are not the same on both sides.
func (m pieces) gap(line int64) (from, n, copied, nCopied int64) {
	from, copied, n, nCopied = 1, 1, math.MaxInt64, math.MaxInt64
	i := m.copiedUpTo(line)
	if i > 0 {
		from, copied = m[i-1].fromEnd(), m[i-1].copiedEnd()
	}
	if i < len(m) {
		n, nCopied = m[i].from-from, m[i].copied-copied
	}
	return from, n, copied, nCopied
}
