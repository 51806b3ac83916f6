package preresume

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hist-cli/hist/lint"
)

// FuzzCard holds every session, whatever its bytes, to the limits of a card: lint, the timeline and the card end
// without a panic, and the card is short, on its lines, and text.
func FuzzCard(f *testing.F) {
	err := filepath.WalkDir("../../fixtures", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		text, err := os.ReadFile(path)
		f.Add(string(text), false)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Setenv("PATH", f.TempDir()) // git would be asked about whatever directory the session names
	f.Fuzz(func(t *testing.T, session string, live bool) {
		result, err := lint.Session(t.Context(), strings.NewReader(session), lint.Options{Live: live})
		if errors.Is(err, lint.ErrUnclaimed) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		c, err := MakeCard(t.Context(), text(session), result, CardOptions{Content: true, Live: live})
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []string{c.Text(), c.Markdown()} {
			if strings.Count(got, "\n") > MaxCardLines || len(got) > MaxCardBytes || !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\r\x00\u202e") {
				t.Errorf("%q", got)
			}
		}
	})
}
