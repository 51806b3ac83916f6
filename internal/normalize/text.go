package normalize

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/text/encoding/charmap"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Encoding is how a file's bytes become text.
type Encoding uint8

// The encodings that occur: an editor on Windows, or a program that makes one array of all lines, may have written the file
// anew.
const (
	UTF8 Encoding = iota
	UTF16LE
	UTF16BE
	Array   // one JSON array, in UTF-8
	Wrapped // one JSON object with nothing but such an array
)

var utf8BOM = []byte("\ufeff")

// Text looks at the first bytes of r and returns a reader that gives lines of UTF-8. A file of such lines is handed on as it is,
// because the reader of lines looks ahead in files.
func Text(r io.Reader) (Encoding, io.Reader) {
	head, r := peekAt(r, startSize)
	if len(head) > 0 && head[0] == '[' || wrapStart.Match(head) {
		head, r = peekAt(r, headSize)
	}
	enc := sniff(head)
	switch enc {
	case Array, Wrapped:
		return enc, &members{r: r, wrapped: enc == Wrapped}
	case UTF16LE:
		return enc, newWide(r, false)
	case UTF16BE:
		return enc, newWide(r, true)
	}
	return enc, r
}

// startSize is how many bytes of a text show whether more of it must be seen.
const startSize = 64

// headSize is how many bytes of a session its agent is recognized by.
const headSize = 64 << 10

// Head returns the first bytes of a session as UTF-8, as its client writes them, and a reader that gives all of it.
func Head(r io.Reader) ([]byte, io.Reader) {
	head, r := peekAt(r, headSize)
	if sniff(head) != UTF8 {
		_, text := Text(bytes.NewReader(head))
		head, _ = io.ReadAll(text)
		head = bytes.TrimPrefix(head, arrayStart) // of an object with an array, nothing in front of the first record looks like one
	}
	return tighten(head), r
}

// peekAt returns the first n bytes of r, fewer if there are no more, and a reader that gives all of r.
func peekAt(r io.Reader, n int) ([]byte, io.Reader) {
	head := make([]byte, n)
	if at, ok := r.(io.ReaderAt); ok {
		n, _ = at.ReadAt(head, 0)
		return head[:n], r
	}
	br := bufio.NewReaderSize(r, max(n, 4<<10))
	peeked, _ := br.Peek(n)
	return head[:copy(head, peeked)], br
}

// sniff recognizes UTF-16 by its byte order mark, or by the NULs around the first brace, and an array by its first member.
func sniff(head []byte) Encoding {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("{\x00\"\x00")):
		return UTF16LE
	case bytes.HasPrefix(head, []byte("\xfe\xff")), bytes.HasPrefix(head, []byte("\x00{\x00\"")):
		return UTF16BE
	case isArray(head):
		return Array
	case isWrapped(head):
		return Wrapped
	}
	return UTF8
}

// TrimStart returns the first line of a text without what its encoding puts in front of the first record: a byte order mark, or the
// bracket of an array.
func TrimStart(line []byte, enc Encoding) []byte {
	switch enc {
	case Array:
		return bytes.TrimPrefix(line, arrayStart)
	case Wrapped:
		if _, rest, found := bytes.Cut(line, arrayStart); found {
			return rest
		}
	}
	return bytes.TrimPrefix(line, utf8BOM)
}

// stripStart removes the byte order mark, or the bracket of an array, from the first line, and reports an encoding that the client does not expect.
func (f *Normalizer) stripStart(raw []byte) []byte {
	rest := TrimStart(raw, f.encoding)
	switch {
	case f.encoding == Wrapped:
		f.report(NotObject, 0, finding.Exact, "the whole file is one JSON object around a list of the records, as a program exports it: the client reads none of it").Impact = finding.Blocks
	case f.encoding == Array:
		f.report(NotObject, 0, finding.Exact, "the whole file is one JSON array, as jq -s prints it: the client reads none of it").Impact = finding.Blocks
	case f.encoding != UTF8:
		f.report(BOM, 0, finding.Exact, "the file is UTF-16 text: the client can't read any of it")
	case len(rest) < len(raw):
		f.report(BOM, 0, finding.Exact, "there is a byte order mark before the first record: the client can't read the header")
	default:
		return raw
	}
	if !f.mayMend(len(f.faults) - 1) {
		return raw
	}
	return rest
}

