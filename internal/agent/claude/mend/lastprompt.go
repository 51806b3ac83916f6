package mend

import (
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
)

// The functions below restore the last prompt of a session, or of a turn, whose own record is lost.

// lostLastPrompt restores the last prompt from the last-prompt record, if nothing of its turn is in the file, not even the
// record with which the turn is said to have ended.
func (c *Checker) lostLastPrompt() bool {
	i := slices.IndexFunc(c.echoes, func(e evidence.Echo) bool { return e.Last && e.At == c.leafAt.Pos })
	return i >= 0 && c.askedAgain(&c.echoes[i], c.leafAt, finding.Before)
}

// lostPromptAtEnd restores the prompts that waited for the end of a turn when the client was stopped, and the last prompt from the record
// that announces it, if nothing of its turn follows there, or only the beginning of one record.
func (c *Checker) lostPromptAtEnd() {
	last := c.lastLink()
	if last == nil || c.opts.Live {
		return
	}
	if c.queue.along < 0 {
		c.emptyQueue()
	}
	where := c.begun
	if where.Pos.Line == 0 {
		where = last.Ref()
		if told := len(c.queued) - 1; told >= 0 && where.Pos.Less(c.queued[told].Pos) {
			where = c.queued[told].Ref
		}
	}
	i := c.echoFrom(where.Pos.Line+1) - 1
	for i > 0 && c.echoes[i].Late { // the prompt is told once more at the end of its turn
		i--
	}
	for k := range c.echoes {
		if e := &c.echoes[k]; (e.Waits || k == i && !e.Late && !e.Unqueued) && c.askedAgain(e, where, finding.After) && c.waiting == nil {
			c.waiting = c.added[len(c.added)-1]
		}
	}
}

// askedAgain restores a prompt from its echo, and reports that at a given place. It does so only if the prompt waited, or no record of the
// tree follows the echo, and none of the last prompts has the same words.
func (c *Checker) askedAgain(e *evidence.Echo, where finding.Ref, op finding.Op) bool {
	last := c.lastLink()
	words := e.Words()
	if last == nil || !e.Waits && !last.Pos().Less(e.At) || !typed(words) || c.saidLately(words) {
		return false
	}
	tip := c.tipOf(c.leaf)
	what := "the last prompt"
	if e.Waits {
		what = "a prompt that waited for the end of a turn"
	}
	d := usual(last, faults.LostPrompt, what+" is not in the file: the client does not know that it was asked").anyway()
	d.Source = e.Source
	if tip == nil || !c.chosen(d) {
		return false
	}
	at := e.At
	if at.Less(last.Pos()) {
		at = where.Pos
	}
	d.Pos, d.Offset = where.Pos, where.Offset
	m := format.Made{UUID: format.NewID("prompt", tip.UUID, words), Parent: tip.UUID, When: c.afterAll(), Typ: "user", Message: format.Object{"role": "user", "content": words}}
	n := c.insert(c.add(d), m, &node{Place: format.PlaceOf(finding.Ref{Pos: at}), index: last.index}, op)
	c.pointAt(d, n, false)
	return true
}

// typed says whether words are a prompt, not a command to the client, whose own record may have other words.
func typed(words string) bool {
	return words != "" && !strings.ContainsAny(words[:1], "/!#<")
}

// saidLately says whether one of the file's last prompts has these words. A prompt of several blocks can't be compared, and
// counts as if it had.
func (c *Checker) saidLately(words string) bool {
	c.nextPrompt(c.nodes[0])
	forms := promptForms(words)
	last := c.promptAt[max(0, len(c.promptAt)-earlierPrompts):]
	for _, i := range last {
		if n := c.nodes[i]; len(n.Blocks) != 1 || slices.Contains(forms, n.Message) {
			return true
		}
	}
	return slices.ContainsFunc(c.added, func(n *node) bool { // prompts that hist has restored count, too
		return n.IsPrompt() && (len(last) == 0 || n.index >= last[0]) && (slices.Contains(forms, n.Message) || n.new.Message["content"] == words)
	})
}

// promptAbove is the prompt that belongs above a record without a parent: the echo of it is a last-prompt record that names the
// end of the turn which the record begins. nil if there is none.
func (c *Checker) promptAbove(n *node) *evidence.Echo {
	if c.told == nil {
		c.told = map[*node]*evidence.Echo{}
		for i := range c.echoes {
			e := &c.echoes[i]
			if root := beginning(c.ids.get(e.Leaf)); e.Last && root != nil && c.told[root] == nil {
				c.told[root] = e
			}
		}
	}
	e := c.told[n]
	if e == nil || c.askedLately(e, n) {
		return nil
	}
	return e
}

// beginning is the record without a parent that begins the turn of a given record; nil if the turn has its prompt.
func beginning(n *node) *node {
	for steps := 0; n != nil && steps < maxSiblings; steps++ {
		if n.IsPrompt() || n.Role == content.RoleBoundary {
			return nil
		}
		if n.up == nil {
			return n
		}
		n = n.up
	}
	return nil
}
