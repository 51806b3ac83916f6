// Package clienttest drives a real Codex client against a stand-in for its
// model provider, all of it on 127.0.0.1.
//
// It answers the question that no reading of a format can answer: what does
// the client make of this file? A rollout is put into a fresh CODEX_HOME, the
// client is told to resume it, and the `input` of the request that arrives at
// the stand-in is what the model would have seen. [Compare] holds it against
// what the client sends for the undamaged file.
//
//	bin, err := clienttest.Find("0.169.0")
//	home, err := clienttest.NewHome("", bin)
//	defer home.Close()
//	id, err := home.AddSession("rollout-2026-….jsonl")
//	res := home.Resume(ctx, id, clienttest.Prompt)
//	items := clienttest.Input(res.Requests[0].Body)
//
// The binaries are not part of the repository. They are looked for in the
// directory that HIST_CODEX_DIR names, else in .codex-bin at the root of the
// repository, one sub-directory per version:
//
//	npm install --prefix .codex-bin/0.169.0 @openai/codex@0.169.0
//
// Three programs use the package: its own tests, the command record (plays
// scenarios and writes scrubbed recordings) and the command resume (measures
// what the client makes of given files).
//
// The client is kept on loopback by three means: its only provider is the
// stand-in, it inherits no environment but PATH and the locale, and every
// proxy variable points at the stand-in, which refuses to relay and remembers
// who was asked for ([Server.Blocked]).
package clienttest
