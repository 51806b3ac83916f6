// Package claude is what Claude Code means by the lines of a session, ~/.claude/projects/FOLDER/SESSION.jsonl, and what
// its versions do with them.
//
// A session is a tree: each record of the conversation names the one before it (parentUuid), and the client sends the
// path from one leaf to its root. In: logical records. Out: their kinds, which of them are sent by which version, findings
// with the edits that mend them, and new records in the client's own form. Never here: how lines are read or written.
package claude
