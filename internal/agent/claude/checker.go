package claude

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// Options say what is known beside the session's bytes.
type Options struct {
	For      string // the version of the client that will resume the session; "" is the one that wrote it, and the newest known
	Session  string // the id that the file is named for, "" if it tells none
	Beside   Beside // what else holds parts of the session; nil: nothing
	Branch   string // a record by whose branch the client is to go on, by its id or the first digits of it; "" leaves that as it is
	Chain    bool   // outputs of parallel calls are hung behind each other
	Live     bool   // somebody writes it now: an unfinished end is no damage
	SubAgent bool   // the file is a sub-agent's own: all its records say so
	// Mend says which findings are mended; nil: all. No edit of another relies on what is not.
	Mend func(*finding.Finding) bool
}

// Beside is where content that a session has lost may still be.
type Beside interface {
	// Record returns the record with a uuid from a fork or a copy of the session, the first one that fits, and words for where
	// it was; nil if none has it.
	Record(uuid string, fits func(line []byte) bool) (line []byte, source string)
	// Answer returns the record with a call's output from a fork or a copy of the session, by the call's id and that of its
	// record, and words for where it was; nil if none has it.
	Answer(callID, call string) (line []byte, source string)
	// Output returns what is kept of a tool's output outside the session: the words, and words for where they were.
	Output(callID string) (text, source string)
	// ReadOutput returns what a call has read of a file, as the session or the client's file history tell it, and words for
	// where it was. sent says whether the client has sent these words as the output; nil if nothing tells that.
	ReadOutput(call FileRead, sent func(words string) bool) (words, source string)
	// Typed are the prompts that the user has typed in this session, as the client lists them, by their times.
	Typed() []Typed
	// Line returns the line of the session's own file that begins at an offset in bytes; nil if there is none.
	Line(offset int64) []byte
	// Part says whether the session is a sub-agent's, and what the same sub-agent has written in another session's folder
	// holds a record with this uuid, or an output of the call with this id.
	Part(id string) bool
	// Stray says whether the session, if it is empty, is only what a resume of another one left.
	Stray() bool
}

// Typed is a prompt that somebody typed.
type Typed struct {
	Words string
	When  int64 // milliseconds since 1970
}

// Checker looks at a session's records one by one, and tells at the end what is wrong with them.
type Checker struct {
	opts   Options
	report func(finding.Finding)
	// Amend lets the finding of the normalizer in a line take edits; nil: they are findings of their own.
	Amend func(line int64, change func(*finding.Finding))
	// Reported returns the findings so far, those of the normalizer among them; nil: nobody knows of any.
	Reported func() []finding.Finding

	recordTree
	sideRecords
	brokenLines
	callPairs
	fileFacts
	verdict
	beside  setting
	proof   proof
	Summary Summary
}

// New returns a checker that reports to the given function.
func New(opts Options, report func(finding.Finding)) *Checker {
	return &Checker{
		opts: opts, report: report, proof: newProof(),
		verdict:     verdict{sentSet: &nodeSet{}}, // of a file without a conversation nothing is sent
		recordTree:  recordTree{byUUID: map[string]*node{}, copies: map[session.Pos][]session.Pos{}},
		sideRecords: sideRecords{snapshots: map[string]bool{}},
		brokenLines: brokenLines{trifles: map[int64]string{}, other: map[int64]bool{}, half: map[int64]bool{}, cut: map[*node]int{}},
	}
}

