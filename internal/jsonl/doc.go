// Package jsonl reads files of JSON lines.
//
// Reader cuts a stream at '\n' into lines of any length and says where each of
// them lies. Scanner checks one line against RFC 8259 and UTF-8 in one pass and
// notes where the wanted values are, without copying or decoding them. Unquote
// and AppendQuote decode and write single string literals.
//
// The package knows nothing of what the lines mean.
package jsonl
