// Package preresume answers whether a session can be resumed, and how. It is asked by a wrapper that was restarted, by a
// script, or before every resume.
//
// In: a session's path, or what to look for in a home; and, after a failed resume, the text of its error. Out: an
// Answer, which holds no word of the conversation unless that is asked for. Small sessions are linted whole; of large ones
// only head and tail are read, unless the caller asks for everything. Never here: repairing, running anything, printing.
package preresume
