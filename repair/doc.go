// Package repair says what to do about the damage that lint found, and does it.
//
// In come a session and lint's findings; out comes a mended copy, the bytes that left the session, and a report.
// The way: Choose (findings to a Plan) → Plan.Rewrite (one streaming pass from source to copy) → Verify (lint the
// copy, compare every untouched line) → publish, by internal/runs and internal/publish → Report. repair has no
// opinion of its own about what is wrong: a finding brings its edits.
package repair
