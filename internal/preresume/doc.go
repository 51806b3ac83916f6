// Package preresume answers whether a session can be resumed, and how. It is asked by a wrapper that was restarted, by a
// script, or before every resume.
//
// In: a session's path, or what to look for in a home; and, after a failed resume, the text of its error. Out: an
// Answer, which holds no word of the conversation unless that is asked for. Small sessions are linted whole; of large ones
// only head and tail are read, unless the caller asks for everything.
//
// And the restart card: what an agent, or the person responsible for it, should check before it goes on with a session whose harness was
// stopped in the middle. In: a session, what lint found in it, and its working directory. Out: a Card, short enough for a prompt.
// Everything on it is evidence from the session or from git.
//
// Never here: repairing, running anything but git, changing anything, using the network, printing.
package preresume
