//go:build unix

package relay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/decisions"
)

// wire is a relay with a test at both of its ends.
type wire struct {
	t     *testing.T
	stdio *stdio
	now   time.Time

	caller, client       io.WriteCloser
	toCaller, toClient   *bufio.Reader
	rawCaller, rawClient io.Closer

	look  atomic.Pointer[func()] // what the relay does when it looks at a failed turn
	mu    sync.Mutex
	log   []decisions.Decision
	asked [][]string
	run   func(ctx context.Context, args []string) error
}

func newWire(t *testing.T, rejoin bool) *wire {
	t.Helper()
	w := &wire{t: t, now: time.Now(), run: func(context.Context, []string) error { return nil }}
	pipe := func() (*os.File, *os.File) {
		r, wr, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		return r, wr
	}
	callerIn, caller := pipe()
	toClient, clientIn := pipe()
	clientOut, client := pipe()
	toCaller, callerOut := pipe()
	w.caller, w.client, w.toCaller, w.toClient = caller, client, bufio.NewReader(toCaller), bufio.NewReader(toClient)
	w.rawCaller, w.rawClient = toCaller, toClient
	a := newAsker()
	a.log = func(d decisions.Decision) { w.mu.Lock(); defer w.mu.Unlock(); w.log = append(w.log, d) }
	a.run = func(ctx context.Context, args []string) error {
		w.mu.Lock()
		w.asked = append(w.asked, args)
		w.mu.Unlock()
		return w.run(ctx, args)
	}
	server := newServer()
	server.now = func() time.Time {
		if look := w.look.Load(); look != nil {
			(*look)()
		}
		return w.now
	}
	c := newConn(server)
	c.rejoin = rejoin
	w.stdio = &stdio{conn: c, asker: a, callerIn: callerIn, clientOut: clientOut, callerOut: callerOut, clientIn: clientIn}
	var both sync.WaitGroup
	both.Go(w.stdio.toClient)
	both.Go(w.stdio.toCaller)
	t.Cleanup(func() { caller.Close(); client.Close(); toCaller.Close(); toClient.Close(); both.Wait() })
	return w
}

// up sends a line as the caller and checks what the client gets.
func (w *wire) up(line, want string) {
	w.t.Helper()
	io.WriteString(w.caller, line+"\n")
	w.clientGets(want)
}

func (w *wire) clientGets(want string) {
	w.t.Helper()
	if got, err := w.toClient.ReadString('\n'); got != want+"\n" || err != nil {
		w.t.Fatalf("the client got %q, want %q (%v)", got, want, err)
	}
}

func (w *wire) same(line string) { w.t.Helper(); w.up(line, line) }

// down sends lines as the client, which the caller must get.
func (w *wire) down(lines ...string) {
	w.t.Helper()
	for _, line := range lines {
		io.WriteString(w.client, line+"\n")
		w.callerGets(line)
	}
	w.settle()
}

func (w *wire) callerGets(want string) {
	w.t.Helper()
	if got, err := w.toCaller.ReadString('\n'); got != want+"\n" || err != nil {
		w.t.Fatalf("the caller got %q, want %q (%v)", got, want, err)
	}
}

// settle waits until the relay has read what it has handed on, since it reads the client's messages only after that.
func (w *wire) settle() {
	w.t.Helper()
	io.WriteString(w.client, `{"method":"thread/started","params":{"thread":{"id":"settled"}}}`+"\n")
	w.toCaller.ReadString('\n')
	for range 1000 {
		w.stdio.conn.server.mu.Lock()
		settled := w.stdio.conn.server.open["settled"]
		delete(w.stdio.conn.server.open, "settled")
		w.stdio.conn.server.mu.Unlock()
		if settled {
			return
		}
		time.Sleep(time.Millisecond)
	}
	w.t.Fatal("never settled")
}

// decided returns the last line of the log once all messages so far are dealt with: when the relay has handed on the next
// message, it is done with the one before.
func (w *wire) decided() decisions.Decision {
	w.t.Helper()
	w.same(`{"method":"initialized"}`)
	<-w.stdio.asker.drained()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.log) == 0 {
		return decisions.Decision{}
	}
	return w.log[len(w.log)-1]
}

