package mend

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/session"
)

// maxFirstWords is how many bytes of a first prompt are kept.
const maxFirstWords = 64

// opening keeps the first words of a prompt that has no parent.
func (c *Checker) opening(n *node, rec *session.Record) {
	if n.Side || !n.IsPrompt() {
		return
	}
	if c.firstPrompt == nil {
		c.firstPrompt = n
	}
	if n.Parent != "" {
		return
	}
	content := gjson.ParseBytes(format.Field(rec, format.FieldContent))
	words := content.String()
	if content.IsArray() {
		words = content.Get(`#(type=="text").text`).String()
	}
	words = strings.TrimSpace(words)
	if gjson.GetBytes(rec.Raw, "planContent").Exists() {
		words = planApproved
	}
	if c.openings == nil {
		c.openings = map[*node]string{}
	}
	c.openings[n] = strings.Clone(words[:min(len(words), maxFirstWords)])
}

// begunAnew says whether a prompt without a parent is what a client that notes no rewinds leaves when the user goes back to the
// first prompt (1.0.128, 2.0.76, 2.1.2, 2.1.100, measured): it is the first prompt with something added, or was typed in a
// terminal, where newer clients keep files for each prompt, and older ones let the user interrupt a turn and run commands. In the middle
// of a session, a prompt that lost its parent looks the same. It did lose it if what stands in front of it is written again behind the
// end, since a client never rewrites what the user has left, or if the record does not say that it has no parent.
func (c *Checker) begunAnew(n *node) bool {
	if !n.IsPrompt() || n.ParentSpan == (format.Span{}) || n == c.firstPrompt || !format.Before(n.Version, firstNoted) || c.writtenAgain(n) {
		return false
	}
	if c.snapshots[n.UUID] || format.Before(n.Version, firstSnapshots) && c.some.byHand && turnIsOver(n.front) {
		return true
	}
	a, b := c.openings[c.firstPrompt], c.openings[n]
	return a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a) || strings.HasSuffix(b, lastLine(a)))
}

// lastLine is the last line of a prompt, with the newline in front of it: that often stays if the user changes the prompt, whose cursor is
// in front of the old words.
func lastLine(words string) string { return words[max(0, strings.LastIndexByte(words, '\n')):] }

// firstSnapshots is the first version known to note the files that it keeps for a prompt: 2.0.1 does not.
const firstSnapshots = "2.0.29"

// writtenAgain says whether the last copy in the file copies a record that stands in front of this one.
func (c *Checker) writtenAgain(n *node) bool {
	return c.lastCopied != nil && c.lastCopied.index < n.index
}

// endsAnother says whether the first record of a file belongs to the conversation of another file, which the user made the client forget:
// what closes that is the first that the client writes into the new file.
func (c *Checker) endsAnother(n *node) bool {
	if n.index != c.firstIndex() || n.up != nil {
		return false
	}
	for _, m := range c.nodes[n.index+1 : min(len(c.nodes), n.index+maxSiblings)] {
		if m.Role == content.RoleAssistant && !m.Side {
			return false
		}
		if m.up == nil && c.clearedOnPurpose(m) {
			return true
		}
	}
	return false
}

// planApproved begins the prompt that a client writes by itself, without a parent, when the user has approved a plan and lets it forget the
// conversation in which the plan was made.
const planApproved = "Implement the following plan:"

// clearedOnPurpose says whether the conversation begins anew with a record because the user wanted that: none of what stands above it
// is sent (2.1.12 to 2.1.78 seen, 2.1.330 measured).
func (c *Checker) clearedOnPurpose(n *node) bool {
	return n.ParentSpan != (format.Span{}) && (n.Clears || n.IsPrompt() && strings.HasPrefix(c.openings[n], planApproved))
}
