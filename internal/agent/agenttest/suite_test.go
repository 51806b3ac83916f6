package agenttest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/cmd"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/lint"
)

func TestMain(m *testing.M) {
	all.Agents = append(all.Agents, Toy{})
	os.Exit(m.Run())
}

const healthy = `{"k":"head","id":"01a1edfd-e191-74b0-9003-79b97f4a7c15","cwd":"/w"}
{"k":"start","turn":"t1"}
{"k":"say","who":"user","text":"Which files are here?"}
{"k":"call","id":"c1","tool":"list","in":"."}
{"k":"out","id":"c1","text":"a b"}
{"k":"say","who":"model","text":"Two."}
{"k":"end","turn":"t1"}
`

// TestToy: the toy agent passes what every agent must.
func TestToy(t *testing.T) {
	Suite(t, Toy{}, map[string][]byte{"two turns": []byte(healthy)})
	source, err := os.ReadFile("toy.go")
	if n := bytes.Count(source, []byte("\n")); err != nil || n >= 150 {
		t.Errorf("the toy has %d lines (%v)", n, err)
	}
}

// TestCodex: so does Codex.
func TestCodex(t *testing.T) {
	sessions := map[string][]byte{}
	for _, name := range []string{"parallel-calls", "interrupted"} {
		text, err := os.ReadFile(filepath.Join("../../../fixtures/codex/healthy", name, "session.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		sessions[name] = text
	}
	Suite(t, all.Named("codex"), sessions)
}

// TestSharedRules: an agent that has nothing but a format gets the rules about calls and turns, and their mends.
func TestSharedRules(t *testing.T) {
	lines := strings.SplitAfter(healthy, "\n")
	without := func(skip int) string {
		return strings.Join(append(append([]string{}, lines[:skip]...), lines[skip+1:]...), "")
	}
	twice := func(n int) string { return strings.Replace(healthy, lines[n], lines[n]+lines[n], 1) }
	for rule, text := range map[string]string{
		"call-without-output": without(4), "output-without-call": without(3), "duplicate-call": twice(3), "duplicate-output": twice(4), "open-turn": without(6),
	} {
		res := linted(t, []byte(text))
		if len(res.Findings) != 1 || res.Findings[0].Rule.Name != rule {
			t.Errorf("%s: %+v", rule, res.Findings)
			continue
		}
		for _, f := range linted(t, repaired(t, []byte(text))).Findings {
			if f.Impact != lint.Notes {
				t.Errorf("%s: left after the repair: %s", rule, f.Message)
			}
		}
	}
}

// TestToyAtTheCommandLine: lint, repair in place, show, list and undo serve the toy as they serve anybody.
func TestToyAtTheCommandLine(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("CODEX_HOME", filepath.Join(dir, "home"))
	path := filepath.Join(dir, "toy-01a1edfd-e191-74b0-9003-79b97f4a7c15.jsonl")
	bad := strings.Replace(healthy, `{"k":"out","id":"c1","text":"a b"}`+"\n", "", 1)
	if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := cmd.Main(append([]string{"hist"}, args...), strings.NewReader(""), &out, &out); code != want {
			t.Errorf("%v: exit code %d, want %d\n%s", args, code, want, out.String())
		}
		return out.String()
	}
	run(1, "lint", path)
	if out := run(0, "repair", "--in-place", path); !strings.Contains(out, "toy --resume 01a1edfd") {
		t.Errorf("no command to go on:\n%s", out)
	}
	run(0, "lint", path)
	if out := run(0, "show", path); !strings.Contains(out, "list") {
		t.Errorf("the call is not shown:\n%s", out)
	}
	if out := run(0, "list", "--json", path); !strings.Contains(out, `"agent":"toy"`) {
		t.Errorf("the agent is not named:\n%s", out)
	}
	run(0, "undo")
	if text, err := os.ReadFile(path); err != nil || string(text) != bad {
		t.Errorf("undo left %s (%v)", text, err)
	}
}