// maxProbed is how many bytes of a record that can't stand in a name are compared with the names that the agent knows.
const maxProbed = 8

// known says what bytes that can't stand in a name were, by their offsets, where the agent then knows the name: the same with one bit
// turned back, as in "us\xe5r", or noPart. The agent knows a name if it would know it by a bit of another letter, too.
func (f *Normalizer) known(raw []byte) map[int]byte {
	if len(raw) > maxRest {
		return nil
	}
	var bad []int
	for i, n := 0, 0; i < len(raw); i += n {
		var rule *finding.Rule
		if n, rule = character(raw[i:]); n == 1 && rule != nil {
			if bad = append(bad, i); len(bad) > maxProbed {
				return nil
			}
		}
	}
	probe, was := bytes.Clone(raw), map[int]byte{}
	for _, i := range bad {
		probe[i] = 'x'
	}
	for _, at := range bad {
		if !likeName(probe, at) {
			continue
		}
		for _, bit := range []byte{0x80, 0x40, 0x20} {
			if c := raw[at] ^ bit; inNames(c) && f.knows(probe, at, c) {
				was[at] = c
			}
		}
		if _, turned := was[at]; !turned && f.knowsWithout(probe, bad, at) {
			was[at] = noPart
		}
	}
	return was
}

// knows says whether the agent would miss a character of a record in a name that it knows.
func (f *Normalizer) knows(probe []byte, at int, c byte) bool {
	probe = bytes.Clone(probe)
	probe[at] = c ^ 1
	rec := session.Record{Raw: probe, Spans: f.spans}
	if v := f.scanner.Scan(probe, f.spans); v.Fault != jsonl.None || !v.Object {
		return false
	}
	f.dec.Decode(&rec)
	i, is, ok := f.dec.Misspelled(&rec)
	return ok && i == at && is == c
}

// knowsWithout says whether the agent knows a name without all the bytes in it that can't stand there.
func (f *Normalizer) knowsWithout(probe []byte, bad []int, at int) bool {
	left, right := at, at
	for probe[left] != '"' {
		left--
	}
	for probe[right] != '"' {
		right++
	}
	rest := bytes.Clone(probe[:left+1])
	for i := left + 1; i < right; i++ {
		if !slices.Contains(bad, i) {
			rest = append(rest, probe[i])
		}
	}
	if len(rest) == left+1 {
		return false
	}
	return f.knows(append(rest, probe[right:]...), left+1, rest[left+1])
}

// noPart is what a byte was before that is no part of the name in which it stands.
const noPart = 0

// before is what a byte was that can't stand in a name which the agent does not know, as that of a tool: the same with one bit turned
// back, because such a name holds letters, digits and a few signs alone. A control character may have been a digit or a sign; of the
// letters, only capital ones are that near to one.
func before(c byte) byte {
	switch turned := c ^ 0x80; {
	case c >= utf8.RuneSelf && inNames(turned):
		return turned
	case c == '_'^0x40:
		return '_'
	case c < ' ' && inNames(c^0x20):
		return c ^ 0x20
	}
	return noPart
}

// wholeWithout says whether the text up to the next quote is a uuid or a time without its bytes that can't stand in a name, so that these
// were put in.
func wholeWithout(text []byte) bool {
	end := bytes.IndexByte(text, '"')
	if end < 0 || end > 64 {
		return false
	}
	rest := make([]byte, 0, end)
	for i, n := 0, 0; i < end; i += n {
		var rule *finding.Rule
		if n, rule = character(text[i:]); rule == nil {
			rest = append(rest, text[i:i+n]...)
		}
	}
	if _, err := time.Parse(time.RFC3339, string(rest)); err == nil {
		return true
	}
	return uuid.Validate(string(rest)) == nil
}

// likeName says whether the text around a byte, up to the quotes, looks like a name.
func likeName(probe []byte, at int) bool {
	left, right := at, at
	for left > 0 && inNames(probe[left]) {
		left--
	}
	for right+1 < len(probe) && inNames(probe[right]) {
		right++
	}
	return probe[left] == '"' && probe[right] == '"'
}

// inNames says whether a character may stand in a name or an id.
func inNames(c byte) bool { return asciiLetter(c) || c >= '0' && c <= '9' || c == '_' || c == '-' }

