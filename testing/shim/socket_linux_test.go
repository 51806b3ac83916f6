package shim_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

// listening starts an app-server at a socket and waits until it can be reached.
func (p *place) listening() (*running, string) {
	p.t.Helper()
	path := filepath.Join(p.dir, "engine.sock")
	r := p.start("app-server", "-c", "a=b", "--listen", "unix://"+path)
	return r, path
}

// reach connects, as soon as somebody listens.
func reach(t testing.TB, path string) net.Conn {
	t.Helper()
	for range 500 {
		if c, err := net.Dial("unix", path); err == nil {
			t.Cleanup(func() { c.Close() })
			c.SetDeadline(time.Now().Add(20 * time.Second))
			return c
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("nobody listens at " + path)
	return nil
}

// talk upgrades a connection to a websocket.
func talk(t *testing.T, path, url string) net.Conn {
	t.Helper()
	d := ws.Dialer{NetDial: func(context.Context, string, string) (net.Conn, error) { return reach(t, path), nil }}
	c, early, _, err := d.Dial(t.Context(), "ws://localhost"+url)
	if err != nil || early != nil {
		t.Fatal(err)
	}
	return c
}

func ask(t *testing.T, c net.Conn, message string) string {
	t.Helper()
	if err := wsutil.WriteClientText(c, []byte(message)); err != nil {
		t.Fatal(err)
	}
	return hear(t, c)
}

// hear returns the next message that is no notification.
func hear(t *testing.T, c net.Conn) string {
	t.Helper()
	for {
		text, err := wsutil.ReadServerText(c)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(`"id"`)) && !bytes.Contains(text, []byte(`"method"`)) {
			return string(text)
		}
	}
}

// Behind a socket a session is repaired before the client reads it, too; two connections may use the same ids.
func TestSocket(t *testing.T) {
	p := newPlace(t, "socket")
	p.env = append(p.env, "RECEIVED="+filepath.Join(p.dir, "received"))
	session := p.session()
	before := fileSum(t, session)
	r, path := p.listening()
	one, two := talk(t, path, "/"), talk(t, path, "/")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	ask(t, one, hello)
	ask(t, two, strings.Replace(hello, "my-wrapper", "other", 1))
	message := `{"id":1,"method":"thread/read","params":{"threadId":"` + damaged + `"}}`
	answer := ask(t, one, message)
	if after := fileSum(t, session); after == before || !strings.Contains(answer, after) {
		t.Errorf("the session was not repaired before the client read it: %s", answer)
	}
	ask(t, two, `{"id":1,"method":"thread/resume","params":{"threadId":"`+damaged+`"}}`)
	if received, err := os.ReadFile(filepath.Join(p.dir, "received")); err != nil || !strings.Contains(string(received), message+"\n") {
		t.Errorf("%v: %s", err, received)
	}
	if got := ask(t, two, `{"id":2,"method":"thread/start","params":{"cwd":"/x"}}`); !strings.Contains(got, `"cwd":"/x"`) {
		t.Error(got)
	}
	log := p.log(`"via":"thread/start","caller":"other/1.2"`)
	if n := strings.Count(log, damaged+`"],"thread_id"`); n != 1 || !strings.Contains(log, `"via":"thread/read","caller":"my-wrapper/1.2"`) {
		t.Errorf("looked %d times: %s", n, log)
	}
	relay := relayOf(r.cmd.Process.Pid)
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.cmd.Wait()
	if r.cmd.ProcessState.ExitCode() != 0 || r.stderr.Len() > 0 {
		t.Errorf("%v: %s", r.cmd.ProcessState, r.stderr)
	}
	gone(t, relay)
	for _, name := range []string{path, path + ".c"} {
		if _, err := os.Lstat(name); err == nil {
			t.Errorf("%s is left over", name)
		}
	}
}

// Every kind of frame arrives as it was sent: long ones, those of several, pings, binary, and a plain HTTP answer.
func TestFrames(t *testing.T) {
	p := newPlace(t, "socket")
	_, path := p.listening()
	c := talk(t, path, "/echo")
	long := make([]byte, 3<<20)
	rand.Read(long)
	named := []byte(`{"id":1,"method":"thread/read","params":{"threadId":"` + damaged + `"}}`)
	for name, text := range map[string][]byte{"short": []byte("x"), "none": {}, "126": make([]byte, 126), "64 KiB": make([]byte, 65536), "3 MB": long, "named": named} {
		go wsutil.WriteClientBinary(c, text)
		if got, err := wsutil.ReadServerBinary(c); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %v, %d bytes", name, err, len(got))
		}
	}
	// A message in two frames, with a ping between them.
	frame := func(op ws.OpCode, fin bool, text string) ws.Frame {
		return ws.MaskFrameInPlace(ws.NewFrame(op, fin, []byte(text)))
	}
	for _, f := range []ws.Frame{frame(ws.OpText, false, string(named[:20])), frame(ws.OpPing, true, "p"), frame(ws.OpContinuation, true, string(named[20:]))} {
		if err := ws.WriteFrame(c, f); err != nil {
			t.Fatal(err)
		}
	}
	pong := make([]byte, 1)
	header, err := ws.ReadHeader(c)
	if err != nil || header.OpCode != ws.OpPong || header.Length != int64(len(pong)) {
		t.Fatalf("%v: %+v", err, header)
	}
	if _, err := io.ReadFull(c, pong); err != nil || string(pong) != "p" {
		t.Errorf("%v: %q", err, pong)
	}
	if got, err := wsutil.ReadServerText(c); err != nil || !bytes.Equal(got, named) {
		t.Errorf("%v: %s", err, got)
	}
	web := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return reach(t, path), nil }}}
	res, err := web.Post("http://localhost/plain", "", bytes.NewReader(long))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(got, long) {
		t.Errorf("%v: %d bytes", err, len(got))
	}
	if n := strings.Count(p.log(""), damaged); n != 0 {
		t.Errorf("a message that comes in parts was looked into %d times", n)
	}
}

