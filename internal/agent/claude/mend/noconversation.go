package mend

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/home"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// noConversation reports a file that no client resumes, because it holds no message.
func (c *Checker) noConversation() bool {
	if c.last.Pos.Line == 0 {
		return true // the normalizer reports empty files
	}
	side := 0
	for _, n := range c.nodes {
		if n.HasMessage() && !n.Side {
			return false
		}
		if n.Side {
			side++
		}
	}
	f := finding.Finding{Rule: faults.NoConversation, Impact: c.wordlessImpact(), Pos: c.last.Pos, Offset: c.last.Offset, On: c.last}
	switch {
	case f.Impact < finding.Blocks:
		f.Message = "the file holds no message: the client resumes it, and knows of none"
	case side > 0:
		f.Message = "all records are a sub-agent's: the client finds no conversation in the file"
	default:
		f.Message = "the file holds no message: the client finds no conversation in it"
	}
	switch {
	case side > 0 && c.opts.Session == "":
		f.Impact, f.Message = finding.Notes, "all records are a sub-agent's: the file is its part of a session, and none by itself"
	case c.onlyStarted() && f.Impact < finding.Blocks:
		return true // and nothing is missing
	case c.onlyStarted():
		f.Impact, f.Message = finding.Notes, "a client was started, and ended before anything was said"
	case side > 0:
	case c.stub():
		f.Impact, f.Message = finding.Notes, "only bookkeeping: a resume or a fork of another session has left the file"
	case c.opts.Live:
	case c.onlyQueued():
		f.Impact, f.Message = finding.Notes, "a client was started with a prompt, and ended before it wrote anything else: it finds no conversation in the file; hist repair --rule no-conversation puts the prompt back"
		c.onlyAsked(&f)
	case c.wholeElsewhere(&f):
	case len(c.nodes) > 0 && !c.wordless:
		c.wordless = true // records that the client added to a prompt may name it: wait until that is restored
		return false
	default:
		c.onlyAsked(&f)
		f.Message += c.leftBeside()
	}
	c.run.Report(f)
	return true
}

// wholeElsewhere puts the conversation back that a program has written over, from the file that holds it: up from the end that this one names,
// or from the end of the other if that is the same session's. It says whether one does.
func (c *Checker) wholeElsewhere(f *finding.Finding) bool {
	if c.opts.Beside == nil {
		return false
	}
	end := c.leaf
	way := c.allElsewhere(end)
	if len(way) == 0 {
		end = c.opts.Beside.End()
		way = c.allElsewhere(end)
	}
	if len(way) == 0 {
		if m, _, source := c.elsewhere(cmp.Or(c.leaf, end)); m != nil {
			f.Message += "; more of the conversation stands elsewhere (" + source + ")"
		}
		return false
	}
	given := map[string]bool{}
	for _, m := range way {
		for _, id := range m.IDs(content.BlockResult) {
			given[id] = true
		}
	}
	put := func(line []byte) {
		f.Edits = append(f.Edits, finding.Edit{At: c.last.Pos, Op: finding.After, New: finding.Content{Literal: line}})
	}
	for _, m := range slices.Backward(way) {
		put(m.line)
		for _, id := range m.IDs(content.BlockCall) { // outputs of parallel calls stand beside the way
			if line, _ := c.opts.Beside.Answer(id, m.UUID); line != nil && !given[id] {
				put(line)
			}
		}
	}
	f.Fix, f.Source = finding.Recovered, way[0].source
	f.Message += "; the conversation stands elsewhere (" + way[0].source + ")"
	return true
}

// wordlessImpact is what it means that a file holds no message. If the client has noted something in it for itself, such as a command that
// asks the model nothing or what a hook said, it resumes it nevertheless (2.1.2 and 2.1.332, measured). 2.1.332 does not behind a
// sub-agent's records.
func (c *Checker) wordlessImpact() finding.Impact {
	noted := slices.ContainsFunc(c.nodes, func(n *node) bool { return n.Role == content.RoleLink })
	if noted && !slices.ContainsFunc(c.nodes, func(n *node) bool { return n.Side }) {
		return finding.Loses
	}
	return finding.Blocks
}

