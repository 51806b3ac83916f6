package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/hist-cli/hist/fleet/fleettest"
	"github.com/hist-cli/hist/fleet/work"
)

// TestUndo: what a repair in place has replaced is back, byte for byte; what somebody wrote since is left alone; again it
// changes nothing; and a repair may follow.
func TestUndo(t *testing.T) {
	server := fleettest.NewServer(t)
	r := linted(t, server.Bucket, 4)
	in := fleettest.Open(t, server.Bucket+"/in")
	if a := call(t, "undo", r.String()).want(t, exitOK); !strings.Contains(a.err, "4 never replaced") {
		t.Errorf("before the repair: %s", a.err)
	}
	call(t, "repair", r.String(), "--in-place").want(t, exitOK)
	fleettest.Put(t, in, key(3), []byte("somebody's\n"))
	if a := call(t, "undo", r.String(), "--key", key(2)).want(t, exitOK); !strings.Contains(a.err, "1 session damaged: 1 undone") || fleettest.Read(t, in, key(2)) != string(fleettest.Damaged(2)) || !mended(t, fleettest.Read(t, in, key(0))) {
		t.Errorf("of one: %s", a.err)
	}
	for range 2 {
		a := call(t, "undo", r.String()).want(t, exitFindings)
		if !strings.Contains(a.err, "3 undone") || !strings.Contains(a.err, "1 changed since") {
			t.Errorf("told as %s", a.err)
		}
		for i := range 3 {
			if fleettest.Read(t, in, key(i)) != string(fleettest.Damaged(i)) {
				t.Errorf("%s is not back", key(i))
			}
		}
		if fleettest.Read(t, in, key(3)) != "somebody's\n" {
			t.Errorf("%s was overwritten", key(3))
		}
	}
	if text := fleettest.Read(t, fleettest.Open(t, r.Out), r.UndoneKey(0, 1)); strings.Count(text, `"outcome":"`+work.Undone) != 3 || strings.Count(text, `"outcome":"`+work.Changed) != 1 {
		t.Errorf("reported as %s", text)
	}
	call(t, "repair", r.String(), "--in-place").want(t, exitOK)
	whole(t, in, 3)
}

// TestUndoWrittenTo: an undo leaves a session alone that somebody has continued since the repair, although its metadata say that it is
// the repair's.
func TestUndoWrittenTo(t *testing.T) {
	server := fleettest.NewServer(t)
	r := linted(t, server.Bucket, 2)
	call(t, "repair", r.String(), "--in-place").want(t, exitOK)
	in := fleettest.Open(t, server.Bucket+"/in")
	text := goOn(t, in, key(0))
	a := call(t, "undo", r.String()).want(t, exitFindings)
	if fleettest.Read(t, in, key(0)) != text || fleettest.Read(t, in, key(1)) != string(fleettest.Damaged(1)) || !strings.Contains(a.err, "1 changed since") {
		t.Errorf("told as %s", a.err)
	}
}

// TestUndoLost: the answer of a write is lost, and what the repair kept is gone.
func TestUndoLost(t *testing.T) {
	server := fleettest.NewServer(t)
	r := linted(t, server.Bucket, 2)
	call(t, "repair", r.String(), "--in-place").want(t, exitOK)
	proxy := fleettest.NewProxy(t, server)
	proxy.Fault = func(_ int64, req *http.Request) fleettest.Fault {
		switch {
		case strings.Contains(req.URL.Path, "/originals/") && strings.HasSuffix(req.URL.Path, key(1)):
			return fleettest.Fault{Status: http.StatusNotFound}
		case req.Method == http.MethodPut && strings.HasSuffix(req.URL.Path, "/in/"+key(0)):
			return fleettest.Fault{AnswerIsLost: true}
		}
		return fleettest.Fault{}
	}
	a := call(t, "undo", r.String()).want(t, exitIO)
	if !strings.Contains(a.err, "1 undone") || !strings.Contains(a.err, "no longer exists") {
		t.Errorf("told as %s", a.err)
	}
	in := fleettest.Open(t, server.Bucket+"/in")
	if fleettest.Read(t, in, key(0)) != string(fleettest.Damaged(0)) || !mended(t, fleettest.Read(t, in, key(1))) {
		t.Error("one is not back, or the other is not as it was")
	}
}

// TestKilledUndo kills an undo behind each of its requests that write, and runs it again: every session is back.
func TestKilledUndo(t *testing.T) {
	server := fleettest.NewServer(t)
	const sessions = 3
	for at := 1; ; at++ {
		address := fmt.Sprintf("%s/undo%d", server.Bucket, at)
		fleettest.Use(t, server.Endpoint)
		r := linted(t, address, sessions)
		call(t, "repair", r.String(), "--in-place").want(t, exitOK)
		proxy := fleettest.NewProxy(t, server)
		child := exec.Command(os.Args[0], "undo", r.String(), "--workers", "2")
		child.Env = append(os.Environ(), "HIST_FLEET_TEST_CHILD=1")
		var mu sync.Mutex
		writes, killed := 0, false
		proxy.Fault = func(_ int64, req *http.Request) fleettest.Fault {
			mu.Lock()
			defer mu.Unlock()
			if req.Method == http.MethodPut {
				if writes++; writes == at {
					return fleettest.Fault{Behind: func() {
						mu.Lock()
						defer mu.Unlock()
						killed = child.Process.Kill() == nil
					}}
				}
			}
			return fleettest.Fault{}
		}
		var exit *exec.ExitError
		if err := child.Run(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		call(t, "undo", r.String()).want(t, exitOK)
		in := fleettest.Open(t, address+"/in")
		for i := range sessions {
			if fleettest.Read(t, in, key(i)) != string(fleettest.Damaged(i)) {
				t.Errorf("killed at %d: %s is not back", at, key(i))
			}
		}
		mu.Lock()
		ended := !killed
		mu.Unlock()
		if ended {
			if at <= sessions {
				t.Errorf("an undo of %d sessions made %d writes only", sessions, at)
			}
			return
		}
	}
}
