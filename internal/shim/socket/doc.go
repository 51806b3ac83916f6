// Package socket is the relay for an app-server that is reached by a Unix socket. It listens at the path that the caller
// asked for, while the client listens at another.
//
// In: connections, each an HTTP upgrade followed by websocket frames. Out: the same bytes. Package relay says which
// messages wait for a check of their session, and what holds for every relay. This package is separate because it imports
// packages that take long to initialise. That does not matter here, where the client takes longer until it listens, but it
// would in package relay, where a client on its standard streams answers at once. Never here: a message in another form, or
// a check of a session.
package socket
