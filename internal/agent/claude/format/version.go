package format

import "github.com/hist-cli/hist/internal/session"

// Newest is the newest version that has been measured.
const Newest = "2.1.332"

// Before says whether version a is older than b; a text that is not a version is not.
func Before(a, b string) bool { return session.VersionBefore(a, b) }

// NewerThanKnown says whether a record was written by a client newer than any that was measured.
func NewerThanKnown(version string) bool { return Before(Newest, version) }
