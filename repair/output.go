package repair

import (
	"hash/maphash"
	"io"

	"github.com/hist-cli/hist/internal/source"
)

// output is a copy of a session as it is written: pieces of the session, and lines that are not the session's between them. All that is
// said of a copy is told from it: where it begins to differ, which lines are untouched, and what proves that.
type output struct {
	// Aside receives the bytes that leave the session, with their places; nil drops them (a dry run).
	Aside io.Writer
	// Differs, if not nil, is called once: when the copy begins to differ from the session, or at its end if it never does.
	// same is the sum of the first size bytes, which both are known to have in common.
	Differs func(same *source.Sum, size int64)

	Changes []change
	Totals  Totals
	Proof   string // SHA-256 over all untouched lines in their order, each with its newline, hexadecimal

	to         io.Writer
	tee        *source.Tee // what to is, if it hashes; else nil
	err        error
	bytes      int64
	lines      int64
	open       bool // the last line has no newline yet: it gets one if another line follows
	pieces     pieces
	untouched  []extent // where the bytes of the pieces that are not tied are in the copy
	renumbered span
	sum        *source.Sum // of the untouched lines; nil as long as the copy holds no other: then tee's is the same
	quick      quickStream // of the untouched lines as they are in the copy
	differs    bool        // the copy differs from the session
	from       int64       // from this byte on, in both
}

// extent is the bytes of a file from one offset up to another.
type extent struct{ from, to int64 }

// span is a range of lines of the copy.
type span struct{ count, first, last int64 }

func (s *span) add(line int64) {
	if s.count == 0 {
		s.first = line
	}
	s.count++
	s.last = line
}

var newline = []byte{'\n'}

// begin says where the copy goes. If that is a source.Tee to which nothing has been written, its sum is also used for what the copy has
// in common with the session, so that those bytes are hashed once.
func (o *output) begin(to io.Writer) {
	o.to, o.quick.Seed = to, maphash.MakeSeed()
	if o.tee, _ = to.(*source.Tee); o.tee == nil {
		o.sum = source.NewSum()
	}
}

// stays writes n untouched lines, which are the session's from a line and an offset on. terminated says whether a newline follows them
// there.
func (o *output) stays(line, offset int64, n uint32, raw []byte, terminated bool) error {
	if o.open {
		o.diverge()
	} else if offset != o.bytes {
		o.differ()
	}
	at := extent{o.bytes, o.bytes + int64(len(raw))}
	o.quick.Write(raw)
	if terminated {
		o.quick.Write(newline)
		at.to++
	}
	if o.sum != nil {
		o.sum.Write(raw)
		o.sum.Write(newline)
	}
	o.pieces.add(piece{copied: o.lines + 1, from: line, n: n})
	if k := len(o.untouched) - 1; k >= 0 && o.untouched[k].to == at.from {
		o.untouched[k].to = at.to
	} else {
		o.untouched = append(o.untouched, at)
	}
	return o.write(int64(n), raw, terminated)
}

// follows writes a line of the session of which only what ties it to others has changed.
func (o *output) follows(line int64, text []byte, terminated bool) error {
	o.diverge()
	o.pieces.add(piece{copied: o.lines + 1, from: line, n: 1, tied: true})
	return o.write(1, text, terminated)
}

// puts writes a line that is not the session's.
func (o *output) puts(text []byte, terminated bool) error {
	o.diverge()
	return o.write(1, text, terminated)
}

// differ notes that the copy differs from the session from here on; only the first call counts.
func (o *output) differ() {
	if o.differs {
		return
	}
	o.differs, o.from = true, o.bytes
	switch {
	case o.Differs == nil:
	case o.tee == nil:
		o.Differs(source.NewSum(), 0)
	default:
		o.Differs(o.tee.Sum.Fork(), o.bytes)
	}
}

// touched ends what the sum of the copy and that of its untouched lines have in common.
func (o *output) touched() {
	if o.sum == nil {
		if o.sum = o.tee.Sum.Fork(); o.open {
			o.sum.Write(newline)
		}
	}
}

// diverge makes ready for what is not the session's: the last line gets the newline that it lacked there.
func (o *output) diverge() {
	o.differ()
	o.touched()
	if o.open {
		o.put(newline)
		o.open = false
	}
}

func (o *output) write(lines int64, text []byte, terminated bool) error {
	o.put(text)
	if o.open = !terminated; terminated {
		o.put(newline)
	}
	o.lines += lines
	return o.err
}

func (o *output) put(b []byte) {
	if o.err == nil {
		var n int
		n, o.err = o.to.Write(b)
		o.bytes += int64(n)
	}
}

// finish ends the copy.
func (o *output) finish() error {
	o.differ()
	o.touched()
	o.Proof = o.sum.Hex()
	return o.err
}

// checker hashes the untouched lines of a copy that is read.
func (o *output) checker() *checker {
	return &checker{at: o.untouched, hash: quickStream{Seed: o.quick.Seed}, want: o.quick.Sum64()}
}

type checker struct {
	at   []extent // that have not been passed yet
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
