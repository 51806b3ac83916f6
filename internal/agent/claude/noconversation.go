package claude

import "github.com/hist-cli/hist/internal/finding"

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
