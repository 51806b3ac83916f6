package rules

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

var (
	ruleNoHeader = &Rule{
		Name: "no-header", Family: "header", Impact: Blocks, Fix: StandIn,
		Title: "no readable session_meta anywhere",
		Text: `The first record of a rollout says who the session is. Without it every client refuses: "failed to read session metadata", ` +
			`"does not start with session metadata", or in old versions "failed to parse thread ID from rollout file". Repair rebuilds it: id and time ` +
			`from the file's name, cwd from the first turn_context, the mode from the presence of ordinals.`,
	}
	ruleHeaderNotFirst = &Rule{
		Name: "header-not-first", Family: "header", Impact: Blocks, Fix: Exact,
		Title: "the session_meta is not the first record",
		Text: `0.145.0 and 0.169.0 refuse a session whose header is not its first record ("does not start with session metadata"); 0.79.0 and 0.114.0 read on until they find it (measured). ` +
			`Repair moves it to the front.`,
	}
	ruleBadHeader = &Rule{
		Name: "bad-header", Family: "header", Impact: Blocks, Fix: Exact,
		Title: "a member of the session_meta is missing or of the wrong type",
		Text: `The client reads its header with a strict type: a missing id, timestamp, cwd, originator or cli_version, base_instructions as a plain text, ` +
			`an unknown history_mode, or agent_role beside its old name agent_type make it unreadable, and with it the session. Repair mends the member alone.`,
	}
	ruleStrayHeader = &Rule{
		Name: "stray-header", Family: "header", Impact: Loses, Fix: SetAside, Always: true,
		Title: "a second session_meta in a paginated session",
		Text: `The client reads a paginated session from its end and stops at the first session_meta it meets: all that stands above a second one is lost to the model (measured with 0.169.0; 0.145.0 sends all). ` +
			`In a legacy session it is normal, and so is the inherited beginning of a sub-agent. Repair sets the record aside; what it updated goes into the first header.`,
	}
	ruleIncompletePrefix = &Rule{
		Name: "incomplete-prefix", Family: "header", Impact: Blocks, Fix: NoFix,
		Title: "a sub-agent's session ends inside what it inherits",
		Text: `A sub-agent's paginated session begins with records copied from its parent, up to subagent_history_start_ordinal. One that ends before was being created when the client died; ` +
			`it is refused ("paginated subagent rollout … is incomplete") and holds nothing of its own.`,
	}
	ruleIDMismatch = &Rule{
		Name: "id-mismatch", Family: "header", Impact: Blocks, Fix: Exact,
		Title: "the file's name, the header and the records disagree about the thread's id",
		Text: `The client looks a thread up by its file's name and then takes the id from the header: another thread's session grows, or newer versions refuse ("rollout at … belongs to thread …"). ` +
			`The id that most records carry wins, the file's name if they do not tell; the name itself is only changed on a copy.`,
	}
	ruleBadFileName = &Rule{
		Name: "bad-file-name", Family: "header", Impact: Blocks, Fix: Exact,
		Title: "a session file that the client's finder can't see",
		Text:  `The client finds sessions by their names, rollout-<time>-<id>.jsonl; under any other name the session is not listed and not found by its id. A repaired copy gets the canonical name.`,
	}
	ruleBareFormat = &Rule{
		Name: "bare-format", Family: "header", Impact: Blocks, Fix: Exact,
		Title: "a session from before 0.32, whose records have no envelope",
		Text:  `Until September 2025 a line was a bare item without timestamp, type and payload around it. Today's client reads none of it. Repair wraps every record, and makes the header from the first line.`,
	}
	headerRules = []*Rule{ruleNoHeader, ruleHeaderNotFirst, ruleBadHeader, ruleStrayHeader, ruleIncompletePrefix, ruleIDMismatch, ruleBadFileName, ruleBareFormat}
)

// firstPlace is where a header belongs: unreadable lines in front of it would hide it.
var firstPlace = session.Pos{Line: 1}

// maxHeader bounds, in bytes, what is kept of a header until the session's end.
const maxHeader = 4 << 20

