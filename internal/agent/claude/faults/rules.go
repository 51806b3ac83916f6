package faults

import (
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
)

// Rules is what Claude Code's sessions can suffer from; what the bytes of any file can suffer from is told by the normalizer.
var Rules = []*finding.Rule{
	BrokenParent, NullParent, ParentCycle, MissingUUID, ReusedUUID, UnknownLink, MissingType, MissingTime,
	LostBranch, WrongLeaf, RecordOrder, LostEnd, DuplicateRecord, OtherSession, Reachable,
	LostPrompt, LostCall, LostResult, UnfinishedCall, WrongResultID, WrongMessageID, DuplicateResult, DuplicateCallID, LateResult,
	BadMessage, EmptyText, BadBlock, BadInput, BadToolName, BadCallID, BadResult, BadPicture, BadDocument, ManyPictures, BadThinking,
	LostBoundary, LostSummary, LostKept,
	CutTurn, check.UnansweredPrompt,
	NoConversation, NeverWritten, Misplaced, DamagedFile, Retention,
	check.Refused, check.ContextLost, check.Repaired,
}

var (
	BrokenParent    = texts.Rule(finding.Rule{Name: "broken-parent", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	NullParent      = texts.Rule(finding.Rule{Name: "null-parent", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	ParentCycle     = texts.Rule(finding.Rule{Name: "parent-cycle", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	MissingUUID     = texts.Rule(finding.Rule{Name: "missing-uuid", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	ReusedUUID      = texts.Rule(finding.Rule{Name: "reused-uuid", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	UnknownLink     = texts.Rule(finding.Rule{Name: "unknown-link", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	MissingType     = texts.Rule(finding.Rule{Name: "missing-type", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	MissingTime     = texts.Rule(finding.Rule{Name: "missing-time", Family: "chain", Impact: finding.Blocks, Fix: finding.StandIn})
	LostBranch      = texts.Rule(finding.Rule{Name: "lost-branch", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	WrongLeaf       = texts.Rule(finding.Rule{Name: "wrong-leaf", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	RecordOrder     = texts.Rule(finding.Rule{Name: "record-order", Family: "chain", Impact: finding.Notes, Fix: finding.NoFix})
	LostEnd         = texts.Rule(finding.Rule{Name: "lost-end", Family: "chain", Impact: finding.Notes, Fix: finding.NoFix, Always: true})
	DuplicateRecord = texts.Rule(finding.Rule{Name: "duplicate-record", Family: "chain", Impact: finding.Notes, Fix: finding.SetAside})
	OtherSession    = texts.Rule(finding.Rule{Name: "other-session", Family: "chain", Impact: finding.Loses, Fix: finding.SetAside})
	Reachable       = texts.Rule(finding.Rule{Name: "reachable", Family: "chain", Impact: finding.Notes, Fix: finding.NoFix})
	LostKept        = texts.Rule(finding.Rule{Name: "lost-kept", Family: "compaction", Impact: finding.Loses, Fix: finding.Recovered})
	CutTurn         = texts.Rule(finding.Rule{Name: "cut-turn", Family: "turns", Impact: finding.Notes, Fix: finding.NoFix})
	LostPrompt      = texts.Rule(finding.Rule{Name: "lost-prompt", Family: "lost", Impact: finding.Loses, Fix: finding.Recovered})
	LostCall        = texts.Rule(finding.Rule{Name: "lost-call", Family: "lost", Impact: finding.Loses, Fix: finding.Recovered})
	LostResult      = texts.Rule(finding.Rule{Name: "lost-result", Family: "lost", Impact: finding.Loses, Fix: finding.Recovered})
	UnfinishedCall  = texts.Rule(finding.Rule{Name: "unfinished-call", Family: "lost", Impact: finding.Loses, Fix: finding.StandIn})
	WrongResultID   = texts.Rule(finding.Rule{Name: "wrong-result-id", Family: "lost", Impact: finding.Loses, Fix: finding.Exact})
	WrongMessageID  = texts.Rule(finding.Rule{Name: "wrong-message-id", Family: "lost", Impact: finding.Loses, Fix: finding.Exact})
	DuplicateResult = texts.Rule(finding.Rule{Name: "duplicate-result", Family: "lost", Impact: finding.Rejects, Fix: finding.SetAside})
	DuplicateCallID = texts.Rule(finding.Rule{Name: "duplicate-call-id", Family: "lost", Impact: finding.Loses, Fix: finding.Exact})
	LateResult      = texts.Rule(finding.Rule{Name: "late-result", Family: "lost", Impact: finding.Loses, Fix: finding.Exact})
	BadMessage      = texts.Rule(finding.Rule{Name: "bad-message", Family: "content", Impact: finding.Loses, Fix: finding.StandIn})
	EmptyText       = texts.Rule(finding.Rule{Name: "empty-text", Family: "content", Impact: finding.Rejects, Fix: finding.Exact})
	BadBlock        = texts.Rule(finding.Rule{Name: "bad-block", Family: "content", Impact: finding.Rejects, Fix: finding.SetAside})
	BadInput        = texts.Rule(finding.Rule{Name: "bad-input", Family: "content", Impact: finding.Rejects, Fix: finding.Exact})
	BadToolName     = texts.Rule(finding.Rule{Name: "bad-call-name", Family: "content", Impact: finding.Rejects, Fix: finding.StandIn})
	BadCallID       = texts.Rule(finding.Rule{Name: "bad-call-id", Family: "content", Impact: finding.Rejects, Fix: finding.Exact})
	BadResult       = texts.Rule(finding.Rule{Name: "bad-result", Family: "content", Impact: finding.Rejects, Fix: finding.StandIn})
	BadPicture      = texts.Rule(finding.Rule{Name: "bad-picture", Family: "content", Impact: finding.Rejects, Fix: finding.StandIn})
	BadDocument     = texts.Rule(finding.Rule{Name: "bad-document", Family: "content", Impact: finding.Rejects, Fix: finding.StandIn})
	ManyPictures    = texts.Rule(finding.Rule{Name: "many-pictures", Family: "content", Impact: finding.Rejects, Fix: finding.StandIn})
	BadThinking     = texts.Rule(finding.Rule{Name: "bad-thinking", Family: "content", Impact: finding.Rejects, Fix: finding.SetAside})
	LostBoundary    = texts.Rule(finding.Rule{Name: "lost-boundary", Family: "compaction", Impact: finding.Loses, Fix: finding.Exact})
	LostSummary     = texts.Rule(finding.Rule{Name: "lost-summary", Family: "compaction", Impact: finding.Loses, Fix: finding.Exact})
	NeverWritten    = texts.Rule(finding.Rule{Name: "never-written", Family: "identity", Impact: finding.Blocks, Fix: finding.NoFix, Home: true})
	Misplaced       = texts.Rule(finding.Rule{Name: "misplaced", Family: "identity", Impact: finding.Blocks, Fix: finding.NoFix, Home: true})
	DamagedFile     = texts.Rule(finding.Rule{Name: "damaged-file", Family: "identity", Impact: finding.Notes, Fix: finding.NoFix, Home: true})
	Retention       = texts.Rule(finding.Rule{Name: "retention", Family: "identity", Impact: finding.Notes, Fix: finding.NoFix, Home: true})
	NoConversation  = texts.Rule(finding.Rule{Name: "no-conversation", Family: "identity", Empty: true, Always: true, Impact: finding.Blocks, Fix: finding.NoFix})
)
