package clienttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude"
	"github.com/hist-cli/hist/internal/testkit/damage"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// newest is a home for the newest client; the test is skipped if that is not installed.
func newest(t *testing.T) *Home {
	t.Helper()
	if testing.Short() {
		t.Skip("drives the real client")
	}
	bin, err := Find(Newest)
	if err != nil {
		t.Skip(err)
	}
	h, err := NewHome(bin, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// sessionOf is the id of the sessions that an API refuses.
const sessionOf = "7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a22"

// TestRefusedSessions has the client resume the copies of sessions with each fault that an API names by its place: what it sends is taken.
func TestRefusedSessions(t *testing.T) {
	h := newest(t)
	for _, c := range damage.RefusedSessions() {
		if c.Agent != "claude" {
			continue
		}
		tidy := repair.Choice{Tidy: true}
		repaired, _ := mendAs(t, c.Data, lint.Options{}, tidy)
		if _, err := h.Put(sessionOf, repaired); err != nil {
			t.Fatal(err)
		}
		h.Server.Behave(Manner{Refuse: func(request []byte) string { return strings.Join(breachesOfOthers(request), ", ") }})
		res, err := h.Resume(t.Context(), sessionOf)
		if err != nil || !res.Resumed() {
			t.Fatalf("row %d: %v, %s", c.Row, err, res.Stderr)
		}
		if broken := breachesOfOthers(res.First); len(broken) > 0 || res.ExitCode != 0 {
			t.Errorf("row %d: %s: after the repair, the request breaks %v (exit %d)", c.Row, c.Error, broken, res.ExitCode)
		}
	}
}

// breachesOfOthers are what is wrong with a request, but for signatures: the stand-in knows no signature but its own.
func breachesOfOthers(request []byte) []string {
	return slices.DeleteFunc(Breaches(request), func(breach string) bool { return breach == "signature-bad" })
}

// TestTriesAgain: the client sends a request again without thinking, if the API says that this is bound to another conversation, as package
// claude says that it does.
func TestTriesAgain(t *testing.T) {
	h := newest(t)
	for _, c := range damage.RefusedSessions() {
		bound := strings.Contains(c.Error, "bound to a different conversation")
		if !bound && !strings.Contains(c.Error, "The final block in an assistant message cannot be `thinking`") {
			continue
		}
		h.Server.Behave(Manner{Refuse: func(request []byte) string {
			if strings.Contains(gjson.GetBytes(request, "messages").Raw, `"type":"thinking"`) {
				return c.Error
			}
			return ""
		}})
		if _, err := h.Put(sessionOf, c.Data); err != nil {
			t.Fatal(err)
		}
		res, err := h.Run(t.Context(), "-p", Prompt, "--resume", sessionOf, "--model", "claude-opus-4-8")
		if err != nil || !strings.Contains(string(res.First), `"type":"thinking"`) {
			t.Fatalf("row %d: no thinking is sent: %v, %s", c.Row, err, res.Stderr)
		}
		again := res.ExitCode == 0
		if known := claude.Agent.TriesAgain("", map[bool]string{true: "bound", false: "thinking"}[bound], 0); again != known {
			t.Errorf("row %d: tries again: %v, known: %v", c.Row, again, known)
		}
	}
}
