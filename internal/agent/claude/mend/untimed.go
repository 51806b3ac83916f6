package mend

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
)

// untimed gives a time to records that have none, if a client stumbles over that, and to those that hist closes.
func (c *Checker) untimed() {
	if !c.some.untimed {
		return
	}
	last := c.lastMessage()
	var earlier int64 // the latest time in front of the record
	for _, n := range c.nodes {
		if n.When != 0 {
			earlier = max(earlier, n.When)
			continue
		}
		stumbles := n == last && c.readBy("2.1.120", "2.1.330") || n.Role == content.RoleResult && c.readBy("2.1.100", "2.1.300")
		if n.Side || !n.HasMessage() || !stumbles && !n.torn {
			continue
		}
		d := c.find(n, faults.MissingTime, "the record has no time: versions from 2.1.100 on, before 2.1.330, do not resume the session")
		d.always = stumbles
		when, next := earlier+1, c.timedNear(n, 1)
		switch {
		case next != nil && (earlier == 0 || next.When < when): // the record in front may be another client's, and later
			when = next.When
		case earlier == 0:
			when = noTime + int64(n.index)
		}
		when = c.beforeItsOwn(n, when)
		d.Edits = append(d.Edits, n.timed(when))
		if c.chosen(d) {
			n.When = when
		}
	}
}

// beforeItsOwn is a time, but just before that of a record that hangs on this one, if the two stand elsewhere than they should: the
// lines may have changed places, or this one hangs on nothing in the file.
func (c *Checker) beforeItsOwn(n *node, when int64) int64 {
	p := c.ids.get(n.Parent)
	for _, k := range c.naming(n.UUID) {
		swapped, loose := k.When <= when && k.index < n.index, n.Parent != "" && p == nil && k.When > when
		if k.Parent == n.UUID && k.When != 0 && (swapped || loose) {
			when = k.When - 1
		}
	}
	switch {
	case p == nil:
		return when
	case p.index > n.index: // of two with one time, clients send the one that stands in front first
		return max(when, p.When+1)
	}
	return max(when, p.When)
}

// lastMessage is the last record of the file with a message of the conversation, nil if there is none.
func (c *Checker) lastMessage() *node {
	for _, n := range slices.Backward(c.nodes) {
		if n.HasMessage() && !n.Side {
			return n
		}
	}
	return nil
}

// readBy says whether a version in the range from (included) until (excluded) may read the session.
func (c *Checker) readBy(from, until string) bool {
	return slices.ContainsFunc(c.readers(), func(v string) bool { return !format.Before(v, from) && format.Before(v, until) })
}