const (
	a = "01a1fa85-0000-7000-8000-00000000000a"
	b = "01a1fa85-0000-7000-8000-00000000000b"
)

func start(id int, more string) string {
	return fmt.Sprintf(`{"id":%d,"method":"thread/start","params":{"cwd":"/work"%s}}`, id, more)
}

// fails plays a thread whose second turn fails, as HAPI 0.17.1 sees it.
func (w *wire) fails() {
	w.t.Helper()
	w.same(`{"id":0,"method":"initialize","params":{"clientInfo":{"name":"hapi","version":"0.17.1"}}}`)
	w.same(start(1, ""))
	w.down(`{"id":1,"result":{"thread":{"id":"` + a + `"},"cwd":"/work"}}`)
	w.turn(a, false)
	w.turn(a, true)
}

func (w *wire) turn(thread string, fail bool) {
	w.t.Helper()
	w.same(`{"id":2,"method":"turn/start","params":{"threadId":"` + thread + `"}}`)
	w.down(`{"method":"turn/started","params":{"threadId":"` + thread + `"}}`)
	if fail {
		w.down(`{"method":"thread/status/changed","params":{"threadId":"` + thread + `","status":{"type":"systemError"}}}`)
	}
	w.down(`{"method":"turn/completed","params":{"threadId":"` + thread + `"}}`)
}

func TestRejoin(t *testing.T) {
	w := newWire(t, true)
	w.fails()
	more := `,"model":"m","ephemeral":false,"serviceName":"hapi","config":{ "a": 1.0 },"sessionStartSource":"startup"`
	resumed := `{"id":9,"method":"thread/resume","params":{"threadId":"` + a + `","cwd":"/work","model":"m","config":{ "a": 1.0 }}}`
	w.up(start(9, more), resumed)
	w.down(`{"id":9,"result":{"thread":{"id":"` + a + `"},"cwd":"/work"}}`)
	if d := w.decided(); d.Used != a || d.Available == nil || *d.Available != a || d.Via != "thread/start" || d.Caller != "hapi/0.17.1" || d.CWD != "/work" {
		t.Errorf("%+v", d)
	}
	w.same(start(10, "")) // tried once
	w.down(`{"id":10,"result":{"thread":{"id":"` + b + `"}}}`)
	// The thread fails again, and is taken up again: that the caller used it was no return to a failed thread.
	w = newWire(t, true)
	w.fails()
	w.up(start(9, ""), `{"id":9,"method":"thread/resume","params":{"threadId":"`+a+`","cwd":"/work"}}`)
	w.down(`{"id":9,"result":{"thread":{"id":"` + a + `"}}}`)
	w.turn(a, true)
	w.up(start(10, ""), `{"id":10,"method":"thread/resume","params":{"threadId":"`+a+`","cwd":"/work"}}`)
}

// A busy client says that a turn failed only after its end, when the caller has gone back to the thread already: that is seen, and the
// next new thread is meant.
func TestGoesBackBeforeTheFailureIsTold(t *testing.T) {
	w := newWire(t, true)
	w.same(start(1, ""))
	w.down(`{"id":1,"result":{"thread":{"id":"` + a + `"},"cwd":"/work"}}`)
	w.turn(a, false) // that it failed comes later
	status := `{"method":"thread/status/changed","params":{"threadId":"` + a + `","status":{"type":"systemError"}}}`
	w.same(`{"id":3,"method":"turn/start","params":{"threadId":"` + a + `"}}`)
	w.down(status)
	w.down(`{"method":"turn/started","params":{"threadId":"` + a + `"}}`)
	w.down(status)
	w.same(start(9, ""))
	w.down(`{"id":9,"result":{"thread":{"id":"` + b + `"},"cwd":"/work"}}`)
	if d := w.decided(); d.Used != decisions.New || d.Why != "the caller goes back to failed threads by itself" {
		t.Errorf("%+v", d)
	}
}

