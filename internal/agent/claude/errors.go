package claude

import (
	"strings"

	"github.com/hist-cli/hist/internal/agent"
)

// meanings are for the errors of a resume and of its first request. They go by a part of the error's text, in lower case.
// The first one that fits counts.
var meanings = []agent.Meaning{
	meaning("no-conversation", "no project folder has a file with that name and a readable message in it", "no conversation found with session id", agent.Never),
	meaning("", "a session with that id exists already: resume it, or begin a new one under another id", "is already in use", agent.Now),
	meaning("bad-thinking", "a thinking block differs from what the API gave", "cannot be modified", agent.AfterRepair),
	meaning("bad-thinking", "a thinking block's signature is missing or belongs to another account", "signature", agent.AfterRepair),
	meaning("bad-thinking", "an answer does not begin with the thinking that the API gave", "thinking block", agent.AfterRepair),
	meaning("lost-result", "a call has no output in the next message", "tool_use ids were found without", agent.AfterRepair),
	meaning("lost-result", "a call has no output in the next message", "tool use concurrency", agent.AfterRepair),
	meaning("lost-call", "an output answers no call of the message before it", "unexpected tool_use_id", agent.AfterRepair),
	meaning("duplicate-call-id", "two calls have the same id", "ids must be unique", agent.AfterRepair),
	meaning("empty-text", "a text block is empty", "non-empty", agent.AfterRepair),
	meaning("empty-text", "a text block holds only white space", "non-whitespace", agent.AfterRepair),
	meaning("many-pictures", "an image is too large for a request with so many images", "many-image requests", agent.AfterRepair),
	meaning("bad-picture", "the API can't read an image", "could not process image", agent.AfterRepair),
	meaning("bad-picture", "an image is over 8000 pixels on a side", "exceed max allowed size", agent.AfterRepair),
	meaning("bad-picture", "an image is too large", "image exceeds", agent.AfterRepair),
	meaning("bad-picture", "an image is too large", "exceeds api limit", agent.AfterRepair),
	meaning("lone-surrogate", "a text was cut in the middle of a character", "no low surrogate", agent.AfterRepair),
	meaning("", "the API is overloaded: try the same session again later", "overloaded", agent.Later),
	meaning("", "there were too many requests: try the same session again later", "rate_limit", agent.Later),
	meaning("", "the history is longer than the model takes: compact it", "prompt is too long", agent.Never),
}

func meaning(rule, text, words, same string) agent.Meaning {
	return agent.Meaning{Words: words, Rule: rule, Text: text, Same: same, Verdict: agent.Incompatible}
}

// Explain says what an error's text means; nil if it is not known. The API puts names in backticks, and the client
// sometimes leaves them out.
func (Agent) Explain(text string) *agent.Meaning {
	text = strings.ReplaceAll(strings.ToLower(text), "`", "")
	for i := range meanings {
		if strings.Contains(text, meanings[i].Words) {
			return &meanings[i]
		}
	}
	return nil
}
