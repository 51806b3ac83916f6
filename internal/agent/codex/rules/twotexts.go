package rules

import (
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// twoTexts are the texts of a message in which a key stands twice; the zero value is that of any other message.
type twoTexts struct {
	at          session.Pos
	first, last textSum
	cut         finding.Cut // takes the last one out
	role        bool        // it is the role that stands twice: with the first one it is a prompt, and with the last one none
}

// textsOf are the texts of a message if one key stands twice in it: the last is the one that the client takes.
func textsOf(rec *session.Record) twoTexts {
	if rec.Written == nil || rec.Mended {
		return twoTexts{}
	}
	pairs := session.DoubledMembers(rec.Written)
	if len(pairs) != 1 {
		return twoTexts{}
	}
	other := session.Blanked(rec.Written, pairs[0].Last)
	if string(rec.Role) == "developer" && gjson.GetBytes(other, "payload.role").Str == "user" {
		return twoTexts{at: rec.Pos, first: firstText(rec), cut: pairs[0].Last, role: true}
	}
	text := gjson.GetBytes(other, "payload.content.0.text")
	if text.Type != gjson.String {
		return twoTexts{}
	}
	return twoTexts{at: rec.Pos, first: textSum{len(text.Raw), codex.Sum([]byte(text.Raw[1 : len(text.Raw)-1]))}, last: firstText(rec), cut: pairs[0].Last}
}

// shownOfTwo takes the text that an event shows of the newest message. It returns whether the event shows that this is a prompt.
func (c *messageChecker) shownOfTwo(text textSum) (prompt bool) {
	if c.twice.first == c.twice.last || text != c.twice.first && text != c.twice.last {
		return false
	}
	if c.decided == nil {
		c.decided = map[session.Pos]twoTexts{}
	}
	if text == c.twice.last {
		c.twice.first = textSum{}
	}
	prompt = c.twice.role
	c.decided[c.twice.at], c.twice = c.twice, twoTexts{}
	return prompt
}

// Settle keeps of two texts the one that an event shows.
func (c *messageChecker) Settle(f *finding.Finding) {
	of, known := c.decided[f.Pos]
	switch {
	case !known || f.Rule != normalize.DuplicateKey || f.Framing || f.Impact != finding.Loses && !of.role || len(f.Edits) != 1:
	case of.first.size > 0:
		f.Fix, f.Source = finding.Recovered, "its first value, which an event shows"
		if of.role {
			f.Impact, f.Message = finding.Loses, "a key appears twice in one object: by the last value, which the client takes, this is no prompt of the user's, as which an event shows it"
		}
		f.Edits = []finding.Edit{{At: f.Pos, Op: finding.Splice, Cuts: []finding.Cut{of.cut}}}
	default:
		f.Impact, f.Message = finding.Notes, "a key appears twice in one object; the client takes the last value, which an event shows, too"
	}
}
