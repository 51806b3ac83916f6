// Package lint says what is wrong with a session.
//
// In comes the text of one session file; out come Findings, each with the edits that would mend it. The way of a
// line: Framer (physical lines to logical records, mending what broke the framing) → session.Decoder (what the
// record means) → the rules' checkers → findings. A rule is a value in Rules; its checker lives for one session.
// Nothing here writes, prints or looks at another file.
package lint
