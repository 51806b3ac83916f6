// Package timeline tells what happened in a session, in the order in which it happened: turns, prompts, answers, tool
// calls and how they came out, compactions, rollbacks, and what lint found, each at its place.
//
// In come the text of a session, read through the normalizer, and lint's findings about it; out go Entries, one by one.
// Only the entries behind a call that has no output yet are held back. Never here: judging, printing.
package timeline
