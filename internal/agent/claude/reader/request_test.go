package reader_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// TestForgotten: 2.1.332 goes on behind what the newest compaction keeps where a turn hangs on a record in front of that, be it written once more
// behind the mark, and 2.1.2, which knows of nothing that is kept, in front of it (measured).
func TestForgotten(t *testing.T) {
	text, err := os.ReadFile("../../../../fixtures/claude/rules/lost-branch/bad-history-repeated.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string][]int64{"": {6, 9, 22, 23}, "2.1.2": {17, 18, 19, 20, 21, 22, 23}} {
		var got []int64
		for _, pos := range reader.Reached(text, version) {
			got = append(got, pos.Line)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", version, got, want)
		}
	}
}

// TestInFrontOfACompaction: on what a prompt behind a compaction goes on that names a record in front of it, or none (2.1.332, measured).
func TestInFrontOfACompaction(t *testing.T) {
	const (
		nameless = `{"type":"attachment","parentUuid":null}`
		first    = `{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":"one"}}`
		second   = `{"type":"user","uuid":"k","parentUuid":"a","message":{"role":"user","content":"two"}}`
		keeps    = `{"type":"system","subtype":"compact_boundary","uuid":"m","parentUuid":null,"compactMetadata":{"preservedMessages":{"anchorUuid":"s","uuids":["k"]}}}`
		summary  = `{"type":"user","uuid":"s","parentUuid":"m","isCompactSummary":true,"message":{"role":"user","content":"in short"}}`
		other    = `{"type":"user","uuid":"c","parentUuid":"s","message":{"role":"user","content":"not this"}}`
		bare     = `{"type":"system","subtype":"compact_boundary","uuid":"n","parentUuid":null,"compactMetadata":{}}`
		shorter  = `{"type":"user","uuid":"z","parentUuid":"n","isCompactSummary":true,"message":{"role":"user","content":"shorter"}}`
	)
	for name, c := range map[string]struct {
		lines  []string
		parent string
		side   bool
		want   []int64
	}{
		"behind the summary":                  {lines: []string{nameless, first, second, keeps, summary}, parent: `"s"`, want: []int64{3, 5, 6}},
		"on nothing":                          {lines: []string{nameless, first, second, keeps, summary}, parent: "null", want: []int64{6}},
		"in front":                            {lines: []string{first, second, keeps, summary}, parent: `"a"`, want: []int64{2, 4, 5}},
		"in front, of a helper":               {lines: []string{first, second, keeps, summary}, parent: `"a"`, side: true, want: []int64{2, 4, 5, 6}},
		"in front, where the newest is bare":  {lines: []string{first, second, keeps, summary, bare, shorter}, parent: `"a"`, want: []int64{7}},
		"in front of a single, bare one":      {lines: []string{first, second, bare, shorter}, parent: `"a"`, want: []int64{1, 5}},
		"whatever end is named":               {lines: []string{first, second, keeps, summary, other, `{"type":"last-prompt","leafUuid":"c"}`}, parent: `"s"`, want: []int64{2, 4, 7}},
		"on what stands once more behind it":  {lines: []string{first, second, keeps, summary, first}, parent: `"a"`, want: []int64{2, 4, 6}},
		"behind the newest, which keeps none": {lines: []string{first, second, keeps, summary, bare, shorter}, parent: `"z"`, want: []int64{6, 7}},
	} {
		end := `{"type":"user","uuid":"b","parentUuid":` + c.parent + `,"message":{"role":"user","content":"three"}}`
		if c.side {
			end = strings.Replace(end, `"uuid"`, `"isSidechain":true,"uuid"`, 1) + "\n" + `{"type":"user","uuid":"c","parentUuid":"b","message":{"role":"user","content":"four"}}`
		}
		var got []int64
		for _, pos := range reader.Reached([]byte(strings.Join(append(c.lines, end), "\n")), "") {
			got = append(got, pos.Line)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
