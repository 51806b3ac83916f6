package claude

// A client may write a whole conversation again behind itself, under new ids and from a root of its own, and go on from
// there (2.0.29 does, when it takes up a session whose first prompt holds an image). Nothing is lost by that.

// replays says whether a record without a parent begins such a copy: the first answer below it was given before, word for
// word, by another record. The records of the copy are marked.
func (c *Checker) replays(n *node) bool {
	if n.role != roleUser {
		return false
	}
	if c.saidFirst == nil {
		c.saidFirst = map[uint64]*node{}
		for _, m := range c.nodes {
			if m.hasMessage() && !m.side && c.saidFirst[m.message] == nil {
				c.saidFirst[m.message] = m
			}
		}
	}
	again := func(m *node) bool { return c.saidFirst[m.message] != m && c.saidFirst[m.message].index < n.index }
	for _, m := range c.nodes[n.index+1 : min(len(c.nodes), n.index+maxSiblings)] {
		if m.side || m.role != roleAssistant || m.msg == "" || !rooted(m, n) {
			continue
		}
		if !again(m) {
			return false
		}
		c.below(n, func(m *node) bool {
			m.again = m.hasMessage() && !m.side && again(m)
			return true
		})
		return true
	}
	return false
}

// answeredBefore says whether the model has answered anything in front of a record.
func (c *Checker) answeredBefore(n *node) bool {
	if c.firstAnswer == nil {
		for _, m := range c.nodes {
			if m.role == roleAssistant && m.sent() && !m.filler && !m.side {
				c.firstAnswer = m
				break
			}
		}
	}
	return c.firstAnswer != nil && c.firstAnswer.index < n.index
}
