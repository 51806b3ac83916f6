package timeline

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/hist-cli/hist/internal/session"
)

const recordings = "../../fixtures/codex"

func look(t testing.TB, path string, opts LookOptions) *Glance {
	t.Helper()
	s, err := Look(context.Background(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func recordingPath(t testing.TB, version, scenario string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(recordings, version, scenario, "rollout-*.jsonl"))
	if err != nil || len(found) != 1 {
		t.Fatal(version, scenario, found, err)
	}
	return found[0]
}

// TestLookRecordings: what is reported about the last turn of sessions that real clients wrote.
func TestLookRecordings(t *testing.T) {
	for _, c := range []struct {
		scenario string
		versions string // "": all
		state    TurnState
		class    session.Class
		unknown  int
		answered bool
	}{
		{scenario: "clean", state: Completed, answered: true},
		{scenario: "compact", state: Completed, answered: true},
		{scenario: "capacity", versions: "0.145.0 0.169.0", state: Failed, class: session.Transient},
		{scenario: "http_500", versions: "0.145.0 0.169.0", state: Failed, class: session.Transient},
		{scenario: "capacity", versions: "0.114.0", state: Failed, class: session.Unknown},
		{scenario: "http_500", versions: "0.79.0", state: Open},
		{scenario: "kill_in_tool", state: Open, unknown: 2},
		{scenario: "sigint", versions: "0.114.0 0.145.0 0.169.0", state: Interrupted},
	} {
		for _, version := range []string{"0.79.0", "0.114.0", "0.145.0", "0.169.0"} {
			if c.versions != "" && !strings.Contains(c.versions, version) {
				continue
			}
			t.Run(c.scenario+"/"+version, func(t *testing.T) {
				s := look(t, recordingPath(t, version, c.scenario), LookOptions{})
				got := s.Turn
				if got.State != c.state || got.Class != c.class || len(got.Unknown) != c.unknown || got.Prompt.Answered != c.answered {
					t.Errorf("%+v", got)
				}
				if s.Fault != "" || s.Header.Version != version || s.CWD != "/home/dev/demo" || s.Model == "" || s.Created.IsZero() || !s.Complete || !got.Prompt.Present {
					t.Errorf("%+v", s)
				}
			})
		}
	}
}

// TestPromptIsFound: the offset leads to the prompt, in a file whose last turn is far from the beginning and longer than
// what is read at first, compressed or not.
func TestPromptIsFound(t *testing.T) {
	text, err := os.ReadFile(recordingPath(t, "0.169.0", "clean"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	filler := []byte(`{"timestamp":"2026-11-20T19:53:38.000Z","ordinal":9,"type":"event_msg","payload":{"type":"agent_message","message":"` + strings.Repeat("x", 1000) + "\"}}\n")
	for _, n := range []int{0, 10, 300, 3000} {
		long := bytes.Join(lines[:len(lines)-4], nil)
		long = append(long, bytes.Repeat(filler, n)...)
		long = append(long, bytes.Join(lines[len(lines)-4:], nil)...)
		path := filepath.Join(t.TempDir(), "a.jsonl")
		write(t, path, long)
		enc, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		packed := path + ".zst"
		write(t, packed, enc.EncodeAll(long, nil))
		for _, p := range []string{path, packed} {
			s := look(t, p, LookOptions{Content: true})
			at := s.Turn.Prompt.Offset
			if !s.Complete || s.Turn.State != Completed || at < 0 || !bytes.Contains(long[at:at+400], []byte(s.Turn.Prompt.Text)) || s.Turn.Prompt.Text == "" {
				t.Errorf("%d, %s: %+v", n, filepath.Ext(p), s)
			}
		}
	}
}

// TestTurnTooLong: of a turn that is longer than what is read, the end is reported, and that its beginning was not seen.
func TestTurnTooLong(t *testing.T) {
	text, err := os.ReadFile(recordingPath(t, "0.169.0", "capacity"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	filler := bytes.Repeat(fmt.Appendf(nil, "{\"type\":\"other\",\"text\":\"%01000d\"}\n", 0), 17<<20/1000)
	path := filepath.Join(t.TempDir(), "a.jsonl")
	write(t, path, append(append(bytes.Join(lines[:len(lines)-2], nil), filler...), bytes.Join(lines[len(lines)-2:], nil)...))
	if s := look(t, path, LookOptions{}); s.Complete || s.Turn.State != Failed || s.Turn.Class != session.Transient {
		t.Errorf("%+v", s)
	}
}

// TestDamaged: what can't be read is described in the result, and is no error.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	header := `{"timestamp":"2026-11-20T19:53:37.962Z","type":"session_meta","payload":{"id":"01a1fa85-897f-7b72-87b7-f6ebde981289"}}` + "\n"
	for i, c := range []struct{ text, fault string }{
		{"", "empty"},
		{"\n\n", "empty"},
		{"\x00\x00\x00", "can't be read"},
		{strings.Repeat("[", 5<<20), "can't be read"},
		{"{}\n", "no header"},
		{header, "timestamp"},
		{header + strings.Repeat("y", 20<<20), "timestamp"},
	} {
		path := filepath.Join(dir, fmt.Sprintf("rollout-2026-11-20T19-53-3%d-01a1fa85-897f-7b72-87b7-f6ebde981289.jsonl", i))
		write(t, path, []byte(c.text))
		if s := look(t, path, LookOptions{}); !strings.Contains(s.Fault, c.fault) || s.Turn.State != NoTurn {
			t.Errorf("%d: %+v", i, s)
		}
	}
}

func write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkLook glances at one session of ordinary size.
func BenchmarkLook(b *testing.B) {
	path := recordingPath(b, "0.169.0", "clean")
	b.ReportAllocs()
	for b.Loop() {
		look(b, path, LookOptions{})
	}
}
