// Command chaos has real clients play sessions with real tools, does to them what happens to clients in the field, and
// measures how much of what was really said the client sends when it resumes: alone, and after `hist repair
// --in-place` in its home.
//
//	go run ./testing/codex/chaos -seed 1 -sessions 100            # kills, cut streams, full disks, …
//	go run ./testing/codex/chaos -seed 1 -sessions 6 -damage 20   # whole sessions, damaged afterwards
//	go run ./testing/codex/chaos -replay DIR                      # one kept case again
//
// The truth is kept by the stand-in for the model: the items that it sent to a client that was still there, the
// prompts and outputs that arrived in its requests, and the outputs of commands that left their mark before the client
// died. Each of them carries a token that no other has.
//
// Four things are told of each session: the share of the truth that is sent before and after the repair, and that
// still stands anywhere in the home; whether lint named the damage, if anything was missing; and whether the repair
// made anything worse. It exits with 1 if anything was worse, or what still stands had no name, and with 2 if nothing could be measured. With -keep, what falls short is kept with all that is needed to play it again.
package main
