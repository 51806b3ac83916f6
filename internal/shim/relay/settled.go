package relay

import (
	"sync"
	"time"
)

// settled lets toClient wait until the relay has read everything that the caller can have read. The relay hands on what the
// client says first and reads it afterwards, so a caller may answer a message that the relay has not read yet.
type settled struct {
	mu      sync.Mutex
	pending chan struct{} // closed when the output that is being handed on has been read; nil if there is none
}

// begin says that output of the client's is about to be handed on.
func (s *settled) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = make(chan struct{})
}

// end says that this output has been handed on and read.
func (s *settled) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.pending)
	s.pending = nil
}

// settleTimeout is how long a request for a new thread waits at most, since a caller that does not read its input would
// hold it up for ever.
const settleTimeout = 250 * time.Millisecond

// wait returns when all output has been read, or after settleTimeout.
func (s *settled) wait() {
	s.mu.Lock()
	pending := s.pending
	s.mu.Unlock()
	if pending == nil {
		return
	}
	select {
	case <-pending:
	case <-time.After(settleTimeout):
	}
}
