package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// everyHidden has a character of each kind that a terminal or a browser would obey or not show, and what a shell would.
const everyHidden = "\x1b[31m\x07\u009b32m\u0085\u202e\u2066\u200f\ufeff\u2028\u200b\U000e0041$(touch pwned)`x`'\"; &"

// hostileHome makes a home with one session that has everyHidden wherever a text can stand, its file's name and the
// working directory included. Its last call has no output, so that there is something to repair.
func hostileHome(t *testing.T, id string) (session string) {
	t.Helper()
	for _, v := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(v, t.TempDir())
	}
	home := filepath.Join(t.TempDir(), "codex \u009b\u202e")
	t.Setenv("CODEX_HOME", home)
	dir := filepath.Join(home, "sessions/2026/11/18")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for i, r := range []map[string]any{
		{"type": "session_meta", "payload": map[string]any{
			"id": id, "timestamp": "2026-11-18T09:30:00.000Z", "cwd": "/tmp/" + everyHidden, "originator": everyHidden, "cli_version": "0.114.0",
			"source": everyHidden, "model_provider": everyHidden, "forked_from_id": everyHidden, "git": map[string]any{"branch": everyHidden, "commit_hash": everyHidden},
		}},
		{"type": "turn_context", "payload": map[string]any{"turn_id": everyHidden, "cwd": everyHidden, "model": everyHidden, "approval_policy": "never", "sandbox_policy": map[string]any{"type": "danger-full-access"}}},
		{"type": "event_msg", "payload": map[string]any{"type": "task_started", "turn_id": everyHidden}},
		{"type": "response_item", "payload": map[string]any{"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": everyHidden}}}},
		{"type": "event_msg", "payload": map[string]any{"type": "user_message", "message": everyHidden}},
		{"type": "response_item", "payload": map[string]any{"type": "function_call", "name": everyHidden, "arguments": everyHidden, "call_id": everyHidden}},
		{"type": everyHidden, "payload": map[string]any{"type": everyHidden}},
		{"type": "event_msg", "payload": map[string]any{"type": "error", "message": everyHidden, "codex_error_info": everyHidden}},
	} {
		r["timestamp"] = "2026-11-18T09:30:0" + string(rune('0'+i)) + ".000Z"
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	text.WriteString("{\"type\":\"response_item\",\"payload\":" + everyHidden + "\n")
	session = filepath.Join(dir, "rollout-2026-11-18T09-30-00-01a1edfd-e191-74b0-9003-79b97f4a7c15.jsonl")
	if err := os.WriteFile(session, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return session
}

// TestNothingHiddenIsPrinted runs every command, in every format, over a hostile session: nothing that a terminal obeys is
// printed or kept raw, and no word of the session stands unquoted in a command to paste.
func TestNothingHiddenIsPrinted(t *testing.T) {
	for name, id := range map[string]string{"a proper id": "01a1edfd-e191-74b0-9003-79b97f4a7c15", "a hostile id": everyHidden} {
		t.Run(name, func(t *testing.T) {
			session := hostileHome(t, id)
			odd := filepath.Join(t.TempDir(), "x\u009b\u202e\x1b$(touch pwned).jsonl")
			text, err := os.ReadFile(session)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(odd, text, 0o600); err != nil {
				t.Fatal(err)
			}
			page := filepath.Join(t.TempDir(), "page.html")
			var calls [][]string
			for _, path := range []string{session, odd} {
				for _, f := range []string{"text", "json", "jsonl", "sarif", "junit", "github"} {
					calls = append(calls, []string{"lint", "-f", f, path})
				}
				calls = append(calls,
					[]string{"lint", "--notes", "--show-content", path}, []string{"lint", path + "\u009b"},
					[]string{"show", path}, []string{"show", "--show-content", path}, []string{"show", "-f", "jsonl", path}, []string{"show", "-f", "jsonl", "--show-content", path},
					[]string{"show", "--html", fmt.Sprintf("%s.%d", page, len(calls)), path}, []string{"show", "--html", fmt.Sprintf("%s.%d.words", page, len(calls)), "--show-content", path},
					[]string{"pre-resume", "--card", path}, []string{"pre-resume", "--card", "--markdown", "--show-content", path},
					[]string{"pre-resume", path}, []string{"pre-resume", "--json", path}, []string{"pre-resume", "--json", "--show-content", path}, []string{"pre-resume", "--show-content", path},
					[]string{"repair", "-n", "--diff", path}, []string{"repair", "-n", "--diff", "--show-content", path}, []string{"repair", "-n", "-f", "json", path})
			}
			calls = append(calls,
				[]string{"list"}, []string{"list", "--json"}, []string{"list", "--decisions"}, []string{"list", "--decisions", "--json"},
				[]string{"repair", "--html", page, "--show-content", session}, []string{"repair", odd}, []string{"repair", "--in-place", session}, []string{"undo"}, []string{"undo", everyHidden},
				[]string{everyHidden}, []string{"lint", "--" + everyHidden}, []string{"lint", "--rule", everyHidden})
			command := regexp.MustCompile(`(?m)(codex resume|hist repair|hist undo)( --in-place)?( .*)?$`)
			for _, args := range calls {
				var out, errs bytes.Buffer
				Main(append([]string{"hist"}, args...), strings.NewReader(""), &out, &errs)
				nothingHidden(t, strings.Join(args, " "), out.String())
				nothingHidden(t, strings.Join(args, " "), errs.String())
				for _, c := range command.FindAllString(out.String(), -1) {
					if outside := regexp.MustCompile(`'[^']*'`).ReplaceAllString(c, ""); strings.ContainsAny(outside, "$`;&") && !strings.Contains(c, `"`) {
						t.Errorf("%q: a command to paste: %q", args, c)
					}
				}
			}
			kept := 1
			pages, err := filepath.Glob(page + "*")
			if err != nil || len(pages) != 5 {
				t.Fatal(pages, err)
			}
			for _, page := range pages {
				if text, err = os.ReadFile(page); err != nil {
					t.Fatal(err)
				}
				nothingHidden(t, page, string(text))
			}
			err = filepath.Walk(os.Getenv("XDG_STATE_HOME"), func(path string, info os.FileInfo, err error) error {
				if err == nil && (strings.Contains(path, ".report.") || filepath.Base(path) == "decisions.jsonl") {
					kept++
					text, err = os.ReadFile(path)
					nothingHidden(t, path, string(text))
				}
				return err
			})
			if err != nil || kept < 4 {
				t.Errorf("%d files looked at: %v", kept, err)
			}
		})
	}
}

func nothingHidden(t *testing.T, what, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\ufeff' || r == '\u2028' || r == '\u200b' || r == '\U000e0041') {
			t.Errorf("%q: %U is printed: %q", what, r, text[max(0, i-60):min(len(text), i+60)])
			return
		}
	}
}
