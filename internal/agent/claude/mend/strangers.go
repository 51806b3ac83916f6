package mend

import (
	"slices"
	"sort"

	"github.com/google/uuid"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// cwds are the directories in which the records of each session were written, as they stand there.
type cwds struct {
	of            map[string][]string
	session, last string // of the newest record
}

// maxCwds is how many directories of one session, and how many sessions, are kept.
const maxCwds = 64

func (w *cwds) note(n *node, rec *session.Record) {
	cwd := format.Field(rec, format.FieldCwd)
	if n.Session == w.session && string(cwd) == w.last || n.Session == "" || len(cwd) == 0 {
		return
	}
	w.session, w.last = n.Session, string(cwd)
	if w.of == nil {
		w.of = map[string][]string{}
	}
	if list := w.of[n.Session]; !slices.Contains(list, w.last) && len(list) < maxCwds && (len(list) > 0 || len(w.of) < maxCwds) {
		w.of[n.Session] = append(list, w.last)
	}
}

// apart says whether two sessions have no directory in common.
func (w *cwds) apart(a, b string) bool {
	return len(w.of[a]) > 0 && !slices.ContainsFunc(w.of[a], func(cwd string) bool { return slices.Contains(w.of[b], cwd) })
}

// strangers removes records of another session, as a file has them into which lines of that were sorted or copied. They stand behind
// records of the file's own session; in front of those, they are what a fork has copied. A session that shares a record with this one
// is a fork of it, and so is one that goes on from a record of this one, unless that was in another directory.
func (c *Checker) strangers() {
	if len(c.cwds.of) < 2 || c.opts.SubAgent {
		return
	}
	own, sure := c.ownSession()
	if own == "" {
		return
	}
	kin, byID := map[string]bool{}, make(map[string]*node, len(c.nodes))
	begun := false
	for _, n := range c.nodes {
		if begun = begun || n.Session == own; !begun || !another(n.Session, own) {
			kin[n.Session] = true
		}
		if other := byID[n.UUID]; other != nil && other.Session != n.Session {
			kin[n.Session] = true
		}
		byID[n.UUID] = n
	}
	for _, n := range c.nodes {
		if kin[n.Session] {
			continue
		}
		p := byID[n.Parent]
		hangs, near := p != nil && kin[p.Session], !c.cwds.apart(n.Session, own)
		kin[n.Session] = hangs && near || !sure && (hangs || near)
	}
	var d *draft
	var block string // the session of the records that were removed last
	gone := map[string]*node{}
	kept := make([]*node, 0, len(c.nodes))
	for _, n := range c.nodes {
		if kin[n.Session] {
			block, kept = "", append(kept, n)
			continue
		}
		if block != n.Session {
			d, block = c.stranger(n), n.Session
		}
		if !c.chosen(d) {
			kept = append(kept, n)
			continue
		}
		d.Edits = append(d.Edits, finding.Edit{At: n.Pos(), Op: finding.Remove})
		if n.UUID != "" {
			gone[n.UUID] = n
		}
	}
	if len(kept) < len(c.nodes) {
		c.nodes = kept
		c.withoutStrangers(gone, d)
	}
}

// bookkeeper is the session that wrote a record of bookkeeping.
func (c *Checker) bookkeeper(rec *session.Record) string {
	last := ""
	if len(c.sessions) > 0 {
		last = c.sessions[len(c.sessions)-1]
	}
	of := c.reader.Keeper.As(last, rec, format.FieldSession)
	if of != last && of != "" && len(c.sessions) < maxCwds {
		c.sessions = append(c.sessions, of)
	}
	return of
}

// otherBookkeeping forgets what records of bookkeeping say that another session wrote, none of whose records belongs to this one.
func (c *Checker) otherBookkeeping() {
	if !slices.ContainsFunc(c.sessions, func(s string) bool { return another(s, c.opts.Session) }) {
		return
	}
	own := map[string]bool{c.opts.Session: true}
	for _, n := range c.nodes {
		own[n.Session] = true
	}
	other := map[string]bool{}
	for _, s := range c.sessions {
		near := false
		for id := range own {
			near = near || !another(s, id)
		}
		other[s] = !near && len(own) > 0
	}
	if !slices.ContainsFunc(c.sessions, func(s string) bool { return other[s] }) {
		return
	}
	c.echoes = slices.DeleteFunc(c.echoes, func(e evidence.Echo) bool { return other[e.Session] })
	c.queued = slices.DeleteFunc(c.queued, func(q queueRecord) bool { return other[q.session] })
	c.ends = slices.DeleteFunc(c.ends, func(e namedEnd) bool { return other[e.session] })
	c.lastNamed()
}

// lastNamed makes the last of the ends that are left the end of the session.
func (c *Checker) lastNamed() {
	c.leaf, c.leafAt = "", finding.Ref{}
	if last := len(c.ends) - 1; last >= 0 {
		c.leaf, c.leafAt = c.ends[last].leaf, c.ends[last].ref
	}
}

// another says whether an id is that of another session, and neither this one's nor what damage has made of that. No two have more
// than a few characters in common by chance.
func another(id, own string) bool {
	if uuid.Validate(id) != nil || len(id) != len(own) {
		return false
	}
	differ := 0
	for i := range id {
		if id[i] != own[i] {
			differ++
		}
	}
	return differ > maxDamagedID
}

// maxDamagedID is how many characters of a session's id may differ for it still to be that session's.
const maxDamagedID = 8

// ownSession is the session that a file is of: the one in its name, if most of its records are of that, or the first one is and no other session goes on from it, or else that of most
// of its records; "" if there is none. It is not sure if the first or the last record names another: the file may be a copy of a fork.
func (c *Checker) ownSession() (own string, sure bool) {
	count := map[string]int{}
	for _, n := range c.nodes {
		if count[n.Session]++; n.Session != "" && 2*count[n.Session] > len(c.nodes) {
			own = n.Session
		}
	}
	if named := c.opts.Session; named != "" && (2*count[named] > len(c.nodes) || c.nodes[0].Session == named && !c.leadsOn(named)) {
		return named, true
	}
	return own, own == c.nodes[0].Session && own == c.nodes[len(c.nodes)-1].Session
}

// leadsOn says whether records of another session hang on some of this one's, as where a client has copied them.
func (c *Checker) leadsOn(own string) bool {
	of := map[string]bool{}
	for _, n := range c.nodes {
		of[n.UUID] = of[n.UUID] || n.Session == own
	}
	return slices.ContainsFunc(c.nodes, func(n *node) bool { return n.Parent != "" && of[n.Parent] && n.Session != own })
}

func (c *Checker) stranger(n *node) *draft {
	return c.find(n, faults.OtherSession, "records of another session are in the file: the client takes them for a part of this conversation, or begins at them; they are of "+n.Session).anyway()
}

// withoutStrangers makes the records that were removed unknown: what hung on them hangs on what they hung on, and the end of the session
// is not one of them.
func (c *Checker) withoutStrangers(gone map[string]*node, d *draft) {
	above := make(map[string]string, len(gone)) // the id of the nearest record known above each, by ids
	for id, n := range gone {
		above[id] = n.Parent
	}
	for i, n := range c.nodes {
		n.index = i
		if id := top(above, n.Parent); id != n.Parent && id != "" {
			n.rename(n.Parent, id, d)
		}
	}
	c.ends = slices.DeleteFunc(c.ends, func(e namedEnd) bool {
		if gone[e.leaf] == nil {
			return false
		}
		d.Edits = append(d.Edits, finding.Edit{At: e.ref.Pos, Op: finding.Remove})
		return true
	})
	if gone[c.leaf] != nil {
		c.lastNamed()
	}
}

// top is the first id on the way up that has nothing above it; "" if the way is a circle. What was passed gets a shortcut, so that all
// walks together take as many steps as there are records.
func top(above map[string]string, id string) string {
	last, steps := id, 0
	for up, ok := above[last]; ok; up, ok = above[last] {
		if steps++; steps > len(above) {
			above[last], up = "", ""
		}
		last = up
	}
	for id != last {
		above[id], id = last, above[id]
	}
	return last
}

// foreign says whether a prompt was written by another client than the rest of the session: it is the only prompt of the file
// that no bookkeeping announces. From 2.1.2 on, clients write a queue-operation in front of a prompt from a pipe, and a
// file-history-snapshot beside one from a terminal, even after a rewind (2.1.2, 2.1.100 and 2.1.215, measured).
func (c *Checker) foreign(n *node) bool {
	if !c.foreignKnown {
		c.foreignKnown, c.foreignPrompt = true, c.findForeign()
	}
	return n == c.foreignPrompt
}

// findForeign is the only prompt of the file that no bookkeeping announces; nil if there is none, or several.
func (c *Checker) findForeign() (odd *node) {
	var before *node
	noted := false
	for _, n := range c.nodes {
		if n.Role == content.RoleAssistant && n.Sent() && !n.Filler && !n.Side {
			before = n // a prompt that was announced before an answer belongs to that answer
		}
		if n.Side || !n.IsPrompt() {
			continue
		}
		next := sort.Search(len(c.queued), func(i int) bool { return before == nil || before.Pos().Less(c.queued[i].Pos) })
		switch {
		case n.AsksNothing:
		case c.snapshots[n.UUID], next < len(c.queued) && c.queued[next].Pos.Less(n.Pos()):
			noted = true
		case odd != nil:
			return nil
		default:
			odd = n
		}
		before = n
	}
	if !noted {
		return nil
	}
	return odd
}
