package claude

import (
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
)

// Rules is what Claude Code's sessions can suffer from; what the bytes of any file can suffer from is told by the normalizer.
var Rules = []*finding.Rule{
	ruleBrokenParent, ruleNullParent, ruleParentCycle, ruleMissingUUID, ruleReusedUUID, ruleUnknownLink, ruleMissingType, ruleMissingTime,
	ruleLostBranch, ruleWrongLeaf, ruleRecordOrder, ruleLostEnd, ruleDuplicateRecord, ruleOtherSession, ruleReachable,
	ruleLostPrompt, ruleLostCall, ruleLostResult, ruleUnfinishedCall, ruleWrongResultID, ruleWrongMessageID, ruleDuplicateResult, ruleDuplicateCallID, ruleLateResult,
	ruleBadMessage, ruleEmptyText, ruleBadBlock, ruleBadInput, ruleBadToolName, ruleBadCallID, ruleBadResult, ruleBadPicture, ruleBadDocument, ruleManyPictures, ruleBadThinking,
	ruleLostBoundary, ruleLostSummary, ruleLostKept,
	ruleCutTurn, check.UnansweredPrompt,
	ruleNoConversation, ruleNeverWritten, ruleDamagedFile, ruleRetention,
	check.Refused, check.ContextLost, check.Repaired,
}

