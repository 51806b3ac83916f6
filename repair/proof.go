package repair

import (
	"hash/maphash"

	"github.com/hist-cli/hist/internal/source"
)

// proof is computed over the untouched lines while they are copied.
type proof struct {
	Hash string // SHA-256 over all of them in their order, each with its newline, hexadecimal

	tee   *source.Tee // hashes the whole copy; nil if nothing does
	sum   *source.Sum // nil as long as the copy holds only untouched lines: then tee's sum is the same
	at    []extent    // where the untouched lines are in the copy
	quick quickStream // hash of the bytes at these places
}

// extent is the bytes of a file from one offset up to another.
type extent struct{ from, to int64 }

func newProof(tee *source.Tee) proof {
	p := proof{tee: tee, quick: quickStream{Seed: maphash.MakeSeed()}}
	if tee == nil {
		p.sum = source.NewSum()
	}
	return p
}

// lines adds whole untouched lines, which are in the copy from an offset on.
func (p *proof) lines(from int64, lines []byte) {
	if p.sum != nil {
		p.sum.Write(lines)
	}
	p.stand(from, lines)
}

// line adds one untouched line at an offset, with its newline unless it is the last one.
func (p *proof) line(from int64, line []byte, ended bool) {
	if p.sum != nil {
		p.sum.Write(line)
		p.sum.Write(newline)
	}
	p.stand(from, line)
	if ended {
		p.stand(from+int64(len(line)), newline)
	}
}

func (p *proof) stand(from int64, b []byte) {
	p.quick.Write(b)
	to := from + int64(len(b))
	if n := len(p.at); n > 0 && p.at[n-1].to == from {
		p.at[n-1].to = to
		return
	}
	p.at = append(p.at, extent{from, to})
}

// touched must be called before anything other than an untouched line is written; open says that the last line has no newline
// yet.
func (p *proof) touched(open bool) {
	if p.sum != nil {
		return
	}
	p.sum = p.tee.Sum.Fork()
	if open {
		p.sum.Write(newline)
	}
}

// finish ends the proof; open is as for touched.
func (p *proof) finish(open bool) {
	p.touched(open)
	p.Hash = p.sum.Hex()
}

// checker hashes the same places of a copy that is read.
func (p *proof) checker() *checker {
	return &checker{at: p.at, hash: quickStream{Seed: p.quick.Seed}, want: p.quick.Sum64()}
}

type checker struct {
	at   []extent // the places that have not been reached yet
	pos  int64
	hash quickStream
	want uint64
}

// same says whether what was read at these places is what was written there.
func (c *checker) same() bool { return c.hash.Sum64() == c.want }

func (c *checker) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		for len(c.at) > 0 && c.at[0].to <= c.pos {
			c.at = c.at[1:]
		}
		k := len(b)
		switch {
		case len(c.at) == 0:
		case c.pos < c.at[0].from:
			k = int(min(int64(k), c.at[0].from-c.pos))
		default:
			k = int(min(int64(k), c.at[0].to-c.pos))
			c.hash.Write(b[:k])
		}
		b, c.pos = b[k:], c.pos+int64(k)
	}
	return n, nil
}
