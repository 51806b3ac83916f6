package repair

import "github.com/hist-cli/hist/internal/sum"

// proof is computed over the untouched lines while they are copied.
type proof struct {
	Hash string // SHA-256 over all of them in their order, each with its newline, hexadecimal

	tee *sum.Tee // hashes the whole copy; nil if nothing does
	sum *sum.Sum // nil as long as the copy holds only untouched lines: then tee's sum is the same
}

func newProof(tee *sum.Tee) proof {
	p := proof{tee: tee}
	if tee == nil {
		p.sum = sum.New()
	}
	return p
}

// lines adds whole untouched lines.
func (p *proof) lines(lines []byte) {
	if p.sum != nil {
		p.sum.Write(lines)
	}
}

// line adds one untouched line.
func (p *proof) line(line []byte) {
	if p.sum != nil {
		p.sum.Write(line)
		p.sum.Write(newline)
	}
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
