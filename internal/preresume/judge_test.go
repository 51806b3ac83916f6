package preresume

import (
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/timeline"
)

// TestNotFoundButThere: where the client said that there is no such session, and there is one without damage, the reason does not
// deny the file.
func TestNotFoundButThere(t *testing.T) {
	hint := Explain("No conversation found with session ID: 7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11")
	if hint == nil {
		t.Fatal("the error is not known")
	}
	for want, a := range map[string]*Answer{
		"its directory /gone is gone":              {Complete: true, CWD: "/gone", CWDMissing: true, Error: hint},
		"it was started elsewhere":                 {Complete: true, CWD: "/there", Error: hint},
		"the error says: the client found no file": {Error: hint},
	} {
		if got := a.said(); !strings.Contains(got, want) {
			t.Errorf("%q, want it to hold %q", got, want)
		}
	}
}

// TestMendedSince: an error about what is not in the session, or about a session that is there, sends nobody to a repair.
func TestMendedSince(t *testing.T) {
	for text, want := range map[string]string{
		"final paginated rollout record is missing an ordinal":                "finds this fault nowhere",
		"no rollout found for thread id 01a1edfd-e191-74b0-9003-79b97f4a7c15": "client resume THREAD, with the home",
	} {
		hint := Explain(text)
		a := &Answer{Complete: true, Thread: "THREAD", CWD: "/there", Resume: []string{"client", "resume", "THREAD"}, Verdict: Resumable, Error: hint, session: &timeline.Glance{Agent: all.Named("codex")}}
		if hint.Verdict == NotFound {
			a.Verdict = NotFound
		}
		if a.withError(Request{}); !strings.Contains(a.Error.Step, want) {
			t.Errorf("%s: %s", text, a.Error.Step)
		}
	}
}

// TestLargeSession: an error that passes by itself may come from the size of a large session, of a small one not. Outside a home, no id leads to it.
func TestLargeSession(t *testing.T) {
	for size, want := range map[int64]bool{large: false, large + 1: true} {
		a := &Answer{Size: size, Thread: "THREAD", Path: "a b/s.jsonl", Error: Explain("unexpected status 503 Service Unavailable"), session: &timeline.Glance{}}
		a.withError(Request{})
		if got := strings.Contains(a.Warning, "hist slim --level marked 'a b/s.jsonl'"); got != want {
			t.Errorf("%d bytes: %q", size, a.Warning)
		}
	}
}

// TestMendsItself: what a client sums up by itself before the next prompt is not said to be gone from what it sends. pi does not know each
// of these errors.
func TestMendsItself(t *testing.T) {
	const itself, sent = "the client sees to that by itself", "nothing that the client sends has that fault"
	for _, c := range []struct{ agent, said, want string }{
		{"pi", "prompt is too long: 213000 tokens > 200000 maximum", itself},
		{"pi", "no user query found in messages", sent},
		{"claude", "prompt is too long: 213000 tokens > 200000 maximum", sent},
	} {
		a := &Answer{Complete: true, Path: "s.jsonl", Verdict: Resumable, session: &timeline.Glance{Agent: all.Named(c.agent)}}
		a.session.Turn.Error = c.said
		if a.withError(Request{}); !strings.Contains(a.Warning, c.want) || !strings.Contains(a.Warning, "hist slim s.jsonl") {
			t.Errorf("%s: %s: %s", c.agent, c.said, a.Warning)
		}
	}
}