// The relay is never the reason that nothing connects.
func TestSocketNames(t *testing.T) {
	t.Run("what a killed server left is replaced", func(t *testing.T) {
		p := newPlace(t, "socket")
		r, path := p.listening()
		talk(t, path, "/")
		relay := relayOf(r.cmd.Process.Pid)
		r.cmd.Process.Kill()
		r.cmd.Wait()
		gone(t, relay)
		if _, err := net.Dial("unix", path); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("a killed server leaves a dead socket: %v", err)
		}
		p.listening()
		ask(t, talk(t, path, "/"), hello)
	})
	t.Run("a name that is too long", func(t *testing.T) {
		p := newPlace(t, "socket")
		dir := filepath.Join(p.dir, strings.Repeat("d", 100-len(p.dir)-len("/engine.sock")-1))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "/engine.sock")
		for len(path) <= 101 {
			path += "x"
		}
		r := p.start("app-server", "--listen", "unix://"+path)
		ask(t, talk(t, path, "/"), hello)
		if relayOf(r.cmd.Process.Pid) != 0 {
			t.Error("a relay")
		}
		p.log("no relay: the socket's name is too long")
	})
	t.Run("another server is there", func(t *testing.T) {
		p := newPlace(t, "socket")
		_, path := p.listening()
		talk(t, path, "/")
		r := p.start("app-server", "--listen", "unix://"+path)
		r.cmd.Wait()
		if r.cmd.ProcessState.ExitCode() != 1 || r.stderr.String() != "in use" { // as the client says it
			t.Errorf("%v: %s", r.cmd.ProcessState, r.stderr)
		}
		ask(t, talk(t, path, "/"), hello)
	})
	t.Run("a place that can't be had", func(t *testing.T) {
		p := newPlace(t, "socket")
		path := filepath.Join(p.dir, "engine.sock")
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		r := p.start("app-server", "--listen", "unix://"+path)
		relay := r.relay()
		ask(t, talk(t, path+".c", "/"), hello) // the client runs where it can
		p.log("not watched: ")
		r.cmd.Process.Signal(syscall.SIGTERM)
		r.cmd.Wait()
		gone(t, relay)
	})
	t.Run("only the launcher is killed", func(t *testing.T) {
		p := newPlace(t, "launcher:socket")
		r, path := p.listening()
		c := talk(t, path, "/")
		relay := r.relay()
		r.cmd.Process.Kill()
		time.Sleep(400 * time.Millisecond)
		ask(t, c, hello)
		ask(t, talk(t, path, "/"), hello)
		out, err := json.Marshal(relay)
		if err != nil || syscall.Kill(relay, 0) != nil {
			t.Errorf("the relay %s has gone before the client", out)
		}
		endListener(t, path+".c")
		gone(t, relay)
	})
	t.Run("what is not watched is said", func(t *testing.T) {
		p := newPlace(t, "info:5")
		p.start("app-server", "--listen", "ws://127.0.0.1:4500").cmd.Wait()
		p.log("not watched: only stdio and unix://PATH are")
	})
}

// endListener ends the process that listens at a socket.
func endListener(t *testing.T, path string) {
	t.Helper()
	c := reach(t, path)
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var peer *syscall.Ucred
	raw.Control(func(fd uintptr) {
		peer, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(int(peer.Pid), syscall.SIGTERM); err != nil {
		t.Fatal(fmt.Errorf("ending %d: %w", peer.Pid, err))
	}
}
