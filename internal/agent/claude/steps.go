package claude

// End settles what could not be known before, and reports. The steps of each phase stand in the order in which they rely on
// each other; a step that finds something changes the records as its repair would, so that the next ones see them mended.
func (c *Checker) End() {
	c.Summary = Summary{Version: c.written, Cwd: c.beside.cwd.words, Branch: c.beside.branch.words, Session: c.beside.session.words}
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

// sortOut settles which records there are. Parents are named by ids, so each record must have its own before one is looked for.
func (c *Checker) sortOut() {
	read := c.nodes
	c.duplicates()                // in front of everything: a copy looks like a branch, a second call, a reused id
	c.Summary.Seen = c.seen(read) // before anything is mended, and with the copies, which the client reads, too
	c.cutCopies()                 // what is whole elsewhere in the file needs no id
	c.thinking()                  // looks at the records that were read, some of which wholeAgain replaces
	c.nameAnswers()               // what is put back of an unreadable line says which answer it is a part of
	c.wordsAgain()
	c.wholeAgain() // a record that is had whole from elsewhere has its id, time and blocks again
	c.identify()
	c.untimed() // times help to choose a parent
}

// connect settles which record hangs on which.
func (c *Checker) connect() {
	c.adopt() // a conversation's record that looks like a sub-agent's would be no parent
	c.link()
	c.ending()          // link may have put the record back that the session is said to end with
	c.unplaced()        // what no record names goes between those that hang together by now
	c.lostPromptAtEnd() // or used the prompt for another place
}

// match settles what belongs to each call, then what the API takes of each record's content.
func (c *Checker) match() {
	c.pair()         // outputs are looked for along the tree
	c.manyPictures() // counts what is sent, with the outputs that were brought back
	c.servedAlone()
	c.drops() // reports the faults that all steps so far have noted in records
}

// goOn settles where the client goes on, and what it leaves out then. Marks of compactions come first: what is sent begins at
// the last one.
func (c *Checker) goOn() {
	c.cutCompaction()
	c.noSummary()
	c.repeatedEnd() // it may move the end of what is sent, from which branches leave
	if c.opts.Branch != "" {
		c.chooseBranch()
		return
	}
	c.branches()
	c.overtaken() // branches that begin in front of a compaction are not seen from its end
	c.wrongLeaf() // unless one of these has named another end already
	c.wrongTime() // compares with the tip, which wrongLeaf may have moved
}

// compacted settles what is sent of the path as it is now: parallel outputs one after the other, and what compactions kept.
func (c *Checker) compacted() {
	c.chainParallel()
	c.brokenKept()
	c.lostKept()
}

// sumUp notes what is left, now that every record has its place, and reports all findings.
func (c *Checker) sumUp() {
	c.order()
	c.lastTurn()
	c.reachable()
	c.stillWordless()
	c.settle()
}