// leftBeside says what is left beside a file whose conversation is gone: the client or a program has written over it. It is empty if the
// session may never have held more.
func (c *Checker) leftBeside() string {
	if c.opts.Beside == nil {
		return ""
	}
	dir, parts, outputs := c.opts.Beside.Remains()
	if parts+outputs == 0 {
		return ""
	}
	return fmt.Sprintf("; the conversation is lost from the file, which was written over: beside it are left %d conversations of sub-agents (%s) and %d outputs (%s)",
		parts, filepath.Join(dir, "subagents"), outputs, filepath.Join(dir, "tool-results"))
}

// stillWordless reports a file that held no message, if none was restored either.
func (c *Checker) stillWordless() {
	if !c.wordless {
		return
	}
	for _, d := range c.found {
		if d.Rule == faults.LostPrompt {
			d.Impact, d.always = c.wordlessImpact(), true
		}
	}
	if !slices.ContainsFunc(c.added, (*node).HasMessage) {
		c.noConversation()
	}
}

// warmUp is the content of the prompt with which such a version tries its sub-agents.
const warmUp = `"Warmup"`

// onlyStarted says whether all that was written comes from a client's start: records of the hooks that run then, or what a version from 2.0 to
// 2.1.2 has made some of its sub-agents say, who call no tool there (see warmedUp), and commands that ask the model nothing. What is only
// written once something was said shows that this is lost.
func (c *Checker) onlyStarted() bool {
	said := len(c.echoes) > 0 || len(c.snapshots) > 0 || len(c.ends) > 0 || c.named
	if len(c.nodes) == 0 || len(c.dead) > 0 || said || c.zeros || c.leftBeside() != "" {
		return false
	}
	warms := format.Before(c.written, "2.1.20") && !format.Before(c.written, "2.0.0")
	prompts := 0
	return !slices.ContainsFunc(c.nodes, func(n *node) bool {
		if n.Side && n.IsPrompt() {
			prompts++
		}
		return !n.AtStart && !n.ByHand && !(warms && n.Side && !n.Calls() && n.Role != content.RoleResult)
	}) && prompts == c.warmUps
}

// onlyQueued says whether all that was written is that one prompt came into the queue, and may have left it: the client writes what it does
// with it a moment later, so it was stopped before that. Of more, time has passed, and what was written then is lost.
func (c *Checker) onlyQueued() bool {
	if len(c.nodes) > 0 || len(c.echoes) != 1 || int64(len(c.queued)) != c.run.Records() || c.run.Records() > 2 || c.zeros || len(c.dead) > 0 || c.leftBeside() != "" {
		return false
	}
	var asked finding.Finding
	c.onlyAsked(&asked)
	return len(asked.Edits) <= 1
}

