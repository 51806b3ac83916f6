package mend

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
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
	message := "the file holds no message: the client finds no conversation in it"
	if side > 0 {
		message = "all records are a sub-agent's: the client finds no conversation in the file"
	}
	f := finding.Finding{Rule: faults.NoConversation, Impact: finding.Blocks, Pos: c.last.Pos, Offset: c.last.Offset, On: c.last, Message: message}
	switch {
	case side > 0 && c.opts.Session == "":
		f.Impact, f.Message = finding.Notes, "all records are a sub-agent's: the file is its part of a session, and none by itself"
	case side > 0:
	case c.stub():
		f.Impact, f.Message = finding.Notes, "only bookkeeping: a resume of another session has left the file"
	case c.opts.Live:
	case len(c.nodes) > 0 && !c.wordless:
		c.wordless = true // records that the client added to a prompt may name it: wait until that is restored
		return false
	default:
		c.onlyAsked(&f)
		f.Message += c.leftBeside()
	}
	c.report(f)
	return true
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
			d.Impact, d.always = finding.Blocks, true
		}
	}
	if !slices.ContainsFunc(c.added, (*node).HasMessage) {
		c.noConversation()
	}
}

// onlyAsked restores prompts from bookkeeping, if that is all that is left of a session.
func (c *Checker) onlyAsked(f *finding.Finding) {
	parent, when := "", int64(0)
	said := map[string]bool{}
	for i := range c.echoes {
		e := &c.echoes[i]
		words := e.Words()
		if e.Late || e.Taken || !typed(words) || said[words] {
			continue
		}
		said[words] = true
		when = max(when+1, cmp.Or(e.When, noTime))
		m := format.Made{UUID: format.NewID("prompt", parent, words), Parent: parent, When: when, Typ: "user", Message: format.Object{"role": "user", "content": words}}
		parent = m.UUID
		f.Fix, f.Source = finding.Recovered, cmp.Or(f.Source, e.Source)
		f.Edits = append(f.Edits, finding.Edit{At: e.At, Op: finding.After, New: finding.Content{Literal: m.JSON(c.beside)}})
	}
}

// maxStub is how many records of bookkeeping an older client leaves in a file of its own when it resumes a session, beside the
// titles and the records of kept files that it copies from there.
const maxStub = 2

// stub says whether the file is what an older client leaves beside the session that it has resumed: next to nothing, or only
// what it has copied from another session of the folder, and no words of a conversation.
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
