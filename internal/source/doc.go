// Package source reads the bytes of a session: from a regular file, plain or zstd-compressed, or from a stream.
//
// In: a path or an io.Reader. Out: readers from the first byte, as often as needed, the bytes at given offsets, and their
// SHA-256, computed on another processor.
// A Source keeps no descriptor open between reads, so that hist is not found when it is checked who has the file open.
//
// Never here: writing to a session, or knowing what a line means.
package source
