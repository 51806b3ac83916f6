package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/hist-cli/hist/fleet/fleettest"
	"github.com/hist-cli/hist/fleet/store"
)

// TestLargeObject lints one session of 1 GB from the S3 server in a process of its own, which must not hold it.
func TestLargeObject(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a gigabyte of disk")
	}
	server := fleettest.NewServer(t)
	text, err := os.Create(t.TempDir() + "/large.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	const size = 1 << 30
	w := bufio.NewWriterSize(text, 1<<20)
	session := bytes.SplitAfter(fleettest.Healthy(1), []byte("\n"))
	w.Write(session[0]) //nolint:errcheck // Flush tells
	written := int64(len(session[0]))
	for n := 1; written < size; n++ {
		k, _ := fmt.Fprintf(w, `{"timestamp":"2026-11-18T09:30:00.000Z","ordinal":%d,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}]}}`+"\n", n, bytes.Repeat([]byte("x"), 1000))
		written += int64(k)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := text.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	if err := fleettest.Open(t, server.Bucket).Put(t.Context(), "in/large.jsonl", text, written, store.Condition{}, nil); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "lint", server.Bucket+"/in", "--min-age", "0s", "--workers", "1")
	child.Env = append(os.Environ(), "HIST_FLEET_TEST_CHILD=1", "HIST_FLEET_TEST_PEAK=1")
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("no peak in\n%s", out)
	}
	kib, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MB in %d MiB", written>>20, kib>>10)
	if kib > 64<<10 {
		t.Errorf("a session of 1 GB took %d MiB", kib>>10)
	}
}
