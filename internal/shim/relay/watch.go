package relay

import "github.com/hist-cli/hist/internal/decisions"

// Watch is what is known of an app-server that is reached in another way than by its streams.
type Watch struct {
	server *server
	asker  *asker
}

// NewWatch knows nothing yet.
func NewWatch() *Watch { return &Watch{server: newServer(), asker: newAsker()} }

// Connect is for one more connection. up is to be shown each message from the caller before it is handed on, and returns
// when that may be; down is to be shown each message from the client once it has been handed on.
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

// Unwatched logs that the socket at a path is not watched, and why.
func (w *Watch) Unwatched(path, why string) {
	w.asker.decided(decisions.Decision{Via: "argv", Asked: []string{path}, Why: "not watched: " + why})
}

// Finish waits for the log to be written, for a moment.
func (w *Watch) Finish() { w.asker.finish() }
