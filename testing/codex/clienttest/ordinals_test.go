package clienttest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/repair"
)

var ordinal = regexp.MustCompile(`"ordinal":\d+,`)

// TestOrdinalReuse: where token counts with fractions stand last, clients before 0.154 number what they write next as those
// are, unless the session was repaired for them; the model is sent the same.
func TestOrdinalReuse(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	text := readAll(t, filepath.Join("..", "..", "..", "fixtures", "codex", "rules", "ordinal-reuse", "bad.jsonl"))
	session := filepath.Join(t.TempDir(), fixtureName([]byte(text)))
	if err := os.WriteFile(session, ours([]byte(text)), 0o600); err != nil {
		t.Fatal(err)
	}
	clientsSince(t, "0.145.0", func(t *testing.T, bin Binary) {
		resumed := func(mended bool) (reused bool, sent int) {
			h := newHome(t, bin)
			id, err := h.AddSession(session)
			if err != nil {
				t.Fatal(err)
			}
			if mended {
				repairFor(t, h, h.Stored(id), repair.InPlace, bin.Version)
			}
			res := h.Resume(t.Context(), id, Prompt)
			if res.ExitCode != 0 || len(res.Requests) != 1 {
				t.Fatalf("%+v", res)
			}
			seen := map[string]bool{}
			for _, n := range ordinal.FindAllString(readAll(t, res.Rollout), -1) {
				reused = reused || seen[n]
				seen[n] = true
			}
			if len(seen) < 26 {
				t.Errorf("%d records have ordinals", len(seen))
			}
			return reused, len(Input(res.Requests[0].Body))
		}
		reused, sent := resumed(false)
		if want := versionLess(bin.Version, "0.154.0"); reused != want {
			t.Errorf("numbers are given again: %t, want %t", reused, want)
		}
		// 0.145 does not count a record that it can't read, so that it is right to use its number again.
		if still, all := resumed(true); still != codex.SkipsUnread(bin.Version) || all != sent {
			t.Errorf("repaired for this client: numbers are given again: %t; %d items are sent, %d without the repair", still, all, sent)
		}
	})
}
