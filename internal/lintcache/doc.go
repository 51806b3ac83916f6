// Package lintcache keeps what linting found in sessions that have not changed since, so that an unchanged home is linted
// in the time that walking it takes.
//
// In: a session's file and the options that judge it. Out: what lint.Source finds, or glance.Look, from the cache or anew.
// What a config, a baseline or the client's lists say of a session is not kept: that is looked at each time.
//
// What was found by the session's bytes alone holds as long as those do. Who looked at its neighbours has said so, and then
// it holds as long as nothing changes in all of the home.
//
// A cache is nothing but time saved. Whatever is wrong with it (damaged, not readable, no room left) costs a lint anew
// and is no error; an entry that is not whole is not there. Several processes may use it at once: each reads it whole
// at its beginning, and replaces it at its end by what stands there then and its own.
//
// Never here: judging, printing, and words of a conversation.
package lintcache
