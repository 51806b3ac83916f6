package reader_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/reader"
)

// TestMessages holds how many messages a request has against what 2.1.330 noted about its own requests, at each place of its sessions
// at which it made one.
func TestMessages(t *testing.T) {
	paths, err := filepath.Glob("../../../../fixtures/claude/2.1.330/*/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	other := map[string]string{
		"compact":      "the client sends two messages of the user behind a compaction, which the API takes for one",
		"compact_auto": "the same",
		"http_400":     "the client tells the model of an error, and writes nothing of it",
		"resumed_at":   "it was asked to go on from an earlier record",
	}
	requests := 0
	for _, path := range paths {
		if other[filepath.Base(filepath.Dir(path))] != "" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for line := range bytes.Lines(text) {
			if r := gjson.ParseBytes(line); r.Get("type").Str == "api-request" && r.Get("tail").IsArray() {
				want := int(r.Get("keep").Int() + r.Get("tail.#").Int())
				requests++
				sent := reader.Sent(text[:at], "2.1.330", nil)
				got := 0
				for i := range sent.Items {
					if item := &sent.Items[i]; item.Made != "filler" || item.Path != "" {
						got = max(got, item.Message+1)
					}
				}
				if got != want {
					t.Errorf("%s, byte %d: %d messages, the client sent %d", path, at, got, want)
				}
			}
			at += len(line)
		}
	}
	if requests < 50 {
		t.Errorf("only %d requests", requests)
	}
}
