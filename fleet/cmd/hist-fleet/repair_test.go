package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hist-cli/hist/fleet/fleettest"
	"github.com/hist-cli/hist/fleet/plan"
	"github.com/hist-cli/hist/fleet/store"
	"github.com/hist-cli/hist/lint"
)

// linted fills a store with damaged sessions and lints it.
func linted(t testing.TB, address string, n int) plan.Run {
	t.Helper()
	s := fleettest.Open(t, address+"/in")
	for i := range n {
		fleettest.Put(t, s, key(i), fleettest.Damaged(i))
	}
	r := planned(t, address+"/in", "-o", address+"/out")
	call(t, "lint", r.String()).want(t, exitOK)
	return r
}

func key(i int) string { return fmt.Sprintf("m%d/rollout-%03d.jsonl", i%3, i) }

// mended says whether a session has nothing but notes left.
func mended(t testing.TB, text string) bool {
	t.Helper()
	res, err := lint.Session(context.Background(), strings.NewReader(text), lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Findings {
		if f.Impact != lint.Notes {
			return false
		}
	}
	return true
}

// TestCopies: repaired sessions go to another store, the damaged ones stay, and a second run writes nothing.
func TestCopies(t *testing.T) {
	fleettest.Both(t, func(t *testing.T, address string) {
		r := linted(t, address, 5)
		call(t, "repair", r.String(), "--to", address+"/mended").want(t, exitOK)
		in, to := fleettest.Open(t, address+"/in"), fleettest.Open(t, address+"/mended")
		for i := range 5 {
			if got := fleettest.Read(t, in, key(i)); got != string(fleettest.Damaged(i)) {
				t.Errorf("%s was changed", key(i))
			}
			if !mended(t, fleettest.Read(t, to, key(i))) {
				t.Errorf("the copy of %s is damaged", key(i))
			}
		}
		again := call(t, "repair", r.String(), "--to", address+"/mended").want(t, exitOK)
		if !strings.Contains(again.err, "5 repaired") {
			t.Errorf("the second time: %s", again.err)
		}
		fleettest.Put(t, to, key(0), []byte("somebody's\n"))
		a := call(t, "repair", r.String(), "--to", address+"/mended").want(t, exitFindings)
		if fleettest.Read(t, to, key(0)) != "somebody's\n" || !strings.Contains(a.err, "was not written by hist-fleet") {
			t.Errorf("what was there already: %s", a.err)
		}
	})
}

// goOn appends to an object and keeps its metadata, as programs do that mount a bucket as a disk.
func goOn(t testing.TB, s store.Store, key string) (text string) {
	t.Helper()
	_, meta, err := s.Head(context.Background(), key)
	if err != nil || len(meta) == 0 {
		t.Fatalf("%s: metadata %v, %v", key, meta, err)
	}
	text = fleettest.Read(t, s, key) + "{\"more\":1}\n"
	if err := s.Put(context.Background(), key, strings.NewReader(text), int64(len(text)), store.Condition{}, meta); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestCopyWrittenTo: a copy that somebody has written to since is not taken for what the repair wrote, although its metadata say so:
// it is neither told as repaired nor replaced when the session has changed.
func TestCopyWrittenTo(t *testing.T) {
	fleettest.Both(t, func(t *testing.T, address string) {
		r := linted(t, address, 2)
		call(t, "repair", r.String(), "--to", address+"/mended").want(t, exitOK)
		in, to := fleettest.Open(t, address+"/in"), fleettest.Open(t, address+"/mended")
		text := goOn(t, to, key(0))
		refused := func(r plan.Run) {
			t.Helper()
			a := call(t, "repair", r.String(), "--to", address+"/mended").want(t, exitFindings)
			if fleettest.Read(t, to, key(0)) != text || !strings.Contains(a.err, "1 repaired") || !strings.Contains(a.err, "has been written to since") {
				t.Errorf("run %s: %s", r.ID, a.err)
			}
		}
		refused(r)
		old := fleettest.Read(t, to, key(1))
		for i := range 2 {
			fleettest.Put(t, in, key(i), fleettest.Damaged(7+i))
		}
		r = planned(t, address+"/in", "-o", address+"/again")
		call(t, "lint", r.String()).want(t, exitOK)
		refused(r)
		if now := fleettest.Read(t, to, key(1)); now == old || !mended(t, now) {
			t.Error("what the repair wrote was not replaced when the session had changed")
		}
	})
}

// TestInPlace: the damaged object is kept and replaced; again it changes nothing; what changed meanwhile is left alone.
func TestInPlace(t *testing.T) {
	server := fleettest.NewServer(t)
	r := linted(t, server.Bucket, 4)
	in := fleettest.Open(t, server.Bucket+"/in")
	fleettest.Put(t, in, key(3), fleettest.Healthy(3))
	for range 2 {
		a := call(t, "repair", r.String(), "--in-place").want(t, exitOK)
		if !strings.Contains(a.err, "4 sessions damaged: 3 repaired") || !strings.Contains(a.err, "1 changed") {
			t.Errorf("told as %s", a.err)
		}
		whole(t, in, 3)
		if fleettest.Read(t, in, key(3)) != string(fleettest.Healthy(3)) {
			t.Errorf("%s was overwritten", key(3))
		}
	}
}

// whole checks that the first n sessions are repaired and their originals kept, each once.
func whole(t testing.TB, in store.Store, n int) {
	t.Helper()
	kept := map[string]int{}
	for _, k := range fleettest.Keys(t, in, ".hist/originals/") {
		for i := range n {
			if strings.HasSuffix(k, "/"+key(i)) {
				kept[key(i)]++
				if fleettest.Read(t, in, k) != string(fleettest.Damaged(i)) {
					t.Errorf("%s is not the original", k)
				}
			}
		}
	}
	for i := range n {
		if !mended(t, fleettest.Read(t, in, key(i))) {
			t.Errorf("%s is damaged still", key(i))
		}
		if kept[key(i)] != 1 {
			t.Errorf("%d originals of %s", kept[key(i)], key(i))
		}
	}
}

// TestLostAnswer: the store wrote, but said that it failed: the second try finds its own work.
func TestLostAnswer(t *testing.T) {
	server := fleettest.NewServer(t)
	r := linted(t, server.Bucket, 2)
	proxy := fleettest.NewProxy(t, server)
	var once sync.Map
	proxy.Fault = func(_ int64, req *http.Request) fleettest.Fault {
		if req.Method != http.MethodPut || !strings.Contains(req.URL.Path, "/in/m") {
			return fleettest.Fault{}
		}
		_, before := once.LoadOrStore(req.URL.Path, true)
		return fleettest.Fault{AnswerIsLost: !before}
	}
	call(t, "repair", r.String(), "--in-place").want(t, exitOK)
	whole(t, fleettest.Open(t, server.Bucket+"/in"), 2)
}

// TestNothingIsReplacedUnkept: a damaged object stays if its original could not be kept: the store says that somebody else writes it,
// and nobody does, or something else has its place.
func TestNothingIsReplacedUnkept(t *testing.T) {
	server := fleettest.NewServer(t)
	r := linted(t, server.Bucket, 2)
	in := fleettest.Open(t, server.Bucket+"/in")
	other, _, err := in.Head(context.Background(), key(1))
	if err != nil {
		t.Fatal(err)
	}
	place := ".hist/originals/" + other.ETag + "/" + key(1)
	fleettest.Put(t, in, place, []byte("something else"))
	proxy := fleettest.NewProxy(t, server)
	proxy.Fault = func(_ int64, req *http.Request) fleettest.Fault {
		if req.Method == http.MethodPut && strings.Contains(req.URL.Path, "/originals/") && strings.HasSuffix(req.URL.Path, key(0)) {
			return fleettest.Fault{Status: http.StatusConflict, Code: "ConditionalRequestConflict"}
		}
		return fleettest.Fault{}
	}
	a := call(t, "repair", r.String(), "--in-place").want(t, exitIO)
	for i := range 2 {
		if fleettest.Read(t, in, key(i)) != string(fleettest.Damaged(i)) {
			t.Errorf("%s was replaced, and its original is not kept: %s", key(i), a.err)
		}
	}
	if !strings.Contains(a.err, "was not written") || !strings.Contains(a.err, "holds something else") {
		t.Errorf("told as %s", a.err)
	}
	proxy.Fault = nil
	call(t, "repair", r.String(), "--in-place").want(t, exitFindings)
	if !mended(t, fleettest.Read(t, in, key(0))) || fleettest.Read(t, in, place) != "something else" {
		t.Error("the second try does not mend the one, or overwrites what has the original's place")
	}
}

// TestWriterAgainstRepair: a writer that heeds conditions appends to sessions while two repairs go over them. No update
// of the writer's is lost.
func TestWriterAgainstRepair(t *testing.T) {
	server := fleettest.NewServer(t)
	const sessions = 12
	r := linted(t, server.Bucket, sessions)
	in := fleettest.Open(t, server.Bucket+"/in")
	ctx := context.Background()
	done := make(chan struct{})
	updates := make([]int, sessions) // by the session's number, of the writer's own
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			default:
			}
			i := n % sessions
			if update(ctx, in, key(i), fmt.Sprintf("{\"update\":\"%d-%d\"}\n", i, updates[i])) == nil {
				updates[i]++
			}
		}
	})
	var repairs sync.WaitGroup
	for range 2 {
		repairs.Go(func() { call(t, "repair", r.String(), "--in-place") })
	}
	repairs.Wait()
	time.Sleep(200 * time.Millisecond)
	close(done)
	writer.Wait()
	total := 0
	for i := range sessions {
		text := fleettest.Read(t, in, key(i))
		total += updates[i]
		for n := range updates[i] {
			if !strings.Contains(text, fmt.Sprintf("%d-%d", i, n)) {
				t.Errorf("%s lost update %d of %d", key(i), n, updates[i])
			}
		}
	}
	if total == 0 {
		t.Error("the writer never wrote")
	}
	t.Logf("%d updates, none lost", total)
}

