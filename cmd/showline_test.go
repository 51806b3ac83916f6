package cmd

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/testkit/testhome"
)

// TestShowNamesPlaces: a finding about the file as a whole has no line; one that stands for many lines says so, as lint does.
func TestShowNamesPlaces(t *testing.T) {
	home := t.TempDir()
	t.Setenv("CODEX_HOME", home)
	t.Setenv("CODEX_SQLITE_HOME", "")
	if err := testhome.Unpack("../fixtures/codex/rules/projection-stale/bad.txtar", home); err != nil {
		t.Fatal(err)
	}
	stale, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.jsonl"))
	if err != nil || len(stale) == 0 {
		t.Fatal("no session", err)
	}
	for _, c := range []struct{ path, want string }{
		{stale[0], "the file to 2438 [projection-stale]"},
		{"../fixtures/codex/rules/crlf/bad.jsonl", "(11 times, this is the first) (line 1) [crlf]"},
	} {
		var out, errs bytes.Buffer
		if code := Main([]string{"hist", "show", c.path}, strings.NewReader(""), &out, &errs); code != ExitOK {
			t.Fatalf("exit %d: %s", code, &errs)
		}
		if text := out.String(); !strings.Contains(text, c.want) || strings.Contains(text, "line 0") {
			t.Errorf("%s: want %q in\n%s", c.path, c.want, text)
		}
	}
}
