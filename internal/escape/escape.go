// Package escape keeps characters that control a terminal, an editor or a browser, or that these do not show, out of what
// hist writes.
//
// In: text on its way to a stream. Out: the same text with such characters in another form. It is separate from package
// format because a relay of the shim needs it and has no time to initialise more than this. Never here: what is written, and
// to whom.
package escape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden says whether a character controls a terminal, an editor or a browser, or is not shown by it: control characters
// other than white space, characters that change the direction of text, unusual line ends, and those without a width in which
// text can be hidden that a model reads and nobody sees: tags above all. What joins letters and emoji is none of them.
func Hidden(r rune) bool {
	switch r {
	case '\n', '\t', '\r':
		return false
	case '\ufeff', '\u2028', '\u2029', '\u200b', '\u2060', '\u2061', '\u2062', '\u2063', '\u2064':
		return true
	}
	if r >= firstTag && r <= lastTag {
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// The characters of Unicode's block of tags.
const firstTag, lastTag = 0xE0000, 0xE007F

// JSON returns a writer in which hidden characters of JSON text are written as JSON escapes, which mean the same.
func JSON(w io.Writer) io.Writer {
	return &escaping{w: w, as: func(r rune) string {
		if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
			return fmt.Sprintf(`\u%04x\u%04x`, high, low)
		}
		return fmt.Sprintf(`\u%04x`, r)
	}}
}

// Line writes a value as one line of JSON.
func Line(w io.Writer, v any) error {
	enc := json.NewEncoder(JSON(w))
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// XML returns a writer in which hidden characters are written as references, which mean the same.
func XML(w io.Writer) io.Writer {
	return &escaping{w: w, as: func(r rune) string { return fmt.Sprintf("&#x%X;", r) }}
}

// HTML returns a writer in which a dot replaces each hidden character, because a browser interprets references, too.
func HTML(w io.Writer) io.Writer {
	return &escaping{w: w, as: func(rune) string { return "·" }}
}

// Terminal returns a writer in which a dot replaces each hidden character, except in what hist itself tells a terminal: colours, and to
// write a line anew. It is the last of two nets: who prints words of a session replaces its characters first.
func Terminal(w io.Writer) io.Writer {
	return &escaping{w: w, as: func(rune) string { return "·" }, own: ownSequence}
}

// ownSequence matches what hist tells a terminal.
var ownSequence = regexp.MustCompile(`^\x1b\[([0-9;]*m|K)`)

// escaping replaces hidden characters in what goes through it.
type escaping struct {
	w    io.Writer
	as   func(rune) string
	own  *regexp.Regexp // sequences that stay; they are written in one piece
	rest []byte         // the beginning of a character whose end has not come
	out  []byte         // reused
}

func (e *escaping) Write(b []byte) (int, error) {
	text := b
	if len(e.rest) > 0 {
		text = append(e.rest, b...)
		e.rest = nil
	}
	if !bytes.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || Hidden(r) }) {
		if _, err := e.w.Write(text); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	e.out = e.out[:0]
	for len(text) > 0 {
		if !utf8.FullRune(text) {
			e.rest = bytes.Clone(text)
			break
		}
		r, size := utf8.DecodeRune(text)
		if r == '\x1b' && e.own != nil {
			size = max(size, len(e.own.Find(text)))
		}
		if Hidden(r) && size == utf8.RuneLen(r) {
			e.out = append(e.out, e.as(r)...)
		} else {
			e.out = append(e.out, text[:size]...)
		}
		text = text[size:]
	}
	if _, err := e.w.Write(e.out); err != nil {
		return 0, err
	}
	return len(b), nil
}
