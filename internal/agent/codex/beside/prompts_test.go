package beside

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/testkit/testhome"
)

// TestFirstPromptOnce: a prompt that stands behind a damaged place is not put there a second time, though the list of threads
// has it, and so has the file of what was typed.
func TestFirstPromptOnce(t *testing.T) {
	const (
		prompt = `{"timestamp":"2026-11-18T09:30:00.548Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Which files are here?"}]}}
{"timestamp":"2026-11-18T09:30:00.685Z","type":"event_msg","payload":{"type":"user_message","message":"Which files are here?","images":[]}}
`
		answer = `{"timestamp":"2026-11-18T09:30:01.096Z","type":"event_msg","payload":{"type":"agent_message","message":"One."}}
{"timestamp":"2026-11-18T09:30:01.233Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One."}]}}
`
		typed = `{"session_id":"01a1edfd-e191-74b0-9003-79b97f4a7c15","ts":1794994200,"text":"Which files are here?"}` + "\n"
	)
	for _, c := range []struct {
		name, prompt, typed string
		want                bool // it comes back
	}{
		{"it stands there", prompt, typed, false},
		{"it stands there, and was typed in no terminal", prompt, "", false},
		{"it is lost", "", typed, true},
		{"it is lost, and was typed in no terminal", "", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("CODEX_SQLITE_HOME", "")
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := testhome.Unpack(filepath.Join(fixtures, "codex/rules/lost-records/bad-first-prompt.txtar"), dir); err != nil {
				t.Fatal(err)
			}
			path := onlyFile(t, dir, "sessions/*/*/*/*.jsonl")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(string(text), "\n")
			lines[1], lines[2] = lines[2], strings.Repeat("\x00", 512)+"\n" // what stands in front of the prompt
			text = []byte(strings.Join(lines[:4], "") + c.prompt + answer)
			for file, text := range map[string]string{path: string(text), filepath.Join(dir, "history.jsonl"): c.typed} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if found, _ := lintLogged(t, dir); (found != nil) != c.want {
				t.Errorf("found %+v, want one: %v", found, c.want)
			}
		})
	}
}

// TestTurnOfSubagent: a turn of a sub-agent has no prompt of a user's, and misses none.
func TestTurnOfSubagent(t *testing.T) {
	for source, want := range map[string]bool{`"cli"`: true, `{"subagent":"review"}`: false} {
		t.Setenv("CODEX_SQLITE_HOME", "")
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := testhome.Unpack(filepath.Join(fixtures, "codex/rules/lost-records/bad-logged-turn.txtar"), dir); err != nil {
			t.Fatal(err)
		}
		path := onlyFile(t, dir, "sessions/*/*/*/*.jsonl")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), `"source":"cli"`, `"source":`+source, 1)
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if found, _ := lintLogged(t, dir); (found != nil) != want {
			t.Errorf("%s: found %+v, want one: %v", source, found, want)
		}
	}
}