// Record takes the next logical record.
func (c *Checker) Record(rec *session.Record) {
	if rec.Kind == session.Unreadable {
		c.zeros = c.zeros || rec.Zeros
		if !rec.Blank {
			c.dead = append(c.dead, rec.Pos)
			if typ := trifle(rec); typ != "" && !(rec.Open && c.middleTarget()) { // older clients append their next record to an open line
				c.trifles[rec.Pos.Line] = typ
			}
			c.half[rec.Pos.Line] = c.half[rec.Pos.Line] || halfMessage(rec.Raw)
			if begunOnly(rec.Raw) {
				c.begun = finding.RefOf(rec)
			}
			c.salvage(rec)
		}
		return
	}
	delete(c.trifles, rec.Pos.Line) // more than one record stood there
	c.records++
	c.last = finding.RefOf(rec)
	if c.first.Pos.Line == 0 {
		c.first = c.last
	}
	if inTree(rec) {
		c.beside.take(rec)
		if v := decodedAs(c.written, rec, fieldVersion); v != c.written && (c.written == "" || before(c.written, v)) {
			c.written = v
		}
		n := c.nodeOf(rec)
		n.side = n.side && !c.opts.SubAgent
		n.index, n.number = len(c.nodes), c.numbers
		c.numbers++
		c.some.note(n)
		c.opening(n, rec)
		c.noteCalls(rec, n)
		c.proof.answer(n, field(rec, fieldContent), text(rec, fieldModel))
		c.nodes = append(c.nodes, n)
		c.proof.compaction(n)
		if n.torn {
			c.cut[n] = len(rec.Raw)
		}
		return
	}
	if rec.Mended {
		c.other[rec.Pos.Line] = true
	}
	c.bookkeeping(rec)
}

// prior is the newest record of the tree so far, an empty one if there is none.
func (c *Checker) prior() *node {
	if len(c.nodes) == 0 {
		return &node{}
	}
	return c.nodes[len(c.nodes)-1]
}

// nodeOf is the node of a record, which mostly was read where the line was.
func (c *Checker) nodeOf(rec *session.Record) *node {
	n, read := rec.Prepared.(*node)
	if !read {
		n = c.reader.read(rec)
	}
	n.stands(rec)
	return n
}

// halfMessage says whether unreadable bytes are what is left of a record with a message.
func halfMessage(raw []byte) bool {
	return bytes.Contains(raw, []byte(`"parentUuid":`)) && bytes.Contains(raw, []byte(`"message":{`))
}

// bookkeeping reads the records outside the tree that tell something about it.
func (c *Checker) bookkeeping(rec *session.Record) {
	switch string(text(rec, fieldType)) {
	case "last-prompt":
		if isTrue(rec, fieldExplicit) {
			c.rewinds = append(c.rewinds, rec.Pos)
		}
		leaf := c.reader.keeper.as(c.prior().uuid, rec, fieldLeaf)
		if leaf != "" && !zeros(leaf) {
			c.leaf, c.leafAt = leaf, finding.RefOf(rec)
			c.ends = append(c.ends, namedEnd{leaf, rec.Pos})
		}
		if string(text(rec, fieldHist)) == chosenMark {
			c.choice = choice{leaf: decoded(rec, fieldLeaf), at: rec.Pos}
		}
		if len(text(rec, fieldLastPrompt)) > 0 && !shortened(field(rec, fieldLastPrompt)) {
			c.echoes = append(c.echoes, echo{told: string(field(rec, fieldLastPrompt)), quoted: true, source: "the last-prompt record of this file", at: rec.Pos, late: true, last: true, leaf: leaf})
		}
	case "summary":
		c.copied++
	case "file-history-snapshot":
		c.copied++
		c.snapshots[decoded(rec, fieldMessageRef)] = true
	case "queue-operation":
		c.queued = append(c.queued, rec.Pos)
		switch op := string(text(rec, fieldOperation)); {
		case op == "enqueue":
			if t := decoded(rec, fieldPlainContent); t != "" {
				c.echoes = append(c.echoes, echo{told: t, source: "the queue-operation record of this file", at: rec.Pos})
			}
		case op != "dequeue" && len(c.echoes) > 0:
			c.echoes[len(c.echoes)-1].taken = true
		}
	case "api-request-blob":
		t, ok := promptOfBlob(field(rec, fieldMessage))
		c.proof.blob(rec, t)
		if ok {
			c.echoes = append(c.echoes, echo{told: t, source: "the api-request-blob record of this file", at: rec.Pos, late: true})
		}
	case "api-request":
		c.proof.request(rec)
	}
}

func zeros(id string) bool { return strings.Trim(id, "0-") == "" }

