// Package lint says what is wrong with a session.
//
// In comes the text of one session file; out come Findings, each with the edits that would mend it. The way of a line:
// the normalizer (physical lines to logical records, mending what broke the framing), which asks the agent's Decoder what
// a record means; then the agent's checkers, one after the other; then findings. Which agent wrote the session is told by
// its name and its first bytes; all that depends on it is behind the interfaces of internal/agent. With a home, what the
// agent keeps there is read, too. Nothing here writes or prints.
package lint
