package mend

import "github.com/hist-cli/hist/internal/agent/claude/content"

// some says which rare things there are among a session's records. Most sessions have few, and a step that looks for something
// no record has can skip its walk over all records. A record that was removed still counts.
type some struct {
	side      bool // records of sub-agents
	mended    bool // lines that the client can't read
	nameless  bool // records without an id of their own
	mistyped  bool // records whose type is lost or wrong
	odd       bool // records of types that a version of the client may not follow
	untimed   bool // messages without a time
	faults    bool // in a record's content
	pictures  bool
	sideTexts bool // records that say with a text that they are no sub-agent's
	served    bool // calls that the API's own servers ran
	marks     bool // of compactions
	anew      bool // records that a compaction begins with
	bareMarks bool // marks without metadata
	byHand    bool // something that only a user in a terminal does
	keeps     bool // marks that name records which were kept
}

// note takes a record into account.
func (s *some) note(n *node) {
	s.side = s.side || n.Side
	s.mended = s.mended || n.mended
	s.nameless = s.nameless || n.nameless()
	s.mistyped = s.mistyped || n.TypeLost || n.TypeWrong
	s.odd = s.odd || n.Role == content.RoleOther || n.Typ == "progress"
	s.untimed = s.untimed || n.When == 0 && n.HasMessage()
	s.marks = s.marks || n.Role == content.RoleBoundary
	s.anew = s.anew || n.BeginsAnew()
	s.bareMarks = s.bareMarks || n.Bare
	s.byHand = s.byHand || n.ByHand && !n.Side
	if n.Rare != content.Nothing {
		s.faults = s.faults || len(n.Faults) > 0
		s.sideTexts = s.sideTexts || n.SideAt.End > 0
		s.pictures = s.pictures || n.Pictures > 0
		s.served = s.served || len(n.Served) > 0
		s.keeps = s.keeps || len(n.Keeps) > 0
	}
}
