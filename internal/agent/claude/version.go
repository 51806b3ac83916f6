package claude

import "github.com/hist-cli/hist/internal/agent/claude/reader"

// Newest is the newest version that has been measured.
const Newest = "2.1.332"

// before says whether version a is older than b; a text that is not a version is not.
func before(a, b string) bool { return reader.Before(a, b) }

// onlyInPlace says whether a client finds a session only from the directory in which it was begun: all up to 2.1.215 (measured;
// 2.1.330 finds it from any).
func onlyInPlace(version string) bool { return before(version, "2.1.216") }

// newerThanKnown says whether a record was written by a client newer than any that was measured.
func newerThanKnown(version string) bool { return before(Newest, version) }
