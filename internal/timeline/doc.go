// Package timeline lists what happened in a session, in order: turns, prompts, answers, tool calls and their outcomes,
// compactions, rollbacks, and what lint found, each at its place. And it finds out at a glance which session a file holds and how its last
// turn ended, from the head and the tail of the file alone: fast enough to list ten thousand sessions, or to answer about one of a gigabyte at
// once.
//
// In: the text of a session, read through the normalizer, and lint's findings about it; or a session's file. Out: Entries, one by one, of which
// only those after a call that has no output yet are held back; or a Glance, which does not see damage in the middle of the file; the threads
// that were abandoned for a new one (Lost); and the turns of a session that is operated on. Never here: printing, writing, judging of damage.
package timeline
