package lint

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/normalize"
)

// TestLongLineCharacters: a very long output is not given up for an escape or a control character in it.
func TestLongLineCharacters(t *testing.T) {
	if testing.Short() {
		t.Skip("lines of 17 MB")
	}
	text := readFixture(t, filepath.Join(fixtures, "codex", "rules", "lone-surrogate", "ok.jsonl"))
	const answer = "Milk and bread"
	if !bytes.Contains(text, []byte(answer)) {
		t.Fatal("another fixture")
	}
	long := strings.Repeat("words and words, ", 1<<20)
	for rule, strange := range map[*Rule]string{normalize.LoneSurrogate: `\ud83d`, normalize.RawControl: "\x01"} {
		damaged := bytes.ReplaceAll(text, []byte(answer), []byte(answer+long+strange))
		res, err := Session(context.Background(), bytes.NewReader(damaged), Options{})
		if err != nil {
			t.Fatal(err)
		}
		mended := 0
		for _, f := range res.Findings {
			if f.Rule == normalize.BadJSON {
				t.Errorf("%s: %s", rule.Name, f.Message)
			}
			if f.Rule == rule {
				mended++
			}
		}
		if mended == 0 {
			t.Errorf("no %s", rule.Name)
		}
	}
}
