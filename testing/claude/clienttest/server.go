package clienttest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Request is one request for a message that the client sent.
type Request struct {
	Body []byte
	// Main: it carries the conversation, and tools with it; the others are titles, warm-ups and the like.
	Main bool
}

// Block is one content block of an answer.
type Block struct {
	Type  string // text, tool_use or thinking
	Text  string // of a text or thinking block
	ID    string // of a call
	Name  string
	Input any
	Raw   object // of any other type: the block as it is
}

// Server stands in for the Messages API. It listens on 127.0.0.1 only, and refuses to be a proxy for anything else.
type Server struct {
	http *httptest.Server

	mu       sync.Mutex
	script   [][]Block
	requests []Request
	answers  int
	manner   Manner
}

// Manner is how the API behaves apart from what it says. The zero value is the vendor's own.
type Manner struct {
	NoIDs  bool          // its answers have an empty id, as a proxy's may
	Tokens int           // of each request, as it tells the client; 0 for a few
	Busy   int           // so many of the next requests are refused, as by an overloaded API
	Pause  time.Duration // before each block
	Stop   string        // why answers without a call end, "" as usual
	// Refuse says why the API refuses a request that carries the conversation, "" if it takes it. A nil Refuse takes all.
	Refuse func(request []byte) string
}

// Behave sets the manner of all answers from now on.
func (s *Server) Behave(m Manner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.manner = m
}

// NewServer starts a stand-in that answers with one short text until a script is queued.
func NewServer() *Server {
	s := &Server{}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Close stops the server.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is the base URL of the API.
func (s *Server) URL() string { return s.http.URL }

// Queue appends answers to the script: one for each request that carries the conversation.
func (s *Server) Queue(answers ...[]Block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, answers...)
}

// Reset forgets the requests and what is left of the script.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.requests = nil, nil
}

// Requests returns the requests for messages so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Main returns the first request so far that carries the conversation, nil if there is none.
func (s *Server) Main() []byte {
	for _, r := range s.Requests() {
		if r.Main {
			return r.Body
		}
	}
	return nil
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	switch {
	case r.Method == http.MethodConnect && r.Host == s.http.Listener.Addr().String():
		s.tunnel(w)
	case err != nil || r.Method == http.MethodConnect || r.URL.Host != "":
		http.Error(w, "this stand-in reaches nothing", http.StatusForbidden)
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		fmt.Fprint(w, `{"input_tokens":10}`)
	case strings.HasSuffix(r.URL.Path, "/v1/messages"):
		s.message(w, body)
	default:
		http.Error(w, `{"type":"error","error":{"type":"not_found_error","message":"not found"}}`, http.StatusNotFound)
	}
}

// tunnel connects a client with this server itself: 1.0.17 goes to its proxy whatever NO_PROXY says.
func (s *Server) tunnel(w http.ResponseWriter) {
	here, err := net.Dial("tcp", s.http.Listener.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer here.Close()
	there, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer there.Close()
	if _, err := io.WriteString(there, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{}, 2)
	for _, way := range []struct {
		to   io.Writer
		from io.Reader
	}{{here, buffered}, {there, here}} {
		go func() {
			_, _ = io.Copy(way.to, way.from) // ends with either side
			done <- struct{}{}
		}()
	}
	<-done
}

// message answers one request, as a stream if it asks for one.
func (s *Server) message(w http.ResponseWriter, body []byte) {
	var ask struct {
		Stream bool
		Model  string
		Tools  []json.RawMessage
	}
	if json.Unmarshal(body, &ask) != nil {
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"no JSON"}}`, http.StatusBadRequest)
		return
	}
	main := len(ask.Tools) > 0 && !strings.Contains(string(body), `"Warmup"`)
	s.mu.Lock()
	s.requests = append(s.requests, Request{body, main})
	s.answers++
	id := fmt.Sprintf("msg_%024d", s.answers)
	if s.manner.NoIDs {
		id = ""
	}
	use := map[string]int{"input_tokens": max(10, s.manner.Tokens), "output_tokens": 5}
	busy := main && s.manner.Busy > 0
	if busy {
		s.manner.Busy--
	}
	answer := []Block{{Type: "text", Text: "Noted."}}
	if main && !busy && len(s.script) > 0 {
		answer, s.script = s.script[0], s.script[1:]
	}
	manner := s.manner
	refused := ""
	if main && manner.Refuse != nil {
		refused = manner.Refuse(body)
	}
	if !main {
		manner = Manner{}
	}
	s.mu.Unlock()
	switch {
	case busy:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(529)
		fmt.Fprint(w, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	case refused != "":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(object{"type": "error", "error": object{"type": "invalid_request_error", "message": refused}})
	case ask.Stream:
		stream(w, id, ask.Model, answer, use, manner)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(whole(id, ask.Model, answer, use, manner.Stop))
	}
}

func stopReason(answer []Block, stop string) string {
	for _, b := range answer {
		if b.Type == "tool_use" {
			return "tool_use"
		}
	}
	if stop != "" {
		return stop
	}
	return "end_turn"
}

type object = map[string]any

func whole(id, model string, answer []Block, usage map[string]int, stop string) object {
	content := []object{}
	for _, b := range answer {
		content = append(content, b.whole())
	}
	return object{
		"id": id, "type": "message", "role": "assistant", "model": model, "content": content,
		"stop_reason": stopReason(answer, stop), "stop_sequence": nil, "usage": usage,
	}
}

func (b Block) whole() object {
	if b.Raw != nil {
		return maps.Clone(b.Raw)
	}
	switch b.Type {
	case "tool_use":
		return object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": b.Input}
	case "thinking":
		return object{"type": "thinking", "thinking": b.Text, "signature": ownSignature}
	}
	return object{"type": "text", "text": b.Text}
}

// stream sends an answer as server-sent events.
func stream(w http.ResponseWriter, id, model string, answer []Block, usage map[string]int, manner Manner) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event string, data object) {
		data["type"] = event
		raw, err := json.Marshal(data)
		if err != nil {
			panic(err) // only what tests have queued is sent
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, raw)
		w.(http.Flusher).Flush()
	}
	message := whole(id, model, nil, usage, "")
	message["stop_reason"] = nil
	send("message_start", object{"message": message})
	for i, b := range answer {
		time.Sleep(manner.Pause)
		start, deltas := b.events()
		send("content_block_start", object{"index": i, "content_block": start})
		for _, d := range deltas {
			send("content_block_delta", object{"index": i, "delta": d})
		}
		send("content_block_stop", object{"index": i})
	}
	send("message_delta", object{"delta": object{"stop_reason": stopReason(answer, manner.Stop), "stop_sequence": nil}, "usage": usage})
	send("message_stop", object{})
}

func (b Block) events() (start object, deltas []object) {
	start = b.whole()
	if b.Raw != nil {
		return start, nil
	}
	switch b.Type {
	case "tool_use":
		raw, err := json.Marshal(b.Input)
		if err != nil {
			panic(err)
		}
		start["input"] = object{}
		return start, []object{{"type": "input_json_delta", "partial_json": string(raw)}}
	case "thinking":
		start["thinking"], start["signature"] = "", ""
		return start, []object{{"type": "thinking_delta", "thinking": b.Text}, {"type": "signature_delta", "signature": ownSignature}}
	}
	start["text"] = ""
	return start, []object{{"type": "text_delta", "text": b.Text}}
}

// ownSignature is what the stand-in signs all thinking with.
const ownSignature = "c2lnbmF0dXJl"
