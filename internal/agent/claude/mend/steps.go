package mend

import (
	"cmp"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// End does what needs all records, and reports. The steps of each phase are in the order in which they rely on each other. A
// step that finds something changes the records as its repair would, so that later steps see them mended.
func (c *Checker) End() {
	c.settleQueue()
	if !c.noConversation() {
		c.sortOut()
		c.connect()
		c.match()
		c.goOn()
		c.compacted()
		c.sumUp()
	}
	s := c.beside
	c.run.SetHeader(session.Info{ID: cmp.Or(c.opts.Session, s.Session.Words), SessionID: s.Session.Words, CWD: s.Cwd.Words, Version: c.written, Branch: s.Branch.Words}, c.run.First().Pos)
	c.misplaced()
	if c.run.Records() == 0 && !c.opts.Fresh {
		c.empty()
	}
}

// sortOut settles which records there are. Parents are named by ids, so each record must have its own before parents are looked
// for.
func (c *Checker) sortOut() {
	read := c.nodes
	c.strangers() // before anything is looked for beside them
	c.otherBookkeeping()
	c.duplicates()                // first, because a copy looks like a branch, a second call, or a reused id
	c.Summary.Seen = c.seen(read) // before anything is mended, and with the copies, which the client reads, too
	c.cutCopies()                 // a record that the file also holds whole needs no id
	c.oneAnswer()                 // thinking judges whole answers
	c.thinking()                  // looks at the records as read; wholeAgain replaces some
	c.keptTexts()                 // before anything is looked for elsewhere
	c.nameAnswers()               // so that what is restored from an unreadable line is known to be a part of its answer
	c.wordsAgain()
	c.wholeAgain() // brings back the id, time and blocks of records that another file has whole
	c.identify()
	c.untimed() // times help to choose a parent
}

// connect settles which record hangs on which.
func (c *Checker) connect() {
	c.adopt() // a record of the conversation that looks like a sub-agent's could not be a parent
	c.link()
	c.olderParents()    // where all records have a place
	c.ending()          // link may have restored the recorded end of the session
	c.unplaced()        // records that no other names go between those that are linked by now
	c.lostPromptAtEnd() // link may have used the prompt in another place
}

// match settles what belongs to each call, then what the API accepts of each record's content.
func (c *Checker) match() {
	c.pair()         // outputs are looked for along the tree
	c.manyPictures() // counts what is sent, restored outputs included
	c.servedApart()
	c.servedAlone()
	c.sideTexts()
	c.drops() // reports the faults that reading and all steps so far have noted in records
}

// goOn settles where the client goes on, and what it leaves out then. Marks of compactions come first, because what is sent
// begins at the last one.
func (c *Checker) goOn() {
	c.cutCompaction()
	c.noSummary()
	c.repeatedEnd() // may move the tip, on which branches depend
	if c.opts.Branch != "" {
		c.chooseBranch()
		return
	}
	c.branches()
	c.overtaken() // branches that begin in front of a compaction are not seen from the tip
	c.wrongLeaf() // unless one of the steps before has named another end already
	c.wrongTime() // compares with the tip, which wrongLeaf may have moved
}

// compacted settles what is sent along the way up as it is now: parallel outputs one after the other, and what compactions
// kept.
func (c *Checker) compacted() {
	c.chainParallel()
	c.brokenKept()
	c.lostKept()
}

// sumUp reports what is left, now that every record has its place, and then all findings.
func (c *Checker) sumUp() {
	c.order()
	c.lastTurn()
	c.reachable()
	c.stillWordless()
	c.damagedFiles()
	c.settle()
}

// usual is a draft of a finding with the impact and the fix that are usual for its rule.
func usual(about *node, rule *finding.Rule, message string) *draft {
	return &draft{about: about, Finding: finding.Finding{Rule: rule, Impact: rule.Impact, Fix: rule.Fix, Message: message}}
}

// anyway makes a finding count even if the record that it is about is not sent.
func (d *draft) anyway() *draft {
	d.always = true
	return d
}

// find adds a finding about a record, with the usual impact and fix.
func (c *Checker) find(about *node, rule *finding.Rule, message string) *draft {
	return c.add(usual(about, rule, message))
}

// add keeps a finding about a record, to be settled at the end.
func (c *Checker) add(d *draft) *draft {
	if d.Pos.Line == 0 {
		d.Pos, d.Offset = d.about.Pos(), d.about.Offset
	}
	d.On, d.Record, d.IDs = d.about.Ref(), d.about.Typ, d.about.UUID
	c.found = append(c.found, d)
	return d
}

// chosen says whether a finding is to be mended.
func (c *Checker) chosen(d *draft) bool {
	return d != nil && !d.left && (c.opts.Mend == nil || c.opts.Mend(&d.Finding))
}

// Items are the content blocks that are sent.
func (c *Checker) Items() (seen, mended int64) { return c.Summary.Seen, c.Summary.Items }

// Counts says whether something at a place is sent, or may be. Not sent are branches that the user left, what a compaction replaced, and the
// client's bookkeeping. An unreadable line counts as sent.
func (c *Checker) Counts(at session.Pos) bool {
	if c.sentLines == nil {
		c.sentLines = map[int64]bool{}
		for _, n := range c.sentSet.list {
			if n.new == nil {
				c.sentLines[n.Pos().Line] = true
			}
		}
		for _, d := range c.found {
			unmended := d.Rule == faults.LostBranch && d.Fix == finding.NoFix
			if (d.Rule == faults.ReusedUUID || d.Rule == faults.LostPrompt || d.about.sharesID || len(d.also) > 0 || d == c.repeated || unmended) && d.Impact != finding.Notes {
				c.sentLines[d.Pos.Line] = true // the client reads it instead of another record that is sent, or loses it or such a record because of it; or it tells of a lost one
			}
		}
		c.leftLines = map[int64]bool{}
		for _, n := range c.nodes {
			if !c.sentLines[n.Pos().Line] {
				c.leftLines[n.Pos().Line] = true
			}
		}
	}
	unread := !c.leftLines[at.Line] && !c.other[at.Line]
	return c.sentLines[at.Line] || (c.half[at.Line] || unread) && !at.Less(c.summary()) || at.Line == c.leafAt.Pos.Line && c.endUnread()
}

// summary is where that compaction stands, nowhere if there is none, or not all that it has kept.
func (c *Checker) summary() session.Pos {
	if c.summaryAt != nil {
		return *c.summaryAt
	}
	c.summaryAt = new(session.Pos)
	first := c.sentSet.tip
	for first != nil && first.up != nil {
		first = first.up
	}
	if first != nil && first.Role == content.RoleBoundary && first.new == nil && first.Parent == "" {
		if _, whole := keptBy(first, &c.ids); whole {
			*c.summaryAt = first.Pos()
		}
	}
	return *c.summaryAt
}

// endUnread says whether the newest client begins elsewhere because it can't read the record that names the session's end.
func (c *Checker) endUnread() bool {
	if c.pointed || len(c.ends) == 0 || !c.other[c.leafAt.Pos.Line] || !c.newTarget() {
		return false
	}
	earlier := ""
	if named := c.ends[:len(c.ends)-1]; len(named) > 0 {
		earlier = named[len(named)-1].leaf
	}
	return c.tipOf(earlier) != c.tipOf(c.leaf)
}

// settle reports what was found. A loss in something that is no longer sent becomes a note.
func (c *Checker) settle() {
	c.sentSet = c.sentAfter()
	if c.Summary.Items = c.Summary.Seen; len(c.found) > 0 || c.sentNow() != c.counted {
		_, c.Summary.Items = count(c.sentSet.list)
	}
	slices.SortStableFunc(c.found, func(a, b *draft) int { return a.Pos.Compare(b.Pos) })
	kept := map[*node]bool{} // records that are sent only because a compaction kept them
	for _, n := range c.sentSet.kept {
		kept[n] = true
	}
	hangs := func(n *node) bool { return c.sentSet.has(n) && !kept[n] } // it is sent for what is above it
	for _, d := range c.found {
		left := !c.sentSet.has(d.about) && !slices.ContainsFunc(d.also, hangs) || kept[d.about] && d.noMatterIfKept()
		if d.Impact != finding.Notes && !d.always && left && !c.partOfCut(d) {
			d.Impact, d.Fix, d.Edits, d.Lost, d.Source, d.left = finding.Notes, finding.NoFix, nil, 0, "", true
			if kept[d.about] {
				d.Message += " (which does not matter for what a compaction has kept)"
			} else {
				d.Message += " (in a part of the history that is no longer sent)"
			}
		}
	}
	c.relink()
	c.cutHead()
	for _, d := range c.found {
		if d.Impact != finding.Notes && len(c.copies) > 0 {
			c.alone(d)
		}
		if c.partOfCut(d) {
			c.run.AmendFraming(d.about.Pos().Line, func(f *finding.Finding) { f.Edits = append(f.Edits, d.Edits...) })
			continue
		}
		c.run.Report(d.Finding)
	}
}

// cutHead marks the findings that put a record in front of all others, if it is not known that the session began with it, and those
// that put one in if the client has counted more than there are then.
func (c *Checker) cutHead() {
	more := len(c.added) > 0 && c.countedMore()
	for _, n := range c.added {
		wrote, in := n.new.UUID != "", n.edit.in // else the record is as another file has it
		front := n.up == nil && n.Role != content.RoleBoundary && (wrote || n.Parent != "")
		if in != nil && (more || front) {
			in.Gap = more || !wrote || !c.beganWith(n)
		}
	}
}

// beganWith says whether the file shows that nothing stood in front of a prompt that was put back as the first record: the client wrote
// about it in front of it, or its request holds nothing else.
func (c *Checker) beganWith(n *node) bool {
	if n.Role != content.RoleUser {
		return false
	}
	announced := len(c.queued) > 0 && c.queued[0].Pos.Less(n.Pos()) || c.snapshots[n.UUID]
	request := c.askedBefore(n)
	return announced || request != nil && request.first
}

// partOfCut says whether a finding only follows from a line's being cut off: then its edits are added to the finding about that
// line.
func (c *Checker) partOfCut(d *draft) bool { return d.about.torn && d.follows() }
