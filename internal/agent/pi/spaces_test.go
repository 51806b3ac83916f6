package pi_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// spaced is a session into which a script has put spaces, as the JSON of many programs has them.
func spaced(text []byte) []byte {
	return regexp.MustCompile(`([{,])"([a-zA-Z]+)":`).ReplaceAll(text, []byte(`$1 "$2": `))
}

// TestSpaces: such a session is pi's, whatever its name, and its last turn went as it did.
func TestSpaces(t *testing.T) {
	_, text := recording(t, "1.5.2", "http_500_retry")
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, spaced(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := timeline.Look(t.Context(), path, timeline.LookOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if g.Agent.Name != "pi" || g.Turn.State != timeline.Failed {
		t.Errorf("it is of %s, its last turn %s", g.Agent.Name, g.Turn.State)
	}
}

// TestSpacedAndGlued: two records of it on one line are taken apart.
func TestSpacedAndGlued(t *testing.T) {
	_, text := recording(t, "1.5.2", "parallel")
	lines := bytes.SplitAfter(spaced(text), []byte("\n"))
	lines[len(lines)/2] = bytes.TrimSuffix(lines[len(lines)/2], []byte("\n"))
	res, err := lint.Session(t.Context(), bytes.NewReader(bytes.Join(lines, nil)), lint.Options{})
	if err != nil || len(res.Findings) != 1 || res.Findings[0].Rule.Name != "glued-records" || res.Findings[0].Fix != lint.Exact {
		t.Errorf("%v: %+v", err, res.Findings)
	}
}

// TestSpacesRealClient: the real client sends the same of it.
func TestSpacesRealClient(t *testing.T) {
	c := newClient(t, "1.5.2")
	_, text := recording(t, "1.5.2", "parallel")
	plain, _ := c.resume(t, text)
	if other, said := c.resume(t, spaced(text)); len(items(plain)) == 0 || !slices.Equal(items(plain), items(other)) {
		t.Errorf("%d and %d items: %s", len(items(plain)), len(items(other)), said)
	}
}
