// Package session says what a line of an agent's session file means, whichever agent wrote it.
//
// In come lines that internal/jsonl has cut and scanned; out go Records. An agent is a Decoder that fills
// Records and an Encoder that writes new lines in that agent's own form. Nothing here judges, repairs or prints.
package session
