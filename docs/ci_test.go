package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// withHist puts hist first in PATH, in a home that holds one damaged session, and returns where that lies.
func withHist(t *testing.T) (bin, session string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("these are for a POSIX shell")
	}
	bin = build(t)
	home := t.TempDir()
	session = filepath.Join(home, "sessions/2026/11/20/rollout-2026-11-20T19-53-51-"+killedID+".jsonl")
	if err := os.MkdirAll(filepath.Dir(session), 0o755); err != nil {
		t.Fatal(err)
	}
	text := read(t, "fixtures/codex/0.169.0/kill_in_tool/"+filepath.Base(session))
	if err := os.WriteFile(session, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CODEX_HOME", home)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("PATH", filepath.Dir(bin)+string(os.PathListSeparator)+os.Getenv("PATH"))
	return bin, session
}

// TestAction runs the shell steps of the action as the runner would, all but the download of Go.
func TestAction(t *testing.T) {
	atRoot(t)
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	_, session := withHist(t)
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Using string
			Steps []struct{ Uses, Shell, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, "action.yml")), &action); err != nil || action.Runs.Using != "composite" {
		t.Fatal(err, action)
	}
	// The damaged session stands on the second line, behind two healthy ones: both spaces and line breaks part paths.
	clean := filepath.Join(t.TempDir(), "rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-f6ebde981289.jsonl")
	put(t, clean, read(t, "fixtures/codex/0.169.0/clean/"+filepath.Base(clean)), 0o600)
	paths := clean + " " + clean + "\n" + session + "\n"
	sarif := filepath.Join(t.TempDir(), "hist.sarif")
	env := append(os.Environ(), "GITHUB_ACTION_PATH="+root, "RUNNER_TEMP="+t.TempDir(), "PATHS="+paths, "FAIL_ON="+action.Inputs["fail-on"].Default, "SARIF="+sarif)
	last, out := error(nil), []byte(nil)
	for _, step := range action.Runs.Steps {
		if step.Run == "" {
			continue
		}
		if last != nil {
			t.Fatalf("a step failed: %v: %s", last, out)
		}
		c := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		c.Env = env
		out, last = c.CombinedOutput()
	}
	if last == nil || !strings.Contains(string(out), "::error file=") || !strings.Contains(string(out), "call-without-output") {
		t.Errorf("the last step: %v: %s", last, out)
	}
	if text, err := os.ReadFile(sarif); err != nil || !strings.Contains(string(text), `"call-without-output"`) {
		t.Errorf("no SARIF: %v", err)
	}
	for _, input := range regexp.MustCompile(`(?m)^          ([a-z-]+):`).FindAllStringSubmatch(read(t, "docs/ci.md"), -1) {
		if _, ok := action.Inputs[input[1]]; !ok && input[1] != "sarif_file" {
			t.Errorf("docs/ci.md gives the action %s, which it does not take", input[1])
		}
	}
}

// TestPreCommit runs the hook on what its pattern fits.
func TestPreCommit(t *testing.T) {
	atRoot(t)
	_, session := withHist(t)
	var hooks []struct{ ID, Entry, Language, Files string }
	if err := yaml.Unmarshal([]byte(read(t, ".pre-commit-hooks.yaml")), &hooks); err != nil || len(hooks) != 1 {
		t.Fatal(err, hooks)
	}
	fits := regexp.MustCompile(hooks[0].Files)
	for path, want := range map[string]bool{session: true, "a/rollout-x.jsonl.zst": true, filepath.Base(session): true, "data.jsonl": false, "a/myrollout-x.jsonl": false} {
		if fits.MatchString(path) != want {
			t.Errorf("%s: fits %v, want %v", path, !want, want)
		}
	}
	args := append(strings.Fields(hooks[0].Entry), session)
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err == nil || !strings.Contains(string(out), "[call-without-output]") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestCron runs the line for cron with and without damage: it is silent without.
func TestCron(t *testing.T) {
	atRoot(t)
	_, session := withHist(t)
	line := regexp.MustCompile(`(?m)^15 3 \* \* \* (.*)$`).FindStringSubmatch(read(t, "docs/ci.md"))
	if line == nil {
		t.Fatal("no line for cron")
	}
	if out, err := exec.Command("sh", "-c", line[1]).CombinedOutput(); err != nil || !strings.Contains(string(out), "[call-without-output]") {
		t.Errorf("%v: %s", err, out)
	}
	clean := "rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-f6ebde981289.jsonl"
	put(t, filepath.Join(filepath.Dir(session), clean), read(t, "fixtures/codex/0.169.0/clean/"+clean), 0o600)
	if err := os.Remove(session); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("sh", "-c", line[1]).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("without damage: %v: %s", err, out)
	}
}
