package relay

import "github.com/hist-cli/hist/internal/decisions"

// Watch is what is known of an app-server that is reached by a socket.
type Watch struct {
	server *server
	asker  *asker
}

// NewWatch returns a Watch that knows nothing yet.
func NewWatch() *Watch { return &Watch{server: newServer(), asker: newAsker()} }

// Connect returns two functions for a new connection. up must be called with each message from the caller before it is
// handed on, and returns when it may be; down must be called with each message from the client after it was handed on.
func (w *Watch) Connect() (up, down func(message []byte)) {
	c := newConn(w.server)
	up = func(message []byte) {
		step := c.up(message)
		switch {
		case step.look != nil:
			w.asker.look(step.look, c.name())
		case step.start != nil:
			lost, why := c.lost(step.start)
			w.asker.started(step.start, c.name(), lost, decisions.New, why)
		}
	}
	return up, c.down
}

// Unwatched logs that the messages of the socket at path are not read, and why.
func (w *Watch) Unwatched(path, why string) {
	w.asker.decided(decisions.Decision{Via: "argv", Asked: []string{path}, Why: "not watched: " + why})
}

// Finish waits a moment for the log to be written.
func (w *Watch) Finish() { w.asker.finish() }
