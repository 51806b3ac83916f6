// Package format is how Claude Code writes a line: the fields of its records and where they stand, what a content block consists of,
// times, versions and ids, the words of a message, and records in the client's own form.
//
// In: the bytes of one record. Out: what it says of itself. Never here: what another record says of it, and what a version does with it.
package format
