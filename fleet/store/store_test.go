package store_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/hist-cli/hist/fleet/fleettest"
	"github.com/hist-cli/hist/fleet/store"
)

// TestConditions: what a store promises of Put, Get and Head, over a directory and over the S3 server.
func TestConditions(t *testing.T) {
	fleettest.Both(t, func(t *testing.T, address string) {
		s, ctx := fleettest.Open(t, address), context.Background()
		put := func(text string, cond store.Condition) error {
			return s.Put(ctx, "a/b.jsonl", strings.NewReader(text), int64(len(text)), cond, nil)
		}
		if _, _, err := s.Head(ctx, "a/b.jsonl"); !errors.Is(err, store.ErrGone) {
			t.Errorf("head of nothing: %v", err)
		}
		if err := put("never", store.Condition{Match: "0123"}); !errors.Is(err, store.ErrChanged) && !errors.Is(err, store.ErrGone) {
			t.Errorf("a match of nothing: %v", err)
		}
		if err := put("one", store.Condition{Absent: true}); err != nil {
			t.Fatal(err)
		}
		if err := put("two", store.Condition{Absent: true}); !errors.Is(err, store.ErrChanged) {
			t.Errorf("absent, though it is there: %v", err)
		}
		first, _, err := s.Head(ctx, "a/b.jsonl")
		if err != nil || first.Size != 3 {
			t.Fatalf("%+v %v", first, err)
		}
		if err := put("three", store.Condition{Match: first.ETag}); err != nil {
			t.Errorf("matching: %v", err)
		}
		if err := put("four", store.Condition{Match: first.ETag}); !errors.Is(err, store.ErrChanged) {
			t.Errorf("no longer matching: %v", err)
		}
		if _, err := s.Get(ctx, "a/b.jsonl", first.ETag); !errors.Is(err, store.ErrChanged) {
			t.Errorf("get of what has changed: %v", err)
		}
		if _, err := s.Get(ctx, "a/none", ""); !errors.Is(err, store.ErrGone) {
			t.Errorf("get of nothing: %v", err)
		}
		if got := fleettest.Read(t, s, "a/b.jsonl"); got != "three" {
			t.Errorf("read %q", got)
		}
	})
}

// TestOddPrefixes: a prefix is taken literally, because keys are not URLs.
func TestOddPrefixes(t *testing.T) {
	server := fleettest.NewServer(t)
	whole, ctx := fleettest.Open(t, server.Bucket), context.Background()
	for _, prefix := range []string{"sp ace", "üñí/日本", "100%", "a#b", "q?x", "a%20b", "plain"} {
		fleettest.Put(t, whole, prefix+"/x.jsonl", []byte(prefix))
		s := fleettest.Open(t, server.Bucket+"/"+prefix)
		if got := fleettest.Read(t, s, "x.jsonl"); got != prefix {
			t.Errorf("%s: read %q", prefix, got)
		}
		var keys []string
		err := fleettest.Open(t, s.URL()).List(ctx, "", func(o store.Object) error { keys = append(keys, o.Key); return nil })
		if err != nil || len(keys) != 1 || keys[0] != "x.jsonl" {
			t.Errorf("%s: %q, %v", s.URL(), keys, err)
		}
	}
}

// TestBadEndpoint: an invalid service address is an error before any request is made.
func TestBadEndpoint(t *testing.T) {
	for _, endpoint := range []string{"ftp://127.0.0.1", "127.0.0.1:9000", "http://a b", "https://"} {
		fleettest.Use(t, endpoint)
		if _, err := store.Open("s3://sessions/in"); err == nil || !strings.Contains(err.Error(), "AWS_ENDPOINT_URL") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

// TestKeysStayInside: no key leads out of a directory.
func TestKeysStayInside(t *testing.T) {
	s := fleettest.Open(t, t.TempDir())
	for _, key := range []string{"../x", "a/../../x", "/etc/x", ""} {
		if err := s.Put(context.Background(), key, strings.NewReader("x"), 1, store.Condition{}, nil); err == nil {
			t.Errorf("%q was written", key)
		}
	}
}

// TestProbe: a store that respects conditions is accepted, one that ignores them is not.
func TestProbe(t *testing.T) {
	fleettest.Both(t, func(t *testing.T, address string) {
		s := fleettest.Open(t, address)
		if err := store.Probe(context.Background(), s, ".hist/probe"); err != nil {
			t.Error(err)
		}
		if err := store.Probe(context.Background(), unconditional{s}, ".hist/probe"); !errors.Is(err, store.ErrUnconditional) {
			t.Errorf("a store that ignores conditions: %v", err)
		}
		if err := store.Probe(context.Background(), halfConditional{s}, ".hist/probe"); !errors.Is(err, store.ErrUnconditional) {
			t.Errorf("a store that ignores If-None-Match: %v", err)
		}
	})
}

type unconditional struct{ store.Store }

func (u unconditional) Put(ctx context.Context, key string, body io.ReadSeeker, size int64, _ store.Condition, meta map[string]string) error {
	return u.Store.Put(ctx, key, body, size, store.Condition{}, meta)
}

type halfConditional struct{ store.Store }

func (h halfConditional) Put(ctx context.Context, key string, body io.ReadSeeker, size int64, cond store.Condition, meta map[string]string) error {
	return h.Store.Put(ctx, key, body, size, store.Condition{Match: cond.Match}, meta)
}

var listed = flag.Int("pages", 100, "how many pages of 1000 keys TestLongListing lists")

// TestLongListing: a bucket's keys come one after another; their number costs no memory.
func TestLongListing(t *testing.T) {
	const perPage = 1000
	pages := *listed
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := 0
		fmt.Sscan(r.URL.Query().Get("continuation-token"), &page) //nolint:errcheck // the first page has none
		fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>many</Name><IsTruncated>%t</IsTruncated><NextContinuationToken>%d</NextContinuationToken>`, page+1 < pages, page+1)
		for n := range perPage {
			fmt.Fprintf(w, `<Contents><Key>day/rollout-%08d.jsonl</Key><LastModified>2026-11-20T10:00:00.000Z</LastModified><ETag>&quot;%032x&quot;</ETag><Size>12345</Size></Contents>`, page*perPage+n, n)
		}
		fmt.Fprint(w, `</ListBucketResult>`)
	}))
	defer front.Close()
	fleettest.Use(t, front.URL)
	s := fleettest.Open(t, "s3://many")
	keys, last := 0, ""
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	err := s.List(context.Background(), "", func(o store.Object) error {
		if o.Key <= last || o.Size != 12345 || len(o.ETag) != 32 {
			t.Fatalf("%+v behind %s", o, last)
		}
		keys, last = keys+1, o.Key
		return nil
	})
	runtime.GC()
	runtime.ReadMemStats(&after)
	if err != nil || keys != pages*perPage {
		t.Errorf("%d keys, %v", keys, err)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("the listing left %d bytes on the heap", grown)
	}
}