// The caller does not see a refusal: its own request is sent then, once, and it gets only the answer to that.
func TestRejoinRefused(t *testing.T) {
	w := newWire(t, true)
	w.fails()
	w.up(start(9, ""), `{"id":9,"method":"thread/resume","params":{"threadId":"`+a+`","cwd":"/work"}}`)
	w.down(`{"method":"warning","params":{}}`)
	io.WriteString(w.client, `{"id":9,"error":{"code":-32600,"message":"no"}}`+"\n")
	w.clientGets(start(9, ""))
	w.down(`{"id":9,"result":{"thread":{"id":"` + b + `"},"cwd":"/work"}}`)
	if d := w.decided(); d.Used != decisions.New || d.Available == nil || *d.Available != a || d.Why != "the client would not resume the lost thread" {
		t.Errorf("%+v", d)
	}
	w.same(start(10, ""))
}

// The client's words around a refusal arrive whole, however they are cut.
func TestRejoinRefusedInPieces(t *testing.T) {
	w := newWire(t, true)
	w.fails()
	io.WriteString(w.client, `{"method":"half`) // out before the question
	if got, err := w.toCaller.ReadString('f'); err != nil {
		t.Fatal(got, err)
	}
	w.up(start(9, ""), `{"id":9,"method":"thread/resume","params":{"threadId":"`+a+`","cwd":"/work"}}`)
	for _, piece := range []string{"-line\"}\n{\"met", "hod\":\"x\"}\n{\"id\":9,", `"error":{}}`, "\n{\"met", "hod\":\"y\"}\nend"} {
		io.WriteString(w.client, piece)
		time.Sleep(5 * time.Millisecond)
	}
	w.clientGets(start(9, ""))
	w.client.Close()
	rest, err := io.ReadAll(w.toCaller)
	if want := "-line\"}\n{\"method\":\"x\"}\n{\"method\":\"y\"}\nend"; string(rest) != want || err != nil {
		t.Errorf("%q, want %q (%v)", rest, want, err)
	}
}

// A client that takes too long to answer delays nobody, and the caller does not see its late refusal.
func TestRejoinRefusedLate(t *testing.T) {
	t.Setenv("HIST_SHIM_TIMEOUT", "50ms")
	w := newWire(t, true)
	w.fails()
	w.up(start(9, ""), `{"id":9,"method":"thread/resume","params":{"threadId":"`+a+`","cwd":"/work"}}`)
	w.same(`{"id":10,"method":"other"}`)
	w.down(`{"id":10,"result":{}}`)
	io.WriteString(w.client, `{"id":9,"error":{}}`+"\n")
	w.clientGets(start(9, ""))
	w.down(`{"id":9,"result":{"thread":{"id":"` + b + `"}}}`)
}

