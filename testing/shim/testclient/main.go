// Command testclient plays a client, for the tests of the shim: it does what TESTCLIENT says, so that a test knows every
// byte that must arrive.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

func main() {
	role, arg, _ := strings.Cut(os.Getenv("TESTCLIENT"), ":")
	n, _ := strconv.Atoi(arg)
	switch role {
	case "echo":
		io.Copy(os.Stdout, os.Stdin)
		fmt.Fprint(os.Stderr, "bye")
		os.Exit(n)
	case "info":
		json.NewEncoder(os.Stdout).Encode(map[string]any{"pid": os.Getpid(), "args": os.Args, "mode": os.Getenv("HIST_SHIM"), "fds": descriptors()})
		os.Exit(n)
	case "flood":
		line := append(bytes.Repeat([]byte("x"), 119), '\n')
		out := bufio.NewWriterSize(os.Stdout, 64<<10)
		for range n / len(line) {
			out.Write(line)
		}
		out.Flush()
		os.Exit(7)
	case "wait":
		fmt.Println("ready")
		signal.Reset()
		io.Copy(io.Discard, os.Stdin)
		time.Sleep(time.Hour)
	case "launcher": // as npm's: the client is a child with the same streams
		c := exec.Command(os.Args[0], os.Args[1:]...)
		self, _ := os.Executable()
		c.Path, c.Stdin, c.Stdout, c.Stderr = self, os.Stdin, os.Stdout, os.Stderr
		c.Env = append(os.Environ(), "TESTCLIENT="+arg)
		c.Run()
	case "app":
		serve(os.Stdin, os.Stdout)
	case "socket":
		listen()
	case "close": // its input, not its output
		os.Stdin.Close()
		fmt.Println("closed")
		time.Sleep(time.Hour)
	}
}

// descriptors are the numbers of the open files, beyond the standard streams.
func descriptors() (open []string) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if fd, _ := strconv.Atoi(e.Name()); err == nil && fd > 2 && strings.HasPrefix(to, "pipe:") {
			open = append(open, e.Name())
		}
	}
	return open
}

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params struct {
		Thread string `json:"threadId"`
		CWD    string `json:"cwd"`
		Text   string `json:"text"`
	} `json:"params"`
}

// app is an app-server in little: threads are files; a turn whose text is FAIL fails; REFUSE in the environment refuses to
// resume, SLOW answers it late. Whatever it is sent, it writes to the file that RECEIVED names.
type app struct {
	mu       sync.Mutex
	threads  int
	received io.Writer
}

func (a *app) handle(line []byte) (replies []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.received != nil {
		fmt.Fprintf(a.received, "%s\n", line)
	}
	var m message
	if json.Unmarshal(line, &m) != nil {
		return nil
	}
	say := func(format string, args ...any) { replies = append(replies, fmt.Sprintf(format, args...)) }
	switch m.Method {
	case "thread/start":
		a.threads++
		id := fmt.Sprintf("01a1fa85-0000-7000-8000-%012d", a.threads)
		say(`{"id":%s,"result":{"thread":{"id":"%s"},"cwd":"%s"}}`, m.ID, id, m.Params.CWD)
		say(`{"method":"thread/started","params":{"thread":{"id":"%s"}}}`, id)
	case "thread/resume", "thread/read", "thread/fork":
		if m.Method == "thread/resume" && os.Getenv("SLOW") != "" {
			d, _ := time.ParseDuration(os.Getenv("SLOW"))
			time.Sleep(d)
		}
		if m.Method == "thread/resume" && os.Getenv("REFUSE") != "" {
			say(`{"method":"warning","params":{}}`)
			say(`{"id":%s,"error":{"code":-32600,"message":"no"}}`, m.ID)
			return replies
		}
		say(`{"id":%s,"result":{"thread":{"id":"%s"},"cwd":"%s","sha256":"%s"}}`, m.ID, m.Params.Thread, m.Params.CWD, digest(m.Params.Thread))
	case "turn/start":
		say(`{"id":%s,"result":{}}`, m.ID)
		say(`{"method":"turn/started","params":{"threadId":"%s"}}`, m.Params.Thread)
		if m.Params.Text == "FAIL" {
			say(`{"method":"thread/status/changed","params":{"threadId":"%s","status":{"type":"systemError"}}}`, m.Params.Thread)
			say(`{"method":"error","params":{"threadId":"%s","willRetry":false}}`, m.Params.Thread)
		}
		say(`{"method":"turn/completed","params":{"threadId":"%s"}}`, m.Params.Thread)
	default:
		if len(m.ID) > 0 {
			say(`{"id":%s,"result":{}}`, m.ID)
		}
	}
	return replies
}

func newApp() *app {
	a := &app{}
	if path := os.Getenv("RECEIVED"); path != "" {
		a.received, _ = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	}
	return a
}

func serve(in io.Reader, out io.Writer) {
	a := newApp()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		for _, r := range a.handle(lines.Bytes()) {
			io.WriteString(out, r+"\n")
		}
	}
}

// digest is the SHA-256 of the file of a thread, as the client would read it now.
func digest(thread string) string {
	found, _ := filepath.Glob(filepath.Join(os.Getenv("CODEX_HOME"), "sessions", "*", "*", "*", "*"+thread+"*"))
	if thread == "" || len(found) == 0 {
		return ""
	}
	text, _ := os.ReadFile(found[0])
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// listen plays an app-server at the socket that the command line names. A path of /raw is answered with what comes.
func listen() {
	path := ""
	for _, a := range os.Args {
		if _, p, found := strings.Cut(a, "unix://"); found {
			path = p
		}
	}
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		fmt.Fprint(os.Stderr, "in use")
		os.Exit(1)
	}
	os.Remove(path)
	l, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprint(os.Stderr, err)
		os.Exit(1)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	go func() {
		<-ended
		os.Remove(path)
		os.Exit(0)
	}()
	fmt.Println("ready")
	a := newApp()
	http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/plain" {
			io.Copy(w, r.Body)
			return
		}
		conn, _, _, err := ws.UpgradeHTTP(r, w)
		if err != nil {
			return
		}
		defer conn.Close()
		for {
			text, op, err := wsutil.ReadClientData(conn)
			if err != nil {
				return
			}
			if r.URL.Path == "/echo" {
				wsutil.WriteServerMessage(conn, op, text)
				continue
			}
			for _, reply := range a.handle(text) {
				wsutil.WriteServerText(conn, []byte(reply))
			}
		}
	}))
}
