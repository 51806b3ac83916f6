package claude

import (
	"strings"

	"github.com/hist-cli/hist/internal/agent"
)

// meanings explain errors of a resume and of its first request. Each is recognised by a part of the error's text, in lower
// case; the first match counts.
var meanings = []agent.Meaning{
	notFound("no-conversation", "no project folder has a file with that name and a readable message in it", "no conversation found with session id"),
	resumable("a session with that id exists already: resume it, or begin a new one under another id", "is already in use"),
	repairable("bad-thinking", "a thinking block differs from what the API gave", "cannot be modified"),
	repairable("bad-thinking", "a thinking block's signature is missing or belongs to another account", "signature"),
	repairable("bad-thinking", "an answer does not begin with the thinking that the API gave", "thinking block"),
	repairable("lost-result", "a call has no output in the next message", "tool_use ids were found without"),
	repairable("lost-result", "a call has no output in the next message", "tool use concurrency"),
	repairable("lost-call", "an output answers no call of the message before it", "unexpected tool_use_id"),
	repairable("duplicate-call-id", "two calls have the same id", "ids must be unique"),
	repairable("empty-text", "a text block is empty", "non-empty"),
	repairable("empty-text", "a text block holds only white space", "non-whitespace"),
	repairable("many-pictures", "an image is too large for a request with so many images", "many-image requests"),
	repairable("bad-picture", "the API can't read an image", "could not process image"),
	repairable("bad-picture", "an image is over 8000 pixels on a side", "exceed max allowed size"),
	repairable("bad-picture", "an image is too large", "image exceeds"),
	repairable("bad-picture", "an image is too large", "exceeds api limit"),
	repairable("lone-surrogate", "a text was cut in the middle of a character", "no low surrogate"),
	temporary("the API is overloaded: try the same session again later", "overloaded"),
	temporary("there were too many requests: try the same session again later", "rate_limit"),
	incompatible("the history is longer than the model takes: compact it", "prompt is too long"),
}

func notFound(rule, text, words string) agent.Meaning {
	return agent.Meaning{Words: words, Rule: rule, Text: text, Same: agent.Never, Verdict: agent.NotFound}
}

func repairable(rule, text, words string) agent.Meaning {
	return agent.Meaning{Words: words, Rule: rule, Text: text, Same: agent.AfterRepair, Verdict: agent.Repairable}
}

func resumable(text, words string) agent.Meaning {
	return agent.Meaning{Words: words, Text: text, Same: agent.Now, Verdict: agent.Resumable}
}

func temporary(text, words string) agent.Meaning {
	return agent.Meaning{Words: words, Text: text, Same: agent.Later, Verdict: agent.Resumable}
}

func incompatible(text, words string) agent.Meaning {
	return agent.Meaning{Words: words, Text: text, Same: agent.Never, Verdict: agent.Incompatible}
}

// Explain says what an error's text means; nil if it is not known. The API puts names in backticks, which the client sometimes
// leaves out.
func (Agent) Explain(text string) *agent.Meaning {
	text = strings.ReplaceAll(strings.ToLower(text), "`", "")
	for i := range meanings {
		if strings.Contains(text, meanings[i].Words) {
			return &meanings[i]
		}
	}
	return nil
}
