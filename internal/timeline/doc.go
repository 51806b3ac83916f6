// Package timeline lists what happened in a session, in order: turns, prompts, answers, tool calls and their outcomes,
// compactions, rollbacks, and what lint found, each at its place.
//
// In: the text of a session, read through the normalizer, and lint's findings about it. Out: Entries, one by one. Only the
// entries after a call that has no output yet are held back. Never here: judging, printing.
package timeline
