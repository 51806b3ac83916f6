package relay

import (
	"cmp"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/shim/front"
)

// lookInterval is how long after a check of a thread it is not checked lookInterval.
const lookInterval = 10 * time.Second

// maxKnown is how many threads or requests are remembered. Beyond it all are forgotten, which only costs an extra check.
const maxKnown = 1024

// server is what is known of one app-server, from all connections to it.
type server struct {
	now func() time.Time

	mu     sync.Mutex
	open   map[string]bool      // threads that the server has open
	looked map[string]time.Time // when a thread was checked last
}

func newServer() *server {
	return &server{now: time.Now, open: map[string]bool{}, looked: map[string]time.Time{}}
}

// needsLook says whether a thread is to be checked now. If so, it counts as checked from now on.
func (s *server) needsLook(thread string) bool {
	if !front.IsID(thread) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.looked[thread]; s.open[thread] || ok && s.now().Sub(last) < lookInterval {
		return false
	}
	if len(s.looked) >= maxKnown {
		clear(s.looked)
	}
	s.looked[thread] = s.now()
	return true
}

func (s *server) opened(thread string) {
	if thread == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= maxKnown {
		clear(s.open)
	}
	s.open[thread] = true
}

func (s *server) closed(thread string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, thread)
}

// conn is what is known of one caller's connection.
type conn struct {
	server *server
	rejoin bool // a lost thread may take the place of a new one

	mu       sync.Mutex
	caller   string
	pending  map[string]*request // requests for a thread, by id, until they are answered
	threads  map[string]*thread
	failed   string   // the thread whose turn failed last; "" once another turn has begun
	goesBack bool     // the caller has gone back to a failed thread by itself
	joining  *joining // the attempt to resume a lost thread that has no answer yet
}

// thread is what a connection has seen of a thread.
type thread struct {
	cwd       string    // as the caller gave it, else as the client answered
	failed    time.Time // when its last turn failed; zero if it did not
	asked     bool      // the caller has asked for a turn that has not begun
	abandoned bool      // given up by the caller, or closed
}

func newConn(s *server) *conn {
	return &conn{server: s, pending: map[string]*request{}, threads: map[string]*thread{}}
}

// step is what the relay must do before it hands on a message from the caller.
type step struct {
	look  *request // check the thread that this request names
	start *request // this is a request for a new thread
}

// up reads a message on its way to the client.
func (c *conn) up(message []byte) (s step) {
	r := readRequest(message)
	if r == nil {
		return s
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.threads[r.Params.Thread]
	switch {
	case r.Method == initialize:
		c.caller = r.caller()
	case leavesThread[r.Method]:
		if t != nil {
			t.abandoned = true
		}
	case r.Method == turnStart || r.Method == "thread/resume":
		c.goesBack = c.goesBack || t != nil && !t.failed.IsZero()
		if t != nil && r.Method == turnStart {
			t.asked = true
		}
	}
	if opensThread[r.Method] && len(r.ID) > 0 {
		if len(c.pending) >= maxKnown {
			clear(c.pending)
		}
		c.pending[string(r.ID)] = r
	}
	switch {
	case r.Method == threadStart || r.Method == sessionNew:
		s.start = r
	case r.fromFile() && c.server.needsLook(r.Params.Thread):
		s.look = r
	}
	return s
}

// down reads a message that has been handed on to the caller.
func (c *conn) down(message []byte) {
	method := gjson.GetBytes(message, "method")
	if !method.Exists() {
		c.answered(message)
		return
	}
	switch method.String() {
	case "thread/started":
		c.server.opened(gjson.GetBytes(message, "params.thread.id").String())
	case "thread/closed", "thread/archived", "thread/deleted":
		id := gjson.GetBytes(message, "params.threadId").String()
		c.server.closed(id)
		c.mu.Lock()
		if t := c.threads[id]; t != nil {
			t.abandoned = true
		}
		c.mu.Unlock()
	case "thread/status/changed":
		c.status(gjson.GetBytes(message, "params.threadId").String(), gjson.GetBytes(message, "params.status.type").String())
	case "turn/started":
		c.mu.Lock()
		if t := c.threads[gjson.GetBytes(message, "params.threadId").String()]; t != nil {
			t.failed, t.asked = time.Time{}, false
		}
		c.failed = ""
		c.mu.Unlock()
	}
}

// answered reads an answer, if it is one to a request that opens a thread.
func (c *conn) answered(message []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) == 0 {
		return
	}
	id := gjson.GetBytes(message, "id").Raw
	r := c.pending[id]
	if r == nil {
		return
	}
	delete(c.pending, id)
	result := gjson.GetManyBytes(message, "result.thread.id", "result.cwd", "result.sessionId", "result")
	name := cmp.Or(result[0].String(), result[2].String())
	if name == "" && (r.Method == sessionLoad || r.Method == "session/resume") && result[3].Exists() {
		name = r.Params.Thread // answers to these two do not name the thread
	}
	if name == "" {
		return // refused
	}
	c.server.opened(name)
	cwd := r.Params.CWD
	if cwd == "" && r.Method != threadStart {
		cwd = result[1].String()
	}
	if len(c.threads) >= maxKnown {
		clear(c.threads)
	}
	c.threads[name] = &thread{cwd: cwd}
}

func (c *conn) status(id, status string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.threads[id]
	switch {
	case status == "notLoaded":
		c.server.closed(id)
		if t != nil {
			t.abandoned = true
		}
	case status == "systemError" && t != nil:
		c.goesBack = c.goesBack || t.asked // a busy client may say it only after the turn's end, which the caller has answered already
		t.failed = c.server.now()
		c.failed = id
	}
}

// name returns the name that the caller gave itself.
func (c *conn) name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.caller
}