// headerChecker finds what is wrong with who the session is.
type headerChecker struct {
	run  *run
	line []byte // the header's bytes
	at   Ref    // where it stands
	late bool   // records stand in front of it

	torn      []byte // a dead first line that may have been the header
	dead      int64  // dead lines in front of the first record
	anyRecord bool   // some record is of a type that the client writes
	stamp     string // of the first record that has one
	cwd       string
	provider  string
	ids       map[string]*int64 // threads that records name
	ordinals  bool
	lowest    int64
	final     session.Ordinal
	strays    []stray
	bare      *bareSession
}

type stray struct {
	ref  Ref
	line []byte
}

func newHeaderChecker(s *run) *headerChecker { return &headerChecker{run: s, ids: map[string]*int64{}} }

func (c *headerChecker) Record(rec *session.Record) {
	if rec.Kind == session.Unreadable && !c.run.paginated && !utf8.Valid(rec.Original) {
		// A session without ordinals is read as text: one line that is none, and all of it is refused (measured).
		c.run.AmendFraming(rec.Pos.Line, func(f *Finding) { f.Impact = Blocks })
	}
	if rec.Kind == session.Unreadable {
		if c.line == nil && c.torn == nil && bytes.Contains(rec.Raw, []byte("session_meta")) && len(rec.Raw) < maxHeader {
			c.torn = bytes.Clone(rec.Raw)
		}
		if !c.anyRecord && !rec.Blank {
			c.dead++
		}
		return
	}
	if c.bareRecord(rec) {
		return
	}
	if rec.Kind == session.Header {
		c.headerRecord(rec)
	}
	c.learn(rec)
}

func (c *headerChecker) headerRecord(rec *session.Record) {
	if c.line == nil {
		c.line = bytes.Clone(rec.Raw)
		c.at = refOf(rec)
		c.late = c.run.First().Pos != rec.Pos
		c.run.setHeader(codex.ReadHeader(c.line), rec.Pos)
		c.run.paginated = c.run.header.Paginated()
		if c.late {
			c.run.report(Finding{
				Rule: ruleHeaderNotFirst, Impact: Blocks, Fix: Exact, Pos: rec.Pos, Offset: rec.Offset, Record: rec.Type,
				Message: fmt.Sprintf("the header stands on line %d; the client wants it first", rec.Pos.Line),
				Edits: []Edit{
					{At: rec.Pos, Op: Remove, Moved: true},
					{At: firstPlace, Op: Before, Lead: true, New: Content{From: &Ref{Pos: rec.Pos, Offset: rec.Offset, Size: rec.Size}}},
				},
			})
		}
		return
	}
	if !c.run.paginated || c.run.inherited(rec) {
		return
	}
	c.run.history.ForgetSeen()
	c.strays = append(c.strays, stray{refOf(rec), bytes.Clone(rec.Raw)})
}

// inherited says whether the record lies in what a sub-agent copied from its parent.
func (s *run) inherited(rec *session.Record) bool {
	start := s.header.SubagentStart
	return start > 0 && rec.Ordinal.State == session.GoodOrdinal && rec.Ordinal.Value < start
}

