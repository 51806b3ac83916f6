package claude

import (
	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/claude/format"
)

// meanings explain the client's errors; package api knows the API's. Each is recognised by a part of the error's text, in lower
// case; the first match counts.
var meanings = []agent.Meaning{
	{
		Words: "no conversation found with session id | session not found on disk | session transcript not found | conversation history is no longer on disk | " +
			"not found in project directory | enoent … .claude … projects … .jsonl",
		Rule: "no-conversation", Same: agent.Never, Verdict: agent.NotFound, Step: "hist pre-resume SESSION looks for the file and says what is wrong with it",
		Text: "the client found no file with that name and a readable message in it where it looks: up to 2.1.215 only in the folder of the directory that it runs in, later in all of projects",
	},
	{
		Words: "no conversation found to continue", Same: agent.Never, Verdict: agent.NotFound, Text: "the directory has no session that the client could go on with",
		Step: "hist list lists the sessions of all directories; the client finds one only from the directory that it was begun in",
	},
	{
		Words: "working directory no longer exists", Same: agent.Never, Verdict: agent.Incompatible, Text: "the directory in which the session works is gone, or has another name now",
		Step: "hist move --to DIRECTORY SESSION has the session follow it; hist doctor names all that are gone",
	},
	{
		Words: "no conversations found to resume", Same: agent.Never, Verdict: agent.NotFound,
		Text: "the client's list of this directory is empty: it leaves out those of other directories, what claude -p wrote, and, by nine reports of 2.1.34 and later, what sessions-index.json beside the sessions does not name",
		Step: "hist list lists the sessions of all directories; claude --resume ID resumes one by its id, in the directory that it was begun in; a sessions-index.json can be moved away: 2.1.2 and 2.1.332 list what it leaves out, too",
	},
	{
		Words: "claude_code_child_session", Same: agent.Never, Verdict: agent.Incompatible, // measured with 2.1.332; reports from 2.1.177 on
		Text: "the client writes no transcript: it takes itself for the child of another client, because it has inherited CLAUDE_CODE_CHILD_SESSION; what is said in it is gone when it ends",
		Step: "as long as it runs, /export FILE writes the conversation down; then start it again with env -u CLAUDE_CODE_CHILD_SESSION claude, and what was started from a client's shell (an editor, a server), from another one",
	},
	{
		Words: "is not a function. (in ' … is undefined", Same: agent.AfterUpgrade, Verdict: agent.Incompatible, // some ten reports of either version
		Text: "the client fails by itself: 2.1.119 and 2.1.120 are known to do so whenever they resume a session",
		Step: "resume the session with another version of the client; hist lint SESSION says whether the file is at fault, too",
	},
	{
		Words: "requires a valid session id", Same: agent.Never, Verdict: agent.NotFound, Text: "what the client was given is neither a session's id nor its title; ids that begin with local_ are Claude Desktop's own",
		Step: "hist list lists the sessions with their ids; hist pre-resume ID finds the transcript of an id of Claude Desktop, too",
	},
	{
		Words: "no transcript found for agent", Same: agent.Never, Verdict: agent.Incompatible, Text: "a sub-agent is to go on whose own file (agent-ID.jsonl) is not where the client looks for it, or is over 5 MiB large (a report of 2.1.218 and 2.1.220); the session itself is not at fault",
		Step: "look for that file below projects/ of the client's home; if it is not beside the others of the session (subagents/), copy it there; without it, the model has to begin with another agent",
	},
	{
		Words: "no message found with message.uuid of", Same: agent.Never, Verdict: agent.Incompatible,
		Text: "the client was to go on from a message that it does not find in the session",
		Step: "resume the session without naming a message; hist lint SESSION says whether one is lost",
	},
	{
		Words: ".thinking.trim", Rule: "bad-thinking", Same: agent.AfterRepair, Verdict: agent.Repairable, Text: "a thinking block has no text", Step: repairs,
	},
	{
		Words: "'cumulativedroppedtokens'", Rule: "lost-kept", Same: agent.Never, Verdict: agent.Repairable,
		Text: "the mark of a compaction lacks what it says about itself (compactMetadata): the client fails when it compacts the session again",
		Step: "hist lint --notes SESSION names the mark, if it can be mended; then hist repair --in-place --rule lost-kept SESSION mends it",
	},
	{
		Words: "error parsing line in … syntaxerror", Rule: "bad-json", Same: agent.AfterRepair, Verdict: agent.Repairable, Text: "a line of the file that the error names is no JSON", Step: repairs,
	},
	{
		Words: "configparseerror", Same: agent.Never, Verdict: agent.Incompatible, Text: "a file of the client's settings is no JSON",
		Step: "mend or move away the file that the error names, most often ~/.claude.json; nothing in the session is to be repaired",
	},
	{
		Words: "json parse error: | in json at position | unexpected end of json input", Same: agent.Never, Verdict: agent.Incompatible,
		Text: "the client has read a text that is no JSON: a line of the session, if it was reading that, or, up to 2.1.215 at a terminal, what a TaskOutput call gave if it is kept as a text (measured; 2.1.332 opens that session)",
		Step: repairs + "; if it names none, resume it with the newest client",
	},
	{
		Words: "is not an object (evaluating ' | cannot read properties of undefined | cannot read properties of null", Same: agent.AfterUpgrade, Verdict: agent.Incompatible,
		Text: "the client itself fails: most often over a record that lacks what the client takes for granted, such as the text of a block",
		Step: repairs + "; if it names none, resume it with the newest client",
	},
	{
		Words: "autocompact is thrashing", Same: agent.Now, Verdict: agent.Resumable, // anthropics/claude-code#82131
		Text: "within one turn, what came behind each compaction has filled the context again: a long output, a large file, or the instructions and tools that every request holds",
		Step: "resume the session with a prompt that reads less at once; /context says how much instructions and tools take; hist slim SESSION makes a copy without long outputs",
	},
	{
		Words: "maximum call stack size exceeded", Same: agent.AfterUpgrade, Verdict: agent.Incompatible, // anthropics/claude-code#15340 #16747
		Text: "the client fails by itself: reports are of 2.0 and 2.1 in long conversations",
		Step: "resume the session with the newest client; hist lint SESSION says whether the file is at fault, too",
	},
	{
		Words: "session model … could not be restored", Same: agent.Now, Verdict: agent.Resumable, Text: "the client does not know the model that the session names, and goes on with another",
		Step: "claude --model NAME --resume SESSION goes on with one that it knows; nothing in the session is to be repaired",
	},
	{
		Words: "running as a background agent", Same: agent.Later, Verdict: agent.InUse, Text: "the client has the session open in the background, or believes so",
		Step: "claude agents lists it: attach to it or stop it there; claude --resume SESSION --fork-session goes on in a copy",
	},
	{
		Words: "is already in use", Same: agent.Now, Verdict: agent.Resumable, Text: "a session with that id exists already",
		Step: "claude --resume SESSION resumes it; a new session needs another id",
	},
}

