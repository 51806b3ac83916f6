package pi

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent"
)

// meanings explain the client's errors; package api knows the API's. Each is recognised by a part of the error's text, in lower case; the
// first match counts.
var meanings = []agent.Meaning{
	{
		Words: "no session found matching", Rule: "lost-header", Same: agent.AfterRepair, Verdict: agent.NotFound,
		Text: "no file of the directory's folder has a header with that id; a file whose header can't be read is not found either",
		Step: "hist pre-resume SESSION looks for the file and says what is wrong with it",
	},
	{
		Words: "is not a valid pi session", Rule: "lost-header", Same: agent.AfterRepair, Verdict: agent.Repairable,
		Text: "the client finds no header in the file", Step: "hist repair SESSION makes one of what is left, then resume",
	},
	{
		Words: "stored session working directory does not exist", Same: agent.Later, Verdict: agent.Incompatible,
		Text: "the directory in which the session was begun is gone", Step: "make it again, or: hist move --to DIRECTORY SESSION",
	},
	{
		Words: "invalid array length", Rule: "broken-link", Same: agent.AfterRepair, Verdict: agent.Repairable,
		Text: "the chain of parents leads back to itself", Step: "hist repair SESSION, then resume",
	},
	{
		Words: "reading 'startswith'", Rule: "bad-neighbour", Same: agent.AfterRepair, Verdict: agent.Repairable,
		Text: "a session in the same folder has a header without an id, and no other can be looked up", Step: "hist lint the folder names it; repair that file",
	},
	{
		Words: "session file locked", Same: agent.Later, Verdict: agent.InUse,
		Text: "OpenClaw waits for another process that writes to the session, or for one that ended and left its lock", Step: "the error names the process and the lock: if it does not run any more, delete the lock, then go on",
	},
	{
		Words: "no real conversation messages", Same: agent.Now, Verdict: agent.Resumable,
		Text: "OpenClaw found nothing in the session that it could sum up; what a model said through another client, such as Claude Code, stands in a file of that one's",
		Step: "hist lint SESSION says whether the session has lost anything; then go on without a compaction",
	},
	{
		Words: "message ordering conflict", Same: agent.Never, Verdict: agent.Incompatible, // openclaw/openclaw#27862
		Text: "the provider does not take the order of prompts and answers, or one of their roles; these are OpenClaw's words for it",
		Step: "hist lint SESSION says whether one is lost or out of place; if not, resume the session with the provider that it was made with",
	},
	{
		Words: "session history looks corrupted (tool call", Rule: "bad-call", Same: agent.AfterRepair, Verdict: agent.Repairable,
		Text: "a call lacks its arguments; these are OpenClaw's words for it", Step: "hist repair SESSION, then resume",
	},
	{
		Words: "rejected the request schema or tool payload | something went wrong while processing your request. please try again, or use /new", Same: agent.Never, Verdict: agent.Incompatible,
		Text: "the request failed, and OpenClaw keeps what the API said to itself", // openclaw/openclaw#77228 #75235
		Step: "hist pre-resume SESSION reads what the API said of the last turn, if the session has it; otherwise OpenClaw's log does (openclaw logs): hist explain --error TEXT SESSION names what it is about",
	},
	{Words: "nothing to compact", Same: agent.Now, Verdict: agent.Resumable, Text: summedMeaning, Step: summedStep},
	{Words: "already compacted", Same: agent.Now, Verdict: agent.Resumable, Text: summedMeaning, Step: summedStep},
	{
		Words: "cannot continue from message role: assistant", Same: agent.Now, Verdict: agent.Resumable,
		Text: "the session ends with an answer, and the client was to go on without a prompt", Step: "resume the session with a new prompt",
	},
	{Words: "flatmap is not a function", Rule: "bad-shape", Same: agent.AfterRepair, Verdict: agent.Repairable, Text: shapeMeaning, Step: shapeStep},
	{Words: "filter is not a function", Rule: "bad-shape", Same: agent.AfterRepair, Verdict: agent.Repairable, Text: shapeMeaning, Step: shapeStep},
	{Words: "reading 'totaltokens'", Rule: "bad-shape", Same: agent.AfterRepair, Verdict: agent.Repairable, Text: shapeMeaning, Step: shapeStep},
}

const (
	shapeMeaning = "a record has another shape than the client reads; every prompt ends so, and each adds a failed answer"
	shapeStep    = "hist repair SESSION, then resume"

	summedMeaning = "nothing was said since the newest compaction, or too little to sum up; the session is not at fault"
	summedStep    = "resume the session with a new prompt; if that is refused as too long: hist slim SESSION takes out what is large"
)

// overflows are the rows of package api's table of errors that the client takes for a history that is too long (0.74.2 and 1.5.2, measured).
var overflows = []int{42, 103, 105, 107, 108}

// compacts says whether the client sums up what an API refused, before it sends the next prompt.
func compacts(_, _ string, row int) bool { return slices.Contains(overflows, row) }

// explain says what an error's text means; nil if it is not known.
func explain(text string) *agent.Meaning { return agent.MeaningOf(text, meanings) }
