// Package fleettest helps to test the fleet: stores filled with sessions, a real S3 server on loopback, and a proxy in front
// of it that misbehaves.
package fleettest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/fleet/store"
)

// ServerVariable names the environment variable with the path of the S3 server's program, versitygw.
const ServerVariable = "HIST_S3_SERVER"

const credential = "fleettest"

// Server is an S3 server on loopback with one bucket.
type Server struct {
	Endpoint string // http://127.0.0.1:PORT
	Bucket   string // s3://sessions
}

// NewServer starts the real server, and makes the environment point at it. Without the program the test is skipped.
func NewServer(t testing.TB) *Server {
	t.Helper()
	program := os.Getenv(ServerVariable)
	if program == "" {
		t.Skipf("%s does not name an S3 server", ServerVariable)
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	command := exec.Command(program, "--port", address, "posix", root)
	command.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+credential, "ROOT_SECRET_KEY="+credential)
	var log bytes.Buffer
	command.Stdout, command.Stderr = &log, &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Kill() //nolint:errcheck // it may have ended by itself
		command.Wait()         //nolint:errcheck // it was killed
		if t.Failed() {
			t.Logf("the server said:\n%s", log.Bytes())
		}
	})
	s := &Server{Endpoint: "http://" + address, Bucket: "s3://sessions"}
	s.await(t)
	Use(t, s.Endpoint)
	return s
}

// Use makes the environment point at an endpoint.
func Use(t testing.TB, endpoint string) {
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": credential, "AWS_SECRET_ACCESS_KEY": credential, "AWS_ENDPOINT_URL_S3": "",
	} {
		t.Setenv(name, value)
	}
}

func freeAddress(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// await returns when the server answers.
func (s *Server) await(t testing.TB) {
	for range 200 {
		resp, err := http.Get(s.Endpoint)
		if err == nil {
			resp.Body.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the S3 server does not answer")
}

// Open opens a store or ends the test.
func Open(t testing.TB, address string) store.Store {
	t.Helper()
	s, err := store.Open(address)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Put writes an object or ends the test.
func Put(t testing.TB, s store.Store, key string, text []byte) {
	t.Helper()
	if err := s.Put(context.Background(), key, bytes.NewReader(text), int64(len(text)), store.Condition{}, nil); err != nil {
		t.Fatal(err)
	}
}

// Fill puts all session files below a directory into a store, and returns how many there are.
func Fill(t testing.TB, s store.Store, dir string) int {
	t.Helper()
	from := Open(t, dir)
	n := 0
	err := from.List(context.Background(), "", func(o store.Object) error {
		if !strings.HasSuffix(o.Key, ".jsonl") && !strings.HasSuffix(o.Key, ".zst") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(o.Key)))
		if err != nil {
			return err
		}
		Put(t, s, o.Key, text)
		n++
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("filling %s from %s: %d objects, %v", s.URL(), dir, n, err)
	}
	return n
}

// Read returns an object's bytes or ends the test.
func Read(t testing.TB, s store.Store, key string) string {
	t.Helper()
	body, err := s.Get(context.Background(), key, "")
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	defer body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(body); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return b.String()
}

// Keys lists a store.
func Keys(t testing.TB, s store.Store, prefix string) []string {
	t.Helper()
	var keys []string
	err := s.List(context.Background(), prefix, func(o store.Object) error {
		keys = append(keys, o.Key)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// Both runs a test over a directory and over the S3 server.
func Both(t *testing.T, test func(t *testing.T, address string)) {
	t.Run("directory", func(t *testing.T) { test(t, t.TempDir()) })
	t.Run("s3", func(t *testing.T) { test(t, NewServer(t).Bucket+"/fleet") })
}

// Damaged returns a session that Codex left when it was killed while a tool was running: it has one call without an output.
// Different ids give different sessions.
func Damaged(id int) []byte { return session(id, false) }

// Healthy returns the same session with the output of the call and an answer.
func Healthy(id int) []byte { return session(id, true) }

func session(id int, healthy bool) []byte {
	thread := fmt.Sprintf("01a1fa85-bfc3-74d1-9684-%012d", id)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	const at = `"timestamp":"2026-11-18T09:30:00.000Z"`
	line(`{%s,"ordinal":0,"type":"session_meta","payload":{"id":%q,"session_id":%[2]q,"timestamp":"2026-11-18T09:30:00.000Z","cwd":"/home/dev","originator":"codex_exec","cli_version":"0.169.0","source":"exec","model_provider":"openai","history_mode":"paginated"}}`, at, thread)
	line(`{%s,"ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_id":"t1"}}`, at)
	line(`{%s,"ordinal":2,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"look"}]}}`, at)
	line(`{%s,"ordinal":3,"type":"event_msg","payload":{"type":"user_message","message":"look"}}`, at)
	line(`{%s,"ordinal":4,"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"}}`, at)
	if healthy {
		line(`{%s,"ordinal":5,"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"a.txt"}}`, at)
		line(`{%s,"ordinal":6,"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}}`, at)
		line(`{%s,"ordinal":7,"type":"event_msg","payload":{"type":"task_complete","turn_id":"t1","last_agent_message":"done"}}`, at)
		return []byte(b.String())
	}
	line(`{%s,"ordinal":5,"type":"event_msg","payload":{"type":"turn_aborted","turn_id":"t1","reason":"interrupted"}}`, at)
	return []byte(b.String())
}