// End settles what could not be known before, and reports. Each step relies on those before it: the records get their own
// ids, then their parents, then calls and outputs are paired. Only then can the rest ask what the client sends, and the
// last steps look at what all mends together leave.
func (c *Checker) End() {
	c.Summary = Summary{Version: c.written, Cwd: c.beside.cwd, Branch: c.beside.branch, Session: c.beside.session}
	if c.noConversation() {
		return
	}
	nodes := c.nodes
	c.duplicates()
	c.Summary.Seen = c.seen(nodes)
	c.thinking()
	c.wholeAgain()
	c.identify()
	c.untimed()
	c.adopt()
	c.link()
	c.ending()
	c.lostPromptAtEnd()
	c.pair()
	c.manyPictures()
	c.servedAlone()
	c.drops()
	c.cutCompaction()
	c.noSummary()
	c.repeatedEnd()
	if c.opts.Branch != "" {
		c.chooseBranch()
	} else {
		c.branches()
		c.overtaken()
		c.wrongLeaf()
		c.wrongTime()
	}
	c.chainParallel()
	c.brokenKept()
	c.lostKept()
	c.order()
	c.lastTurn()
	c.reachable()
	c.settle()
}

// noConversation reports a file that no client resumes.
func (c *Checker) noConversation() bool {
	if c.last.Pos.Line == 0 {
		return true // the normalizer tells of empty files
	}
	side := 0
	for _, n := range c.nodes {
		if n.hasMessage() && !n.side {
			return false
		}
		if n.side {
			side++
		}
	}
	message := "the file holds no message: the client finds no conversation in it"
	if side > 0 {
		message = "all records are a sub-agent's: the client finds no conversation in the file"
	}
	impact := finding.Blocks
	if side == 0 && c.stub() {
		impact = finding.Notes
		message = "only bookkeeping: a resume of another session has left the file"
	}
	c.report(finding.Finding{Rule: ruleNoConversation, Impact: impact, Pos: c.last.Pos, Offset: c.last.Offset, On: c.last, Message: message})
	return true
}

// maxStub is how many records of bookkeeping an older client leaves in a file of its own when it takes a session up, beside
// the titles and the notes of kept files that it copies from there.
const maxStub = 2

// stub says whether the file is what an older client leaves beside the session that it has taken up: next to nothing, or
// what it has copied from another session of the folder, and none of it words of a conversation.
func (c *Checker) stub() bool {
	if len(c.echoes) > 0 || len(c.dead) > 0 || c.zeros || c.opts.Beside == nil || !c.opts.Beside.Stray() {
		return false
	}
	if c.records <= maxStub {
		return true
	}
	if c.copied < c.records || len(c.snapshots) == 0 {
		return c.copied == c.records
	}
	for id := range c.snapshots {
		if line, _ := c.opts.Beside.Record(id, func([]byte) bool { return true }); line != nil {
			return true
		}
	}
	return false
}

// add keeps a finding about a record.
func (c *Checker) add(d *draft) *draft {
	if d.Pos.Line == 0 {
		d.Pos, d.Offset = d.about.pos(), d.about.offset
	}
	d.On, d.Record, d.IDs = d.about.ref(), d.about.typ, d.about.uuid
	c.found = append(c.found, d)
	return d
}

// chosen says whether a finding is to be mended.
func (c *Checker) chosen(d *draft) bool {
	return d != nil && !d.left && (c.opts.Mend == nil || c.opts.Mend(&d.Finding))
}

// oldTarget says whether a client without the five-second rule will read the session.
func (c *Checker) oldTarget() bool {
	if c.opts.For != "" {
		return before(c.opts.For, "2.1.100")
	}
	return c.written != "" && before(c.written, "2.1.100")
}

// readers are the versions that may read the session: the one that the user named, else the one that wrote it and "", the
// newest known.
func (c *Checker) readers() []string {
	if c.opts.For != "" {
		return []string{c.opts.For}
	}
	return []string{c.written, ""}
}