const repairs = "hist lint SESSION names the line, if it has one; then hist repair --in-place SESSION mends it"

// explain says what an error's text means; nil if it is not known.
func explain(text string) *agent.Meaning { return agent.MeaningOf(text, meanings) }

// rulesFor are the rules that find what the API refuses, by the kind of what helps (api.Refusal.Mend).
var rulesFor = map[string]string{
	"no-output": "lost-result", "no-call": "lost-call", "served": "lost-call", "twin-output": "duplicate-result", "twin-call": "duplicate-call-id",
	"call-id": "bad-call-id", "name": "bad-call-name", "arguments": "bad-input", "image": "bad-picture", "image-type": "bad-picture", "images": "many-pictures",
	"document": "bad-document", "text": "empty-text", "message": "bad-message", "thinking": "bad-thinking", "bound": "bad-thinking",
	"block": "bad-block", "field": "bad-block", "surrogate": "lone-surrogate",
}

// ruleFor is the rule that finds what an API refuses, "" if none does or the client speaks to another API.
func ruleFor(api, mend string) string {
	if api == "openai" || api == "chatgpt" || api == "codex" {
		return ""
	}
	return rulesFor[mend]
}

// triesAgain: 2.1.330 and 2.1.332 send the request again without any thinking (measured).
func triesAgain(version, mend string, _ int) bool {
	return mend == "bound" && !format.Before(version, "2.1.330")
}
