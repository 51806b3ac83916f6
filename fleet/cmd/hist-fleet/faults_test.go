package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hist-cli/hist/fleet/fleettest"
	"github.com/hist-cli/hist/fleet/work"
)

// outcomes lints a run and returns its rows by key.
func outcomes(t testing.TB, s *fleettest.Server, code int, proxied func()) map[string]work.SessionRow {
	t.Helper()
	in := fleettest.Open(t, s.Bucket+"/in")
	for i := range 3 {
		fleettest.Put(t, in, key(i), fleettest.Damaged(i))
	}
	r := planned(t, s.Bucket+"/in", "-o", s.Bucket+"/out")
	proxied()
	call(t, "lint", r.String()).want(t, code)
	rows, _ := rowsOf(t, r)
	byKey := map[string]work.SessionRow{}
	for _, row := range rows {
		byKey[row.Key] = row
	}
	return byKey
}

// TestBadStream: after a broken stream or an answer of 503 the rest is requested again.
func TestBadStream(t *testing.T) {
	server := fleettest.NewServer(t)
	var cuts atomic.Int64
	rows := outcomes(t, server, exitOK, func() {
		fleettest.NewProxy(t, server).Fault = func(n int64, r *http.Request) fleettest.Fault {
			switch {
			case !strings.Contains(r.URL.Path, "/in/m"):
				return fleettest.Fault{}
			case n%3 == 0:
				return fleettest.Fault{Status: http.StatusServiceUnavailable}
			case n%3 == 1:
				cuts.Add(1)
				return fleettest.Fault{CutAfter: 700}
			}
			return fleettest.Fault{}
		}
	})
	for key, row := range rows {
		if row.Outcome != work.Linted || row.Findings == 0 || row.Bytes != row.StoredBytes {
			t.Errorf("%s: %+v", key, row)
		}
	}
	if cuts.Load() == 0 {
		t.Error("no stream was cut")
	}
}

// TestDeadStream: a session that never comes whole is a row that says so, the others are linted, and the shard is to be
// run again.
func TestDeadStream(t *testing.T) {
	server := fleettest.NewServer(t)
	rows := outcomes(t, server, exitIO, func() {
		fleettest.NewProxy(t, server).Fault = func(_ int64, r *http.Request) fleettest.Fault {
			if strings.HasSuffix(r.URL.Path, key(1)) {
				return fleettest.Fault{CutAfter: 1}
			}
			return fleettest.Fault{}
		}
	})
	if row := rows[key(1)]; row.Outcome != work.Unreadable || !strings.Contains(row.Error, "unavailable") {
		t.Errorf("the dead one: %+v", row)
	}
	if row := rows[key(0)]; row.Outcome != work.Linted {
		t.Errorf("another: %+v", row)
	}
}

// TestReplacedAndGone: what has changed or gone between plan and reading is a row that says so.
func TestReplacedAndGone(t *testing.T) {
	server := fleettest.NewServer(t)
	rows := outcomes(t, server, exitOK, func() {
		in := fleettest.Open(t, server.Bucket+"/in")
		fleettest.Put(t, in, key(0), fleettest.Healthy(0))
		fleettest.NewProxy(t, server).Fault = func(_ int64, r *http.Request) fleettest.Fault {
			switch {
			case strings.HasSuffix(r.URL.Path, key(1)):
				return fleettest.Fault{Status: http.StatusNotFound}
			case strings.HasSuffix(r.URL.Path, key(2)):
				return fleettest.Fault{Status: http.StatusForbidden}
			}
			return fleettest.Fault{}
		}
	})
	for i, want := range []string{work.Changed, work.Changed, work.Unreadable} {
		if row := rows[key(i)]; row.Outcome != want || row.Error == "" || row.Findings != 0 {
			t.Errorf("%s: %+v, want %s", key(i), row, want)
		}
	}
}

// TestNoBucket: a store that denies or does not exist is one line, and exit code 3.
func TestNoBucket(t *testing.T) {
	server := fleettest.NewServer(t)
	for address, want := range map[string]string{"s3://nobody/in": "no such bucket", server.Bucket + "/empty": "no session", t.TempDir() + "/none": "no such bucket or directory", "faults_test.go": "is not a directory"} {
		a := call(t, "plan", address, "-o", t.TempDir()).want(t, exitIO)
		if !strings.Contains(a.err, want) || strings.Count(a.err, "\n") != 1 {
			t.Errorf("%s: %s", address, a.err)
		}
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another")
	if a := call(t, "plan", server.Bucket+"/in", "-o", t.TempDir()).want(t, exitIO); !strings.Contains(a.err, "denied") {
		t.Errorf("denied as %s", a.err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "nobody")
	if a := call(t, "plan", server.Bucket+"/in", "-o", t.TempDir()).want(t, exitIO); strings.Contains(a.err, "gone") {
		t.Errorf("unknown credentials are told as %s", a.err)
	}
}
