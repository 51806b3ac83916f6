package codex

import (
	"strings"

	"github.com/hist-cli/hist/internal/agent"
)

// hints explain errors of the client; package api knows the API's. They go by the words of an error, because clients use one code for
// different errors. The first match counts.
var hints = []agent.Meaning{
	inUse("in-use", "another client is writing to this thread", "already has an active writer"),
	corrupt("empty-file", "the session's file is empty", "rollout", "is empty"),
	notFound("index-stale", "the client does not find the thread: its file is gone, or not where the client's list says", "no rollout found for thread id"),
	notFound("index-stale", "the thread's file is not where the client's list says", "failed to resolve rollout path"),
	notFound("", "the client finds no session with this id: its file is not in the client's home, or its header is lost", "no saved session found"),
	notFound("id-mismatch", "the file's header names another thread than the one that was asked for", "thread source changed during resume"),
	notFound("index-stale", "the client's list names another file for the thread", "stale rollout path"),
	notFound("index-stale", "the client's list names no file for the thread", "missing rollout path"),
	incompatible("", "the session is in the archive", "codex unarchive SESSION, then resume it", "is archived"),
	incompatible("broken-lineage", "the session that this fork continues is gone", "hist lint SESSION names the session that is missing: put its file back, or: hist repair SESSION makes a copy that needs none", "missing source rollout"),
	incompatible("broken-lineage", "the session that this fork continues has changed", "hist lint SESSION names the session that it goes on from; hist repair SESSION makes a copy that needs none", "invalid paginated history lineage"),
	incompatible("broken-lineage", "the session that this fork continues is shorter than it was", "hist lint SESSION names the session that it goes on from; hist repair SESSION makes a copy that needs none", "cutoff byte offset is past"),
	incompatible("", "the thread belongs to another model provider than the client uses", "resume it with that provider: codex resume SESSION -c model_provider=NAME (hist list --json says which), or: hist repair --provider compatible=NAME SESSION makes a copy for the other one, and says what that does not know", "cannot change this thread's model provider"),
	incompatible("", "the client's config lacks the thread's model provider", "add the provider to config.toml of the client, or resume it with another one: codex resume SESSION -c model_provider=NAME", "model provider", "not found"),
	incompatible("damaged-database", "the client can't read one of its databases (hist lint names it)", "end all clients, then: hist repair SESSION makes a copy that needs no database, and hist lint SESSION names the damaged one", "list_turns is not supported"),
	incompatible("damaged-database", "the client can't read one of its databases", "end all clients, then: hist repair SESSION makes a copy that needs no database, and hist lint SESSION names the damaged one", "failed to open thread history"),
	incompatible("damaged-database", "the client can't read what thread_history_1.sqlite holds on the session", "end all clients, then: hist repair SESSION makes a copy that needs no database, and hist lint SESSION names the damaged one", "thread history", "malformed"),
	incompatible("damaged-database", "the client can't read what thread_history_1.sqlite holds on the session", "end all clients, then: hist repair SESSION makes a copy that needs no database, and hist lint SESSION names the damaged one", "thread history", "not a database"),
	incompatible("damaged-database", "the client can't read what state_5.sqlite holds on the session", "end all clients, then: hist repair SESSION makes a copy that needs no database, and hist lint SESSION names the damaged one", "thread metadata", "malformed"),
	incompatible("damaged-database", "the client can't read what state_5.sqlite holds on the session", "end all clients, then: hist repair SESSION makes a copy that needs no database, and hist lint SESSION names the damaged one", "thread metadata", "not a database"),
	incompatible("damaged-database", "the client can't read one of its databases (hist lint names it)", "end all clients, then: hist repair SESSION makes a copy that needs no database, and hist lint SESSION names the damaged one", "database disk image is malformed"),
	tooOld("ordinal-duplicate", "the numbers of the records repeat; nothing is lost, and clients from 0.154 on read it", "expected ordinal"),
	tooOld("ordinal-duplicate", "the client's view of the thread is no longer updated; nothing is lost, and clients from 0.154 on read it", "failed to project durable rollout"),
	tooOld("ordinal-duplicate", "the numbers of the records repeat; clients from 0.154 on read it", "failed to prepare paginated fork"),
	repairable("ordinal-missing", "an older client wrote records without numbers at the end", "is missing an ordinal"),
	repairable("projection-stale", "the file is shorter than the client's view of it", "durable rollout shrank"),
	repairable("projection-stale", "the client's view of the thread does not match the file", "is behind durable rollout"),
	repairable("header-not-first", "the first record is not a readable header", "does not start with session metadata"),
	repairable("bad-header", "the header can't be read", "failed to read session metadata"),
	repairable("bad-header", "the first line can't be read", "failed to parse first rollout record"),
	repairable("bad-header", "the header can't be read", "failed to parse thread id"),
	repairable("bad-header", "the header can't be read", "failed to parse conversation id"),
	corrupt("empty-file", "the session's file is empty", "empty session file"),
	repairable("id-mismatch", "the file's name and its header name different threads", "belongs to thread"),
	repairable("invalid-utf8", "bytes in the file are not UTF-8", "valid utf-8"),
}

