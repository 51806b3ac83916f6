package normalize

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

const hugeLine = 64 << 20 // bytes

// The rules about lines and the file as a whole: what each means is in texts/RULE.md.
var (
	EmptyFile      = texts.Rule(finding.Rule{Name: "empty-file", Family: "framing", Empty: true, Impact: finding.Blocks, Fix: finding.NoFix})
	BOM            = texts.Rule(finding.Rule{Name: "bom", Family: "framing", Impact: finding.Blocks, Fix: finding.Exact})
	NULBytes       = texts.Rule(finding.Rule{Name: "nul-bytes", Family: "framing", Rows: true, Impact: finding.Loses, Fix: finding.Exact})
	TornTail       = texts.Rule(finding.Rule{Name: "torn-tail", Family: "framing", Impact: finding.Loses, Fix: finding.Recovered})
	NoFinalNewline = texts.Rule(finding.Rule{Name: "no-final-newline", Family: "framing", Impact: finding.Notes, Fix: finding.Exact, Always: true})
	GluedRecords   = texts.Rule(finding.Rule{Name: "glued-records", Family: "framing", Impact: finding.Loses, Fix: finding.Exact})
	SplitRecord    = texts.Rule(finding.Rule{Name: "split-record", Family: "framing", Impact: finding.Loses, Fix: finding.Exact})
	PrettyPrinted  = texts.Rule(finding.Rule{Name: "pretty-printed", Family: "framing", Tidy: true, Impact: finding.Blocks, Fix: finding.Exact})
	RawControl     = texts.Rule(finding.Rule{Name: "raw-control", Family: "framing", Impact: finding.Loses, Fix: finding.Exact})
	BadJSON        = texts.Rule(finding.Rule{Name: "bad-json", Family: "framing", Rows: true, Impact: finding.Loses, Fix: finding.SetAside})
	NotObject      = texts.Rule(finding.Rule{Name: "not-object", Family: "framing", Rows: true, Impact: finding.Loses, Fix: finding.SetAside})
	InvalidUTF8    = texts.Rule(finding.Rule{Name: "invalid-utf8", Family: "framing", Impact: finding.Loses, Fix: finding.StandIn})
	LoneSurrogate  = texts.Rule(finding.Rule{Name: "lone-surrogate", Family: "framing", Impact: finding.Loses, Fix: finding.StandIn})
	DuplicateKey   = texts.Rule(finding.Rule{Name: "duplicate-key", Family: "framing", Impact: finding.Notes, Fix: finding.SetAside})
	FlippedBit     = texts.Rule(finding.Rule{Name: "flipped-bit", Family: "framing", Impact: finding.Loses, Fix: finding.Recovered})
	TooDeep        = texts.Rule(finding.Rule{Name: "too-deep", Family: "framing", Impact: finding.Loses, Fix: finding.NoFix})
	BlankLine      = texts.Rule(finding.Rule{Name: "blank-line", Family: "framing", Impact: finding.Notes, Fix: finding.Exact, Tidy: true})
	CRLF           = texts.Rule(finding.Rule{Name: "crlf", Family: "framing", Impact: finding.Notes, Fix: finding.Exact, Tidy: true})
	HugeLine       = texts.Rule(finding.Rule{Name: "huge-line", Family: "framing", Impact: finding.Notes, Fix: finding.NoFix})
	// CorruptZst is about the stream that the lines come in, not about a line.
	CorruptZst = texts.Rule(finding.Rule{Name: "corrupt-zst", Family: "store", Impact: finding.Blocks, Fix: finding.Recovered, Always: true})
	// LegacyShape is about members of records: agents that know of it list it among their own rules.
	LegacyShape = texts.Rule(finding.Rule{Name: "legacy-shape", Family: "items", Impact: finding.Loses, Fix: finding.Exact})
	// Rules are the rules about lines, in the order in which they are documented.
	Rules = []*finding.Rule{
		EmptyFile, BOM, NULBytes, TornTail, NoFinalNewline, GluedRecords, SplitRecord, PrettyPrinted, RawControl,
		BadJSON, NotObject, InvalidUTF8, LoneSurrogate, DuplicateKey, FlippedBit, TooDeep, BlankLine, CRLF, HugeLine,
	}
)

func (f *Normalizer) tooDeep(v *jsonl.Verdict) {
	fault := f.report(TooDeep, 0, finding.NoFix, fmt.Sprintf("nested %d brackets deep: the client stops at %d and drops the record", v.Depth, f.maxDepth))
	fault.Pos, fault.Record = f.rec.Pos, f.rec.Type
	if !f.rec.Model && f.rec.Kind != session.Header {
		fault.Impact = finding.Notes
	}
	f.rec.Refused = true
}

