// Package normalize turns the bytes of a session file into logical records.
//
// In come bytes; out go session.Records and the faults of their framing: text encoding, padding, records that are glued
// together, torn, or broken over several lines. What a fault leaves readable is read. Each fault says what a repair does
// about it, and the repair gets the same records by reading the file a second time. The package knows agents only through
// the Decoder that it is given, and never looks at more than one record.
package normalize
