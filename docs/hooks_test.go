package docs

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/hist-cli/hist/internal/preresume"
)

const killed = "fixtures/codex/0.169.0/kill_in_tool/rollout-2026-11-20T19-53-51-01a1fa85-bfc3-74d1-9684-43a82083e7d1.jsonl"

// hookPlace is a place to run a hook in: a Codex home with a damaged session, hist, and a client that only says with
// what it was called.
type hookPlace struct {
	root, work string
	env        []string
}

func newHookPlace(t *testing.T) *hookPlace {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the hooks are for Unix")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &hookPlace{root: root, work: "/home/dev/demo"}
	bin := filepath.Join(dir, "bin")
	if err := errors.Join(os.Mkdir(bin, 0o755), os.Symlink(build(t), filepath.Join(bin, "hist"))); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(bin, "codex"), "#!/bin/sh\necho \"client: $*\"\n", 0o755)
	text := read(t, filepath.Join(root, killed))
	p.work = filepath.Join(dir, "work")
	put(t, filepath.Join(dir, "codex/sessions/2026/11/20", filepath.Base(killed)), strings.ReplaceAll(text, "/home/dev/demo", p.work), 0o600)
	if err := os.MkdirAll(p.work, 0o755); err != nil {
		t.Fatal(err)
	}
	p.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "CODEX_HOME="+filepath.Join(dir, "codex"), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "PWD="+p.work)
	return p
}

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// run runs a program in the place and returns what it says on both streams.
func (p *hookPlace) run(t *testing.T, program string, args ...string) string {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir, c.Env = p.work, p.env
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", program, args, err, out)
	}
	return string(out)
}

func says(t *testing.T, out string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(out, w) {
			t.Errorf("it does not say %q:\n%s", w, out)
		}
	}
}

const killedID = "01a1fa85-bfc3-74d1-9684-43a82083e7d1"

// TestShimHook: whoever starts codex, the session is looked at first, and the client is run.
func TestShimHook(t *testing.T) {
	for _, c := range []struct{ args, asked string }{
		{"exec resume " + killedID + " more", killedID},
		{"resume -c model=o3 " + killedID, killedID},
		{"exec resume --last", killedID},
		{"resume --some-flag " + killedID, killedID},
		{"exec resume", ""},
		{"-p resume exec hello", ""},
		{"exec hello", ""},
		{"--version", ""},
	} {
		p := newHookPlace(t)
		shim := filepath.Join(p.work, "shim")
		says(t, p.run(t, "sh", "-c", "hist shim install "+shim), "installed "+shim+"/codex\n", "before ")
		out := p.run(t, filepath.Join(shim, "codex"), strings.Fields(c.args)...)
		says(t, out, "client: "+c.args+"\n")
		if asked := strings.Contains(out, "repaired thread "+killedID); asked != (c.asked != "") {
			t.Errorf("%s: the session was repaired: %v:\n%s", c.args, asked, out)
		}
	}
}

const (
	forgetful   = "fixtures/claude/rules/null-parent/bad.jsonl"
	forgetfulID = "0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4"
)

// TestClaudeHook: whatever takes a session of Claude Code up, it is mended first, and the client is run.
func TestClaudeHook(t *testing.T) {
	p := newHookPlace(t)
	bin := filepath.Dir(lookIn(t, p, "hist"))
	put(t, filepath.Join(bin, "claude"), "#!/bin/sh\necho \"client: $*\"\n", 0o755)
	home := filepath.Join(filepath.Dir(bin), "claude")
	for _, c := range []struct {
		args   string
		mended bool
	}{
		{"--resume " + forgetfulID + " more", true},
		{"-p more --resume=" + forgetfulID, true},
		{"-r " + forgetfulID, true},
		{"--continue", true},
		{"-p more -c", true},
		{"-p more", false},
		{"--resume", false},
		{"-- --continue", false},
	} {
		session := filepath.Join(home, "projects", regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(p.work, "-"), forgetfulID+".jsonl")
		damaged := read(t, filepath.Join(p.root, forgetful))
		put(t, session, damaged, 0o600)
		p.env = append(p.env, "CLAUDE_CONFIG_DIR="+home, "XDG_STATE_HOME="+t.TempDir()) // what was repaired once is not again
		out := p.run(t, "sh", append([]string{"-c", `. "$0"; claude "$@"`, filepath.Join(p.root, "docs/hooks/claude.sh")}, strings.Fields(c.args)...)...)
		says(t, out, "client: "+c.args+"\n")
		if mended := read(t, session) != damaged; mended != c.mended || strings.Contains(out, "repaired") != c.mended {
			t.Errorf("claude %s: the session was repaired: %v:\n%s", c.args, mended, out)
		}
	}
}

