// Package restart makes the restart card: what an agent, or whoever looks after it, should check before it goes on
// with a session whose harness was stopped in the middle.
//
// In come a session, what lint found in it, and its working directory; out goes a Card of at most MaxLines lines and
// MaxBytes bytes, short enough to stand in a prompt. All of it is evidence from the session or from git, and no word of
// the conversation is in it unless asked for. Never here: changing anything, asking the network.
package restart