// update appends a line to an object if nobody else has written it meanwhile.
func update(ctx context.Context, s store.Store, key, line string) error {
	o, _, err := s.Head(ctx, key)
	if err != nil {
		return err
	}
	body, err := s.Get(ctx, key, o.ETag)
	if err != nil {
		return err
	}
	defer body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(body); err != nil {
		return err
	}
	b.WriteString(line)
	return s.Put(ctx, key, bytes.NewReader(b.Bytes()), int64(b.Len()), store.Condition{Match: o.ETag}, nil)
}

// TestKilledRepair kills a repair behind each of its requests that write, and runs it again: every session is repaired,
// and every original is kept once.
func TestKilledRepair(t *testing.T) {
	server := fleettest.NewServer(t)
	const sessions = 4
	for at := 1; ; at++ {
		address := fmt.Sprintf("%s/kill%d", server.Bucket, at)
		fleettest.Use(t, server.Endpoint)
		r := linted(t, address, sessions)
		proxy := fleettest.NewProxy(t, server)
		child := exec.Command(os.Args[0], "repair", r.String(), "--in-place", "--workers", "2")
		child.Env = append(os.Environ(), "HIST_FLEET_TEST_CHILD=1")
		writes, killed := 0, false
		var mu sync.Mutex
		proxy.Fault = func(_ int64, req *http.Request) fleettest.Fault {
			mu.Lock()
			defer mu.Unlock()
			if req.Method != http.MethodPut {
				return fleettest.Fault{}
			}
			if writes++; writes == at {
				return fleettest.Fault{Behind: func() { killed = child.Process.Kill() == nil }}
			}
			return fleettest.Fault{}
		}
		err := child.Run()
		proxy.Fault = nil
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		call(t, "repair", r.String(), "--in-place").want(t, exitOK)
		whole(t, fleettest.Open(t, address+"/in"), sessions)
		if mu.Lock(); !killed {
			mu.Unlock()
			if at < 2*sessions {
				t.Errorf("a repair of %d sessions made %d writes only", sessions, at)
			}
			return
		}
		mu.Unlock()
	}
}