// lookIn is where a program lies that the place has.
func lookIn(t *testing.T, p *hookPlace, program string) string {
	t.Helper()
	for _, e := range p.env {
		if dirs, ok := strings.CutPrefix(e, "PATH="); ok {
			if path := filepath.Join(filepath.SplitList(dirs)[0], program); exists(path) {
				return path
			}
		}
	}
	t.Fatalf("the place has no %s", program)
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestServiceHook(t *testing.T) {
	p := newHookPlace(t)
	unit := filepath.Join(p.root, "docs/hooks/agent.service")
	_, line, found := strings.Cut(read(t, unit), "\nExecStart=")
	if !found {
		t.Fatal("the unit starts nothing")
	}
	line, _, _ = strings.Cut(line, "\n")
	out := p.run(t, "sh", "-c", strings.ReplaceAll(line, "%h", p.work))
	says(t, out, "client: exec resume --last go on\n", "repaired ")
	if tool, err := exec.LookPath("systemd-analyze"); err == nil {
		verify := exec.Command(tool, "verify", "--user", unit)
		verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		if out, err := verify.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	} else {
		t.Log("systemd-analyze is not here: the unit's command was run, its form was not verified")
	}
}

func TestNodeHook(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not here")
	}
	p := newHookPlace(t)
	hook := filepath.Join(p.root, "docs/hooks/resume.mjs")
	ask := func(id, options string) (a preresume.Answer) {
		t.Helper()
		out := p.run(t, node, "--input-type=module", "-e", `import { beforeResume } from "`+hook+`"; console.log(JSON.stringify(await beforeResume("`+id+`", `+options+`)))`)
		if err := json.Unmarshal([]byte(out), &a); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return a
	}
	if a := ask(killedID, `{ errorText: "the thread already has an active writer" }`); !a.Repaired || a.Verdict != preresume.InUse || len(a.Unknown) != 2 {
		t.Errorf("%+v", a)
	}
	if a := ask("01a1fa85-0000-7000-8000-000000000000", "{}"); a.Verdict != preresume.NotFound || a.SameThread {
		t.Errorf("%+v", a)
	}
	p.env = append(p.env, "PATH="+filepath.Dir(node)) // without hist
	if a := ask(killedID, "{}"); a.Verdict != preresume.Resumable || a.Complete || len(a.Resume) != 3 {
		t.Errorf("%+v", a)
	}
}

func TestWorkflowHook(t *testing.T) {
	p := newHookPlace(t)
	var workflow struct {
		Steps []struct {
			Run string            `yaml:"run"`
			If  string            `yaml:"if"`
			Env map[string]string `yaml:"env"`
		} `yaml:"steps"`
	}
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(p.root, "docs/hooks/resume.yml"))), &workflow); err != nil || len(workflow.Steps) != 3 {
		t.Fatalf("%v: %+v", err, workflow)
	}
	output, summary := filepath.Join(p.work, "output"), filepath.Join(p.work, "summary")
	p.env = append(p.env, "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary)
	p.run(t, "bash", "-eo", "pipefail", "-c", workflow.Steps[0].Run)
	outputs := read(t, output)
	says(t, outputs, "\ncode=0\n", `"repaired":true`)
	answer, _, _ := strings.Cut(strings.TrimPrefix(outputs, "answer="), "\n")
	var a preresume.Answer
	if err := json.Unmarshal([]byte(answer), &a); err != nil || workflow.Steps[1].Env["THREAD"] == "" {
		t.Fatalf("%v: %s", err, answer)
	}
	p.env = append(p.env, "THREAD="+a.Thread)
	says(t, p.run(t, "bash", "-eo", "pipefail", "-c", workflow.Steps[1].Run), "client: exec resume "+killedID+" go on\n")
	p.run(t, "bash", "-eo", "pipefail", "-c", workflow.Steps[2].Run)
	says(t, read(t, summary), "1 session: no damage was found")
}
