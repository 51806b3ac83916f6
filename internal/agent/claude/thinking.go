package claude

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/surgery"
)

// unbind takes out the thinking behind a record that is changed, where a newer model's is bound to it: the API would refuse it. Without
// leave to do so it is an error.
func (t *tree) unbind(plan *surgery.Plan, live map[*node]bool, first *session.Record, allowed bool) error {
	g := plan.Group("bound-thinking", "thinking that is bound to what was changed before it: the model's API would refuse it")
	for _, n := range t.nodes {
		if n.index <= t.by[first].index || !live[n] || !session.BindsThinking(gjson.GetBytes(n.rec.Raw, "message.model").String()) {
			continue
		}
		if thinks(n) {
			t.dropThinking(g, n)
		}
	}
	if !g.Empty() && !allowed {
		return surgery.Refuse("%s is bound to what would change before it, and the model's API would refuse it; --drop-thinking takes such thinking out", thoughts(len(g.Edits)))
	}
	return nil
}

func thoughts(n int) string {
	if n == 1 {
		return "the thinking in 1 record"
	}
	return "the thinking in several records"
}

// thinks says whether a record holds thinking.
func thinks(n *node) bool { return n.holds(isThinking) }

// holds says whether something is so of a block of a record.
func (n *node) holds(is func(gjson.Result) bool) bool {
	return slices.ContainsFunc(gjson.GetBytes(n.rec.Raw, "message.content").Array(), is)
}

func isThinking(b gjson.Result) bool {
	typ := b.Get("type").String()
	return typ == "thinking" || typ == "redacted_thinking"
}

// dropThinking takes the thinking out of a record. A record that holds nothing else goes, and what hangs on it is hung on its parent.
func (t *tree) dropThinking(g *surgery.Group, n *node) {
	content, ok := surgery.At(n.rec.Raw, "message.content")
	if !ok || !content.IsArray() {
		return
	}
	var cuts []session.Cut
	left := 0
	content.ForEach(func(_, b gjson.Result) bool {
		if isThinking(b) {
			cuts = append(cuts, session.Without(b))
		} else {
			left++
		}
		return true
	})
	if left > 0 {
		g.Cut(n.rec, cuts...)
		return
	}
	g.Drop(n.rec)
	parent := []byte("null")
	up := t.byID[n.parent]
	for up != nil && t.dropped[up] {
		up = t.byID[up.parent]
	}
	if up != nil {
		parent = surgery.Quote(up.uuid)
	}
	t.dropped[n] = true
	for _, child := range t.nodes {
		if child.parent != n.uuid {
			continue
		}
		if v, ok := surgery.At(child.rec.Raw, "parentUuid"); ok {
			g.Cut(child.rec, v.Instead(parent))
		}
	}
}
