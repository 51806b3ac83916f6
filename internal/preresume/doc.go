// Package preresume answers, before an agent is resumed, whether a session can be resumed and how: by a wrapper that
// was restarted, by a script, or in front of every resume.
//
// In: a session's path, or what to look for in a home; and, after a failed resume, the text of its error. Out: an
// Answer, which holds no word of the conversation unless asked. Small sessions are linted whole, of large ones head and
// tail are looked at unless all is asked for. Never here: repairing, running anything, printing.
package preresume
