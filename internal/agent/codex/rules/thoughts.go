package rules

import (
	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// maxShown is how many events that show parts of one thought are kept until its item comes.
const maxShown = 16

// thoughtShown takes an event that shows a thought. It is kept until its item comes, which should be next; that of a review's thought comes in
// the review's own thread. again says that the same event has come before.
func (c *messageChecker) thoughtShown(rec *session.Record, t *witness, again bool) {
	c.resolveAgent(rec.Pos)
	if n := len(c.thoughts); !again && n > 0 && (rec.Type == "event_msg/item_completed" || n == maxShown) {
		c.resolveThought(rec.Pos, false)
	}
	if one, reported := c.restored[t.sum]; reported {
		c.echo, c.echoOf = &one, t.sum
	} else if !again && !c.run.review.open {
		if words := codex.ShownThought(rec.Raw); words != "" {
			t.said = codex.Sum([]byte(words))
			c.thoughts = append(c.thoughts, *t)
		}
	}
}

// thoughtCame takes the item of a thought, which is not lost then. If two clients write to one session, records of one may come
// between an event of the other and its item.
func (c *messageChecker) thoughtCame(rec *session.Record) {
	if len(c.lateThoughts) == 0 {
		return
	}
	said := codex.Sum([]byte(codex.ShownThought(rec.Raw)))
	if lost := c.lateThoughts[said]; lost != nil && (len(c.thoughts) == 0 || c.thoughts[0].said != said) {
		delete(c.lateThoughts, said)
		lost.Refute()
	}
}

// resolveThought settles a thought once its item can't come any more. over says that the session breaks off here, or goes on
// although its turn has not ended: then the item was never written.
func (c *messageChecker) resolveThought(at session.Pos, over bool) {
	if len(c.thoughts) == 0 {
		return
	}
	shown := c.thoughts
	c.thoughts = nil
	first, last := &shown[0], &shown[len(shown)-1]
	content := finding.Content{From: &first.ref, Recipe: codex.ThoughtRecipe{}}
	for _, t := range shown[1:] {
		content.More = append(content.More, t.ref)
	}
	f := first.lost("what this event shows of the model's reasoning is missing from what the model is sent")
	switch h := c.run.holes.First(last.ref.Pos, at); {
	case first.ref.Pos.Lost > 0, over: // if the turn is over, it goes in front of the record that ends the turn
		f.Edits = []finding.Edit{{At: last.ref.Pos, Op: finding.After, New: content}}
	case h != nil:
		f.Edits, f.Hole = []finding.Edit{h.Insert(content)}, true
	case c.itemsFollow(at):
		f.Edits = []finding.Edit{{At: last.ref.Pos, Op: finding.After, New: content}}
	default:
		return
	}
	claim := c.run.Claim(f)
	c.remember(last, lostText{thought: true, claim: claim})
	if c.lateThoughts == nil {
		c.lateThoughts = map[uint64]*check.Claim{}
	}
	if first.ref.Pos.Lost == 0 && !f.Hole && len(c.lateThoughts) < maxRestored {
		c.lateThoughts[first.said] = claim
	}
}