// respell turns the bit back that has flipped in a key of the record in hand, or in the name of a type, and returns the verdict on the
// line as it is then.
func (f *Normalizer) respell(v *jsonl.Verdict) *jsonl.Verdict {
	at, was, ok := f.dec.Misspelled(f.rec)
	if !ok {
		return v
	}
	fault := f.report(FlippedBit, at, finding.Recovered, "one bit of a key, or of the name of a type, is wrong: the client does not find what it needs of the record")
	if fault.Source = "what the record lacks"; !f.allowed(fault) {
		return v
	}
	raw := bytes.Clone(f.rec.Raw)
	raw[at] = was
	f.rec.Raw, f.rec.Spans, f.rec.Mended = raw, f.spans, true
	f.verdict = f.scanner.Scan(raw, f.spans)
	f.dec.Decode(f.rec)
	return &f.verdict
}

// modernize gives the record in hand the shape that the client reads, and returns the verdict on the line as it is then. An event is
// only shown.
func (f *Normalizer) modernize(v *jsonl.Verdict) *jsonl.Verdict {
	line, what, guessed := f.dec.Modernize(f.rec, f.when)
	if what == "" {
		return v
	}
	before := f.rec.Raw
	f.reads(line)
	fault := f.report(LegacyShape, 0, finding.Exact, what+": the client skips the record")
	if guessed {
		fault.Fix = finding.Recovered
	}
	if fault.Record = f.rec.Type; !f.rec.Model && !f.rec.Boundary && f.rec.Kind != session.Header && f.rec.Kind != session.Compaction && f.rec.Kind != session.Rollback {
		fault.Impact = finding.Shows
	}
	if !f.allowed(fault) {
		f.reads(before)
		return v
	}
	f.rec.Mended = true
	f.verdict = f.scanner.Scan(line, f.spans)
	return &f.verdict
}

// duplicateKey reports a key that appears twice in one object. The client takes the last value, so the record in hand is read
// without the others. If the record says more with another value, the last one is damage.
func (f *Normalizer) duplicateKey(v *jsonl.Verdict) {
	raw, pairs := f.rec.Raw, session.DoubledMembers(f.rec.Raw)
	drop := make([]finding.Cut, len(pairs))
	for i := range pairs {
		drop[i] = pairs[i].First
	}
	f.reads(session.Blanked(raw, drop...))
	if better := f.better(raw, pairs, drop); better != nil {
		fault := f.report(DuplicateKey, v.Duplicate, finding.Recovered, "a key appears twice in one object, and the last value, which the client takes, is not the right one")
		if fault.Impact, fault.Source = finding.Loses, "its first value"; f.allowed(fault) {
			f.reads(better)
			f.rec.Mended = true
			return
		}
		f.rec.Written = raw
		return
	}
	f.rec.Written = raw
	fault := f.report(DuplicateKey, v.Duplicate, finding.NoFix, "a key appears twice in one object; the client takes the last value")
	fault.Pos, fault.Record = f.rec.Pos, f.rec.Type
	if cut, same, ok := session.FirstOfTwo(raw, v.Duplicate); ok {
		fault.Fix = finding.SetAside
		if same {
			fault.Fix = finding.Exact
		}
		fault.Framing = false
		fault.Edits = []finding.Edit{{At: f.rec.Pos, Op: finding.Splice, Cuts: []finding.Cut{cut}}}
		if slices.ContainsFunc(pairs, func(d session.Doubled) bool { return f.saysElse(raw, d) }) {
			fault.Impact = finding.Loses
			fault.Message = "a key appears twice in one object, with two texts: the client takes the last value, and the model is not sent what the first one says"
		}
	}
}

// saysElse says whether the first of two members with one key says something to the model that the last one, which is in a text, does not.
func (f *Normalizer) saysElse(raw []byte, d session.Doubled) bool {
	first, last := raw[d.First.Start:d.First.End], raw[d.Last.Start:d.Last.End]
	inText := f.rec.Model && f.dec.TextCut(f.rec, d.Last.Start+bytes.LastIndexByte(last, '"'))
	return inText && d.Alike(raw) && slices.ContainsFunc(session.Texts(first, f.dec.IsName), func(text []byte) bool { return !bytes.Contains(last, text) })
}

// better is the line with those values of doubled keys with which it says most; nil if these are the last ones.
func (f *Normalizer) better(raw []byte, pairs []session.Doubled, drop []finding.Cut) []byte {
	most, found := f.dec.Weigh(f.rec), false
	if most < 0 {
		return nil
	}
	for i := range pairs {
		drop[i] = pairs[i].Last
		f.reads(session.Blanked(raw, drop...))
		if w := f.dec.Weigh(f.rec); w > most {
			most, found = w, true
		} else {
			drop[i] = pairs[i].First
		}
	}
	f.reads(session.Blanked(raw, drop...))
	if !found {
		return nil
	}
	if line, err := session.Apply(raw, drop); err == nil {
		return line
	}
	return f.rec.Raw // of three members with one key, one is cut out twice
}

// reads makes a reading of the line in hand the record in hand.
func (f *Normalizer) reads(line []byte) {
	f.rec.Raw, f.rec.Spans = line, f.spans
	f.scanner.Scan(line, f.spans)
	f.dec.Decode(f.rec)
}
