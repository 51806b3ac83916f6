package claude

// End does what needs all records, and reports. The steps of each phase are in the order in which they rely on each other. A
// step that finds something changes the records as its repair would, so that later steps see them mended.
func (c *Checker) End() {
	c.Summary = Summary{Version: c.written, Cwd: c.beside.Cwd.Words, Branch: c.beside.Branch.Words, Session: c.beside.Session.Words}
	if c.noConversation() {
		return
	}
	c.sortOut()
	c.connect()
	c.match()
	c.goOn()
	c.compacted()
	c.sumUp()
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
