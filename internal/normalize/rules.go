package normalize

import (
	"fmt"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

const (
	clientDepth = 127      // brackets the client's JSON reader (serde_json, 128 levels) goes into
	hugeLine    = 64 << 20 // bytes
)

var (
	EmptyFile = &finding.Rule{
		Name: "empty-file", Family: "framing", Impact: finding.Blocks, Fix: finding.NoFix,
		Title: "the file holds no record",
		Text:  `Zero bytes, or white space and NULs only: the client refuses it ("rollout at … is empty"). There is nothing to repair; a backup, an archived copy or a .zst of the same name may hold the session.`,
	}
	BOM = &finding.Rule{
		Name: "bom", Family: "framing", Impact: finding.Blocks, Fix: finding.Exact,
		Title: "a byte order mark at the start, or UTF-16 text",
		Text:  `An editor has written the file anew. The client can't read the first record, its header, and refuses ("failed to read session metadata"). Repair takes the mark off, and decodes UTF-16.`,
	}
	NULBytes = &finding.Rule{
		Name: "nul-bytes", Family: "framing", Rows: true, Impact: finding.Loses, Fix: finding.Exact,
		Title: "a run of NUL bytes, as a power loss leaves them",
		Text:  `The client skips a line with NULs in it. If a record hides among them it is lost; repair takes the NULs out, and what parses without them stays. NULs alone are only noted.`,
	}
	TornTail = &finding.Rule{
		Name: "torn-tail", Family: "framing", Impact: finding.Loses, Fix: finding.Recovered,
		Title: "the last line was cut short",
		Text: `The client was killed, or the disk was full, in the middle of a write. The record is lost; a client before 0.145 also glues its next record to it and loses that too. ` +
			`Repair closes what can be closed honestly: inside the text of an output or a message, which is marked as cut, or behind all that the record needs. Otherwise the bytes are set aside.`,
	}
	NoFinalNewline = &finding.Rule{
		Name: "no-final-newline", Family: "framing", Impact: finding.Notes, Fix: finding.Exact,
		Title: "the last record lacks its newline", Always: true,
		Text: `Clients from 0.145 on add it before they write on. Older ones glue their next record to it, and both are lost: for a session of such a version it counts as a loss. Repair adds the newline.`,
	}
	GluedRecords = &finding.Rule{
		Name: "glued-records", Family: "framing", Impact: finding.Loses, Fix: finding.Exact,
		Title: "several records on one line",
		Text:  `A newline was lost, or a torn line was written on. The client drops the whole line, all records on it. Repair gives each its own line; of a torn start what can be read is kept, else it is set aside.`,
	}
	SplitRecord = &finding.Rule{
		Name: "split-record", Family: "framing", Impact: finding.Loses, Fix: finding.Exact,
		Title: "one record broken over several lines",
		Text:  `A raw newline stands inside a string: some tool has unescaped it. The client drops every part. Repair joins the lines, with the newline escaped.`,
	}
	RawControl = &finding.Rule{
		Name: "raw-control", Family: "framing", Impact: finding.Loses, Fix: finding.Exact,
		Title: "control characters that are not escaped",
		Text:  `JSON allows no raw control character in a string; the client drops the record. Repair escapes it.`,
	}
	BadJSON = &finding.Rule{
		Name: "bad-json", Family: "framing", Rows: true, Impact: finding.Loses, Fix: finding.SetAside,
		Title: "a line that is no JSON",
		Text:  `The client skips the line; what it held is lost, and a partner of it (the output of a call, the call of an output) with it. Repair keeps what can be read of it and sets the rest aside.`,
	}
	NotObject = &finding.Rule{
		Name: "not-object", Family: "framing", Rows: true, Impact: finding.Loses, Fix: finding.SetAside,
		Title: "a line that is JSON but no object",
		Text:  `A record is an object. The client skips anything else; repair sets it aside.`,
	}
	InvalidUTF8 = &finding.Rule{
		Name: "invalid-utf8", Family: "framing", Impact: finding.Loses, Fix: finding.StandIn,
		Title: "bytes that are no UTF-8",
		Text: `In a paginated session the line is lost; a legacy session is refused as a whole ("stream did not contain valid UTF-8"). Repair decodes bytes that can only be surrogate pairs written one by one ` +
			`or single Windows-1252 letters in words; any other run becomes U+FFFD, and the raw line is kept in the run's record.`,
	}
	LoneSurrogate = &finding.Rule{
		Name: "lone-surrogate", Family: "framing", Impact: finding.Loses, Fix: finding.StandIn,
		Title: "an escaped surrogate without its other half",
		Text:  `JavaScript writes them when a text is cut in the middle of an emoji; the client's JSON reader refuses the line. Repair overwrites the escape by \ufffd, which is as long.`,
	}
	DuplicateKey = &finding.Rule{
		Name: "duplicate-key", Family: "framing", Impact: finding.Notes, Fix: finding.SetAside,
		Title: "an object that names a key twice",
		Text:  `The newest client takes the last value, in a header it refuses the line. Repair takes the first of the two out of a header, elsewhere only with --tidy.`,
	}
	TooDeep = &finding.Rule{
		Name: "too-deep", Family: "framing", Impact: finding.Loses, Fix: finding.NoFix,
		Title: "nested deeper than the client reads",
		Text:  `The client's JSON reader goes down 127 brackets and refuses the line below that.`,
	}
	BlankLine = &finding.Rule{
		Name: "blank-line", Family: "framing", Impact: finding.Notes, Fix: finding.Exact, Tidy: true,
		Title: "blank lines",
		Text:  `Harmless; the client skips them. Removed with --tidy.`,
	}
	CRLF = &finding.Rule{
		Name: "crlf", Family: "framing", Impact: finding.Notes, Fix: finding.Exact, Tidy: true,
		Title: "lines end with CR LF",
		Text:  `Harmless: CR is white space to JSON. Changed to LF with --tidy.`,
	}
	HugeLine = &finding.Rule{
		Name: "huge-line", Family: "framing", Impact: finding.Notes, Fix: finding.NoFix,
		Title: "a line of more than 64 MiB",
		Text:  `Slow to load, and wrappers with a limit of their own fail on it. Mostly inline images.`,
	}
	// CorruptZst is about the stream that the lines come in, not about a line.
	CorruptZst = &finding.Rule{
		Name: "corrupt-zst", Family: "store", Impact: finding.Blocks, Fix: finding.Recovered, Always: true,
		Title: "a compressed session whose stream breaks off or does not decode",
		Text:  `The client decodes a compressed session whole or not at all. Repair keeps what decodes up to the break; a line that is cut there is mended like any torn one.`,
	}
	// Rules are all about lines, in the order in which they are documented.
	Rules = []*finding.Rule{
		EmptyFile, BOM, NULBytes, TornTail, NoFinalNewline, GluedRecords, SplitRecord, RawControl, BadJSON,
		NotObject, InvalidUTF8, LoneSurrogate, DuplicateKey, TooDeep, BlankLine, CRLF, HugeLine,
	}
)

func (f *Normalizer) tooDeep(v jsonl.Verdict) {
	fault := f.report(TooDeep, 0, finding.NoFix, fmt.Sprintf("%d brackets deep: the client reads no more than %d and drops the record", v.Depth, clientDepth))
	fault.Pos, fault.Record = f.rec.Pos, f.rec.Type
	if !f.rec.Model && f.rec.Kind != session.Header {
		fault.Impact = finding.Notes
	}
	f.rec.Refused = true
}

// duplicateKey reports a key that stands twice. Only in a header does it matter.
func (f *Normalizer) duplicateKey(v jsonl.Verdict) {
	fault := f.report(DuplicateKey, v.Duplicate, finding.NoFix, "a key stands twice in one object; the client takes the last value")
	fault.Pos, fault.Record = f.rec.Pos, f.rec.Type
	if f.rec.Kind == session.Header {
		fault.Impact, fault.Message = finding.Blocks, "a key stands twice in the header: the client can't read it"
	}
	if cut, same, ok := session.FirstOfTwo(f.rec.Raw, v.Duplicate); ok {
		fault.Fix = finding.SetAside
		if same {
			fault.Fix = finding.Exact
		}
		fault.Framing = false
		fault.Edits = []finding.Edit{{At: f.rec.Pos, Op: finding.Splice, Cuts: []finding.Cut{cut}}}
	}
}
