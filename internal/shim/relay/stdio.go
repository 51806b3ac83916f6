package relay

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/hist-cli/hist/internal/decisions"
	"github.com/hist-cli/hist/internal/shim/front"
)

// chunk is the size of a read, in bytes.
const chunk = 256 << 10

// stdio is a relay between two pairs of pipes.
type stdio struct {
	conn  *conn
	asker *asker

	callerIn, clientOut io.ReadCloser
	callerOut, clientIn io.WriteCloser

	writing    sync.Mutex // held while a message is written to clientIn, even if it takes several writes
	settled    settled
	midMessage bool // toClient has written the beginning of a message, but not its end
}

// toClient hands the caller's messages on to the client, until caller or client has gone.
func (s *stdio) toClient() {
	defer s.callerIn.Close()
	defer s.clientIn.Close()
	buf := make([]byte, chunk)
	var held []byte // the beginning of a message whose end has not come
	long := false   // what comes belongs to a message that is too long to be read
	for {
		n, err := s.callerIn.Read(buf)
		seen := len(held)
		data := append(held, buf[:n]...)
		from, at := 0, 0
		for {
			i := bytes.IndexByte(data[max(at, seen):], '\n')
			if i < 0 {
				break
			}
			end := max(at, seen) + i + 1
			if long {
				long = false
			} else if next, ok := s.message(data[from:at], data[at:end]); !ok {
				return
			} else if next {
				from = end
			}
			at = end
		}
		rest := data[at:]
		if long || len(rest) > MaxMessage || err != nil {
			long, at, rest = err == nil && (long || len(rest) > 0), len(data), nil
		}
		if !s.send(data[from:at]) || err != nil {
			return
		}
		held = append(held[:0], rest...)
	}
}

func (s *stdio) send(data []byte) bool {
	if len(data) == 0 {
		return true
	}
	if !s.midMessage {
		s.writing.Lock()
	}
	_, err := s.clientIn.Write(data)
	if s.midMessage = data[len(data)-1] != '\n'; !s.midMessage {
		s.writing.Unlock()
	}
	return err == nil
}

// message deals with one message from the caller. before is what came before it and has not been handed on yet: that is
// written first if the message must wait. sent says that both have been written; ok is false if the client has gone.
func (s *stdio) message(before, line []byte) (sent, ok bool) {
	step := s.conn.up(line)
	switch {
	case step.look != nil:
		if !s.send(before) {
			return false, false
		}
		s.asker.look(step.look, s.conn.name())
		return true, s.send(line)
	case step.start != nil:
		return true, s.send(before) && s.begin(step.start, line)
	}
	return false, true
}

// begin hands on a request for a new thread, or resumes the lost thread instead.
func (s *stdio) begin(start *request, line []byte) bool {
	s.settled.wait()
	lost, why := s.conn.lost(start)
	if why == "" {
		if rewritten, j := s.conn.join(start, line, lost); j != nil {
			if !s.send(rewritten) {
				return false
			}
			if s.joined(j, line) {
				s.asker.started(start, s.conn.name(), lost, lost, "its last turn failed on this connection just before")
				return true
			}
			why = "the client would not resume the lost thread"
		} else {
			why = "the request has an unknown form"
		}
	}
	s.asker.started(start, s.conn.name(), lost, decisions.New, why)
	return s.send(line)
}

// joined waits for the client's answer to the request to resume a lost thread, and says whether it resumes it. After the
// timeout it returns true; if the client refuses later, the caller's own request (line) is sent then.
func (s *stdio) joined(j *joining, line []byte) bool {
	select {
	case ok := <-j.answer:
		return ok
	case <-time.After(front.Timeout()):
	}
	line = bytes.Clone(line)
	resend := func() {
		s.writing.Lock()
		defer s.writing.Unlock()
		s.clientIn.Write(line) //nolint:errcheck // toCaller notices when the client has gone
	}
	return s.conn.late(j, resend) || <-j.answer
}

// toCaller hands the client's messages on to the caller, until caller or client has gone. Each read is written at once,
// except while the answer to a request for a lost thread is awaited.
func (s *stdio) toCaller() {
	defer s.callerOut.Close()
	defer s.clientOut.Close()
	defer s.conn.giveUp()
	buf := make([]byte, chunk)
	var seen lines
	var held []byte
	for {
		n, err := s.clientOut.Read(buf)
		out := buf[:n]
		if len(held) > 0 || s.conn.joinPending() {
			out, held = s.withoutRefusal(append(held, out...), &seen, err != nil)
		}
		if len(out) > 0 {
			s.settled.begin()
			_, werr := s.callerOut.Write(out)
			if werr == nil {
				seen.feed(out, s.conn.down)
			}
			s.settled.end()
			if werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// withoutRefusal removes the client's refusal to resume a lost thread from its output. It returns what can be handed on now,
// and the beginning of an unfinished message that may be the refusal.
func (s *stdio) withoutRefusal(data []byte, seen *lines, last bool) (out, held []byte) {
	if seen.midLine() { // the rest of a message whose beginning has been handed on
		i := bytes.IndexByte(data, '\n') + 1
		if i == 0 {
			return data, nil
		}
		out, data = append(out, data[:i]...), data[i:]
	}
	for s.conn.joinPending() {
		i := bytes.IndexByte(data, '\n') + 1
		if i == 0 && !last && len(data) <= MaxMessage {
			return out, bytes.Clone(data)
		}
		if i == 0 {
			break
		}
		if !s.conn.refused(data[:i]) {
			out = append(out, data[:i]...)
		}
		data = data[i:]
	}
	return append(out, data...), nil
}
