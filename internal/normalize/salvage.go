package normalize

import (
	"bytes"
	"regexp"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// CutMark ends a text whose rest was lost when its line was cut.
const CutMark = session.CutMark

// maxHeadBytes is how much longer, in bytes, the part before the type may be in a record that was written again.
const maxHeadBytes = 1 << 10

var typeKey = []byte(`"type":`)

// repeats says whether whole begins with the record whose start is torn: a write that failed and was repeated. Before the
// type only digits may differ, those of time stamps and ordinals.
func repeats(torn, whole []byte) bool {
	whole = whole[:min(len(whole), len(torn)+maxHeadBytes)]
	i, j := bytes.Index(torn, typeKey), bytes.Index(whole, typeKey)
	return i >= 0 && j >= 0 && len(torn)-i > len(typeKey) && bytes.HasPrefix(whole[j:], torn[i:]) && sameButDigits(torn[:i], whole[:j])
}

// ownID is a member that no two records of a type share.
var ownID = regexp.MustCompile(`"id":"[^"\\]{4,}"`)

// tellingText is how many bytes of a text tell whose beginning it is.
const tellingText = 64

// namesItself says whether the start of a record tells which one it is: others of its type begin with the same words.
func namesItself(torn []byte) bool {
	text := torn[bytes.LastIndexByte(torn, '"')+1:]
	return len(text) >= tellingText || ownID.Match(torn[bytes.Index(torn, typeKey):])
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

// closeTorn closes a record that was cut, if nothing false is said by that: inside the text of an output or a message, or
// behind the last whole part of one, where the text is marked as cut; or behind everything that the record needs. It
// returns nil if none of these holds.
func (f *Normalizer) closeTorn(raw []byte) []byte {
	if !jsonl.LooksTorn(raw) {
		return nil
	}
	cut := jsonl.WalkTorn(raw)
	if cut.InText {
		text := append(jsonl.TrimPartial(raw), cutMarkQuoted...)
		if closed := append(text, cut.Closers...); f.mayEndInText(closed) {
			return closed
		}
	}
	if before, last := bytes.CutSuffix(raw[:cut.Object], []byte(`"}`)); last {
		text := append(append(bytes.Clone(before), cutMarkQuoted...), '}')
		if closed := append(text, cut.ObjectClosers...); f.mayEndInText(closed) {
			return closed
		}
	}
	if cut.Member > 0 {
		if closed := append(bytes.Clone(raw[:cut.Member]), cut.MemberClosers...); f.isComplete(closed) {
			return closed
		}
	}
	return nil
}

// shorten closes a record that was cut in front of a member that it can do without. last says that the session does not go on
// behind it. It returns nil if the agent knows of no such member.
func (f *Normalizer) shorten(raw []byte, last bool) []byte {
	closed := f.dec.Shorten(raw, last)
	if closed == nil || f.recordIn(closed) == nil {
		return nil
	}
	return closed
}

// recordIn scans bytes that should be one record of the agent; nil if they are not. The record is not decoded.
func (f *Normalizer) recordIn(closed []byte) *session.Record {
	v := f.scanner.Scan(closed, f.spans)
	if v.Fault != jsonl.None || !v.Object || v.Surrogate >= 0 {
		return nil
	}
	rec := &session.Record{Raw: closed, Spans: f.spans}
	if !f.dec.Envelope(rec) {
		return nil
	}
	return rec
}

// mayEndInText says whether the text that ends with CutMark in a closed record is the text of an output or a message: only
// such a text may be shown cut.
func (f *Normalizer) mayEndInText(closed []byte) bool {
	rec := f.recordIn(closed)
	if rec == nil {
		return false
	}
	f.dec.Decode(rec)
	return f.dec.TextCut(rec, bytes.LastIndex(closed, cutMarkQuoted))
}

// isComplete says whether a closed record still has everything that its meaning rests on.
func (f *Normalizer) isComplete(closed []byte) bool {
	rec := f.recordIn(closed)
	if rec == nil {
		return false
	}
	f.dec.Decode(rec)
	return f.dec.Complete(rec)
}

// cutMarkQuoted is CutMark as it is written in JSON, with the quote that ends the text.
var cutMarkQuoted = jsonl.AppendQuote(nil, CutMark)[1:]
