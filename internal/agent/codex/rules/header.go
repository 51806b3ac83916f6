package rules

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

var (
	ruleNoHeader         = texts.Rule(finding.Rule{Name: "no-header", Family: "header", Impact: finding.Blocks, Fix: finding.StandIn})
	ruleHeaderNotFirst   = texts.Rule(finding.Rule{Name: "header-not-first", Family: "header", Impact: finding.Blocks, Fix: finding.Exact})
	ruleBadHeader        = texts.Rule(finding.Rule{Name: "bad-header", Family: "header", Impact: finding.Blocks, Fix: finding.Exact})
	ruleStrayHeader      = texts.Rule(finding.Rule{Name: "stray-header", Family: "header", Impact: finding.Loses, Fix: finding.SetAside, Always: true})
	ruleIncompletePrefix = texts.Rule(finding.Rule{Name: "incomplete-prefix", Family: "header", Impact: finding.Blocks, Fix: finding.NoFix})
	rulePrefixBoundary   = texts.Rule(finding.Rule{Name: "prefix-boundary", Family: "header", Impact: finding.Shows, Fix: finding.Exact, Always: true})
	ruleIDMismatch       = texts.Rule(finding.Rule{Name: "id-mismatch", Family: "header", Impact: finding.Blocks, Fix: finding.Exact})
	ruleBadFileName      = texts.Rule(finding.Rule{Name: "bad-file-name", Family: "header", Impact: finding.Blocks, Fix: finding.Exact})
	ruleBareFormat       = texts.Rule(finding.Rule{Name: "bare-format", Family: "header", Impact: finding.Blocks, Fix: finding.Exact})
	headerRules          = []*finding.Rule{ruleNoHeader, ruleHeaderNotFirst, ruleBadHeader, ruleStrayHeader, ruleIncompletePrefix, rulePrefixBoundary, ruleIDMismatch, ruleBadFileName, ruleBareFormat}
)

// headerType is the type of a header's record.
const headerType = "session_meta"

// firstPlace is where a header belongs: in front of everything, because unreadable lines in front of it would hide it.
var firstPlace = session.Pos{Line: 1}

// maxHeader is up to how many bytes of a header are kept until the session's end.
const maxHeader = 4 << 20

// headerChecker checks the header, and which session the records belong to, and notes what lines without a record mean for it.
type headerChecker struct {
	run  *run
	line []byte      // the header's bytes
	at   finding.Ref // where it is
	late bool        // records come before it

	readAnyway bool // the client reads it, though it was mended

	looked  int64   // the newest line that is unreadable or mended
	notText []lines // those of them that are not UTF-8

	torn      []byte // a dead first line that may have been the header
	tornAt    int64
	dead      int64  // dead lines in front of the first record
	anyRecord bool   // some record is of a type that the client writes
	stamp     string // the first time stamp
	cwd       string
	provider  string
	ids       map[string]*int64 // how many records name each thread
	newest    string            // the thread named last
	times     *int64            // how many records name that one
	ordinals  bool
	lowest    int64
	final     session.Ordinal
	strays    []stray
	bare      *bareSession
	restored  bool                          // records are restored from elsewhere
	instead   func(f *finding.Finding) bool // what the finding about the whole file replaces; nil: nothing
	begins    bool                          // the first turn of a thread is among them
}

// lines are lines in a row.
type lines struct{ first, last int64 }

// Lost notes that records are restored from elsewhere.
func (c *headerChecker) Lost(rec *session.Record) {
	c.restored = true
	c.run.review.see(rec)
	c.run.crossed.see(rec)
	c.begins = c.begins || rec.Kind == session.TurnStart && rec.Ordinal.State == session.GoodOrdinal && rec.Ordinal.Value <= codex.FirstTurn
}

type stray struct {
	ref  finding.Ref
	line []byte
}

func newHeaderChecker(s *run) *headerChecker { return &headerChecker{run: s, ids: map[string]*int64{}} }

