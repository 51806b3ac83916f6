// Package normalize turns the bytes of a session file into logical records.
//
// In come bytes, out go session.Records and the faults of their framing: text encoding, padding, lines that are glued
// together, torn, or broken over several. What a fault leaves readable is read; each fault says what a repair does, and
// the repair gets the same records by reading the file a second time. The package knows no agent but through the
// Decoder that it is given, and looks at no record beside the one in hand.
package normalize
