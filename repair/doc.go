// Package repair says what to do about the damage that lint found, and does it.
//
// In comes a session, which it lints itself; out come a repaired copy, the bytes that left the session, and a report. Do goes
// through these steps: choose (findings to a plan) → rewrite (one streaming pass from session to copy) → verify (lint the copy,
// compare every untouched line) → publish, by internal/runs and internal/publish → Report. Undo undoes it. repair has no opinion
// of its own about what is wrong: a finding brings its edits.
package repair
