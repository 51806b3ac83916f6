//go:build unix

package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What every operation says of a session of every agent that is damaged, in use, or has nothing to gain, and of what can't be meant.
func TestOperationsRefuse(t *testing.T) {
	read := func(pattern string) []byte {
		found, err := filepath.Glob("../fixtures/" + pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		text, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	write := func(name string, text []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for agent, of := range map[string]struct{ sound, damaged []byte }{
		"codex":  {read("codex/0.171.0/clean/*.jsonl"), read("codex/rules/call-without-output/bad.jsonl")},
		"claude": {read("claude/2.1.332/clean/*.jsonl"), read("claude/rules/lost-result/bad.jsonl")},
		"pi":     {read("pi/1.5.2/clean/*.jsonl"), read("pi/rules/call-without-output/bad.jsonl")},
	} {
		sound, damaged := write("sound.jsonl", of.sound), write("damaged.jsonl", of.damaged)
		to := map[string]string{"codex": "claude", "claude": "codex", "pi": "codex"}[agent]
		operations := [][]string{
			{"slim"},
			{"slim", "-i"},
			{"cut", "--after-turn", "1"},
			{"cut", "-i", "--after-turn", "1", "--purge"},
			{"fork"},
			{"redact", "--pattern", "the"},
			{"redact", "-i", "--pattern", "the"},
			{"join"},
			{"handoff", "--to", to},
		}
		if agent == "codex" { // the others' are found by their folder
			operations = append(operations, []string{"move", "--to", "/srv/new"})
		}
		run := func(path string, args []string, want int, words string) {
			t.Helper()
			args = append(args[:len(args):len(args)], path)
			if args[0] == "join" {
				args = append(args, write("copy.jsonl", of.sound))
			}
			c := child(t, args...)
			c.Env = append(c.Env, "XDG_STATE_HOME="+t.TempDir(), "CODEX_HOME="+t.TempDir(), "CLAUDE_CONFIG_DIR="+t.TempDir())
			if code, out := exitCode(t, c); code != want || !strings.Contains(out, words) {
				t.Errorf("%s: %v: exit %d, not %d with %q: %s", agent, args, code, want, words, out)
			}
		}
		for _, args := range operations {
			before := sum(t, sound)
			run(damaged, args, ExitFindings, "hist repair")
			run(filepath.Join(t.TempDir(), "none.jsonl"), args, ExitIO, "no such file")
			busy, err := os.OpenFile(sound, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			if args[0] != "handoff" { // it only reads the session
				run(sound, args, ExitInUse, "")
			}
			busy.Close()
			run(sound, append([]string{args[0], "--nonsense"}, args[1:]...), ExitUsage, "")
			if sum(t, sound) != before {
				t.Errorf("%s: %v: the session changed", agent, args)
			}
		}
		for _, args := range [][]string{{"redact", "--pattern", "no such word at all"}, {"redact", "-i", "--pattern", "no such word at all"}} {
			run(sound, args, ExitOK, "nothing to gain")
		}
		for words, args := range map[string][]string{
			"it takes exact, model or marked":      {"slim", "--level", "tiny"},
			"it takes a size such as":              {"slim", "--target", "much"},
			"there is no turn 99":                  {"cut", "--after-turn", "99"},
			"hist show lists":                      {"cut", "--before-turn", "no-such-turn"},
			"no message has the id":                {"cut", "--at", "no-such-message"},
			"goes with --in-place":                 {"cut", "--last", "1", "--purge"},
			"--pattern":                            {"redact", "--pattern", "("},
			"--keep-original goes with --in-place": {"redact", "--keep-original"},
			"it takes codex, claude or pi":         {"handoff", "--to", "nobody"},
			"it takes none, fields or history":     {"move", "--to", "/srv/new", "--rewrite", "much"},
			"it takes a or b":                      {"join", "--take", "c"},
		} {
			run(sound, args, ExitUsage, words)
		}
	}
}
