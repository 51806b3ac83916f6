package rules

import (
	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// run is what Codex's checkers know of a session together: the driver's facts, and what follows from its header.
type run struct {
	*check.Run
	opts    *check.Options
	history *codex.History
	holes   *check.Holes

	client    string // the version of the client that will resume the session, "" is the newest known
	header    session.Info
	provider  check.Provider         // the API by whose limits the session is judged
	sendsIDs  bool                   // the client sends the API the ids of items
	uniqueIDs bool                   // and the API wants them to be so
	idLimits  map[string]*api.Limits // of ids, by the kind of item
	newer     bool                   // the session's client is newer than any that has been measured
	paginated bool
	prefix    prefix
	review    reviews
	limited   *limitedItems
	crossed   crossedTurns
}

// Stages makes Codex's checkers for one session; its history is codex.NewHistory's. A record goes through the stages in their order. Within a
// stage, the order of the checkers does not matter.
func Stages(of *check.Run, history *codex.History) [][]check.Checker {
	s := &run{Run: of, opts: of.Options(), holes: of.Holes(), history: history, idLimits: map[string]*api.Limits{}, crossed: crossedTurns{open: map[uint64]bool{}}, client: of.Options().For[codex.Name]}
	s.setHeader(session.Info{}, session.Pos{})
	return [][]check.Checker{
		{newHeaderChecker(s)},                        // it tells the others the mode, and what a sub-agent inherits
		{newItemChecker(s), &ordinalChecker{run: s}}, // an item that the client can't read does not exist for those behind it
		{newCallChecker(s)},                          // lost records go into the holes that they left: those of calls first,
		{newMessageChecker(s)},
		{newSearchChecker(s)},
		{newTurnChecker(s), &saveChecker{run: s}, &sandboxChecker{run: s}, newTokenChecker(s), newUnshownChecker(s)},
	}
}

// olderThan says whether the session will be resumed by a client before 0.minor. If no client was named it is false: damage
// is judged by the newest client.
func (s *run) olderThan(minor int) bool {
	return codex.Before(s.client, 0, minor)
}

// Settle gives a finding the impact that depends on the rest of the session.
func (c *headerChecker) Settle(f *finding.Finding) {
	s := c.run
	_, at := s.Header()
	if f.Framing && f.Impact != finding.Notes && !s.paginated && !c.isText(f) {
		// Clients read a session without ordinals as text: one line that is not UTF-8, and all of it is refused (measured). All losses of
		// the line are, because it is mended only if all that is wrong with it is.
		f.Impact = finding.Blocks
	}
	switch {
	case f.Rule == ruleOpenTurn && !s.paginated:
		f.Impact = finding.Notes
	case f.Rule == normalize.InvalidUTF8 && !s.paginated:
		f.Impact = finding.Blocks
	case f.Rule == normalize.DuplicateKey:
		c.keyTwice(f, at)
	case f.Rule == normalize.NoFinalNewline:
		f.Impact = impactIn(s.client, f.Rule) // what trims files is rarely their own client: who resumes decides, not who wrote
		f.Message += ": a client before 0.145 appends its next record to the same line"
	case f.Framing && (f.Impact == finding.Loses || f.Rule == normalize.BadJSON) && at.Line > 0 && f.Pos.Less(at):
		f.Void, f.Impact = f.Impact == finding.Notes, finding.Blocks
		f.Message += "; because it comes before the header, the client can't read the header"
	case f.Rule == normalize.FlippedBit && c.readAnyway && f.Pos.Line == at.Line:
		f.Message += "; it sends the session without what that goes on from"
	case f.Framing && f.Impact == finding.Loses && f.Pos.Line == at.Line && at.Line > 0:
		f.Impact = finding.Blocks
		f.Message += "; because it is the header, the client doesn't know whose session this is"
	}
}
