package mend

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// cutKey identifies a part of an answer, the output of a call, or a prompt, by members that stand in front of a record's id.
type cutKey struct {
	parent, msg, call string
	words             uint64 // of a prompt: the hash of its message
	role              content.Role
}

// cutCopies sets aside records that were cut off before their ids, if the file also holds the record whole, or cut off in the
// same way, as when lines were written again. Closed and given new ids, they would be further parts of the answer, or second
// outputs of the call.
func (c *Checker) cutCopies() {
	if len(c.cut) == 0 {
		return
	}
	cut := map[cutKey]*node{} // the whole record, nil until it is found
	for n := range c.cut {
		if key, ok := n.cutKey(); ok && n.UUID == "" {
			cut[key] = nil
		}
	}
	for _, n := range c.nodes {
		if key, ok := n.cutKey(); ok && n.UUID != "" && !n.torn {
			if _, asked := cut[key]; asked {
				cut[key] = n
			}
		}
	}
	c.nodes = slices.DeleteFunc(c.nodes, func(n *node) bool {
		key, ok := n.cutKey()
		if !ok || !n.torn || n.UUID != "" {
			return false
		}
		whole, words := cut[key], "; the record is whole in "
		if whole == nil { // cut off in the same way twice, as when the line was written again
			cut[key] = n
			return false
		}
		if whole.torn {
			words = "; as much of the record is in "
		}
		if whole.torn && n.Message != whole.Message || !n.beginsLike(whole) {
			return false
		}
		delete(c.cut, n)
		c.run.AmendFraming(n.Pos().Line, func(f *finding.Finding) {
			if before, _, told := strings.Cut(f.Message, "; "); told {
				f.Message = before + words + whole.Pos().String()
			}
			f.Fix = max(f.Fix, finding.SetAside)
			f.Edits = append(f.Edits, finding.Edit{At: n.Pos(), Op: finding.Remove})
		})
		return true
	})
	for i, n := range c.nodes {
		n.index = i
	}
}

// cutKey is the key of a record; false if it has none.
func (n *node) cutKey() (cutKey, bool) {
	key := cutKey{parent: n.Parent, role: n.Role}
	switch {
	case len(n.Blocks) == 0:
		return key, false
	case n.Role == content.RoleUser:
		key.words = n.Message
		return key, true
	case n.Parent == "":
		return key, false
	case n.Role == content.RoleAssistant:
		key.msg = n.Msg
		return key, n.Msg != ""
	case n.Role == content.RoleResult:
		key.call = n.Blocks[0].ID
		return key, key.call != ""
	}
	return key, false
}

// beginsLike says whether the blocks of a record are the first of another's, as far as their kinds and ids tell.
func (n *node) beginsLike(whole *node) bool {
	return len(n.Blocks) <= len(whole.Blocks) && slices.EqualFunc(n.Blocks, whole.Blocks[:len(n.Blocks)], func(a, b content.Block) bool {
		return a.Kind == b.Kind && a.ID == b.ID
	})
}

// minBegun is how many digits of an id are enough to tell which one it is.
const minBegun = 8

// begunID is what is left of a record's id whose line was cut off within it; "" if it was cut off elsewhere.
func begunID(rec *session.Record) string {
	const key = `"uuid":"`
	_, id, found := bytes.Cut(rec.Original, []byte(key))
	if !found {
		return ""
	}
	n := 0
	for n < len(id) && (id[n] == '-' || '0' <= id[n] && id[n] <= '9' || 'a' <= id[n] && id[n] <= 'f') {
		n++
	}
	if n < minBegun || n >= len(zeroID) || n < len(id) && id[n] == '"' {
		return ""
	}
	return string(id[:n])
}

const zeroID = "00000000-0000-0000-0000-000000000000"

// idFor is the id for a record that has none of its own. If a part of its id is left, that is the missing id which begins so;
// otherwise the missing id that fits its place. "" if there is none.
func (c *Checker) idFor(i int, missing map[string]int) string {
	begun := c.begunIDs[c.nodes[i]]
	if begun == "" {
		return c.wanted(i, missing)
	}
	if c.missingIDs == nil {
		for id := range missing {
			c.missingIDs = append(c.missingIDs, id)
		}
		slices.Sort(c.missingIDs)
	}
	at, _ := slices.BinarySearch(c.missingIDs, begun)
	if at < len(c.missingIDs) && strings.HasPrefix(c.missingIDs[at], begun) && c.ids.get(c.missingIDs[at]) == nil {
		return c.missingIDs[at]
	}
	return ""
}