// newHint makes a hint; of the step, SESSION stands for the session's id or file.
func newHint(rule, text, same string, verdict agent.Verdict, step string, words []string) agent.Meaning {
	return agent.Meaning{Words: strings.Join(words, " … "), Rule: rule, Text: text, Same: same, Verdict: verdict, Step: step}
}

func inUse(rule, text string, words ...string) agent.Meaning {
	return newHint(rule, text, agent.Later, agent.InUse, "hist pre-resume SESSION names the process that has it open: end it, then resume the session again", words)
}

func notFound(rule, text string, words ...string) agent.Meaning {
	return newHint(rule, text, agent.Never, agent.NotFound, "hist lint SESSION looks for the file and says what is wrong with it; hist repair SESSION then makes a copy that resumes", words)
}

func corrupt(rule, text string, words ...string) agent.Meaning {
	return newHint(rule, text, agent.Never, agent.Corrupt, "hist lint SESSION says whether another file holds the session", words)
}

func incompatible(rule, text, step string, words ...string) agent.Meaning {
	return newHint(rule, text, agent.Never, agent.Incompatible, step, words)
}

func tooOld(rule, text string, words ...string) agent.Meaning {
	return newHint(rule, text, agent.AfterUpgrade, agent.ClientTooOld, "resume the session with a newer client", words)
}

func repairable(rule, text string, words ...string) agent.Meaning {
	return newHint(rule, text, agent.AfterRepair, agent.Repairable, "hist repair --in-place SESSION", words)
}

// explain says what an error's text means; nil if it is not known.
func explain(text string) *agent.Meaning { return agent.MeaningOf(text, hints) }

// rulesFor are the rules that find what the API refuses, by the kind of what helps (api.Refusal.Mend).
var rulesFor = map[string]string{
	"id": "bad-item-id", "twin-id": "duplicate-item-id", "no-output": "call-without-output", "no-call": "output-without-call",
	"twin-output": "duplicate-output", "twin-call": "duplicate-call", "name": "bad-tool-name", "long": "oversize-call", "arguments": "bad-arguments",
	"image": "bad-image", "order": "reasoning-order", "reasoning": "foreign-reasoning", "encrypted": "undecryptable", "empty": "empty-content",
	"surrogate": "lone-surrogate",
}

// ruleFor is the rule that finds what an API refuses, "" if none does or the client speaks to another API.
func ruleFor(api, mend string) string {
	switch {
	case api == "anthropic" || api == "claude" || api == "bedrock":
		return ""
	case mend == "now" || mend == "later":
		return "failed-turn"
	}
	return rulesFor[mend]
}
