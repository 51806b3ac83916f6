package claude

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/tidwall/gjson"
)

const (
	provedWords = ", proved by the hash of the request"
	maxPlaces   = 16 // how many places of a message a block is tried at
)

// provedAmong is words for the report if the client has sent a message that consists of the blocks of some records and one more
// block, in whatever place; "" if that can't be shown. It is tried with and without thinking.
func (c *Checker) provedAmong(role string, records []*node, block format.Object) string {
	if len(c.proof.sent) == 0 || c.opts.Beside == nil || len(records) > maxPlaces {
		return ""
	}
	var all, bare [][]byte
	for _, n := range records {
		line := c.opts.Beside.Line(n.Offset)
		if line == nil || n.mended || n.new != nil {
			return ""
		}
		i := 0
		gjson.GetBytes(line, "message.content").ForEach(func(_, b gjson.Result) bool {
			all = append(all, []byte(b.Raw))
			if i < len(n.Blocks) && n.Blocks[i].Kind != content.BlockThinking {
				bare = append(bare, []byte(b.Raw))
			}
			i++
			return true
		})
	}
	for _, parts := range [][][]byte{all, bare} {
		for at := range min(len(parts)+1, maxPlaces) {
			content := []byte("[")
			for i, part := range slices.Insert(slices.Clone(parts), at, block.JSON()) {
				if i > 0 {
					content = append(content, ',')
				}
				content = append(content, part...)
			}
			if c.proof.proves(role, append(content, ']')) {
				return provedWords
			}
		}
	}
	return ""
}

// answerRecords are the records of an answer near a place of the file.
func (c *Checker) answerRecords(msg string, at int) (list []*node) {
	for _, m := range c.nodes[max(0, at-maxSiblings):min(len(c.nodes), at+maxSiblings)] {
		if m.Role == content.RoleAssistant && m.Msg == msg && !m.Side && m.dropped == nil {
			list = append(list, m)
		}
	}
	return list
}

// otherOutputs are the records with outputs of the same answer's other calls.
func (c *Checker) otherOutputs(call *node) (list []*node) {
	if call.Msg == "" {
		return nil
	}
	for _, m := range c.answerRecords(call.Msg, call.index) {
		for _, id := range m.IDs(content.BlockCall) {
			for _, r := range c.results()[id] {
				if r.dropped == nil && !slices.Contains(list, r) {
					list = append(list, r)
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *node) int { return a.index - b.index })
	return list
}
