// Package relay stands between the caller of a Codex app-server and the client, and hands on every byte as it is.
//
// In: two streams, or a socket. Out: the same bytes. The relay reads the messages on the way: if one from the caller names
// a thread that the server does not have open, that message waits, for a short time at most, until hist has checked the
// session and repaired it. The relay itself never reads a session; a separate hist process does. If it is switched on, the
// relay rewrites one message: a request for a new thread that can only be meant for a lost one (rejoin.go).
//
// The relay must never answer a message itself, drop one, change their order or write one in another form; hold an
// unbounded buffer; do more than a read and a write between what the client says and the caller; write anything of its own
// to a stream that the caller reads; or log a word of the conversation. A message of more than 1 MiB passes unread, and so
// does one that comes in several frames, or compressed.
package relay
