// Package repair says what to do about the damage that lint found, and does it.
//
// In come a session and lint's findings; out comes a mended copy, the bytes that left the session, and a report.
// Do is the way there: choose (findings to a plan) → rewrite (one streaming pass from source to copy) → verify (lint
// the copy, compare every untouched line) → publish, by internal/runs and internal/publish → Report. Undo is the way back.
// repair has no opinion of its own about what is wrong: a finding brings its edits.
package repair