// middleTarget says whether a client up to 2.1.215 will read the session.
func (c *Checker) middleTarget() bool {
	v := c.opts.For
	if v == "" {
		v = c.written
	}
	return v != "" && before(v, "2.1.216")
}

// newTarget says whether the newest client may read the session: unless the user named another, it may.
func (c *Checker) newTarget() bool { return c.opts.For == "" || !before(c.opts.For, "2.1.216") }

// counts says whether what is at a place is sent, or may be.
func (c *Checker) counts(at session.Pos) bool {
	if c.sentLines == nil {
		c.sentLines = map[int64]bool{}
		for _, n := range c.sentSet.list {
			if n.new == nil {
				c.sentLines[n.pos().Line] = true
			}
		}
		for _, d := range c.found {
			if (d.Rule == ruleReusedUUID || d.about.sharesID || len(d.also) > 0) && d.Impact != finding.Notes {
				c.sentLines[d.Pos.Line] = true // the client reads it in the place of another that is sent, or loses one with it
			}
		}
		c.leftLines = map[int64]bool{}
		for _, n := range c.nodes {
			if !c.sentLines[n.pos().Line] {
				c.leftLines[n.pos().Line] = true
			}
		}
	}
	return c.sentLines[at.Line] || c.half[at.Line] || !c.leftLines[at.Line] && !c.other[at.Line]
}

// versionImpact is what a fault does to clients of different versions.
type versionImpact struct {
	old    finding.Impact // before 2.1.100
	middle finding.Impact // up to 2.1.215
	newest finding.Impact
}

// onAll is the impact of a fault that every version minds alike.
func onAll(impact finding.Impact) versionImpact { return versionImpact{impact, impact, impact} }

// oldAndNewer is the impact of a fault that versions before 2.1.100 mind otherwise than all newer ones.
func oldAndNewer(old, newer finding.Impact) versionImpact { return versionImpact{old, newer, newer} }

// worst is the worst that a fault does to a client that may read the session.
func (c *Checker) worst(impact versionImpact) finding.Impact {
	worst := finding.Notes
	if c.oldTarget() {
		worst = max(worst, impact.old)
	}
	if c.middleTarget() {
		worst = max(worst, impact.middle)
	}
	if c.newTarget() {
		worst = max(worst, impact.newest)
	}
	return worst
}

// settle reports what was found. A loss in what is no longer sent is only a note.
func (c *Checker) settle() {
	c.sentSet = c.sentAfter()
	c.Summary.Items = count(c.sentSet)
	slices.SortStableFunc(c.found, func(a, b *draft) int {
		switch {
		case a.Pos.Less(b.Pos):
			return -1
		case b.Pos.Less(a.Pos):
			return 1
		}
		return 0
	})
	kept := map[*node]bool{} // sent only because a compaction kept them
	for _, n := range c.sentSet.kept {
		kept[n] = true
	}
	for _, d := range c.found {
		left := !c.sentSet.has(d.about) && !slices.ContainsFunc(d.also, c.sentSet.has) || kept[d.about] && d.noMatterIfKept()
		if d.Impact != finding.Notes && !d.always && left && !c.partOfCut(d) {
			d.Impact, d.Fix, d.Edits, d.Lost, d.Source, d.left = finding.Notes, finding.NoFix, nil, 0, "", true
			if kept[d.about] {
				d.Message += " (which does not matter for what a compaction has kept)"
			} else {
				d.Message += " (in a part of the history that is no longer sent)"
			}
		}
	}
	c.relink()
	for _, d := range c.found {
		if d.Impact != finding.Notes && len(c.copies) > 0 {
			c.alone(d)
		}
		if c.partOfCut(d) {
			c.Amend(d.about.pos().Line, func(f *finding.Finding) { f.Edits = append(f.Edits, d.Edits...) })
			continue
		}
		c.report(d.Finding)
	}
}

// partOfCut says whether a finding only follows from a cut line: then its edits go with the finding about the line.
func (c *Checker) partOfCut(d *draft) bool { return d.about.torn && c.Amend != nil && d.follows() }
