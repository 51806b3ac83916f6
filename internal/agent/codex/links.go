package codex

import (
	"bytes"
	"regexp"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// numberer keeps the ordinals of a paginated session right while a repair adds and removes records. A new record that
// fills a gap in the ordinals, or takes a dead line's place, changes no other record's. Any other shifts all that follow.
type numberer struct {
	on       bool
	base     int64 // a sub-agent inherited the ordinals below it, and they must not change
	original int64 // the ordinal that the last kept record had
	out      int64 // the last ordinal written
	shift    int64 // what is added to each ordinal
	inserted int64 // records inserted since the last one was kept
	removed  int64 // records and dead lines removed since then
	renumber bool  // number everything anew
	left     int64 // records that stayed unreadable since then
	hidden   int64 // the highest ordinal in them
	began    bool  // a record with an ordinal has come
	headless bool  // the first one is no header, and it keeps its ordinal: it may follow those of another file
	skips    bool  // the client that will resume the session does not count what it can't read
}

// SkipsUnread says whether a client gives no number to a token count with fractions, which it can't read: it shows nothing of a session
// in which such a record has a number of its own (measured with 0.145.0; 0.150.0 counts it).
func SkipsUnread(version string) bool { return Before(version, 0, 146) && !Before(version, 0, 145) }

// fractional says whether a line is a token count with fractions in its rate limits.
func fractional(line []byte) bool {
	return bytes.Contains(line, []byte(`"token_count"`)) && HasFraction([]byte(gjson.GetBytes(line, "payload.rate_limits").Raw))
}

// unreadTokens says whether a token count holds a fraction where the newest client reads a whole number: it then skips the record (measured with
// 0.171.0).
func unreadTokens(line []byte) bool { return brokenCount.Match(line) }

var brokenCount = regexp.MustCompile(`"(?:(?:input|cached_input|output|reasoning_output|total)_tokens|model_context_window|window_minutes|resets_at|resets_in_seconds)":\s*-?\d+\.`)

// HasFraction says whether valid JSON holds a number with a decimal point.
func HasFraction(raw []byte) bool {
	if bytes.IndexByte(raw, '.') < 0 {
		return false
	}
	inside := false // of a string
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '"':
			inside = !inside
		case raw[i] == '\\':
			i++
		case raw[i] == '.' && !inside:
			return true
		}
	}
	return false
}

// newNumberer begins at the first ordinal that the session should have: 0, or where its ancestor ended.
func newNumberer(on bool, first, base int64) *numberer {
	return &numberer{on: on, base: base, original: first - 1, out: first - 1}
}

// Keep returns the line of a record that stays, with its new ordinal.
func (n *numberer) Keep(line []byte) ([]byte, error) {
	if !n.on {
		return line, nil
	}
	ordinal, _ := ordinalOf(line)
	o, good := ordinal.Value, ordinal.State == session.GoodOrdinal
	header := good && o != n.original+1 && IsHeader(line)
	switch {
	case n.renumber && !header: // everything gets an ordinal, even a header without one
	case ordinal.State == session.NoOrdinal:
		return line, nil
	case !good: // not an ordinal, but lint, too, counts it as the one that is due here
		n.original++
		n.out++
		return line, nil
	case header && n.began && o != n.original+1:
		return line, nil // a header in the wrong place says nothing about the sequence
	}
	n.first(line)
	begins := !n.began
	n.began = true
	if n.original+1 < n.base && o < n.base {
		n.inserted, n.removed = 0, 0
		n.original = max(n.original, o)
		n.out = n.original
		return line, nil // what a sub-agent inherited keeps its ordinals, whatever is added or removed there
	}
	if o < n.base && !n.renumber {
		return line, nil // a copy of an inherited record, among the sub-agent's own
	}
	switch {
	case n.renumber:
		n.shift = max(n.out+1, min(n.hidden, n.out+n.left)+1, n.base) - o
	case begins && n.headless:
		n.shift = max(0, n.out+1-o)
	default:
		gap := max(0, o-n.original-1)
		n.shift += n.inserted - min(gap, n.inserted+n.removed)
	}
	n.inserted, n.removed, n.left, n.hidden = 0, 0, 0, 0
	n.original, n.out = o, o+n.shift
	number := n.out
	if n.skips && fractional(line) {
		n.original--
		n.out--
	}
	if n.shift == 0 && good {
		return line, nil
	}
	return setOrdinal(line, number), nil
}

// first notes of the first record whether it is a header.
func (n *numberer) first(line []byte) {
	if !n.began && n.inserted == 0 {
		n.headless = !IsHeader(line)
	}
}

// Steady says whether the records to come keep their ordinals.
func (n *numberer) Steady() bool {
	return !n.on || n.shift == 0 && n.inserted == 0 && n.removed == 0 && !n.renumber
}

// Insert returns the line of a new record with the next ordinal.
func (n *numberer) Insert(line []byte) []byte {
	if !n.on {
		return line
	}
	n.first(line)
	n.inserted++
	n.out++
	return setOrdinal(line, n.out)
}

// Remove says that a record leaves its place.
func (n *numberer) Remove([]byte) { n.removed++ }

// Leave notes the ordinals in a record that stays unreadable. Lint may read one of them there, but none that is farther from the last
// than there are such records.
func (n *numberer) Leave(line []byte) {
	for n.left++; n.on; {
		at := bytes.Index(line, ordinalKey)
		if at < 0 {
			return
		}
		line = bytes.TrimLeft(line[at+len(ordinalKey):], " ")
		digits := len(line) - len(bytes.TrimLeft(line, "0123456789"))
		if v, err := strconv.ParseInt(string(line[:digits]), 10, 64); err == nil {
			n.hidden = max(n.hidden, v)
		}
	}
}

var ordinalKey = []byte(`"ordinal":`)

// Renumber gives out new ordinals from the next record on.
func (n *numberer) Renumber() { n.renumber = true }