// A client that ends without an answer leaves nobody waiting.
func TestRejoinWithoutAnswer(t *testing.T) {
	w := newWire(t, true)
	w.fails()
	w.up(start(9, ""), `{"id":9,"method":"thread/resume","params":{"threadId":"`+a+`","cwd":"/work"}}`)
	w.client.Close()
	w.rawClient.Close()
	if _, err := w.toCaller.ReadString('\n'); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// Each condition alone is enough for the request to go out as it is: an intended new thread is never taken for a lost one.
func TestNoRejoin(t *testing.T) {
	for name, c := range map[string]struct {
		off       bool
		do        func(w *wire)
		start     string
		available bool
	}{
		"switched off":            {off: true, available: true},
		"no failure":              {do: func(w *wire) { w.turn(a, false) }},
		"a turn has begun since":  {do: func(w *wire) { w.down(`{"method":"turn/started","params":{"threadId":"other"}}`) }},
		"another directory":       {start: `{"id":9,"method":"thread/start","params":{"cwd":"/elsewhere"}}`},
		"no directory":            {start: `{"id":9,"method":"thread/start","params":{}}`},
		"ephemeral":               {start: start(9, `,"ephemeral":true`), available: true},
		"/clear":                  {start: start(9, `,"sessionStartSource":"clear"`), available: true},
		"long ago":                {do: func(w *wire) { w.now = w.now.Add(rejoinWindow + time.Second) }, available: true},
		"archived":                {do: func(w *wire) { w.same(`{"id":3,"method":"thread/archive","params":{"threadId":"` + a + `"}}`) }},
		"unsubscribed":            {do: func(w *wire) { w.same(`{"id":3,"method":"thread/unsubscribe","params":{"threadId":"` + a + `"}}`) }},
		"deleted":                 {do: func(w *wire) { w.same(`{"id":3,"method":"thread/delete","params":{"threadId":"` + a + `"}}`) }},
		"closed":                  {do: func(w *wire) { w.down(`{"method":"thread/closed","params":{"threadId":"` + a + `"}}`) }},
		"retried by a turn":       {do: func(w *wire) { w.turn(a, true) }, available: true},
		"retried by a resume":     {do: func(w *wire) { w.same(`{"id":3,"method":"thread/resume","params":{"threadId":"` + a + `"}}`) }, available: true},
		"unknown form":            {start: `{"id":9,"method":"thread/start","params":null}`},
		"another form of message": {start: `{"params":{"cwd":"/elsewhere"},"id":9,"method":"thread/start"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, !c.off)
			w.fails()
			if c.do != nil {
				c.do(w)
			}
			line := c.start
			if line == "" {
				line = start(9, "")
			}
			w.same(line)
			d := w.decided()
			if (d.Available != nil) != c.available || c.available && (d.Used != decisions.New || d.Why == "") {
				t.Errorf("%+v", d)
			}
		})
	}
}

// A new thread without a failure on the connection: hist finds out in the background which thread was lost there, without
// delaying the message.
func TestStartIsLogged(t *testing.T) {
	w := newWire(t, true)
	w.same(start(1, ""))
	<-w.stdio.asker.drained()
	w.mu.Lock()
	defer w.mu.Unlock()
	want := []string{"--via", "thread/start", "--caller", "", "--last", "--cwd", "/work"}
	if len(w.asked) != 1 || !slices.Equal(w.asked[0][len(w.asked[0])-len(want):], want) || slices.Contains(w.asked[0], "--repair") {
		t.Errorf("%q", w.asked)
	}
}

// While hist looks at a thread for one message the other direction goes on, and a look that never ends is ended.
func TestALookThatHangs(t *testing.T) {
	t.Setenv("HIST_SHIM_TIMEOUT", "200ms")
	w := newWire(t, false)
	looking := make(chan bool)
	w.run = func(ctx context.Context, args []string) error {
		looking <- true
		<-ctx.Done()
		return ctx.Err()
	}
	line := `{"id":1,"method":"thread/resume","params":{"threadId":"` + a + `"}}`
	io.WriteString(w.caller, `{"id":0,"method":"x"}`+"\n"+line+"\n")
	<-looking
	w.clientGets(`{"id":0,"method":"x"}`) // what came before it has gone out
	w.down(`{"id":0,"result":{}}`)
	w.clientGets(line)
	if d := w.decided(); d.Why != "hist took too long to look" || d.Via != "thread/resume" {
		t.Errorf("%+v", d)
	}
}

// What the client says is handed on before it is looked at: here the look never ends, and the caller has it all the same.
func TestHandedOnBeforeLookedAt(t *testing.T) {
	w := newWire(t, false)
	w.same(start(1, ""))
	w.down(`{"id":1,"result":{"thread":{"id":"` + a + `"},"cwd":"/work"}}`)
	end := make(chan bool)
	defer close(end)
	block := func() { <-end }
	w.look.Store(&block)
	line := `{"method":"thread/status/changed","params":{"threadId":"` + a + `","status":{"type":"systemError"}}}`
	io.WriteString(w.client, line+"\n")
	w.callerGets(line)
}

// A look for one connection of a server does not hold up another one.
func TestALookHoldsOneConnection(t *testing.T) {
	watch := NewWatch()
	looking, end := make(chan bool), make(chan bool)
	watch.asker.run = func(context.Context, []string) error {
		looking <- true
		<-end
		return nil
	}
	watch.asker.log = func(decisions.Decision) {}
	one, _ := watch.Connect()
	other, down := watch.Connect()
	held := make(chan bool)
	go func() {
		one([]byte(`{"id":1,"method":"thread/resume","params":{"threadId":"` + a + `"}}`))
		close(held)
	}()
	within(t, "the look never began", looking)
	passed := make(chan bool)
	go func() {
		other([]byte(`{"id":1,"method":"turn/start","params":{"threadId":"` + b + `"}}`))
		other([]byte(`{"id":1,"method":"thread/resume","params":{"threadId":"` + a + `"}}`)) // looked at already
		down([]byte(`{"id":1,"result":{"thread":{"id":"` + a + `"}}}`))
		close(passed)
	}()
	within(t, "the other connection waits for the look", passed)
	select {
	case <-held:
		t.Error("the connection that asked does not wait for the look")
	default:
	}
	close(end)
	within(t, "the connection that asked still waits after the look", held)
}

// within ends the test if nothing comes from a channel.
func within(t *testing.T, failure string, done <-chan bool) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal(failure)
	}
}

// A check is good for a while; after that the same thread is checked again.
func TestLooksAgain(t *testing.T) {
	w := newWire(t, false)
	line := `{"id":1,"method":"thread/read","params":{"threadId":"` + a + `"}}`
	for range 3 {
		w.same(line)
	}
	w.now = w.now.Add(lookInterval + time.Second)
	w.same(line)
	w.down(`{"method":"thread/started","params":{"thread":{"id":"` + b + `"}}}`)
	w.same(strings.Replace(line, a, b, 1)) // open
	w.down(`{"method":"thread/status/changed","params":{"threadId":"` + b + `","status":{"type":"notLoaded"}}}`)
	w.same(strings.Replace(line, a, b, 1))
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.asked) != 3 {
		t.Errorf("%q", w.asked)
	}
}

// An editor names a session by the Agent Client Protocol: it is looked at before it is loaded, and not again while it is
// open; a new one is logged.
func TestEditor(t *testing.T) {
	w := newWire(t, true)
	w.same(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"editor","version":"1"}}}`)
	load := `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"` + a + `","cwd":"/work","mcpServers":[]}}`
	w.same(load)
	w.down(`{"jsonrpc":"2.0","id":1,"result":{"modes":null}}`)
	w.now = w.now.Add(lookInterval + time.Second)
	w.same(load) // open
	w.same(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/work","mcpServers":[]}}`)
	w.down(`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"` + b + `"}}`)
	w.same(strings.Replace(load, a, b, 1)) // open
	w.same(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"` + b + `","prompt":[]}}`)
	<-w.stdio.asker.drained()
	w.mu.Lock()
	defer w.mu.Unlock()
	looked := []string{"--via", "session/load", "--repair", "--quiet", "--caller", "editor/1", "--", a}
	begun := []string{"--via", "session/new", "--caller", "editor/1", "--last", "--cwd", "/work"}
	if len(w.asked) != 2 || !slices.Equal(w.asked[0][len(w.asked[0])-len(looked):], looked) || !slices.Equal(w.asked[1][len(w.asked[1])-len(begun):], begun) {
		t.Errorf("%q", w.asked)
	}
}

// What is remembered has a bound.
func TestBounds(t *testing.T) {
	c := newConn(newServer())
	for i := range 3 * maxKnown {
		id := fmt.Sprintf("01a1fa85-0000-7000-8000-%012d", i)
		c.up([]byte(fmt.Sprintf(`{"id":%d,"method":"thread/resume","params":{"threadId":"%s"}}`, i, id)))
		if i%2 == 0 {
			c.down([]byte(fmt.Sprintf(`{"id":%d,"result":{"thread":{"id":"%s"}}}`, i, id)))
		}
	}
	if n := max(len(c.pending), len(c.threads), len(c.server.open), len(c.server.looked)); n > maxKnown {
		t.Error(n)
	}
}

// FuzzConn: whatever is said, nothing panics, and a rewritten request is the same message but for its method and thread.
func FuzzConn(f *testing.F) {
	f.Add([]byte(start(1, "")), []byte(`{"id":1,"result":{"thread":{"id":"x"}}}`))
	f.Add([]byte(`{"method":"thread/start","params":{"a":{"params":1}},"id":"x"}`), []byte(`{"method":"thread/status/changed"}`))
	f.Fuzz(func(t *testing.T, up, down []byte) {
		c := newConn(newServer())
		c.up(up)
		c.down(down)
		c.up(down)
		c.down(up)
		c.refused(down)
		if out := resumed(up, a); out != nil && c.up(up).start != nil {
			if r := readRequest(out); r == nil || r.Params.Thread != a {
				t.Errorf("%q became %q", up, out)
			}
		}
	})
}
