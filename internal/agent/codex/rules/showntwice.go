package rules

import (
	"fmt"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// shownPrompt is an event that shows a prompt.
type shownPrompt struct {
	text textSum
	item uint64 // hash of the id under which it is shown
	at   session.Pos
}

// again says whether an event shows the same prompt, under another id, and no turn has begun or ended since: newest is the newest event that
// showed a prompt, or began or ended a turn.
func (p *shownPrompt) again(rec *session.Record, newest session.Pos) bool {
	return rec.Pos.Lost == 0 && p.at == newest && p.text.size > len(`""`) && p.text == shownText(rec) && len(codex.Field(rec, codex.FieldItemID)) > 0 && p.item != codex.SumOf(rec, codex.FieldItemID)
}

// shownTwice reports that a prompt is shown once more, as some migrations write it: the client keeps what is shown by its id, so it lists the
// prompt twice (0.171.0, measured), and sends it once.
func (c *messageChecker) shownTwice(rec *session.Record) {
	f := ruleDoubledItem.Of(rec, fmt.Sprintf("the prompt of which line %d tells is shown a second time, under another id: the client lists it twice", c.shown.at.Line))
	f.Impact = finding.Shows
	c.run.Report(f.With(finding.Edit{At: rec.Pos, Op: finding.Remove}))
}
