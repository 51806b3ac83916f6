package preresume

import "strings"

// ErrorHint is what the error of a failed resume means.
type ErrorHint struct {
	Words   string  `json:"words"` // that tell it
	Rule    string  `json:"rule,omitempty"`
	Meaning string  `json:"meaning"`
	Same    string  `json:"same_thread"` // now, later, after_repair, after_upgrade, no
	Verdict Verdict `json:"verdict"`
}

// When the same thread can be tried again.
const (
	now          = "now"
	later        = "later"
	afterRepair  = "after_repair"
	afterUpgrade = "after_upgrade"
	never        = "no"
)

// hints are the words of errors that clients and the model's API give. Clients use one code for different things: the
// words alone tell. The first hint whose words are all in the text holds.
var hints = []struct {
	words []string
	hint  ErrorHint
}{
	{w("already has an active writer"), ErrorHint{"", "in-use", "another client writes this thread", later, InUse}},
	{w("rollout", "is empty"), ErrorHint{"", "empty-file", "the session's file holds nothing", never, Corrupt}},
	{w("no rollout found for thread id"), ErrorHint{"", "index-stale", "the client does not find the thread: its file is gone, or not where the client's list has it", never, NotFound}},
	{w("failed to resolve rollout path"), ErrorHint{"", "index-stale", "the client's list has the thread at a place where it is not", never, NotFound}},
	{w("no saved session found"), ErrorHint{"", "", "there is no session with this id", never, NotFound}},
	{w("stale rollout path"), ErrorHint{"", "index-stale", "the client's list has the thread at another place", never, NotFound}},
	{w("missing rollout path"), ErrorHint{"", "index-stale", "the client's list has no place for the thread", never, NotFound}},
	{w("is archived"), ErrorHint{"", "", "the session lies in the archive: codex unarchive brings it back", never, Incompatible}},
	{w("missing source rollout"), ErrorHint{"", "broken-lineage", "the session that this fork continues is gone", never, Incompatible}},
	{w("invalid paginated history lineage"), ErrorHint{"", "broken-lineage", "the session that this fork continues is not as it was", never, Incompatible}},
	{w("cutoff byte offset is past"), ErrorHint{"", "broken-lineage", "the session that this fork continues is shorter than it was", never, Incompatible}},
	{w("cannot change this thread's model provider"), ErrorHint{"", "", "the thread belongs to another model provider than the client's: select that one", never, Incompatible}},
	{w("model provider", "not found"), ErrorHint{"", "", "the client's config lacks the thread's model provider", never, Incompatible}},
	{w("list_turns is not supported"), ErrorHint{"", "", "this client is older than the session", afterUpgrade, ClientTooOld}},
	{w("expected ordinal"), ErrorHint{"", "ordinal-duplicate", "the numbers of the records repeat; nothing is lost, and clients from 0.154 on read it", afterUpgrade, ClientTooOld}},
	{w("failed to project durable rollout"), ErrorHint{"", "ordinal-duplicate", "the client's view of the thread stopped; nothing is lost, and clients from 0.154 on read it", afterUpgrade, ClientTooOld}},
	{w("failed to prepare paginated fork"), ErrorHint{"", "ordinal-duplicate", "the numbers of the records repeat; clients from 0.154 on read it", afterUpgrade, ClientTooOld}},
	{w("is missing an ordinal"), ErrorHint{"", "ordinal-missing", "an older client wrote records without numbers at the end", afterRepair, Repairable}},
	{w("durable rollout shrank"), ErrorHint{"", "projection-stale", "the file is shorter than the client's view of it", afterRepair, Repairable}},
	{w("is behind durable rollout"), ErrorHint{"", "projection-stale", "the client's view of the thread does not fit the file", afterRepair, Repairable}},
	{w("does not start with session metadata"), ErrorHint{"", "header-not-first", "the first record is no readable header", afterRepair, Repairable}},
	{w("failed to read session metadata"), ErrorHint{"", "bad-header", "the header can't be read", afterRepair, Repairable}},
	{w("failed to parse first rollout record"), ErrorHint{"", "bad-header", "the first line can't be read", afterRepair, Repairable}},
	{w("failed to parse thread id"), ErrorHint{"", "bad-header", "the header can't be read", afterRepair, Repairable}},
	{w("failed to parse conversation id"), ErrorHint{"", "bad-header", "the header can't be read", afterRepair, Repairable}},
	{w("empty session file"), ErrorHint{"", "empty-file", "the session's file holds nothing", never, Corrupt}},
	{w("belongs to thread"), ErrorHint{"", "id-mismatch", "the file's name and its header name different threads", afterRepair, Repairable}},
	{w("valid utf-8"), ErrorHint{"", "invalid-utf8", "bytes in the file are no UTF-8", afterRepair, Repairable}},
	{w("invalid_encrypted_content"), ErrorHint{"", "", "encrypted reasoning can't be decrypted: it is another account's or provider's", never, Incompatible}},
	{w("could not be verified"), ErrorHint{"", "", "encrypted reasoning can't be decrypted: it is another account's or provider's", never, Incompatible}},
	{w("expected an id that begins with"), ErrorHint{"", "", "an item's id has the wrong form", afterRepair, Repairable}},
	{w("invalid_id_prefix"), ErrorHint{"", "", "an item's id has the wrong form", afterRepair, Repairable}},
	{w("items are not persisted"), ErrorHint{"", "", "an item is referred to by an id that the provider does not keep", afterRepair, Repairable}},
	{w("duplicate item"), ErrorHint{"", "duplicate-item-id", "two items have one id", afterRepair, Repairable}},
	{w("without its required"), ErrorHint{"", "", "a reasoning item is parted from the item it belongs to", afterRepair, Repairable}},
	{w("no tool output found"), ErrorHint{"", "call-without-output", "a tool call has no output", afterRepair, Repairable}},
	{w("no tool call found"), ErrorHint{"", "output-without-call", "an output has no tool call", afterRepair, Repairable}},
	{w("maximum length 1048576"), ErrorHint{"", "oversize-call", "a call's arguments are longer than the API takes", afterRepair, Repairable}},
	{w("maximum length 10485760"), ErrorHint{"", "oversize-call", "an output is longer than the API takes", afterRepair, Repairable}},
	{w("arguments must be valid json"), ErrorHint{"", "bad-arguments", "a call's arguments are no JSON", afterRepair, Repairable}},
	{w("maximum length 64"), ErrorHint{"", "", "an id or a name is longer than the API takes", afterRepair, Repairable}},
	{w("invalid image"), ErrorHint{"", "", "an image in the history can't be read", afterRepair, Repairable}},
	{w("image_url"), ErrorHint{"", "", "an image in the history can't be read", afterRepair, Repairable}},
	{w("request blocked"), ErrorHint{"", "", "the provider refuses something in the history", never, Incompatible}},
	{w("ran out of room"), ErrorHint{"", "", "the history is longer than the model takes: compact it once, or hand over to a new thread", never, Incompatible}},
	{w("context window"), ErrorHint{"", "", "the history is longer than the model takes: compact it once, or hand over to a new thread", never, Incompatible}},
	{w("at capacity"), ErrorHint{"", "failed-turn", "the provider is at capacity: it passes", now, Resumable}},
	{w("systemerror"), ErrorHint{"", "failed-turn", "the provider failed: it passes", now, Resumable}},
	{w("stream disconnected"), ErrorHint{"", "failed-turn", "the connection broke: it passes", now, Resumable}},
	{w("high demand"), ErrorHint{"", "failed-turn", "the provider is overloaded: it passes", now, Resumable}},
}

func w(words ...string) []string { return words }

// Explain finds what an error's text means; nil if nothing is known.
func Explain(text string) *ErrorHint {
	text = strings.ToLower(text)
	for _, h := range hints {
		all := true
		for _, words := range h.words {
			all = all && strings.Contains(text, words)
		}
		if all {
			found := h.hint
			found.Words = strings.Join(h.words, " … ")
			return &found
		}
	}
	return nil
}
