package mend

import (
	"cmp"
	"slices"
	"sort"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/session"
)

// resent is the first request after a compaction: it holds the summary, what was kept, and what came next.
type resent struct {
	hashes []string          // the hashes of its messages
	words  map[string]string // the words of the prompts among them, by the hash of the whole message

	said     []spoken // what they say
	messages int
	size     int // of the texts, in bytes
}

// compaction begins to wait for the first request after a summary.
func (p *proof) compaction(n *node) {
	if n.Summary && !n.Side {
		p.open = &resent{words: map[string]string{}}
		p.resent[n] = p.open
	}
}

// resend takes a request that is recorded in full, if it is the one that compaction waits for.
func (p *proof) resend(rec *session.Record) {
	if p.open == nil {
		return
	}
	p.open.hashes = hashesIn(gjson.ParseBytes(format.Field(rec, format.FieldTail)))
	p.open = nil
}

// resentBehind are the records from before a compaction, up to last, that the request after its summary held again, in the
// order of the file. If no hash shows that, it is last alone. A prompt is recognised by its words, too. An answer is kept
// together with the outputs of its calls.
func (c *Checker) resentBehind(summary, last *node) []*node {
	r := c.proof.resent[summary]
	if r == nil || len(r.hashes) == 0 || c.opts.Beside == nil {
		return []*node{last}
	}
	var kept []*node
	until := len(r.hashes) // the hashes from here on are taken by later records
	find := func(fits func(hash string) bool) bool {
		for k := until - 1; k >= 0; k-- {
			if fits(r.hashes[k]) {
				until = k
				return true
			}
		}
		return false
	}
	tried := map[string]bool{}
	for i, misses := last.index, 0; i >= 0 && misses < maxSiblings; i-- {
		n := c.nodes[i]
		if n.Role == content.RoleBoundary && !n.Side {
			break
		}
		if n.Side || n.dropped != nil || n.new != nil || !n.Sent() || n.Summary || n.Role == content.RoleResult || tried[n.Msg] && n.Msg != "" {
			continue
		}
		tried[n.Msg] = true
		list := []*node{n}
		if n.Role == content.RoleAssistant {
			list = c.answerRecords(n.Msg, n.index)
		}
		if !find(c.saysIn(r, n.Role, list)) {
			misses++
			continue
		}
		kept = append(kept, list...)
		if n.Role == content.RoleAssistant {
			kept = append(kept, c.otherOutputs(n)...)
		}
	}
	if len(kept) == 0 {
		return []*node{last}
	}
	slices.SortFunc(kept, func(a, b *node) int { return cmp.Compare(a.index, b.index) })
	return slices.Compact(kept)
}

// leftOut says whether a branch was left out on purpose, as --resume-session-at does without recording it (2.1.330, measured):
// the branch was in the file, and a last-prompt record had named it as the end, when a client began with the prompt behind it,
// and that client's first request holds none of the branch's answers. A branch that was never named was another client's, which
// this one did not see. If the request can't be read again, as in a pipe, it is taken to hold none.
func (c *Checker) leftOut(t *trunk, winner, head, end *node) bool {
	answer := t.forks[winner].winner
	if end.index > winner.index || answer == nil || winner.When != 0 && end.When > winner.When {
		return false
	}
	i := sort.Search(len(c.proof.whole), func(i int) bool { return winner.Pos().Less(c.proof.whole[i].Pos) })
	if i == len(c.proof.whole) || !c.proof.whole[i].Pos.Less(answer.Pos()) {
		return false
	}
	var request []byte
	if c.opts.Beside != nil {
		request = c.opts.Beside.Line(c.proof.whole[i].Offset)
	}
	held := hashesIn(gjson.GetBytes(request, "tail"))
	named := false
	for n, steps := end, 0; n != nil && steps < maxSiblings; n, steps = n.up, steps+1 {
		if at, ok := c.endedAt(n.UUID); ok && at.Less(winner.Pos()) {
			named = true
		}
		if n.Role == content.RoleAssistant && n.Sent() && len(held) > 0 && slices.ContainsFunc(held, c.saysIn(&resent{}, n.Role, c.answerRecords(n.Msg, n.index))) {
			return false // the client has sent it, so its link must have been broken later
		}
		if n == head {
			return named && (len(held) > 0 || request == nil)
		}
	}
	return false
}

// saysIn returns a function that says whether a hash is that of the message which some records make together, with or without
// thinking.
func (c *Checker) saysIn(r *resent, role content.Role, list []*node) func(hash string) bool {
	all, bare, _ := c.blocksOf(list)
	if role == content.RoleAssistant {
		whole, thoughtless := evidence.MessageHash("assistant", listOf(all)), evidence.MessageHash("assistant", listOf(bare))
		return func(hash string) bool { return hash == whole || hash == thoughtless }
	}
	whole, words := evidence.MessageHash("user", listOf(all)), ""
	if len(all) > 0 {
		words = gjson.GetBytes(all[len(all)-1], "text").String()
	}
	return func(hash string) bool { return hash == whole || words != "" && r.words[hash] == words }
}