// learn keeps what the records tell about the session, for a header that must be mended or rebuilt.
func (c *headerChecker) learn(rec *session.Record) {
	c.anyRecord = c.anyRecord || rec.Type != ""
	if c.stamp == "" {
		c.stamp = codex.Stamp(rec)
	}
	if rec.Ordinal.State == session.GoodOrdinal {
		if !c.ordinals {
			c.lowest = rec.Ordinal.Value
		}
		c.ordinals, c.final = true, rec.Ordinal
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
	if id := codex.Text(rec, codex.FieldThreadID); len(id) == 36 {
		if n := c.ids[string(id)]; n != nil {
			*n++
		} else if len(c.ids) < 1024 {
			c.ids[string(id)] = new(int64(1))
		}
	}
}

func (c *headerChecker) End() {
	c.run.fileName()
	switch {
	case c.bare != nil && (c.bare.n > 0 || c.bare.others == 0):
		c.bare.report(c)
		return
	case c.run.Records() == 0:
		if c.run.empty() {
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
	if start := c.run.header.SubagentStart; c.run.paginated && start > 0 && c.final.State == session.GoodOrdinal && c.final.Value < start-1 {
		c.run.report(Finding{
			Rule: ruleIncompletePrefix, Impact: Blocks, Pos: c.at.Pos, Offset: c.at.Offset, Record: "session_meta",
			Message: fmt.Sprintf("what this sub-agent inherits should reach ordinal %d but ends at %d", start-1, c.final.Value),
		})
	}
}

func (c *headerChecker) faults() {
	for _, fault := range codex.HeaderFaults(c.line, c.known()) {
		f := Finding{
			Rule: ruleBadHeader, Impact: Blocks, Fix: StandIn, Pos: c.at.Pos, Offset: c.at.Offset, Record: "session_meta",
			Message: fault.What + ": the client can't read the header",
		}
		if fault.Exact {
			f.Fix = Exact
		}
		if len(fault.Cuts) == 0 {
			f.Fix = NoFix
		} else {
			f.Edits = []Edit{{At: c.at.Pos, Op: Splice, Cuts: fault.Cuts}}
		}
		c.run.report(f)
	}
}

// strayHeaders takes further headers out of a paginated session. What one of the same thread updated goes into the first.
func (c *headerChecker) strayHeaders() {
	updates := map[string][]byte{}
	var found []Finding
	for _, s := range c.strays {
		f := Finding{
			Rule: ruleStrayHeader, Impact: Loses, Fix: SetAside, Pos: s.ref.Pos, Offset: s.ref.Offset, Record: "session_meta",
			Message: "a second session_meta: the client forgets everything above it",
			Edits:   []Edit{{At: s.ref.Pos, Op: Remove}},
		}
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
			last.Edits = append(last.Edits, Edit{At: c.at.Pos, Op: Splice, Cuts: []Cut{session.SetMember(c.line, "payload", key, value)}})
		}
	}
	for _, f := range found {
		c.run.report(f)
	}
}

// mismatch compares the ids in the file's name and in the header.
func (c *headerChecker) mismatch() {
	name, id := c.run.opts.Name.ThreadID, c.run.header.ID
	if _, err := uuid.Parse(id); name == "" || err != nil || name == id {
		return
	}
	f := Finding{Rule: ruleIDMismatch, Impact: Blocks, Fix: Exact, Pos: c.at.Pos, Offset: c.at.Offset, Record: "session_meta"}
	if c.named(id) > c.named(name) {
		f.Message = fmt.Sprintf("the file is named for thread %s but header and records are of %s: the copy gets that name", name, id)
		f.Rename = id
	} else {
		f.Message = fmt.Sprintf("the header says thread %s, the file's name says %s: resuming that would go on as another thread", id, name)
		cuts := []Cut{session.SetMember(c.line, "payload", "id", []byte(`"`+name+`"`))}
		if c.run.header.SessionID == id {
			cuts = append(cuts, session.SetMember(c.line, "payload", "session_id", []byte(`"`+name+`"`)))
		}
		f.Edits = []Edit{{At: c.at.Pos, Op: Splice, Cuts: cuts}}
	}
	c.run.report(f)
}

// fileName reports a name that hides the session from the client's finder.
func (s *run) fileName() {
	name := s.opts.Name
	if !name.InHome || name.Canonical || name.Base == "" {
		return
	}
	s.report(Finding{
		Rule: ruleBadFileName, Impact: Blocks, Fix: Exact, Pos: session.Pos{Line: 1}, Rename: s.header.ID,
		Message: "the client can't find a session by this name: it wants rollout-<time>-<id>.jsonl",
	})
}

// empty reports a file that holds nothing at all, and says whether it did.
func (s *run) empty() bool {
	for _, f := range s.Findings() {
		if r := f.Rule; r != normalize.NULBytes && r != normalize.BlankLine && r != normalize.BOM && r != normalize.HugeLine {
			return false
		}
	}
	if s.Offset() == 0 && s.opts.Fresh {
		return true
	}
	s.Withdraw(func(*Finding) bool { return true })
	s.report(Finding{Rule: normalize.EmptyFile, Impact: Blocks, Pos: session.Pos{Line: 1}, Message: "the file holds no record: the client refuses it; look for a backup, an archived copy or a .zst of the same name"})
	return true
}