var (
	ruleBrokenParent    = texts.Rule(finding.Rule{Name: "broken-parent", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	ruleNullParent      = texts.Rule(finding.Rule{Name: "null-parent", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	ruleParentCycle     = texts.Rule(finding.Rule{Name: "parent-cycle", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	ruleMissingUUID     = texts.Rule(finding.Rule{Name: "missing-uuid", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	ruleReusedUUID      = texts.Rule(finding.Rule{Name: "reused-uuid", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	ruleUnknownLink     = texts.Rule(finding.Rule{Name: "unknown-link", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	ruleMissingType     = texts.Rule(finding.Rule{Name: "missing-type", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	ruleMissingTime     = texts.Rule(finding.Rule{Name: "missing-time", Family: "chain", Impact: finding.Blocks, Fix: finding.StandIn})
	ruleLostBranch      = texts.Rule(finding.Rule{Name: "lost-branch", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	ruleWrongLeaf       = texts.Rule(finding.Rule{Name: "wrong-leaf", Family: "chain", Impact: finding.Loses, Fix: finding.Exact})
	ruleRecordOrder     = texts.Rule(finding.Rule{Name: "record-order", Family: "chain", Impact: finding.Notes, Fix: finding.NoFix})
	ruleLostEnd         = texts.Rule(finding.Rule{Name: "lost-end", Family: "chain", Impact: finding.Notes, Fix: finding.NoFix, Always: true})
	ruleDuplicateRecord = texts.Rule(finding.Rule{Name: "duplicate-record", Family: "chain", Impact: finding.Notes, Fix: finding.SetAside})
	ruleOtherSession    = texts.Rule(finding.Rule{Name: "other-session", Family: "chain", Impact: finding.Loses, Fix: finding.SetAside})
	ruleReachable       = texts.Rule(finding.Rule{Name: "reachable", Family: "chain", Impact: finding.Notes, Fix: finding.NoFix})
	ruleLostKept        = texts.Rule(finding.Rule{Name: "lost-kept", Family: "compaction", Impact: finding.Loses, Fix: finding.Recovered})
	ruleCutTurn         = texts.Rule(finding.Rule{Name: "cut-turn", Family: "turns", Impact: finding.Notes, Fix: finding.NoFix})
	ruleLostPrompt      = texts.Rule(finding.Rule{Name: "lost-prompt", Family: "lost", Impact: finding.Loses, Fix: finding.Recovered})
	ruleLostCall        = texts.Rule(finding.Rule{Name: "lost-call", Family: "lost", Impact: finding.Loses, Fix: finding.Recovered})
	ruleLostResult      = texts.Rule(finding.Rule{Name: "lost-result", Family: "lost", Impact: finding.Loses, Fix: finding.Recovered})
	ruleUnfinishedCall  = texts.Rule(finding.Rule{Name: "unfinished-call", Family: "lost", Impact: finding.Loses, Fix: finding.StandIn})
	ruleWrongResultID   = texts.Rule(finding.Rule{Name: "wrong-result-id", Family: "lost", Impact: finding.Loses, Fix: finding.Exact})
	ruleWrongMessageID  = texts.Rule(finding.Rule{Name: "wrong-message-id", Family: "lost", Impact: finding.Loses, Fix: finding.Exact})
	ruleDuplicateResult = texts.Rule(finding.Rule{Name: "duplicate-result", Family: "lost", Impact: finding.Rejects, Fix: finding.SetAside})
	ruleDuplicateCallID = texts.Rule(finding.Rule{Name: "duplicate-call-id", Family: "lost", Impact: finding.Loses, Fix: finding.Exact})
	ruleLateResult      = texts.Rule(finding.Rule{Name: "late-result", Family: "lost", Impact: finding.Loses, Fix: finding.Exact})
	ruleBadMessage      = texts.Rule(finding.Rule{Name: "bad-message", Family: "content", Impact: finding.Loses, Fix: finding.StandIn})
	ruleEmptyText       = texts.Rule(finding.Rule{Name: "empty-text", Family: "content", Impact: finding.Rejects, Fix: finding.Exact})
	ruleBadBlock        = texts.Rule(finding.Rule{Name: "bad-block", Family: "content", Impact: finding.Rejects, Fix: finding.SetAside})
	ruleBadInput        = texts.Rule(finding.Rule{Name: "bad-input", Family: "content", Impact: finding.Rejects, Fix: finding.Exact})
	ruleBadToolName     = texts.Rule(finding.Rule{Name: "bad-call-name", Family: "content", Impact: finding.Rejects, Fix: finding.StandIn})
	ruleBadCallID       = texts.Rule(finding.Rule{Name: "bad-call-id", Family: "content", Impact: finding.Rejects, Fix: finding.Exact})
	ruleBadResult       = texts.Rule(finding.Rule{Name: "bad-result", Family: "content", Impact: finding.Rejects, Fix: finding.StandIn})
	ruleBadPicture      = texts.Rule(finding.Rule{Name: "bad-picture", Family: "content", Impact: finding.Rejects, Fix: finding.StandIn})
	ruleBadDocument     = texts.Rule(finding.Rule{Name: "bad-document", Family: "content", Impact: finding.Rejects, Fix: finding.StandIn})
	ruleManyPictures    = texts.Rule(finding.Rule{Name: "many-pictures", Family: "content", Impact: finding.Rejects, Fix: finding.StandIn})
	ruleBadThinking     = texts.Rule(finding.Rule{Name: "bad-thinking", Family: "content", Impact: finding.Rejects, Fix: finding.SetAside})
	ruleLostBoundary    = texts.Rule(finding.Rule{Name: "lost-boundary", Family: "compaction", Impact: finding.Loses, Fix: finding.Exact})
	ruleLostSummary     = texts.Rule(finding.Rule{Name: "lost-summary", Family: "compaction", Impact: finding.Loses, Fix: finding.Exact})
	ruleNeverWritten    = texts.Rule(finding.Rule{Name: "never-written", Family: "identity", Impact: finding.Blocks, Fix: finding.NoFix, Home: true})
	ruleDamagedFile     = texts.Rule(finding.Rule{Name: "damaged-file", Family: "identity", Impact: finding.Notes, Fix: finding.NoFix, Home: true})
	ruleRetention       = texts.Rule(finding.Rule{Name: "retention", Family: "identity", Impact: finding.Notes, Fix: finding.NoFix, Home: true})
	ruleNoConversation  = texts.Rule(finding.Rule{Name: "no-conversation", Family: "identity", Empty: true, Impact: finding.Blocks, Fix: finding.NoFix})
)
