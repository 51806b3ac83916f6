// Package restart makes the restart card: what an agent, or the person responsible for it, should check before it goes on
// with a session whose harness was stopped in the middle.
//
// In: a session, what lint found in it, and its working directory. Out: a Card of at most MaxLines lines and MaxBytes
// bytes, short enough for a prompt. Everything on it is evidence from the session or from git, and it holds no word of the
// conversation unless that is asked for. Never here: changing anything, using the network.
package restart
