package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFlippedHeader: without what a fork goes on from, clients send only its own part; if they find only half of that, they refuse it
// (measured with 0.171.0).
func TestFlippedHeader(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fixtures, "codex", "healthy", "fork-history-base", "session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]Impact{"history_base": Loses, "history_mode": Loses, "end_byte_offset": Blocks, "end_ordinal_exclusive": Blocks} {
		flipped := key[:4] + string(key[4]^1) + key[5:]
		res, err := Session(t.Context(), bytes.NewReader(bytes.Replace(text, []byte(key), []byte(flipped), 1)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if f := res.Findings; len(f) != 1 || f[0].Rule.Name != "flipped-bit" || f[0].Impact != want || f[0].Fix != Recovered || want == Loses && !strings.HasSuffix(f[0].Message, "goes on from") {
			t.Errorf("%s: %+v, want %s", flipped, f, want)
		}
	}
}
