package timeline

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/hist-cli/hist/lint"
)

type bytesOf []byte

func (b bytesOf) Reader(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b)), nil
}

// TestSentOfFork: what a fork sends begins with what it inherits.
func TestSentOfFork(t *testing.T) {
	const parent, fork = "01a21e00-4c11-7d20-9b01-6a1f0c2d3e4f", "01a21e00-5c11-7d20-9b01-6a1f0c2d3e4f"
	home := t.TempDir()
	dir := filepath.Join(home, "sessions", "2026", "11", "24")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	header := func(id, more string) string {
		return `{"timestamp":"2026-11-24T08:10:00.100Z","ordinal":0,"type":"session_meta","payload":{"session_id":"` + id + `","id":"` + id + `","timestamp":"2026-11-24T08:10:00.000Z","cwd":"/home/dev/orchard","originator":"codex_exec","cli_version":"0.169.0","source":"exec","model_provider":"openai","history_mode":"paginated"` + more + "}}\n"
	}
	prompt := func(ordinal, text string) string {
		return `{"timestamp":"2026-11-24T08:10:01.100Z","ordinal":` + ordinal + `,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + "\"}]}}\n"
	}
	old := header(parent, "") + prompt("1", "Which trees want pruning?")
	name := "rollout-2026-11-24T08-10-00-" + parent + ".jsonl"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	text := bytesOf(header(fork, `,"forked_from_id":"`+parent+`","history_base":{"thread_id":"`+parent+`","end_ordinal_exclusive":2,"end_byte_offset":`+strconv.Itoa(len(old))+`}`) + prompt("2", "And the pears?"))
	for want, opts := range map[int]lint.Options{2: {Home: home}, 1: {}} {
		res, err := lint.Session(context.Background(), bytes.NewReader(text), opts)
		if err != nil {
			t.Fatal(err)
		}
		sent, err := Sent(context.Background(), text, res, opts)
		if err != nil || len(sent.Items) != want {
			t.Errorf("home %q: %v, %v, want %d items", opts.Home, sent, err, want)
		}
	}
}

// TestSentOfSubAgent: what a sub-agent inherits is sent, though it is not the sub-agent's own.
func TestSentOfSubAgent(t *testing.T) {
	text, err := os.ReadFile("../../fixtures/codex/healthy/subagent-prefix-calls/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	res, err := lint.Session(t.Context(), bytes.NewReader(text), lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := Sent(t.Context(), bytesOf(text), res, lint.Options{})
	if err != nil || sent.Inherited == 0 || len(sent.Unsent) > 0 {
		t.Errorf("%d inherited, not sent: %v, %v", sent.Inherited, sent.Unsent, err)
	}
}
