// Package evidence is what other places tell about a conversation: what is left of broken lines, a tool's structured result, a prompt's
// echoes, what the client recorded of a request and its hashes, and the files beside a session: forks and copies, outputs and sub-agents in
// files of their own, copies of edited files, the history of typed prompts.
//
// In: the id of what is lost, or a place. Out: its content, and words that say where it was found. Each file is read once. Never here: where
// in the tree it goes.
package evidence
