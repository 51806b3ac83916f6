// Package relay stands between the caller of a Codex app-server and the client, and hands on every byte as it is.
//
// In: two streams, or a socket. Out: the same bytes, and what was seen on the way: when a message from the caller names a
// thread that the server has not open, that message waits, for a short time at most, until hist has looked at the
// session and repaired it. The relay itself never reads a session: a hist of its own does. If it is asked to, it turns
// one message into another: a new thread that can only be a lost one (rejoin.go).
//
// What must never be here: an answer, a message dropped or put before another, another form of the same message; a buffer
// without a bound; anything between the client's words and the caller but a read and a write; a word on a stream that
// the caller reads; a word of the conversation in a log. A message of more than 1 MiB passes unseen, and so does one that
// comes in several frames, or compressed.
package relay