func (c *headerChecker) Record(rec *session.Record) {
	c.run.crossed.see(rec)
	if (rec.Kind == session.Unreadable || rec.Mended) && c.looked < rec.Pos.Line {
		c.looked = rec.Pos.Line // all pieces of a line have the whole line as their original
		if utf8.Valid(rec.Original) {
			// it is text
		} else if n := len(c.notText) - 1; n >= 0 && c.notText[n].last+1 == rec.Pos.Line {
			c.notText[n].last++
		} else {
			c.notText = append(c.notText, lines{rec.Pos.Line, rec.Pos.Line})
		}
	}
	if rec.Kind == session.Unreadable {
		if c.line == nil && c.torn == nil && bytes.Contains(rec.Raw, []byte("session_meta")) && len(rec.Raw) < maxHeader {
			c.torn, c.tornAt = bytes.Clone(rec.Raw), rec.Pos.Line
		}
		if !c.anyRecord && !rec.Blank {
			c.dead++
		}
		if rec.Zeros && c.run.Records() > 0 && !(rec.Open && c.run.opts.Live) { // in front of the header, nothing is lost
			about := c.run.About(rec.Pos)
			about.Nothing = about.Rule == normalize.NULBytes
		}
		return
	}
	if c.bareRecord(rec) {
		return
	}
	c.run.prefix.see(rec, &c.run.header)
	c.run.review.see(rec)
	if rec.Kind == session.Header {
		c.headerRecord(rec)
	}
	c.learn(rec)
}

// isText says whether the lines of a finding are UTF-8.
func (c *headerChecker) isText(f *finding.Finding) bool {
	i := sort.Search(len(c.notText), func(i int) bool { return c.notText[i].last >= f.Pos.Line })
	return i == len(c.notText) || max(f.Pos.Line, f.Through) < c.notText[i].first
}

func (c *headerChecker) headerRecord(rec *session.Record) {
	if c.line == nil {
		c.line = bytes.Clone(rec.Raw)
		c.at = finding.RefOf(rec)
		c.late = c.run.First().Pos != rec.Pos
		c.readAnyway = rec.Mended && codex.IsHeader(rec.Original) && len(codex.HeaderFaults(rec.Original, codex.Known{})) == 0
		c.run.setHeader(codex.ReadHeader(c.line), rec.Pos)
		c.run.paginated = c.run.header.Paginated()
		if c.late {
			c.run.Report(ruleHeaderNotFirst.Of(rec, fmt.Sprintf("the header is on line %d; the client expects it first", rec.Pos.Line)).With(
				finding.Edit{At: rec.Pos, Op: finding.Remove, Moved: true},
				finding.Edit{At: firstPlace, Op: finding.Before, Lead: true, New: finding.Content{From: &finding.Ref{Pos: rec.Pos, Offset: rec.Offset, Size: rec.Size}}},
			))
		}
		return
	}
	if !c.run.paginated || c.run.prefix.here {
		return
	}
	c.run.history.ForgetSeen()
	c.strays = append(c.strays, stray{finding.RefOf(rec), bytes.Clone(rec.Raw)})
}

// putInFront says whether a message has a number that belongs to a thread's first turn: then a repair has put it in front of
// what was left, and it does not show where the session began.
func putInFront(rec *session.Record) bool {
	return rec.Kind == session.Message && rec.Ordinal.Value < codex.FirstTurn
}

// learn keeps what the records show about the session, for a header that must be mended or rebuilt.
func (c *headerChecker) learn(rec *session.Record) {
	if !c.anyRecord && rec.Type != "" {
		c.anyRecord = true
	}
	if c.stamp == "" {
		c.stamp = codex.Stamp(rec)
	}
	if rec.Ordinal.State == session.GoodOrdinal {
		if c.lowest == 0 && !putInFront(rec) {
			c.lowest = rec.Ordinal.Value
		}
		c.ordinals = true
		if c.run.header.SubagentStart == 0 || !codex.Skips(rec) {
			c.final = rec.Ordinal
		}
		if c.line == nil {
			c.run.paginated = true // until a header says otherwise
		}
	}
	if rec.Kind == session.Context && c.cwd == "" {
		c.cwd = gjson.GetBytes(rec.Raw, "payload.cwd").String()
	}
	if c.provider == "" && rec.Type == "event_msg/thread_settings_applied" {
		c.provider = gjson.GetBytes(rec.Raw, "payload.thread_settings.model_provider_id").String()
	}
	if len(codex.Field(rec, codex.FieldThreadID)) > 0 {
		if id := codex.Text(rec, codex.FieldThreadID); len(id) == 36 {
			c.name(id)
		}
	}
}

