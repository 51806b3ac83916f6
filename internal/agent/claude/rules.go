package claude

import "github.com/hist-cli/hist/internal/finding"

// Rules is what only Claude Code's sessions can suffer from; what the bytes of any file can suffer from is told by the
// normalizer.
var Rules = []*finding.Rule{
	ruleBrokenParent, ruleNullParent, ruleParentCycle, ruleMissingUUID, ruleReusedUUID, ruleUnknownLink, ruleMissingType,
	ruleLostBranch, ruleWrongLeaf, ruleRecordOrder, ruleLostEnd, ruleDuplicateRecord,
	ruleLostPrompt, ruleLostCall, ruleLostResult, ruleUnfinishedCall, ruleWrongResultID, ruleDuplicateResult, ruleDuplicateCallID, ruleLateResult,
	ruleBadMessage, ruleEmptyText, ruleBadBlock, ruleBadInput, ruleBadToolName, ruleBadCallID, ruleBadResult, ruleBadPicture, ruleBadThinking,
	ruleLostBoundary, ruleLostSummary,
	ruleNoConversation,
}

var (
	ruleBrokenParent = &finding.Rule{
		Name: "broken-parent", Family: "chain", Impact: finding.Loses, Fix: finding.Exact,
		Title: "a record names a parent that is not in the file",
		Text: "The client walks from the newest record to its parents, and sends what it meets. Where a parent is missing it takes the record that was written up to five seconds before instead (from 2.1.100 on); " +
			"if there is none, or the client is older, the model forgets everything above, and nothing is said about it. Repair hangs the record on the one that stands before it.",
	}
	ruleNullParent = &finding.Rule{
		Name: "null-parent", Family: "chain", Impact: finding.Loses, Fix: finding.Exact,
		Title: "a record in the middle has no parent",
		Text:  "Only the first record of a session and the mark of a compaction have no parent. The client believes it anywhere: everything above is lost, silently. Repair hangs the record on the one that stands before it. A rewind that the client has recorded is left alone.",
	}
	ruleParentCycle = &finding.Rule{
		Name: "parent-cycle", Family: "chain", Impact: finding.Loses, Fix: finding.Exact,
		Title: "records are each other's parents",
		Text:  "Versions up to 2.1.2 hang; newer ones break the circle and lose what stands above it. Repair hangs the first record of the circle on the one that stands before it.",
	}
	ruleMissingUUID = &finding.Rule{
		Name: "missing-uuid", Family: "chain", Impact: finding.Loses, Fix: finding.Exact,
		Title: "a record of the conversation has no id",
		Text:  "Nothing can name it as a parent: the client skips it, and everything above. Repair gives it the id that the next record names, else a new one.",
	}
	ruleReusedUUID = &finding.Rule{
		Name: "reused-uuid", Family: "chain", Impact: finding.Loses, Fix: finding.Exact,
		Title: "two different records have the same id",
		Text:  "The later one replaces the earlier, and the chain ends or turns there. Repair gives the later one an id of its own, and hangs on it what follows it.",
	}
	ruleUnknownLink = &finding.Rule{
		Name: "unknown-link", Family: "chain", Impact: finding.Loses, Fix: finding.Exact,
		Title: "the chain leads through a record that the client does not read",
		Text:  "The record is skipped, and everything above it is lost with it. Repair hangs what follows on the record before it.",
	}
	ruleMissingType = &finding.Rule{
		Name: "missing-type", Family: "chain", Impact: finding.Loses, Fix: finding.Exact,
		Title: "a message whose record has no type that the client knows",
		Text:  "The client skips the record, and loses everything above it. Repair gives it the type that its message tells.",
	}
	ruleLostBranch = &finding.Rule{
		Name: "lost-branch", Family: "chain", Impact: finding.Loses, Fix: finding.Exact,
		Title: "a branch of the conversation that no rewind explains",
		Text:  "Two clients have written to one session, or one was killed before it noted where the conversation stands. One side is not sent any more, and nothing is said about it. Repair hangs one side behind the other.",
	}
	ruleWrongLeaf = &finding.Rule{
		Name: "wrong-leaf", Family: "chain", Impact: finding.Loses, Fix: finding.Exact,
		Title: "the client begins at a record that is not the newest",
		Text:  "The newest client begins where the last last-prompt record says. Repair adds one that names the end of the conversation.",
	}
	ruleRecordOrder = &finding.Rule{
		Name: "record-order", Family: "chain", Impact: finding.Notes, Fix: finding.NoFix,
		Title: "a record stands in front of its parent",
		Text:  "The client goes by the parents, not by the order of the file: nothing is lost.",
	}
	ruleLostEnd = &finding.Rule{
		Name: "lost-end", Family: "chain", Impact: finding.Notes, Fix: finding.NoFix,
		Title: "the record that the session is said to end with is missing",
		Text:  "The last last-prompt record names a record that is not in the file: the last answer was cut off, or taken out. The client begins at the last record that is there.",
	}
	ruleDuplicateRecord = &finding.Rule{
		Name: "duplicate-record", Family: "chain", Impact: finding.Notes, Fix: finding.SetAside,
		Title: "the same record twice",
		Text:  "Retries and compactions write records again. The client uses one copy. Repair takes the later copies out with --tidy, if they are equal byte for byte.",
	}
	ruleLostPrompt = &finding.Rule{
		Name: "lost-prompt", Family: "lost", Impact: finding.Loses, Fix: finding.Recovered,
		Title: "a prompt is missing",
		Text:  "The answer names a parent that is gone, and begins a turn: everything above is lost with the prompt. Repair writes the prompt again under its old id, with its text from what the client recorded beside it (api-request-blob, queue-operation, last-prompt, history.jsonl), else with a note that it is lost.",
	}
	ruleLostCall = &finding.Rule{
		Name: "lost-call", Family: "lost", Impact: finding.Loses, Fix: finding.Recovered,
		Title: "the output of a tool whose call is missing",
		Text:  "The client drops the output with the call; versions up to 2.1.2 send it, and the API refuses every request. Repair writes the call again: its id from the output, its input from the structured result beside it where that tells it, else a note that it is lost.",
	}
	ruleLostResult = &finding.Rule{
		Name: "lost-result", Family: "lost", Impact: finding.Loses, Fix: finding.Recovered,
		Title: "a call without its output",
		Text:  "The client drops the call, too: the model never learns that the tool ran. Repair puts the output back from what still holds it, else a note that the outcome is unknown.",
	}
	ruleUnfinishedCall = &finding.Rule{
		Name: "unfinished-call", Family: "lost", Impact: finding.Notes, Fix: finding.NoFix,
		Title: "the session ends with a call that was not answered",
		Text:  "The client was stopped while a tool ran. The newest client tells the model that the call was interrupted, older ones drop it.",
	}
	ruleWrongResultID = &finding.Rule{
		Name: "wrong-result-id", Family: "lost", Impact: finding.Loses, Fix: finding.Exact,
		Title: "an output and its call have different ids",
		Text:  "The output hangs on the call, but names another: the client drops both, older versions send them and are refused. Repair makes them the same.",
	}
	ruleDuplicateResult = &finding.Rule{
		Name: "duplicate-result", Family: "lost", Impact: finding.Rejects, Fix: finding.SetAside,
		Title: "two outputs for one call",
		Text:  "The newest client keeps the first. Versions up to 2.1.2 send both, which the API refuses. Repair sets the later one aside.",
	}
	ruleDuplicateCallID = &finding.Rule{
		Name: "duplicate-call-id", Family: "lost", Impact: finding.Loses, Fix: finding.Exact,
		Title: "two calls with one id",
		Text:  "The newest client drops the second call and its output, older ones send both, which the API refuses. Repair gives the second pair an id of its own.",
	}
	ruleLateResult = &finding.Rule{
		Name: "late-result", Family: "lost", Impact: finding.Loses, Fix: finding.Exact,
		Title: "an output that does not follow its call",
		Text:  "The API wants it in the next message. The client invents an error for the call and drops the real output. Repair hangs it behind its call.",
	}
	ruleBadMessage = &finding.Rule{
		Name: "bad-message", Family: "content", Impact: finding.Loses, Fix: finding.StandIn,
		Title: "a message without content",
		Text:  "Versions up to 2.1.215 refuse the session as a whole; newer ones drop the record. Repair takes an answer out, and puts a prompt's text back if something still holds it.",
	}
	ruleEmptyText = &finding.Rule{
		Name: "empty-text", Family: "content", Impact: finding.Rejects, Fix: finding.Exact,
		Title: "a text with nothing in it",
		Text:  "The API refuses a text block that is empty or white space. The newest client drops it from answers but sends an empty prompt or output; older ones send all. Repair takes the block out, and puts a prompt's text back if something still holds it.",
	}
	ruleBadBlock = &finding.Rule{
		Name: "bad-block", Family: "content", Impact: finding.Rejects, Fix: finding.SetAside,
		Title: "a content block that the API does not take",
		Text:  "A block that is null, of no type or of an unknown one, or with a key that does not belong there. The client sends it as it is; versions up to 2.1.2 refuse the session for a null. Repair takes it out, or gives it the type that its members tell.",
	}
	ruleBadInput = &finding.Rule{
		Name: "bad-input", Family: "content", Impact: finding.Rejects, Fix: finding.Exact,
		Title: "a call whose input is no object",
		Text:  "The client sends it, and the API refuses every request. Repair decodes a string that holds the object, or takes the input from the tool's structured result, else writes a note.",
	}
	ruleBadToolName = &finding.Rule{
		Name: "bad-call-name", Family: "content", Impact: finding.Rejects, Fix: finding.StandIn,
		Title: "a call whose tool has no valid name",
		Text:  "The API wants 1 to 200 letters, digits, hyphens and underscores. Repair takes the name that the tool's result tells.",
	}
	ruleBadCallID = &finding.Rule{
		Name: "bad-call-id", Family: "content", Impact: finding.Rejects, Fix: finding.Exact,
		Title: "a call's id that the API does not take",
		Text:  "Only letters, digits, hyphens and underscores. Repair writes the id anew in the call and in its output.",
	}
	ruleBadResult = &finding.Rule{
		Name: "bad-result", Family: "content", Impact: finding.Rejects, Fix: finding.StandIn,
		Title: "an output that the API refuses",
		Text:  "An error without words, or an empty text in it. Repair takes the words from the tool's structured result, else says that there are none.",
	}
	ruleBadPicture = &finding.Rule{
		Name: "bad-picture", Family: "content", Impact: finding.Rejects, Fix: finding.StandIn,
		Title: "an image that the API refuses",
		Text:  "Of an unknown type, empty, broken, over 5 MB or over 8000 pixels: the API refuses every request (the newest client refuses an image over 5 MB itself, at every prompt). Repair puts the tool's own second copy in its place if that is good, else a text that says what it was.",
	}
	ruleBadThinking = &finding.Rule{
		Name: "bad-thinking", Family: "content", Impact: finding.Rejects, Fix: finding.SetAside,
		Title: "thinking that the API refuses",
		Text:  "A thinking block needs its text and its signature as the API gave them. At the refusal the newest client strips all thinking of the session and tries again; older ones fail. Repair sets this block aside.",
	}
	ruleLostBoundary = &finding.Rule{
		Name: "lost-boundary", Family: "compaction", Impact: finding.Loses, Fix: finding.Exact,
		Title: "a compaction's summary without its mark",
		Text:  "The whole history before the compaction is sent again, with the summary. Repair writes the mark again.",
	}
	ruleLostSummary = &finding.Rule{
		Name: "lost-summary", Family: "compaction", Impact: finding.Loses, Fix: finding.Exact,
		Title: "a compaction without its summary",
		Text:  "The model is sent nothing of what was compacted. All of it still stands in the file: repair hangs what follows on the last record before the compaction, so that it is sent whole.",
	}
	ruleNoConversation = &finding.Rule{
		Name: "no-conversation", Family: "identity", Impact: finding.Blocks, Fix: finding.NoFix,
		Title: "a file without a conversation",
		Text:  `The client says "No conversation found with session ID". The file holds only bookkeeping, or only a sub-agent's records; older clients leave such files at every resume.`,
	}
)
