package repair

import (
	"bytes"
	"fmt"
	"io"

	"github.com/hist-cli/hist/internal/session"
)

// setAside drops a line that can't be read.
func (r *rewrite) setAside(rec *session.Record) error {
	c := r.change(rec, nil)
	c.Before.show(rec.Raw)
	if rec.Nothing() && !rec.Zeros {
		r.Totals.Edited++
		return nil
	}
	r.links.Remove(rec.Raw)
	r.Totals.SetAside++
	return r.aside(rec)
}

// aside keeps the bytes that leave the session: of a piece that can't be read its own bytes, otherwise the whole line that
// the record is on, once for all its records.
func (r *rewrite) aside(rec *session.Record) error {
	if r.kept == rec.Pos.Line {
		return nil
	}
	if rec.Kind != session.Unreadable {
		r.kept = rec.Pos.Line
		return keepAside(r.Aside, rec.Original, rec.Pos.Line, rec.Offset)
	}
	at := r.piece.find(rec)
	return keepAside(r.Aside, rec.Raw, rec.Pos.Line, rec.Offset+int64(at))
}

// place is a place in a line of the session.
type place struct {
	line int64
	at   int  // bytes from the line's start
	lost bool // a piece was not found, so the ones behind it are not searched for
}

// find returns where in its line an unreadable piece begins, behind the piece found before. A piece from which NULs were
// removed as padding is not in the line as it is: then find returns where its search began, for this piece and all behind
// it, since each search goes through the whole line.
func (p *place) find(rec *session.Record) int {
	if p.line != rec.Pos.Line {
		*p = place{line: rec.Pos.Line}
	}
	n := -1
	if !p.lost {
		n = bytes.Index(rec.Original[p.at:], rec.Raw)
	}
	if n < 0 {
		p.lost = true
		return p.at
	}
	at := p.at + n
	p.at = at + len(rec.Raw)
	return at
}

// keepAside writes bytes of a session under a line that says where they were. If to is nil it does nothing.
func keepAside(to io.Writer, raw []byte, line, offset int64) error {
	if to == nil {
		return nil
	}
	if _, err := fmt.Fprintf(to, "# line %d, byte %d, %d bytes\n", line, offset, len(raw)); err != nil {
		return err
	}
	if _, err := to.Write(raw); err != nil {
		return err
	}
	_, err := to.Write(newline)
	return err
}
