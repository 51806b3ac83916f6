package relay

import (
	"sync"
	"time"
)

// settled tells whether all that a caller can have read has been taken in. A caller may answer words of the client's
// before the relay, which hands on first and looks after that, has looked at them.
type settled struct {
	mu      sync.Mutex
	pending chan struct{} // closed when what is on its way has been taken in; nil if nothing is
}

// begin says that something goes out.
func (s *settled) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = make(chan struct{})
}

// end says that it has been taken in.
func (s *settled) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.pending)
	s.pending = nil
}

// settling is how long a new thread waits for that: a caller that does not read keeps nobody waiting for longer.
const settling = 250 * time.Millisecond

func (s *settled) wait() {
	s.mu.Lock()
	pending := s.pending
	s.mu.Unlock()
	if pending == nil {
		return
	}
	select {
	case <-pending:
	case <-time.After(settling):
	}
}
