//go:build unix

package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamples runs every example of the help in a shell, in a home with a damaged session and a healthy one: none is
// refused, and each command has one.
func TestExamples(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for _, command := range newApp(&env{}).Commands {
		list := examples[command.Name]
		if len(list) == 0 {
			t.Errorf("hist %s has no example", command.Name)
		}
		for _, x := range list {
			t.Run(x.line, func(t *testing.T) {
				if !strings.Contains(x.line, "hist "+command.Name) || len(x.line) > 100 {
					t.Fatal("it is no example of this command, or too long")
				}
				dir := t.TempDir()
				put := func(path, text string, mode os.FileMode) {
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(text), mode); err != nil {
						t.Fatal(err)
					}
				}
				for _, name := range []string{"clean/rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-f6ebde981289.jsonl", "kill_in_tool/rollout-2026-11-20T19-53-51-01a1fa85-bfc3-74d1-9684-43a82083e7d1.jsonl"} {
					text, err := os.ReadFile("../fixtures/codex/0.169.0/" + name)
					if err != nil {
						t.Fatal(err)
					}
					here := strings.ReplaceAll(string(text), "/home/dev/demo", dir+"/work")
					here = strings.Replace(here, `"source":"exec"`, `"source":"cli"`, 1)
					put(filepath.Join(dir, "codex/sessions/2026/11/20", filepath.Base(name)), here, 0o600)
					put(filepath.Join(dir, "work/transcripts", filepath.Base(name)), here, 0o600)
				}
				put(filepath.Join(dir, "bin/codex"), "#!/bin/sh\necho \"client: $*\"\n", 0o755)
				if err := os.Symlink(os.Args[0], filepath.Join(dir, "bin/hist")); err != nil {
					t.Fatal(err)
				}
				run := func(line string) (string, int) {
					c := exec.Command(bash, "-c", "set -o pipefail; "+line)
					c.Dir = filepath.Join(dir, "work")
					c.Env = append(os.Environ(), "HOME="+dir, "CODEX_HOME="+dir+"/codex", "CLAUDE_CONFIG_DIR="+dir+"/claude", "XDG_STATE_HOME="+dir+"/state", "PATH="+dir+"/bin:"+os.Getenv("PATH"))
					out, _ := c.CombinedOutput()
					return string(out), c.ProcessState.ExitCode()
				}
				line := x.line
				if command.Name == "watch" { // it does not end
					line = strings.Replace(line, "hist watch", "hist watch --help", 1)
				}
				if command.Name == "undo" || command.Name == "runs" { // there must be one
					run("hist repair 01a1fa85-bfc3")
				}
				if strings.Contains(x.line, "| man ") {
					if _, err := exec.LookPath("man"); err != nil {
						t.Skip("no man")
					}
				}
				if out, code := run(line); code > ExitFindings || strings.TrimSpace(out) == "" && command.Name != "completion" && !strings.Contains(x.line, "--html session.html") {
					t.Errorf("exit code %d: %s", code, out)
				}
			})
		}
	}
}
