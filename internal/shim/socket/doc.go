// Package socket is a relay at the name of a socket, of which the client of a Codex app-server listens at another.
//
// In: connections, each an HTTP upgrade and the frames of a websocket behind it. Out: the same bytes; package relay says
// which messages wait for a look, and what else holds for every relay. It is apart from there because it needs packages
// that take their time to be initialised: a client takes longer until it listens, but answers at once on its streams.
// Never here: a message in another form, or a look of its own.
package socket