// mendUTF8 makes raw valid UTF-8 and says what it did. It is exact where the bytes can only be surrogate pairs written one
// by one (CESU-8) or single Windows-1252 letters inside words. If there is one such letter, it may as well be one of ASCII whose highest
// bit has flipped. Otherwise each bad run becomes U+FFFD.
func mendUTF8(raw []byte, at int) ([]byte, charMend) {
	const encoded = "bytes that are not UTF-8, but clearly text in another encoding"
	if out := fromCESU8(raw); utf8.Valid(out) {
		return out, charMend{InvalidUTF8, at, finding.Exact, encoded, ""}
	}
	if out := fromWindows1252(raw); out != nil {
		if len(out) == len(raw)+1 && asciiLetter(raw[at]&0x7f) {
			return out, charMend{InvalidUTF8, at, finding.Recovered, "a byte that is not UTF-8: a letter in another encoding, as which it is read, or one of which a bit has flipped", "the word that it stands in"}
		}
		return out, charMend{InvalidUTF8, at, finding.Exact, encoded, ""}
	}
	return bytes.ToValidUTF8(raw, []byte("\ufffd")), charMend{InvalidUTF8, at, finding.StandIn, "bytes that are not UTF-8", ""}
}

// mendNames mends keys, and members that hold names and ids. These have ASCII characters alone, so a byte in one that is not UTF-8, and a
// control character, is one of which a bit has flipped, or no part of the name, as half a surrogate pair is none: decoded or escaped it
// would make a name of it that no client knows.
func (f *Normalizer) mendNames(raw []byte) (out []byte, mends []charMend) {
	found := func(rule *finding.Rule, at int) {
		if !slices.ContainsFunc(mends, func(m charMend) bool { return m.rule == rule }) {
			mends = append(mends, charMend{rule, at, finding.Recovered, nameMessages[rule], "the rest of the name"})
		}
	}
	known := f.known(raw)
	out = make([]byte, 0, len(raw))
	inString, judged, inKey, inName := false, false, false, false // the last two: of the string in hand, once judged
	left := 0                                                     // where that begins
	for i, n := 0, 0; i < len(raw); i += n {
		var rule *finding.Rule
		switch n, rule = character(raw[i:]); {
		case raw[i] == '"':
			inString, judged, left = !inString, false, i
		case rule != nil && inString:
			if !judged {
				judged = true
				inKey, inName = named(raw, left, f.isName)
			}
			was, ok := known[i]
			if !ok && inName {
				if was, ok = before(raw[i]), true; inKey && !asciiLetter(was) && was != '_' || wholeWithout(raw[left+1:]) {
					was = noPart
				}
			}
			if ok {
				if found(rule, i); was != noPart {
					out = append(out, was)
				}
				continue
			}
		}
		out = append(out, raw[i:i+n]...)
	}
	return out, mends
}

// nameMessages are what is wrong with a name that holds a character of which these rules are.
var nameMessages = map[*finding.Rule]string{
	InvalidUTF8:   "bytes that are not UTF-8, in a name: the client does not find what it needs of the record",
	RawControl:    "a control character in a name: the client does not find what it needs of the record",
	LoneSurrogate: "half a surrogate pair in a name: the client does not find what it needs of the record",
}

// character is the length of the character, or of the escape sequence, with which a text begins, and the rule by which none may stand
// in a record, nil if it may.
func character(raw []byte) (n int, rule *finding.Rule) {
	switch c := raw[0]; {
	case c == '\\':
		if n, lone := surrogate(raw); n > 0 {
			if lone {
				rule = LoneSurrogate
			}
			return n, rule
		}
		return min(2, len(raw)), nil
	case c < ' ':
		return 1, RawControl
	case c < utf8.RuneSelf:
		return 1, nil
	}
	r, n := utf8.DecodeRune(raw)
	if r == utf8.RuneError && n == 1 {
		rule = InvalidUTF8
	}
	return n, rule
}

// dropInvalid removes all bytes that are not UTF-8.
func dropInvalid(raw []byte) []byte { return bytes.ToValidUTF8(raw, nil) }

var keyBefore = regexp.MustCompile(`"([A-Za-z_]+)"\s*:\s*$`)

