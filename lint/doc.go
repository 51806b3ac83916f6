// Package lint says what is wrong with a session.
//
// In comes the text of one session file; out come Findings, each with the edits that would repair it. A line first passes
// the normalizer, which turns physical lines into logical records, repairs broken framing, and asks the agent's Decoder what a
// record means. Then the agent's checkers see the record, one after the other, and report findings. A session's name and first
// bytes show which agent wrote it; whatever depends on the agent is behind the interfaces of internal/agent. If the agent's
// home is given, what the agent keeps there is read, too. Nothing here writes or prints.
package lint
