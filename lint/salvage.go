package lint

import (
	"bytes"
	"unicode/utf8"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// CutMark ends a text of which the rest was lost when its line was cut.
const CutMark = "\n[hist: the session file was cut here; the rest of this text is lost]"

// looksTorn says whether raw could be the start of a record rather than garbage.
func looksTorn(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == '{' && (len(raw) == 1 || bytes.IndexByte([]byte("\" \t"), raw[1]) >= 0)
}

// maxHeadBytes is how much longer, in bytes, what stands in front of the type may be in a record that was written again.
const maxHeadBytes = 1 << 10

var typeKey = []byte(`"type":`)

// repeats says whether whole begins with the record that torn is the start of: a write that failed and was repeated.
// The time stamps in front of the type may differ.
func repeats(torn, whole []byte) bool {
	whole = whole[:min(len(whole), len(torn)+maxHeadBytes)]
	i, j := bytes.Index(torn, typeKey), bytes.Index(whole, typeKey)
	return i >= 0 && j >= 0 && len(torn)-i > len(typeKey) && bytes.HasPrefix(whole[j:], torn[i:])
}

// closeTorn closes a record that was cut where nothing false is said by it: inside the text of an output or a
// message, which is marked as cut, or behind everything that the record needs. It returns nil if neither is so.
func (f *Framer) closeTorn(raw []byte) []byte {
	if !looksTorn(raw) {
		return nil
	}
	cut := walkTorn(raw)
	if cut.inText {
		text := append(trimPartial(raw), jsonl.AppendQuote(nil, CutMark)[1:]...)
		if closed := append(text, cut.closers...); f.honest(closed, true) {
			return closed
		}
	}
	if cut.member > 0 {
		if closed := append(bytes.Clone(raw[:cut.member]), cut.memberClosers...); f.honest(closed, false) {
			return closed
		}
	}
	return nil
}

// honest says whether a closed record stands for what was written. A text may be cut only where the decoder knows
// it for the words of an output or a message.
func (f *Framer) honest(closed []byte, text bool) bool {
	v := f.scanner.Scan(closed, f.spans)
	if v.Fault != jsonl.None || !v.Object || v.Surrogate >= 0 {
		return false
	}
	rec := session.Record{Raw: closed, Spans: f.spans}
	if !f.dec.Envelope(&rec) {
		return false
	}
	f.dec.Decode(&rec)
	if text {
		return f.dec.TextCut(&rec, bytes.LastIndex(closed, []byte(cutMarkQuoted)))
	}
	return f.dec.Complete(&rec)
}

var cutMarkQuoted = string(jsonl.AppendQuote(nil, CutMark)[1:])

// tornEnd is how a torn JSON text could be ended.
type tornEnd struct {
	inText        bool   // the cut is inside a string that is a value
	closers       []byte // what closes everything open, the string itself not counted
	member        int    // bytes up to the end of the last whole member or element; 0 if there is none
	memberClosers []byte // what closes what is open there
}

// walkTorn follows the brackets and strings of a JSON text that ends too early. It trusts what it reads: whether
// the closed result is JSON is for the scanner to say.
func walkTorn(raw []byte) tornEnd {
	var open []byte // closers, outermost first
	var end tornEnd
	value := false // the next string is a value: it stands behind a colon, or in an array
	depth := 0     // of what is open behind the last whole member: no more has been closed since
	whole := func(at int) { end.member, depth = at, len(open) }
	closed := func() tornEnd {
		end.memberClosers = reversed(open[:depth])
		return end
	}
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case '{', '[':
			open = append(open, c+2) // '{'+2 == '}', '['+2 == ']'
			value = c == '['
		case '}', ']':
			if len(open) == 0 {
				return tornEnd{}
			}
			open = open[:len(open)-1]
			whole(i + 1)
		case ':':
			value = true
		case ',':
			if value && len(open) > 0 {
				whole(i) // a number or literal ends here
			}
			value = len(open) > 0 && open[len(open)-1] == ']'
		case '"':
			n := stringEnd(raw[i:])
			if n < 0 {
				end.inText = value
				end.closers = reversed(open)
				return closed()
			}
			i += n
			if value {
				whole(i)
			}
			continue
		}
		i++
	}
	return closed()
}

// stringEnd returns the length of the string literal raw begins with, -1 if it does not end.
func stringEnd(raw []byte) int {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

func reversed(open []byte) []byte {
	out := make([]byte, len(open))
	for i, c := range open {
		out[len(open)-1-i] = c
	}
	return out
}

// trimPartial takes off an escape or a character of which only the first bytes were written.
func trimPartial(raw []byte) []byte {
	out := bytes.Clone(raw)
	if i := bytes.LastIndexByte(out[max(0, len(out)-12):], '\\'); i >= 0 {
		i += max(0, len(out)-12)
		if !escaped(out, i) && !wholeEscape(out[i:]) {
			out = out[:i]
		}
	}
	for n := 0; n < utf8.UTFMax && len(out) > 0; n++ {
		if r, size := utf8.DecodeLastRune(out); r != utf8.RuneError || size != 1 {
			break
		}
		out = out[:len(out)-1]
	}
	return out
}

// escaped says whether the byte at i of a string literal belongs to an escape that begins before it.
func escaped(raw []byte, i int) bool {
	n := 0
	for i--; i >= 0 && raw[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

// wholeEscape says whether raw begins with an escape of which nothing is missing. The first half of a surrogate
// pair is not whole.
func wholeEscape(raw []byte) bool {
	if len(raw) < 2 {
		return false
	}
	if raw[1] != 'u' {
		return true
	}
	if len(raw) < 6 {
		return false
	}
	v := hex4(raw[2:6])
	return v < 0xD800 || v >= 0xDC00
}
