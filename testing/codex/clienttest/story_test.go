package clienttest

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/preresume"
)

// program builds hist, once a test.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hist")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/hist-cli/hist").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// hist runs the program in a home, as a wrapper would.
func (h *Home) hist(t *testing.T, program string, args ...string) (stdout string, code int) {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir, c.Env = h.Work, append(h.Env(), "XDG_STATE_HOME="+filepath.Join(h.Root, "state"))
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); c.ProcessState == nil {
		t.Fatal(err)
	}
	t.Logf("hist %s: exit %d\n%s", strings.Join(args, " "), c.ProcessState.ExitCode(), errs.String())
	return out.String(), c.ProcessState.ExitCode()
}

func (h *Home) answer(t *testing.T, program string, args ...string) preresume.Answer {
	t.Helper()
	out, _ := h.hist(t, program, append([]string{"pre-resume", "--json"}, args...)...)
	var a preresume.Answer
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return a
}

// Story 1: the stream broke after a tool had run, and its call stands without an output. Resumed by itself, the client
// tells the model that the call was aborted; behind hist it sends the call with an output.
func TestResumeStoryStreamBroke(t *testing.T) {
	hist := program(t)
	clients(t, func(t *testing.T, bin Binary) {
		scenario := "cut_after_custom"
		if !versionLess(bin.Version, "0.145.0") {
			scenario = "kill_in_tool" // these write the output even then, but not when they are killed
		}
		h, path, id := recorded(t, bin, scenario)
		alone := newHome(t, bin)
		if _, err := alone.AddSession(path); err != nil {
			t.Fatal(err)
		}
		if c := Compare(nil, Input(sent(t, alone, id).Requests[0].Body)); c.Aborted == 0 {
			t.Fatalf("nothing is wrong with the session: %+v", c)
		}

		before := len(h.Server.Requests())
		_, code := h.hist(t, hist, "pre-resume", "--repair", id, "--exec", "--", bin.Path, "exec", "--skip-git-repo-check", "resume", id, "go on")
		requests := h.Server.Requests()[before:]
		if code != 0 || len(requests) != 1 {
			t.Fatalf("exit %d, %d requests", code, len(requests))
		}
		if c := Compare(nil, Input(requests[0].Body)); c.Aborted != 0 || !bytes.Contains(requests[0].Body, []byte(`_call_output"`)) || !bytes.Contains(requests[0].Body, []byte(`"go on"`)) {
			t.Errorf("%+v\n%s", c, requests[0].Body)
		}
		if log, _ := h.hist(t, hist, "list", "--decisions"); !strings.Contains(log, "repaired; ran ") || !strings.Contains(log, "exit 0") {
			t.Errorf("the log of decisions: %s", log)
		}
	})
}

// Story 2: the provider was at capacity, and the wrapper lost its map of threads. hist finds the thread by its
// directory, tells how it failed and what was asked, and after a fresh thread was begun, names both.
func TestResumeStoryCapacity(t *testing.T) {
	hist := program(t)
	clients(t, func(t *testing.T, bin Binary) {
		h, _, id := recorded(t, bin, "capacity")
		a := h.answer(t, hist, "--last", "--any", "--cwd", h.Work, "--show-content")
		// A client that ends before it has written the prompt into its list passes over the thread, and so does --last.
		if left := a.Replaceable; a.Verdict == preresume.NotFound && left != nil && left.Thread == id {
			a = h.answer(t, hist, id, "--show-content")
		}
		if a.Verdict != preresume.Resumable || a.Thread != id || !a.SameThread || !a.Prompt.Present || a.Prompt.Answered || a.Prompt.Text == "" {
			t.Fatalf("%+v", a)
		}
		switch {
		case !versionLess(bin.Version, "0.145.0"):
			if a.Turn.State != "failed" || a.Turn.ErrorClass != "transient" || !strings.Contains(a.Turn.Error, "at capacity") {
				t.Errorf("%+v", a.Turn)
			}
		case !versionLess(bin.Version, "0.114.0"): // it does not write why
			if a.Turn.State != "failed" {
				t.Errorf("%+v", a.Turn)
			}
		case a.Turn.State == "completed":
			t.Errorf("%+v", a.Turn)
		}
		h.Server.Reset() // the provider is back
		if res := sent(t, h, a.Resume[len(a.Resume)-1]); !bytes.Contains(res.Requests[0].Body, []byte(a.Prompt.Text)) {
			t.Errorf("the resumed request does not carry the prompt")
		}

		h, _, id = recorded(t, bin, "capacity")
		h.Server.Reset()
		res := h.Exec(t.Context(), "who are you?")
		fresh, err := SessionID(res.Rollout)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			args             []string
			thread, relation string
			other            string
		}{
			{[]string{"--last", "--any", "--cwd", h.Work}, fresh, "replaces", id},
			{[]string{id}, id, "replaced_by", fresh},
		} {
			a := h.answer(t, hist, c.args...)
			if a.Thread != c.thread || len(a.Related) != 1 || a.Related[0].Relation != c.relation || a.Related[0].Thread != c.other || a.Related[0].Resume[2] != c.other {
				t.Errorf("%v: %+v", c.args, a)
			}
		}
	})
}