// named says whether the text behind a quote is a key, and whether it is that, a name or an id.
func named(raw []byte, left int, isName func(key []byte) bool) (key, name bool) {
	right := bytes.IndexByte(raw[left+1:], '"')
	if right < 0 {
		return false, false
	}
	if m := keyBefore.FindSubmatch(raw[max(0, left-40):left]); m != nil {
		return false, isName(m[1])
	}
	after := bytes.TrimLeft(raw[left+1+right+1:], " ")
	key = len(after) > 0 && after[0] == ':'
	return key, key
}

func firstInvalid(raw []byte) int {
	for i := 0; i < len(raw); {
		if raw[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// fromCESU8 joins surrogate pairs that were encoded as three bytes each.
func fromCESU8(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		hi, ok := surrogateAt(raw, i)
		if lo, ok2 := surrogateAt(raw, i+3); ok && ok2 && hi < 0xDC00 && lo >= 0xDC00 {
			out = utf8.AppendRune(out, 0x10000+(hi-0xD800)<<10+(lo-0xDC00))
			i += 6
			continue
		}
		out = append(out, raw[i])
		i++
	}
	return out
}

func surrogateAt(raw []byte, i int) (rune, bool) {
	if i+3 > len(raw) || raw[i] != 0xED || raw[i+1] < 0xA0 || raw[i+1] > 0xBF || raw[i+2]&0xC0 != 0x80 {
		return 0, false
	}
	return 0xD000 | rune(raw[i+1]&0x3F)<<6 | rune(raw[i+2]&0x3F), true
}

// fromWindows1252 decodes raw if its only characters beyond ASCII are single letters inside words. It returns nil if that
// is not certain.
func fromWindows1252(raw []byte) []byte {
	out := make([]byte, 0, len(raw)+8)
	for i, c := range raw {
		if c < utf8.RuneSelf {
			out = append(out, c)
			continue
		}
		r := charmap.Windows1252.DecodeByte(c)
		inWord := i > 0 && i+1 < len(raw) && asciiLetter(raw[i-1]) && (asciiLetter(raw[i+1]) || bytes.IndexByte([]byte(` .,;:!?"\`), raw[i+1]) >= 0)
		if c >= 0xFE || !unicode.IsLetter(r) || !inWord {
			return nil
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func asciiLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// controls are the control characters as they are escaped.
var controls = func() (escaped [' '][]byte) {
	for c := range escaped {
		quoted := jsonl.AppendQuote(nil, string(rune(c)))
		escaped[c] = quoted[1 : len(quoted)-1]
	}
	return escaped
}()

// escapeControls escapes control characters inside strings. Outside of strings they are white space, or not JSON anyway.
func escapeControls(raw []byte) []byte {
	out := make([]byte, 0, len(raw)+16)
	inString := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case inString && c == '\\' && i+1 < len(raw) && raw[i+1] >= 0x20:
			out = append(out, c, raw[i+1])
			i++
			continue
		case c == '"':
			inString = !inString
		case inString && c < 0x20:
			out = append(out, controls[c]...)
			continue
		}
		out = append(out, c)
	}
	return out
}

// mendSurrogates overwrites each escaped surrogate without its other half by an escaped U+FFFD, which is as long.
func mendSurrogates(raw []byte) []byte {
	out := bytes.Clone(raw)
	for i := 0; i < len(out); {
		switch n, lone := surrogate(out[i:]); {
		case lone:
			copy(out[i:], `\ufffd`)
			i += n
		case n > 0:
			i += n
		case out[i] == '\\':
			i += 2
		default:
			i++
		}
	}
	return out
}

// surrogate is the length of the escaped surrogate pair with which a text begins, or of half of one; 0 if it begins with neither.
func surrogate(raw []byte) (n int, lone bool) {
	escaped := func(raw []byte) rune {
		if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
			return 0
		}
		return hex4(raw[2:6])
	}
	switch v := escaped(raw); {
	case v < 0xD800 || v >= 0xE000:
		return 0, false
	case v < 0xDC00:
		if lo := escaped(raw[6:]); lo >= 0xDC00 && lo < 0xE000 {
			return 12, false
		}
	}
	return 6, true
}

func hex4(b []byte) (v rune) {
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = v<<4 | rune(c|0x20-'a'+10)
		}
	}
	return v
}