// name counts a record that names a thread.
func (c *headerChecker) name(id []byte) {
	if string(id) == c.newest { // nearly all records name the same thread
		*c.times++
		return
	}
	times := c.ids[string(id)]
	if times == nil {
		if len(c.ids) == 1024 {
			return
		}
		times = new(int64)
		c.ids[string(id)] = times
	}
	*times++
	c.newest, c.times = string(id), times
}

func (c *headerChecker) End() {
	c.fileName()
	switch {
	case c.bare != nil && (c.bare.n > 0 || c.bare.others == 0):
		c.bare.report(c)
		return
	case c.run.Records() == 0:
		if c.destroyed() || c.empty() {
			return
		}
		c.missing()
		return
	case c.line == nil:
		c.missing()
		return
	}
	c.faults()
	c.strayHeaders()
	c.mismatch()
	start := c.run.header.SubagentStart
	behind := c.run.paginated && start > 0 && c.final.State == session.GoodOrdinal && c.final.Value < start-1
	if !c.boundary(behind) && behind {
		c.run.Report(ruleIncompletePrefix.At(c.at, headerType, fmt.Sprintf("what this sub-agent inherits should reach ordinal %d but ends at %d", start-1, c.final.Value)))
	}
}

// boundary reports a sub-agent of which its header counts turns of its own as the parent's, and says whether it is one. behind says that all
// of the file does not reach as far as the header says.
func (c *headerChecker) boundary(behind bool) bool {
	own := c.run.prefix.own
	if !c.run.paginated || own == 0 || madeAt(c.run.header.ID) == nil {
		return false
	}
	if !c.run.prefix.copied {
		own = 1 // it has inherited nothing
	}
	cut := session.SetMember(c.line, "payload", "subagent_history_start_ordinal", strconv.AppendInt(nil, own, 10))
	f := rulePrefixBoundary.At(c.at, headerType, fmt.Sprintf("the header says that this sub-agent's own history begins with ordinal %d, but its first turn began before: the client sends everything, but does not show what came before", c.run.header.SubagentStart)).With(
		finding.Edit{At: c.at.Pos, Op: finding.Splice, Cuts: []finding.Cut{cut}})
	if behind {
		f.Impact = finding.Blocks
		f.Message = fmt.Sprintf("the header says that this sub-agent's own history begins with ordinal %d, but its first turn began before, and what the client reads of the file ends with %d: the client refuses it as incomplete", c.run.header.SubagentStart, c.final.Value)
	}
	c.run.Report(f)
	return true
}

func (c *headerChecker) faults() {
	for _, fault := range codex.HeaderFaults(c.line, c.known()) {
		f := ruleBadHeader.At(c.at, headerType, fault.What+": the client can't read the header")
		switch {
		case len(fault.Cuts) == 0:
			f.Fix = finding.NoFix
		case !fault.Exact:
			f.Fix = finding.StandIn
		}
		if len(fault.Cuts) > 0 {
			f.Edits = []finding.Edit{{At: c.at.Pos, Op: finding.Splice, Cuts: fault.Cuts}}
		}
		c.run.Report(f)
	}
}

// strayHeaders removes further headers from a paginated session. What a header of the same thread updated is put into the first
// one.
func (c *headerChecker) strayHeaders() {
	updates := map[string][]byte{}
	var found []finding.Finding
	for _, s := range c.strays {
		f := ruleStrayHeader.At(s.ref, headerType, "a second header: the client forgets everything above it").With(finding.Edit{At: s.ref.Pos, Op: finding.Remove})
		if gjson.GetBytes(s.line, "payload.id").String() == c.run.header.ID {
			for _, key := range []string{"memory_mode", "git"} {
				if v := gjson.GetBytes(s.line, "payload."+key); v.Exists() && v.Raw != gjson.GetBytes(c.line, "payload."+key).Raw {
					updates[key] = []byte(v.Raw)
				}
			}
		}
		found = append(found, f)
	}
	for _, key := range []string{"git", "memory_mode"} {
		if value, ok := updates[key]; ok {
			last := &found[len(found)-1]
			last.Edits = append(last.Edits, finding.Edit{At: c.at.Pos, Op: finding.Splice, Cuts: []finding.Cut{session.SetMember(c.line, "payload", key, value)}})
		}
	}
	for _, f := range found {
		c.run.Report(f)
	}
}

