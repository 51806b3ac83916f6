package normalize

import (
	"bytes"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// CutMark ends a text of which the rest was lost when its line was cut.
const CutMark = "\n[hist: the session file was cut here; the rest of this text is lost]"

// maxHeadBytes is how much longer, in bytes, what stands in front of the type may be in a record that was written again.
const maxHeadBytes = 1 << 10

var typeKey = []byte(`"type":`)

// repeats says whether whole begins with the record that torn is the start of: a write that failed and was repeated.
// In front of the type only digits may differ, those of time stamps and ordinals.
func repeats(torn, whole []byte) bool {
	whole = whole[:min(len(whole), len(torn)+maxHeadBytes)]
	i, j := bytes.Index(torn, typeKey), bytes.Index(whole, typeKey)
	return i >= 0 && j >= 0 && len(torn)-i > len(typeKey) && bytes.HasPrefix(whole[j:], torn[i:]) && sameButDigits(torn[:i], whole[:j])
}

func sameButDigits(a, b []byte) bool {
	undigited := func(text []byte) []byte {
		return bytes.Map(func(c rune) rune {
			if '0' <= c && c <= '9' {
				return -1
			}
			return c
		}, text)
	}
	return bytes.Equal(undigited(a), undigited(b))
}

// closeTorn closes a record that was cut where nothing false is said by it: inside the text of an output or a
// message, or behind the last whole part of one, which are marked as cut, or behind everything that the record needs. It
// returns nil if none is so.
func (f *Normalizer) closeTorn(raw []byte) []byte {
	if !jsonl.LooksTorn(raw) {
		return nil
	}
	cut := jsonl.WalkTorn(raw)
	if cut.InText {
		text := append(jsonl.TrimPartial(raw), jsonl.AppendQuote(nil, CutMark)[1:]...)
		if closed := append(text, cut.Closers...); f.honest(closed, true) {
			return closed
		}
	}
	if before, last := bytes.CutSuffix(raw[:cut.Object], []byte(`"}`)); last {
		text := append(append(bytes.Clone(before), jsonl.AppendQuote(nil, CutMark)[1:]...), '}')
		if closed := append(text, cut.ObjectClosers...); f.honest(closed, true) {
			return closed
		}
	}
	if cut.Member > 0 {
		if closed := append(bytes.Clone(raw[:cut.Member]), cut.MemberClosers...); f.honest(closed, false) {
			return closed
		}
	}
	return nil
}

// shorten closes a record that was cut in front of a member that it can do without, nil if there is none.
func (f *Normalizer) shorten(raw []byte, last bool) []byte {
	dec, ok := f.dec.(session.Shortener)
	if !ok {
		return nil
	}
	closed := dec.Shorten(raw, last)
	if closed == nil {
		return nil
	}
	v := f.scanner.Scan(closed, f.spans)
	rec := session.Record{Raw: closed, Spans: f.spans}
	if v.Fault != jsonl.None || !v.Object || v.Surrogate >= 0 || !f.dec.Envelope(&rec) {
		return nil
	}
	return closed
}

// honest says whether a closed record stands for what was written. A text may be cut only where the decoder knows
// it for the words of an output or a message.
func (f *Normalizer) honest(closed []byte, text bool) bool {
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
