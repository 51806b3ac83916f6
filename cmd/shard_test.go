package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/format"
)

// lintLines runs hist lint and returns its exit code and the lines that it prints, sorted.
func lintLines(t *testing.T, in string, args ...string) (int, []string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := Main(append([]string{"hist", "lint", "--no-config"}, args...), strings.NewReader(in), &out, &errs)
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return code, lines
}

// TestShardsSumToTheWhole lints the fixtures, and a home, in parts: all parts together are the whole, and none says what
// another does.
func TestShardsSumToTheWhole(t *testing.T) {
	for _, v := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "CODEX_HOME"} {
		t.Setenv(v, t.TempDir())
	}
	session := filepath.Join(os.Getenv("CODEX_HOME"), "sessions/2026/11/18/rollout-2026-11-18T09-30-00-01a1edfd-e191-74b0-9003-79b97f4a7c15.jsonl")
	if err := os.MkdirAll(filepath.Dir(session), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../fixtures/codex/rules/call-without-output/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(session, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"jsonl", "sessions"} {
		for _, paths := range [][]string{{"../fixtures/codex/rules"}, {}} {
			args := append([]string{"-f", form}, paths...)
			code, whole := lintLines(t, "", args...)
			const n = 4
			var sum []string
			worst := 0
			for i := range n {
				c, part := lintLines(t, "", append(args, "--shard", fmt.Sprintf("%d/%d", i, n))...)
				worst = max(worst, c)
				sum = append(sum, part...)
			}
			slices.Sort(sum)
			if !slices.Equal(sum, whole) || worst != code || len(whole) == 0 {
				t.Errorf("%s of %v: %d lines and exit %d in parts, %d and exit %d as a whole", form, paths, len(sum), worst, len(whole), code)
			}
		}
	}
	t.Setenv("JOB_COMPLETION_INDEX", "1")
	_, auto := lintLines(t, "", "-f", "sessions", "--shard", "auto/4", "../fixtures/codex/rules")
	_, named := lintLines(t, "", "-f", "sessions", "--shard", "1/4", "../fixtures/codex/rules")
	if !slices.Equal(auto, named) || len(auto) == 0 {
		t.Errorf("auto/4 is not 1/4: %d and %d lines", len(auto), len(named))
	}
}

// TestFilesFrom: a list names what arguments would, and what can't be read of it is a row like the others.
func TestFilesFrom(t *testing.T) {
	bad, ok := "../fixtures/codex/rules/call-without-output/bad.jsonl", "../fixtures/codex/rules/call-without-output/ok.jsonl"
	list := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(list, []byte(bad+"\r\n\n"+ok), 0o600); err != nil {
		t.Fatal(err)
	}
	code, want := lintLines(t, "", "-f", "sessions", bad, ok)
	for _, c := range [][]string{{"--files-from", list}, {"--files-from", "-"}} {
		if got, lines := lintLines(t, bad+"\n"+ok+"\n", append(c, "-f", "sessions")...); got != code || !slices.Equal(lines, want) || len(want) != 2 {
			t.Errorf("%v: exit %d, want %d:\n%s\nwant\n%s", c, got, code, lines, want)
		}
	}
	code, lines := lintLines(t, bad+"\n/nowhere.jsonl\n", "-f", "sessions", "--files-from", "-")
	outcomes := map[string]string{}
	for _, line := range lines {
		var row format.Row
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		outcomes[row.Path] = row.Outcome + " " + row.Worst
	}
	if code != ExitIO || len(lines) != 2 || outcomes["/nowhere.jsonl"] != "unreadable " || outcomes[bad] != "linted loses" {
		t.Errorf("exit %d: %v", code, outcomes)
	}
	for in, args := range map[string][]string{
		"": {"--files-from", "-"}, "-\n": {"--files-from", "-"}, "a\x00b\n": {"--files-from", "-"}, strings.Repeat("x", maxPath+1): {"--files-from", "-"},
		"x\n": {"--files-from", "/nowhere"}, "y\n": {"--files-from", "-", "-"}, "z\n": {"--files-from", ""}, "v\n": {"--shard", "4/4", bad}, "w\n": {"--shard", "x", bad},
	} {
		if code, lines := lintLines(t, in, args...); code != ExitIO && code != ExitUsage || len(lines) > 0 {
			t.Errorf("%q %v: exit %d: %v", in[:min(len(in), 10)], args, code, lines)
		}
	}
}
