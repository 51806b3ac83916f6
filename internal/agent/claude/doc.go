// Package claude is what Claude Code means by the lines of a session, ~/.claude/projects/FOLDER/SESSION.jsonl, and what
// its versions do with them.
//
// A session is a tree: each record of the conversation names the one before it (parentUuid), and the client sends the
// path from one leaf to its root. In: logical records. Out: their kinds, which of them are sent by which version, findings
// with the edits that mend them, and new records in the client's own form. Never here: how lines are read or written.
//
// It is a house of rooms, in the order of the flow: format (a line, and what it says of itself), reader (what a version sends), faults (what
// can be wrong), content (one record's facts and faults), home (the client's files), evidence (what other places tell), mend (the tree, and
// the rules that look at all of it). This package ties them together, and knows what a user may change in a healthy session: which records
// the client needs, where a session can end, and in what shape the client itself would write it. All of that was measured with real clients.
//
// The comments of the rooms use a few words in one sense only:
//
//   - A record hangs on its parent; to hang it on another record is to give it that parent. The way up leads from a record
//     over its parents to a root.
//   - Above and below are places in the tree. In front of and behind are places in the file: earlier and later lines.
//   - A record is sent if the client puts it into its next request to the model. The tip is the record from which the client
//     follows the way up to find what to send; that way is the trunk, and what hangs on it without being sent is a branch.
//   - An answer is what the model says in one message. The client writes it as several records with one message id.
//   - An output is a tool_result block, and its call the tool_use block with the same id.
//   - The mark of a compaction is its compact_boundary record. The summary follows it; a mark may also name messages from
//     before the compaction that the client keeps, which are sent after the summary.
//   - An echo is a prompt's text in a record other than the prompt's own: last-prompt, queue-operation or api-request-blob.
//   - A line that is torn was cut off at its end, and hist has closed its record. A dead line holds no readable record, though
//     pieces of one may still be whole.
package claude
