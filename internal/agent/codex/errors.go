package codex

import (
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent"
)

// hint explains an error whose text has all of these words.
type hint struct {
	words   []string
	meaning agent.Meaning
}

// hints explain errors of clients and of the model's API. They go by the words of an error, because clients use one code for
// different errors. The first match counts.
var hints = []hint{
	inUse("in-use", "another client is writing to this thread", "already has an active writer"),
	corrupt("empty-file", "the session's file is empty", "rollout", "is empty"),
	notFound("index-stale", "the client does not find the thread: its file is gone, or not where the client's list says", "no rollout found for thread id"),
	notFound("index-stale", "the thread's file is not where the client's list says", "failed to resolve rollout path"),
	notFound("", "there is no session with this id", "no saved session found"),
	notFound("index-stale", "the client's list names another file for the thread", "stale rollout path"),
	notFound("index-stale", "the client's list names no file for the thread", "missing rollout path"),
	incompatible("", "the session is in the archive: codex unarchive takes it out", "is archived"),
	incompatible("broken-lineage", "the session that this fork continues is gone", "missing source rollout"),
	incompatible("broken-lineage", "the session that this fork continues has changed", "invalid paginated history lineage"),
	incompatible("broken-lineage", "the session that this fork continues is shorter than it was", "cutoff byte offset is past"),
	incompatible("", "the thread belongs to another model provider than the client uses: select that provider", "cannot change this thread's model provider"),
	incompatible("", "the client's config lacks the thread's model provider", "model provider", "not found"),
	incompatible("damaged-database", "the client can't read one of its databases (hist lint names it)", "list_turns is not supported"),
	incompatible("damaged-database", "the client can't read one of its databases", "failed to open thread history"),
	incompatible("damaged-database", "the client can't read what thread_history_1.sqlite holds on the session", "thread history", "malformed"),
	incompatible("damaged-database", "the client can't read what thread_history_1.sqlite holds on the session", "thread history", "not a database"),
	incompatible("damaged-database", "the client can't read what state_5.sqlite holds on the session", "thread metadata", "malformed"),
	incompatible("damaged-database", "the client can't read what state_5.sqlite holds on the session", "thread metadata", "not a database"),
	incompatible("damaged-database", "the client can't read one of its databases (hist lint names it)", "database disk image is malformed"),
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
	incompatible("", "encrypted reasoning can't be decrypted: it belongs to another account or provider", "invalid_encrypted_content"),
	incompatible("", "encrypted reasoning can't be decrypted: it belongs to another account or provider", "could not be verified"),
	repairable("", "an item's id has the wrong form", "expected an id that begins with"),
	repairable("", "an item's id has the wrong form", "invalid_id_prefix"),
	repairable("", "an item is referred to by an id that the provider does not keep", "items are not persisted"),
	repairable("duplicate-item-id", "two items have the same id", "duplicate item"),
	repairable("", "a reasoning item is separated from the item that it belongs to", "without its required"),
	repairable("call-without-output", "a tool call has no output", "no tool output found"),
	repairable("output-without-call", "a tool output has no call", "no tool call found"),
	repairable("oversize-call", "a call's arguments are longer than the API takes", "maximum length 1048576"),
	repairable("oversize-call", "an output is longer than the API takes", "maximum length 10485760"),
	repairable("bad-arguments", "a call's arguments are not valid JSON", "arguments must be valid json"),
	repairable("", "an id or a name is longer than the API takes", "maximum length 64"),
	repairable("", "an image in the history can't be read", "invalid image"),
	repairable("", "an image in the history can't be read", "image_url"),
	incompatible("", "the provider refuses something in the history", "request blocked"),
	incompatible("", "the history is longer than the model takes: compact it once, or hand over to a new thread", "ran out of room"),
	incompatible("", "the history is longer than the model takes: compact it once, or hand over to a new thread", "context window"),
	temporary("failed-turn", "the provider is at capacity; that is temporary", "at capacity"),
	temporary("failed-turn", "the provider failed; that is temporary", "systemerror"),
	temporary("failed-turn", "the connection broke; that is temporary", "stream disconnected"),
	temporary("failed-turn", "the provider is overloaded; that is temporary", "high demand"),
}

func newHint(rule, text, same string, verdict agent.Verdict, words []string) hint {
	return hint{words, agent.Meaning{Rule: rule, Text: text, Same: same, Verdict: verdict}}
}

func inUse(rule, text string, words ...string) hint {
	return newHint(rule, text, agent.Later, agent.InUse, words)
}

func notFound(rule, text string, words ...string) hint {
	return newHint(rule, text, agent.Never, agent.NotFound, words)
}

func corrupt(rule, text string, words ...string) hint {
	return newHint(rule, text, agent.Never, agent.Corrupt, words)
}

func incompatible(rule, text string, words ...string) hint {
	return newHint(rule, text, agent.Never, agent.Incompatible, words)
}

func tooOld(rule, text string, words ...string) hint {
	return newHint(rule, text, agent.AfterUpgrade, agent.ClientTooOld, words)
}

func repairable(rule, text string, words ...string) hint {
	return newHint(rule, text, agent.AfterRepair, agent.Repairable, words)
}

func temporary(rule, text string, words ...string) hint {
	return newHint(rule, text, agent.Now, agent.Resumable, words)
}

// Explain says what an error's text means; nil if it is not known.
func (Agent) Explain(text string) *agent.Meaning {
	text = strings.ToLower(text)
	for _, h := range hints {
		if missing := func(word string) bool { return !strings.Contains(text, word) }; !slices.ContainsFunc(h.words, missing) {
			found := h.meaning
			found.Words = strings.Join(h.words, " … ")
			return &found
		}
	}
	return nil
}