// onlyAsked restores prompts from bookkeeping and from the list of what was typed, if that is all that is left of a session.
func (c *Checker) onlyAsked(f *finding.Finding) {
	type prompt struct {
		words, source string
		when          int64
		at            session.Pos
		op            finding.Op
	}
	var list []prompt
	said := map[string]bool{}
	setting := c.beside
	setting.Session.Words = cmp.Or(setting.Session.Words, c.opts.Session)
	ask := func(words, source string, when int64, at session.Pos, op finding.Op) {
		if typed(words) && !said[words] {
			said[words] = true
			list = append(list, prompt{words, source, when, at, op})
		}
	}
	var late []*evidence.Echo // the last prompts of turns, told again: of others nothing may be left but what was typed
	for i := range c.echoes {
		switch e := &c.echoes[i]; {
		case e.Unqueued:
		case e.Late:
			late = append(late, e)
		default:
			ask(e.Words(), e.Source, e.When, e.At, finding.After)
		}
	}
	end, op := c.last.Pos, finding.After
	if end.Line == 0 { // the file holds no record
		end.Line, op = 1, finding.Before
	}
	if c.opts.Beside != nil {
		for _, t := range c.unpasted(c.opts.Beside.Typed()) {
			ask(t.Words, home.PromptsFile, t.When, end, op)
		}
	}
	for _, e := range late {
		ask(e.Words(), e.Source, e.When, end, op)
	}
	last := int64(0)
	for i := range list { // of one whose time nobody knows, the order tells it
		last = cmp.Or(list[i].when, last)
		list[i].when = last
	}
	slices.SortStableFunc(list, func(a, b prompt) int { return cmp.Compare(a.when, b.when) })
	for i := len(list) - 2; i >= 0; i-- { // the file ends with the newest
		if p, next := &list[i], &list[i+1]; next.at.Less(p.at) {
			p.at, p.op = next.at, finding.Before
		}
	}
	parent := ""
	last = 0
	for _, p := range list {
		last = max(last+1, cmp.Or(p.when, noTime))
		m := format.Made{UUID: format.NewID("prompt", parent, p.words), Parent: parent, When: last, Typ: "user", Message: format.Object{"role": "user", "content": p.words}}
		parent = m.UUID
		if f.Fix = finding.Recovered; !strings.Contains(f.Source, p.source) {
			f.Source = strings.TrimPrefix(f.Source+" and "+p.source, " and ")
		}
		f.Edits = append(f.Edits, finding.Edit{At: p.at, Op: p.op, New: finding.Content{Literal: m.JSON(setting)}})
	}
}

// unpasted puts the whole prompts that the file tells in place of those typed ones that only name what was pasted, each once.
func (c *Checker) unpasted(list []evidence.Typed) []evidence.Typed {
	known := map[string]bool{}
	for _, t := range list {
		known[t.Words] = true
	}
	var whole []string
	for i := range c.echoes {
		if words := c.echoes[i].Words(); !c.echoes[i].Unqueued && !known[words] {
			known[words], whole = true, append(whole, words)
		}
	}
	list = slices.Clone(list)
	for i := range list {
		begins, _, pasted := strings.Cut(list[i].Words, "[Pasted text #")
		near := whole[:min(len(whole), earlierPrompts)]
		if at := slices.IndexFunc(near, func(words string) bool { return strings.HasPrefix(words, begins) }); pasted && at >= 0 {
			list[i].Words = near[at]
			copy(near[1:], near[:at])
			whole = whole[1:]
		}
	}
	return list
}

// maxStub is how many records of bookkeeping an older client leaves in a file of its own when it resumes a session, beside the
// titles and the records of kept files that it copies from there.
const maxStub = 2

// stub says whether the file is what a client has left beside another session of the folder, and has lost nothing. A copy of the file that holds
// a message shows that it has.
func (c *Checker) stub() bool {
	if len(c.dead) > 0 || c.zeros || c.opts.Beside == nil || !c.opts.Beside.Stray() || c.opts.Beside.End() != "" {
		return false
	}
	return c.begunFork() || c.leftByResume()
}

// begunFork says whether the file holds bookkeeping that a fork has copied, and nothing else: its client ended before it copied the conversation.
// The sessions that have written it are in the folder.
func (c *Checker) begunFork() bool {
	return c.opts.Session != "" && len(c.sessions) > 0 && len(c.snapshots) == 0 && c.leftBeside() == "" &&
		!slices.ContainsFunc(c.sessions, func(id string) bool { return id == c.opts.Session || !c.opts.Beside.OutgrownBy(id) })
}

// leftByResume says whether the file is what an older client leaves beside the session that it has resumed: next to nothing, or only
// what it has copied from there, and no words of a conversation.
func (c *Checker) leftByResume() bool {
	switch {
	case len(c.echoes) > 0:
		return false
	case c.run.Records() <= maxStub:
		return true
	}
	if c.copied < c.run.Records() || len(c.snapshots) == 0 {
		return c.copied == c.run.Records()
	}
	for id := range c.snapshots {
		if line, _ := c.opts.Beside.Record(id, func([]byte) bool { return true }); line != nil {
			return true
		}
	}
	return false
}
