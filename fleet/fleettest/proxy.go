package fleettest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// Proxy stands in front of a server and disturbs its traffic as networks and gateways do.
type Proxy struct {
	Endpoint string
	Requests atomic.Int64 // how many requests came
	Gets     atomic.Int64 // how many of them read a session, below /in/
	// Fault is called for each request and returns what goes wrong with it; it may be nil.
	Fault func(n int64, r *http.Request) Fault
}

// Fault is what goes wrong with a request.
type Fault struct {
	Status         int    // answer with this status, and don't pass the request on
	Code           string // S3's name of the error that goes with Status
	CutAfter       int64  // break the answer off after so many bytes; 0: don't
	AnswerIsLost   bool   // the server does what the request asks, but the answer is a 503
	Before, Behind func()
}

// NewProxy starts a proxy and makes the environment point at it.
func NewProxy(t testing.TB, s *Server) *Proxy {
	t.Helper()
	behind, err := url.Parse(s.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = behind.Scheme, behind.Host
			r.Out.Host = r.In.Host // the signature includes it
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, forward) }))
	t.Cleanup(front.Close)
	p.Endpoint = front.URL
	Use(t, front.URL)
	return p
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, forward http.Handler) {
	n := p.Requests.Add(1)
	if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/in/") {
		p.Gets.Add(1)
	}
	var f Fault
	if p.Fault != nil {
		f = p.Fault(n, r)
	}
	if f.Before != nil {
		f.Before()
	}
	switch {
	case f.Status != 0:
		w.WriteHeader(f.Status)
		if f.Code != "" {
			fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", f.Code)
		}
		return
	case f.AnswerIsLost:
		forward.ServeHTTP(httptest.NewRecorder(), r)
		w.WriteHeader(http.StatusServiceUnavailable)
	case f.CutAfter > 0:
		answer := httptest.NewRecorder()
		forward.ServeHTTP(answer, r)
		cut(w, answer, f.CutAfter)
	default:
		forward.ServeHTTP(w, r)
	}
	if f.Behind != nil {
		f.Behind()
	}
}

// cut sends the first bytes of an answer that promised more, and closes the connection.
func cut(w http.ResponseWriter, answer *httptest.ResponseRecorder, after int64) {
	body := answer.Body.Bytes()
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(answer.Code)
	w.Write(body[:min(after, int64(len(body)))]) //nolint:errcheck // the other side may have gone
	if after < int64(len(body)) {
		panic(http.ErrAbortHandler)
	}
}
