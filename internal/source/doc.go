// Package source is the room where session bytes come in: a regular file, plain or zstd-compressed, or a stream.
//
// In: a path or an io.Reader. Out: readers from the first byte, as often as needed, and the bytes at given offsets.
// A Source keeps no descriptor open between reads, so that whoever asks whether a file is in use does not find us.
//
// Never here: anything that writes to a session, and anything that knows what a line means.
package source
