package claude

import (
	"fmt"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
)

// lastTurn reports that the session ends in the middle of a turn.
func (c *Checker) lastTurn() {
	if c.opts.Live || c.opts.SubAgent {
		return
	}
	last := c.tipOf(c.leaf)
	for last != nil && !last.Over && (!last.Sent() || last.Filler || last.Meta || last.dropped != nil) {
		last = last.up
	}
	if last != nil && last.Over {
		return // the client itself says how the turn ended
	}
	if last == nil || last.new != nil || slices.ContainsFunc(c.found, func(d *draft) bool { return d.Rule == faults.UnfinishedCall }) {
		return // the finding about an unfinished call says as much
	}
	note := func(rule *finding.Rule, message string) {
		c.add(&draft{about: last, always: true, Finding: finding.Finding{Rule: rule, Impact: finding.Notes, Message: message}})
	}
	switch {
	case last.IsPrompt() && !last.AsksNothing:
		note(check.UnansweredPrompt, "the last prompt got no answer")
	case last.Role == content.RoleResult && c.answersForm(last): // that was the answer
	case last.Role == content.RoleResult && !last.Denied && !format.Before(last.Version, "1.0.128"): // older ones do not record an error here either
		note(faults.CutTurn, "the last turn stopped between a tool's output and the model's next answer")
	case last.Role == content.RoleAssistant && last.Stop == "" && len(last.IDs(content.BlockCall)) == 0 && last.Version != "" && !format.Before(last.Version, "2.1.100") && format.Before(last.Version, "2.1.216"):
		note(faults.CutTurn, "the last answer was cut off in the middle: the client took what had come for all of it")
	}
}

// answersForm says whether a result is of the call by which the model gives an answer in the form that the user has asked for: with
// --json-schema a turn ends so (2.1.332, measured).
func (c *Checker) answersForm(result *node) bool {
	call := c.callOf(result)
	return call != nil && slices.ContainsFunc(call.Blocks, func(b content.Block) bool { return b.Kind == content.BlockCall && b.Name == "StructuredOutput" })
}

// reachable reports how much of the session the client sends, if damage has made that less.
func (c *Checker) reachable() {
	if c.opts.Branch != "" {
		return // what is left out is left out on purpose
	}
	damaged := false
	for _, d := range c.found {
		damaged = damaged || d.Impact >= finding.Loses && (d.Rule.Family == "chain" || d.Rule.Family == "lost")
	}
	if s := c.Summary; damaged && s.Reached < s.Holding {
		c.add(&draft{about: c.nodes[0], always: true, Finding: finding.Finding{
			Rule: faults.Reachable, Impact: finding.Notes, Message: fmt.Sprintf("the client sends %d of the %d records that hold content", s.Reached, s.Holding),
		}})
	}
}
