// Package front is what hist does when it is run under the name of a client, codex or codex-acp: it reads the command line,
// has hist check the session that is named there, and becomes the client.
//
// In: the process's own arguments and environment. Out: another program in place of this one or, if none can be run, an
// exit code. It does its work in an init function, before the packages that hist itself needs are initialised, so that a
// process that is about to become the client does not wait for them. For the same reason it imports little more than os
// and syscall.
//
// Never here: reading a session, which another process does (hist pre-resume), or a message of an app-server, which a relay
// reads (package relay).
package front
