// Package front is hist under the name of a client, codex or codex-acp: it looks at the command line, has hist look at the
// session that is named there, and becomes the client.
//
// In: the process's own arguments and environment. Out: another program in its place, or, where none can be run, an exit
// code. It does its work while the program is initialised, before the packages that hist itself needs: a process that
// is to become the client pays for none of them. That is why it imports little more than os and syscall, and why there
// is an init function here.
//
// Never here: a look at a session, which a process of its own does (hist pre-resume), or a message of an app-server,
// which a relay does (package relay).
package front
