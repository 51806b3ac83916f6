package codex

import (
	"strings"

	"github.com/hist-cli/hist/internal/agent"
)

// hints are the words of errors that clients and the model's API give. Clients use one code for different things: the
// words alone tell. The first hint whose words are all in the text holds.
var hints = []struct {
	words []string
	hint  agent.Meaning
}{
	{needles("already has an active writer"), agent.Meaning{Rule: "in-use", Text: "another client writes this thread", Same: agent.Later, Verdict: agent.InUse}},
	{needles("rollout", "is empty"), agent.Meaning{Rule: "empty-file", Text: "the session's file holds nothing", Same: agent.Never, Verdict: agent.Corrupt}},
	{needles("no rollout found for thread id"), agent.Meaning{Rule: "index-stale", Text: "the client does not find the thread: its file is gone, or not where the client's list has it", Same: agent.Never, Verdict: agent.NotFound}},
	{needles("failed to resolve rollout path"), agent.Meaning{Rule: "index-stale", Text: "the client's list has the thread at a place where it is not", Same: agent.Never, Verdict: agent.NotFound}},
	{needles("no saved session found"), agent.Meaning{Text: "there is no session with this id", Same: agent.Never, Verdict: agent.NotFound}},
	{needles("stale rollout path"), agent.Meaning{Rule: "index-stale", Text: "the client's list has the thread at another place", Same: agent.Never, Verdict: agent.NotFound}},
	{needles("missing rollout path"), agent.Meaning{Rule: "index-stale", Text: "the client's list has no place for the thread", Same: agent.Never, Verdict: agent.NotFound}},
	{needles("is archived"), agent.Meaning{Text: "the session lies in the archive: codex unarchive brings it back", Same: agent.Never, Verdict: agent.Incompatible}},
	{needles("missing source rollout"), agent.Meaning{Rule: "broken-lineage", Text: "the session that this fork continues is gone", Same: agent.Never, Verdict: agent.Incompatible}},
	{needles("invalid paginated history lineage"), agent.Meaning{Rule: "broken-lineage", Text: "the session that this fork continues is not as it was", Same: agent.Never, Verdict: agent.Incompatible}},
	{needles("cutoff byte offset is past"), agent.Meaning{Rule: "broken-lineage", Text: "the session that this fork continues is shorter than it was", Same: agent.Never, Verdict: agent.Incompatible}},
	{needles("cannot change this thread's model provider"), agent.Meaning{Text: "the thread belongs to another model provider than the client's: select that one", Same: agent.Never, Verdict: agent.Incompatible}},
	{needles("model provider", "not found"), agent.Meaning{Text: "the client's config lacks the thread's model provider", Same: agent.Never, Verdict: agent.Incompatible}},
	{needles("list_turns is not supported"), agent.Meaning{Text: "this client is older than the session, or cannot read one of its databases", Same: agent.AfterUpgrade, Verdict: agent.ClientTooOld}},
	{needles("failed to open thread history"), agent.Meaning{Rule: "damaged-database", Text: "the client cannot read one of its databases", Same: agent.Never, Verdict: agent.Incompatible}},
	{needles("expected ordinal"), agent.Meaning{Rule: "ordinal-duplicate", Text: "the numbers of the records repeat; nothing is lost, and clients from 0.154 on read it", Same: agent.AfterUpgrade, Verdict: agent.ClientTooOld}},
	{needles("failed to project durable rollout"), agent.Meaning{Rule: "ordinal-duplicate", Text: "the client's view of the thread stopped; nothing is lost, and clients from 0.154 on read it", Same: agent.AfterUpgrade, Verdict: agent.ClientTooOld}},
	{needles("failed to prepare paginated fork"), agent.Meaning{Rule: "ordinal-duplicate", Text: "the numbers of the records repeat; clients from 0.154 on read it", Same: agent.AfterUpgrade, Verdict: agent.ClientTooOld}},
	{needles("is missing an ordinal"), agent.Meaning{Rule: "ordinal-missing", Text: "an older client wrote records without numbers at the end", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("durable rollout shrank"), agent.Meaning{Rule: "projection-stale", Text: "the file is shorter than the client's view of it", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("is behind durable rollout"), agent.Meaning{Rule: "projection-stale", Text: "the client's view of the thread does not fit the file", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("does not start with session metadata"), agent.Meaning{Rule: "header-not-first", Text: "the first record is no readable header", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("failed to read session metadata"), agent.Meaning{Rule: "bad-header", Text: "the header can't be read", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("failed to parse first rollout record"), agent.Meaning{Rule: "bad-header", Text: "the first line can't be read", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("failed to parse thread id"), agent.Meaning{Rule: "bad-header", Text: "the header can't be read", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("failed to parse conversation id"), agent.Meaning{Rule: "bad-header", Text: "the header can't be read", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("empty session file"), agent.Meaning{Rule: "empty-file", Text: "the session's file holds nothing", Same: agent.Never, Verdict: agent.Corrupt}},
	{needles("belongs to thread"), agent.Meaning{Rule: "id-mismatch", Text: "the file's name and its header name different threads", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("valid utf-8"), agent.Meaning{Rule: "invalid-utf8", Text: "bytes in the file are not UTF-8", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("invalid_encrypted_content"), agent.Meaning{Text: "encrypted reasoning can't be decrypted: it is another account's or provider's", Same: agent.Never, Verdict: agent.Incompatible}},
	{needles("could not be verified"), agent.Meaning{Text: "encrypted reasoning can't be decrypted: it is another account's or provider's", Same: agent.Never, Verdict: agent.Incompatible}},
	{needles("expected an id that begins with"), agent.Meaning{Text: "an item's id has the wrong form", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("invalid_id_prefix"), agent.Meaning{Text: "an item's id has the wrong form", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("items are not persisted"), agent.Meaning{Text: "an item is referred to by an id that the provider does not keep", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("duplicate item"), agent.Meaning{Rule: "duplicate-item-id", Text: "two items have one id", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("without its required"), agent.Meaning{Text: "a reasoning item is parted from the item it belongs to", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("no tool output found"), agent.Meaning{Rule: "call-without-output", Text: "a tool call has no output", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("no tool call found"), agent.Meaning{Rule: "output-without-call", Text: "an output has no tool call", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("maximum length 1048576"), agent.Meaning{Rule: "oversize-call", Text: "a call's arguments are longer than the API takes", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("maximum length 10485760"), agent.Meaning{Rule: "oversize-call", Text: "an output is longer than the API takes", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("arguments must be valid json"), agent.Meaning{Rule: "bad-arguments", Text: "a call's arguments are no JSON", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("maximum length 64"), agent.Meaning{Text: "an id or a name is longer than the API takes", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("invalid image"), agent.Meaning{Text: "an image in the history can't be read", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("image_url"), agent.Meaning{Text: "an image in the history can't be read", Same: agent.AfterRepair, Verdict: agent.Repairable}},
	{needles("request blocked"), agent.Meaning{Text: "the provider refuses something in the history", Same: agent.Never, Verdict: agent.Incompatible}},
	{needles("ran out of room"), agent.Meaning{Text: "the history is longer than the model takes: compact it once, or hand over to a new thread", Same: agent.Never, Verdict: agent.Incompatible}},
	{needles("context window"), agent.Meaning{Text: "the history is longer than the model takes: compact it once, or hand over to a new thread", Same: agent.Never, Verdict: agent.Incompatible}},
	{needles("at capacity"), agent.Meaning{Rule: "failed-turn", Text: "the provider is at capacity: it passes", Same: agent.Now, Verdict: agent.Resumable}},
	{needles("systemerror"), agent.Meaning{Rule: "failed-turn", Text: "the provider failed: it passes", Same: agent.Now, Verdict: agent.Resumable}},
	{needles("stream disconnected"), agent.Meaning{Rule: "failed-turn", Text: "the connection broke: it passes", Same: agent.Now, Verdict: agent.Resumable}},
	{needles("high demand"), agent.Meaning{Rule: "failed-turn", Text: "the provider is overloaded: it passes", Same: agent.Now, Verdict: agent.Resumable}},
}

func needles(words ...string) []string { return words }

// Explain finds what an error's text means; nil if nothing is known.
func (Agent) Explain(text string) *agent.Meaning {
	text = strings.ToLower(text)
	for _, h := range hints {
		all := true
		for _, word := range h.words {
			all = all && strings.Contains(text, word)
		}
		if all {
			found := h.hint
			found.Words = strings.Join(h.words, " … ")
			return &found
		}
	}
	return nil
}
