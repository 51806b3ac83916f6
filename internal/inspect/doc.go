// Package inspect is the one place where a session and its home are put together: it lints a session with what its client keeps beside it,
// compares it with that and with the other sessions of the home, and knows which sessions have repaired copies. It stands above package
// lint because it links a database, which who only lints does without.
//
// It stores the results of linting, so that an unchanged home is linted in the time that walking it takes.
//
// In: a session's file and the options that judge it. Out: what lint.Source or timeline.Look returns, from the cache if
// nothing has changed, else computed. What a config, a baseline or the client's lists say about a session is not stored, but
// looked up each time; that its databases say nothing is stored with the state of its rows there.
//
// A result is valid until the session's file changes, or a database of its home; once one has changed, until what that holds of the
// session changes. If linting has looked at other files of the home, which it reports, nothing is stored.
//
// The cache only saves time. Whatever is wrong with it (damaged, not readable, disk full) is no error: the session is linted
// again, and an incomplete entry is ignored. Several processes may use it at once: each reads all of it when it starts, and
// when it ends replaces the file by its content at that time together with its own entries.
//
// Never here: judging, printing, and words of a conversation.
package inspect
