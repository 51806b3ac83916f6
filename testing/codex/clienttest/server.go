package clienttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Request is one request that the client sent to the stand-in.
type Request struct {
	Method string
	Path   string
	Body   []byte
	Time   time.Time
}

// Server stands in for the Responses API. It listens on 127.0.0.1 only.
type Server struct {
	http *httptest.Server
	// Strict makes it refuse what the API refuses, as Refusal says. It is set before the first request.
	Strict bool
	// Answer, where it is set, gives the reply to the n-th request, counted from 1; the queue is not asked then. It is
	// set before the first request, and called by one request at a time.
	Answer func(n int, body []byte) Reply
	// Said, where it is set, is told of each item as soon as it has been sent to a client that was still there. Several
	// requests may call it at once.
	Said func(item json.RawMessage)

	mu       sync.Mutex
	queue    []func(body []byte) Reply
	requests []Request
	blocked  []string
	sent     int           // replies that were sent, or are held open
	changed  chan struct{} // closed and replaced whenever sent changes
	closing  chan struct{}
}

// NewServer starts a stand-in that answers "ok" to everything until a script
// is queued.
func NewServer() *Server {
	s := &Server{changed: make(chan struct{}), closing: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Close ends all connections and stops the server.
func (s *Server) Close() {
	close(s.closing)
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is the base URL for the client's provider, ending in /v1.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// Proxy is the URL to name as a proxy for everything else: it refuses.
func (s *Server) Proxy() string { return s.http.URL }

// Queue appends replies to the script. One reply answers one request.
func (s *Server) Queue(replies ...Reply) {
	for _, r := range replies {
		s.Later(func([]byte) Reply { return r })
	}
}

// Later appends a reply that is made when its request has come.
func (s *Server) Later(reply func(body []byte) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, reply)
}

// Reset drops what is left of the script and all records of requests.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue, s.requests, s.blocked, s.sent = nil, nil, nil, 0
}

// Requests returns the model requests (POST) so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Blocked returns the hosts that the client tried to reach through a proxy.
func (s *Server) Blocked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.blocked...)
}

// WaitSent returns when n replies have been sent to their end, or to the point
// where they are held open.
func (s *Server) WaitSent(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		sent, changed := s.sent, s.changed
		s.mu.Unlock()
		if sent >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d replies sent: %w", sent, n, ctx.Err())
		}
	}
}

// Input returns the items of a request: what the model would have seen.
func Input(body []byte) []json.RawMessage {
	var v struct {
		Input []json.RawMessage `json:"input"`
	}
	if json.Unmarshal(body, &v) != nil {
		return nil
	}
	return v.Input
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect || r.URL.Host != "" {
		s.mu.Lock()
		s.blocked = append(s.blocked, r.Host)
		s.mu.Unlock()
		http.Error(w, "this stand-in relays nothing", http.StatusForbidden)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	switch {
	case r.Method != http.MethodPost:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[],"models":[]}`)
	case strings.HasSuffix(r.URL.Path, "/responses/compact"):
		s.compact(w, r, body)
	case strings.HasSuffix(r.URL.Path, "/responses"):
		n, reply := s.next(r, body)
		if text := Refusal(Input(body)); s.Strict && text != "" {
			reply = Reply{Kind: HTTPError, Status: http.StatusBadRequest, Body: fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, text)}
		}
		s.answer(w, r, n, reply, body)
	default:
		http.NotFound(w, r)
	}
}

// next records the request and takes its reply from the queue.
func (s *Server) next(r *http.Request, body []byte) (int, Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{Method: r.Method, Path: r.URL.Path, Body: body, Time: time.Now()})
	n := len(s.requests)
	reply := Reply{Items: []Item{Message("msg_ok", "ok")}}
	switch {
	case s.Answer != nil:
		reply = s.Answer(n, body)
	case len(s.queue) > 0:
		reply, s.queue = s.queue[0](body), s.queue[1:]
	}
	return n, reply
}

func (s *Server) markSent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent++
	close(s.changed)
	s.changed = make(chan struct{})
}

// sleep waits for d, or until the client is gone or the server closes.
func (s *Server) sleep(r *http.Request, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
	case <-s.closing:
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, n int, reply Reply, body []byte) {
	s.sleep(r, reply.Delay)
	if reply.Kind == HTTPError {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.Status)
		_, _ = io.WriteString(w, reply.Body)
		s.markSent()
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	flush := http.NewResponseController(w)
	id := fmt.Sprintf("resp_%d", n-1)
	emit := func(event string, data any) {
		raw, err := json.Marshal(data)
		if err != nil {
			panic(err) // a script's own item is not JSON
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, raw)
		_ = flush.Flush()
	}
	type object = map[string]any
	emit("response.created", object{"type": "response.created", "response": object{"id": id}})
	tools := ToolsOf(body)
	for i, item := range reply.Items {
		if i > 0 {
			s.sleep(r, reply.Pause)
		}
		raw := item(tools)
		if r.Context().Err() != nil {
			return // nobody hears the rest
		}
		emit("response.output_item.added", object{"type": "response.output_item.added", "output_index": i, "item": opened(raw)})
		emit("response.output_item.done", object{"type": "response.output_item.done", "output_index": i, "item": raw})
		if s.Said != nil {
			s.Said(raw)
		}
	}
	switch reply.Kind {
	case Held:
		s.markSent()
		select {
		case <-r.Context().Done():
		case <-s.closing:
		}
		return
	case Cut:
		_ = flush.Flush()
		s.sleep(r, 50*time.Millisecond) // let the client read what was sent
		s.markSent()
		panic(http.ErrAbortHandler)
	case Failed:
		emit("response.failed", object{"type": "response.failed", "response": object{
			"id": id, "status": "failed", "error": object{"code": reply.Code, "message": reply.Message},
		}})
	default:
		total := reply.Tokens
		if total == 0 {
			total = 15
		}
		emit("response.completed", object{"type": "response.completed", "response": object{
			"id": id, "usage": object{
				"input_tokens": total - 5, "input_tokens_details": object{"cached_tokens": 0},
				"output_tokens": 5, "output_tokens_details": object{"reasoning_tokens": 0},
				"total_tokens": total,
			},
		}})
	}
	s.markSent()
}

// compact answers a provider-side compaction. Clients ask for one only of
// providers that they know; it is here so that such a client is not left
// without an answer.
func (s *Server) compact(w http.ResponseWriter, r *http.Request, body []byte) {
	s.next(r, body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"id":"resp_compact","object":"response.compaction","created_at":0,"output":[`+
		`{"type":"message","id":"msg_c","role":"user","content":[{"type":"input_text","text":"`+Summary+`"}]},`+
		`{"type":"compaction","id":"cmp_1","encrypted_content":"gAAAAABtZXJlLXRlc3Q="}],`+
		`"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}`)
	s.markSent()
}

// opened is an item as it is announced: a message has no content yet.
func opened(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`"type":"message"`)) {
		return raw
	}
	var m struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return raw
	}
	return json.RawMessage(`{"type":"message","id":` + quote(m.ID) + `,"role":"assistant","content":[]}`)
}
