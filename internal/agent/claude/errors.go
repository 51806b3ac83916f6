package claude

import (
	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/claude/format"
)

// meanings explain the client's errors; package api knows the API's. Each is recognised by a part of the error's text, in lower
// case; the first match counts.
var meanings = []agent.Meaning{
	{
		Words: "no conversation found with session id", Rule: "no-conversation", Same: agent.Never, Verdict: agent.NotFound,
		Text: "no project folder has a file with that name and a readable message in it",
		Step: "hist pre-resume SESSION looks for the file and says what is wrong with it",
	},
	{
		Words: "no conversation found to continue", Same: agent.Never, Verdict: agent.NotFound, Text: "the directory has no session that the client could go on with",
		Step: "hist list lists the sessions of all directories; the client finds one only from the directory that it was begun in",
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

// explain says what an error's text means; nil if it is not known.
func explain(text string) *agent.Meaning { return agent.MeaningOf(text, meanings) }

// rulesFor are the rules that find what the API refuses, by the kind of what helps (api.Refusal.Mend).
var rulesFor = map[string]string{
	"no-output": "lost-result", "no-call": "lost-call", "served": "lost-call", "twin-output": "duplicate-result", "twin-call": "duplicate-call-id",
	"call-id": "bad-call-id", "name": "bad-call-name", "arguments": "bad-input", "image": "bad-picture", "images": "many-pictures",
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
func triesAgain(version, mend string) bool {
	return mend == "bound" && (version == "" || !format.Before(version, "2.1.330"))
}
