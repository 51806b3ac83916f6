package mend

import (
	"math"
	"slices"
	"sort"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/session"
)

// asked is what a request shows of the lost prompt that it was made for.
type asked struct {
	newer []string // the hashes of what the client sent behind everything that the model had said: the prompt, and what it added
	on    *node    // the record that the prompt hangs on; nil if nobody had said anything before, or the request does not show it
	first bool     // nobody had said anything before
}

// maxBase is how many requests, each of which adds to the one before, are put together.
const maxBase = 256

// hashesOf are the hashes of all messages of a request, by its number; none if the record can't be read again, or builds on one that is
// not near.
func (c *Checker) hashesOf(i int) (hashes []string) {
	need, base := math.MaxInt, ""
	for tries := 0; i >= 0 && tries < maxBase; i, tries = i-1, tries+1 {
		v := gjson.ParseBytes(c.opts.Beside.Line(c.proof.at[i].Offset))
		if base != "" && v.Get("id").Str != base {
			continue
		}
		if kept := int(v.Get("keep").Int()); kept < need {
			tail := hashesIn(v.Get("tail"))
			hashes = append(tail[:min(len(tail), need-kept)], hashes...)
			need = kept
		}
		if base = v.Get("base").Str; need == 0 || base == "" {
			break
		}
	}
	if need != 0 {
		return nil
	}
	return hashes
}

// hashesIn are the hashes in a list.
func hashesIn(list gjson.Result) (hashes []string) {
	for _, h := range list.Array() {
		hashes = append(hashes, h.String())
	}
	return hashes
}

// askedBefore is what the request shows that the model answered behind a lost prompt. nil if the file does not show it.
func (c *Checker) askedBefore(n *node) *asked {
	if len(c.proof.at) == 0 || c.opts.Beside == nil {
		return nil
	}
	answers := func(m *node) bool { return m.Role == content.RoleAssistant && !m.Side && !m.Synthetic && m.new == nil }
	from, until := session.Pos{}, session.Pos{}
	for _, m := range slices.Backward(c.nodes[max(0, n.index-maxSiblings):n.index]) {
		if answers(m) {
			from = m.Pos()
			break
		}
	}
	for _, m := range c.nodes[n.index:min(len(c.nodes), n.index+maxSiblings)] {
		if answers(m) {
			until = m.Pos()
			break
		}
	}
	i := sort.Search(len(c.proof.at), func(i int) bool { return !c.proof.at[i].Pos.Less(until) }) - 1
	if i < 0 || !from.Less(c.proof.at[i].Pos) {
		return nil
	}
	hashes := c.hashesOf(i)
	if len(hashes) == 0 {
		return nil
	}
	said := 0 // how many messages there are up to the last of the model's that is recorded whole
	for k, h := range slices.Backward(hashes) {
		if c.proof.sent[evidence.DigestOf([]byte(h))] == content.RoleAssistant {
			said = k + 1
			break
		}
	}
	tried := map[string]bool{}
	for _, m := range slices.Backward(c.nodes[max(0, n.index-maxSiblings):n.index]) {
		if m.Role == content.RoleBoundary && !m.Side {
			return &asked{newer: hashes[said:]}
		}
		if m.IsPrompt() && !m.Side && m.new == nil && !m.mended && from.Less(m.Pos()) && slices.ContainsFunc(hashes[said:], c.saysIn(&resent{}, content.RoleUser, []*node{m})) {
			return nil // it was made for that prompt, by another client
		}
		if !answers(m) || m.mended || m.Msg == "" || tried[m.Msg] {
			continue
		}
		tried[m.Msg] = true
		list := c.answerRecords(m.Msg, m.index)
		if k := slices.IndexFunc(hashes[said:], c.saysIn(&resent{}, content.RoleAssistant, list)); k >= 0 {
			return &asked{newer: hashes[said+k+1:], on: endOfTurn(list[len(list)-1], n)}
		}
	}
	if said > 0 {
		return nil
	}
	return &asked{newer: hashes, first: true}
}

// endOfTurn is the last of the records that the client added behind an answer by itself, in front of another record in the file.
func endOfTurn(answer, until *node) *node {
	end := answer
	for k := answer.first; k != nil; {
		if k.Role == content.RoleLink && k.index < until.index && !k.Side {
			end, k = k, k.first
		} else {
			k = k.latter
		}
	}
	return end
}

// sent says whether an echo's words are among these messages.
func (a *asked) sent(e *evidence.Echo) bool {
	if e.Hash != "" {
		return slices.Contains(a.newer, e.Hash)
	}
	return slices.Contains(a.newer, evidence.MessageHash("user", quotedByClient(e.Words())))
}

// only says whether the prompt that an echo tells is all that the client sent behind what the model had said, but for messages that it has
// recorded whole.
func (a *asked) only(p *proof, e *evidence.Echo) bool {
	plain := evidence.MessageHash("user", quotedByClient(e.Words()))
	return a.sent(e) && !slices.ContainsFunc(a.newer, func(h string) bool { return h != plain && p.sent[evidence.DigestOf([]byte(h))] != content.RoleUser })
}