// mismatch compares the ids in the file's name and in the header.
func (c *headerChecker) mismatch() {
	name, id := c.run.opts.Name.ThreadID, c.run.header.ID
	if _, err := uuid.Parse(id); name == "" || err != nil || name == id {
		return
	}
	f := ruleIDMismatch.At(c.at, headerType, "")
	if c.named(id) > c.named(name) {
		f.Message = fmt.Sprintf("the file is named for thread %s, but its header and records belong to %s: the repaired copy is named for that one", name, id)
		f.Rename = id
	} else {
		f.Message = fmt.Sprintf("the header says thread %s, the file's name says %s: the client refuses to resume it", id, name)
		if codex.Before(c.run.client, 0, 171) {
			f.Message = fmt.Sprintf("the header says thread %s, the file's name says %s: a resume would continue as another thread", id, name)
		}
		cuts := []finding.Cut{session.SetMember(c.line, "payload", "id", []byte(`"`+name+`"`))}
		if c.run.header.SessionID == id {
			cuts = append(cuts, session.SetMember(c.line, "payload", "session_id", []byte(`"`+name+`"`)))
		}
		f.Edits = []finding.Edit{{At: c.at.Pos, Op: finding.Splice, Cuts: cuts}}
	}
	c.run.Report(f)
}

// fileName reports a file name that the client's finder does not see. Where a link has the right name, the newest client looks at that of the
// file behind it only for a paginated session (measured with 0.171.0; 0.145.0 never does).
func (c *headerChecker) fileName() {
	s := c.run
	name := s.opts.Name
	if !name.InHome || name.Canonical || name.Base == "" || name.Linked && !s.header.Paginated() {
		return
	}
	id := s.header.ID
	if id == "" && c.torn == nil { // the header that will be rebuilt has this one
		id = c.known().ID
	}
	f := ruleBadFileName.At(finding.Ref{Pos: firstPlace}, "", "the client can't find a session under this name: it expects rollout-<time>-<id>.jsonl")
	f.Rename = id
	own := id != "" && bytes.Contains([]byte(name.Right), []byte(id))
	switch found := own && name.GoesOn(); {
	case own && name.Beside:
		f.Impact, f.Fix, f.Rename = finding.Notes, finding.NoFix, ""
		f.Message = "a copy beside the session's own file, " + name.Right
		if found {
			f.Message += ": the client takes that one where its list names it, and may take either where it does not"
		}
	case filepath.Ext(name.Base) == ".zst": // that was not tried
	case found && s.header.Paginated():
		f.Message = "the client refuses the session under this name (does not have a canonical rollout filename): it expects rollout-<time>-<id>.jsonl"
	case found:
		f.Impact, f.Message = finding.Shows, "the client resumes the session by its id, but does not list it under this name: it expects rollout-<time>-<id>.jsonl"
	}
	if name.Linked {
		f.Message = "the file behind the link is not named rollout-<time>-<id>.jsonl: the client refuses it (does not have a canonical rollout filename)"
	}
	if f.Rename == "" && f.Impact != finding.Notes { // nothing says what it is to be named for
		f.Fix = finding.NoFix
	}
	s.Report(f)
}

// empty reports a file that holds nothing at all, and says whether it did.
func (c *headerChecker) empty() bool {
	for _, f := range c.run.Findings() {
		if r := f.Rule; r != normalize.NULBytes && r != normalize.BlankLine && r != normalize.BOM && r != normalize.HugeLine {
			return false
		}
	}
	if c.run.Offset() == 0 && c.run.opts.Fresh {
		return true
	}
	c.instead = func(f *finding.Finding) bool { return f.Rule != normalize.EmptyFile }
	c.run.Report(finding.Finding{Rule: normalize.EmptyFile, Impact: finding.Blocks, Pos: firstPlace, Message: "the file holds no record: the client refuses it; look for a backup, an archived copy or a .zst of the same name"})
	return true
}

// Explains says whether the finding about the whole file says it all.
func (c *headerChecker) Explains(f *finding.Finding) bool { return c.instead != nil && c.instead(f) }
