package normalize

import (
	"bufio"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// wide gives as UTF-8 what a program has written as UTF-16. A client that had the file open appends lines of UTF-8 to it, so each
// line is read as what it begins as.
type wide struct {
	r     *bufio.Reader
	big   bool // the byte order
	plain bool // this line is UTF-8
	start bool // the next character begins a line
	room  []byte
	out   []byte // of room, what was not yet read
	err   error
}

func newWide(r io.Reader, big bool) *wide {
	return &wide{r: bufio.NewReaderSize(r, 64<<10), big: big}
}

func (w *wide) Read(p []byte) (int, error) {
	for len(w.out) == 0 {
		if w.err != nil {
			return 0, w.err
		}
		w.fill()
	}
	n := copy(p, w.out)
	w.out = w.out[n:]
	return n, nil
}

// fill takes a line, or a part of it.
func (w *wide) fill() {
	w.room = w.room[:0]
	if w.start {
		w.look()
	}
	if w.start = false; w.plain {
		part, err := w.r.ReadSlice('\n')
		if w.room = append(w.room, part...); !errors.Is(err, bufio.ErrBufferFull) {
			w.err, w.start = err, err == nil
		}
	}
	for !w.plain && !w.start && w.err == nil && len(w.room) < 32<<10 {
		c := w.next()
		if w.err == nil {
			w.room = utf8.AppendRune(w.room, c)
		}
		w.start = c == '\n'
	}
	w.out = w.room
}

// look finds out how the line is written that begins here. Its first character is one of ASCII, unless it is damaged.
func (w *wide) look() {
	b, _ := w.r.Peek(2)
	if len(b) < 2 {
		return
	}
	first, zero := b[0], b[1]
	if w.big {
		first, zero = zero, first
	}
	switch {
	case zero == 0 && first != 0:
		w.plain = false
	case w.unit(b) == '\ufeff':
		w.plain = false
		w.r.Discard(2) //nolint:errcheck // they were seen
	case b[0] < utf8.RuneSelf && b[0] != 0 && b[1] < utf8.RuneSelf && b[1] != 0:
		w.plain = true
	}
}

// next is the next character of UTF-16.
func (w *wide) next() rune {
	c, ok := w.take()
	if !ok || !utf16.IsSurrogate(c) {
		return c
	}
	if b, _ := w.r.Peek(2); len(b) == 2 {
		if pair := utf16.DecodeRune(c, w.unit(b)); pair != utf8.RuneError {
			w.r.Discard(2) //nolint:errcheck // they were seen
			return pair
		}
	}
	return utf8.RuneError
}

// take is the next unit of UTF-16; at the end of the file, err is set.
func (w *wide) take() (rune, bool) {
	b, err := w.r.Peek(2)
	if len(b) == 2 {
		c := w.unit(b)
		w.r.Discard(2) //nolint:errcheck // they were seen
		return c, true
	}
	if len(b) == 1 { // half a unit
		w.r.Discard(1) //nolint:errcheck // it was seen
		return utf8.RuneError, false
	}
	w.err = err
	return 0, false
}

func (w *wide) unit(b []byte) rune {
	if w.big {
		return rune(b[0])<<8 | rune(b[1])
	}
	return rune(b[1])<<8 | rune(b[0])
}
