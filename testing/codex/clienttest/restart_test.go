package clienttest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/preresume"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// cardOf makes the restart card of a session as it lies on disk.
func cardOf(t *testing.T, path, cwd string) string {
	t.Helper()
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	in, err := src.Reader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	result, err := lint.Session(t.Context(), in, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	card, err := preresume.MakeCard(t.Context(), src, result, preresume.CardOptions{CWD: cwd})
	if err != nil {
		t.Fatal(err)
	}
	return card.Text()
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// The harness is restarted in the middle of a turn: its client is killed while tools run, the checkout moves, and an
// old wake message comes again. The card says all of it, and the resumed client sends the card to the model.
func TestRestartInTheMiddle(t *testing.T) {
	if testing.Short() {
		t.Skip("kills clients, which takes some seconds")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	clients(t, func(t *testing.T, bin Binary) {
		h := newHome(t, bin)
		gitIn(t, h.Work, "init", "-q", "-b", "main")
		gitIn(t, h.Work, "commit", "-q", "--allow-empty", "-m", "one")
		first := gitIn(t, h.Work, "rev-parse", "HEAD")
		const wake = "[WAKE] Message 7 is waiting for you."
		step := func(what string, res Result, exit int) Result {
			t.Helper()
			if res.Err != nil || res.Rollout == "" || res.ExitCode != exit {
				t.Fatalf("%s: %+v", what, res)
			}
			return res
		}
		h.Server.Queue(Reply{Items: []Item{Message("msg_1", "Read it.")}})
		path := step("first turn", h.Exec(t.Context(), wake), 0).Rollout
		id, err := SessionID(path)
		if err != nil {
			t.Fatal(err)
		}
		h.Server.Queue(Reply{Items: []Item{Shell("fc_2", "call_2", "sleep 30; echo two")}})
		step("killed turn", h.resumeKill(t.Context(), id, "run the checks", OnDisk(time.Second, `"call_2"`)), -1)
		gitIn(t, h.Work, "checkout", "-q", "-b", "other")
		gitIn(t, h.Work, "commit", "-q", "--allow-empty", "-m", "two")

		card := cardOf(t, path, h.Work)
		begun := strings.Contains(readAll(t, path), `"task_started"`) // 0.100 and later
		holds := func(want ...string) {
			t.Helper()
			for _, w := range want {
				if !strings.Contains(card, w) {
					t.Errorf("the card lacks %q:\n%s", w, card)
				}
			}
		}
		holds("never ended", "side effects unknown, no output of: ", "(call_2)",
			"moved from "+first, "to "+gitIn(t, h.Work, "rev-parse", "HEAD"), "branch: moved from main, when the session began, to other")

		h.Server.Queue(Reply{Items: []Item{Message("msg_3", "Checked.")}})
		res := step("resumed with the card", h.Resume(t.Context(), id, card), 0)
		if sent := string(res.Requests[len(res.Requests)-1].Body); !strings.Contains(sent, "side effects unknown") {
			t.Error("the model was not sent the card")
		}
		h.Server.Queue(Reply{Items: []Item{Message("msg_4", "Nothing new.")}})
		step("woken again", h.Resume(t.Context(), id, wake), 0)
		card = cardOf(t, path, h.Work)
		if !begun {
			holds("calls of other turns that have no output: 1, the newest ")
			return
		}
		holds("the session went on at line ", "(call_2)", "since the restart, word for word as before it: line ", "since the restart, new: line ")
	})
}

// resumeKill is Resume with a kill -9.
func (h *Home) resumeKill(ctx context.Context, id, prompt string, when When) Result {
	return h.run(ctx, when, os.Kill, "resume", id, prompt)
}

func readAll(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// An agent that was restarted asks for its card from inside its sandbox, as AGENTS.md tells it to: the card names what
// was running, and not the turn that runs now.
func TestAgentAsksForItsCard(t *testing.T) {
	if testing.Short() {
		t.Skip("kills clients, which takes some seconds")
	}
	line := regexp.MustCompile("run `(hist .*?)`").FindStringSubmatch(readAll(t, "../../../docs/restart-card.md"))
	if line == nil {
		t.Fatal("the page has no line for AGENTS.md")
	}
	// Older clients do not tell their commands their thread.
	clientsSince(t, "0.114.0", func(t *testing.T, bin Binary) {
		h := newHome(t, bin)
		hist := filepath.Join(h.Root, "hist")
		if out, err := exec.Command("go", "build", "-o", hist, "github.com/hist-cli/hist").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		h.Config = append(h.Config, `sandbox_mode="workspace-write"`)
		rec, err := Record(t.Context(), h, "kill_in_tool")
		if err != nil {
			t.Fatal(err)
		}
		id, err := SessionID(rec.Rollout)
		if err != nil {
			t.Fatal(err)
		}
		h.Server.Queue(
			Reply{Items: []Item{Shell("fc_9", "call_9", strings.Replace(line[1], "hist", hist, 1))}},
			Reply{Items: []Item{Message("msg_9", "Looked.")}},
		)
		res := h.Resume(t.Context(), id, goOn)
		if res.Err != nil || res.ExitCode != 0 || len(res.Requests) != 2 {
			t.Fatalf("%+v", res)
		}
		sent := string(res.Requests[1].Body)
		if strings.Contains(sent, "hist: ") {
			t.Errorf("hist complains:\n%s", sent[max(0, len(sent)-3000):])
		}
		for _, want := range []string{"side effects unknown, no output of: exec_command (call_2), apply_patch (call_p3)\\n", "is being worked on now"} {
			if !strings.Contains(sent, want) {
				t.Errorf("the model was not told %q:\n%s", want, sent[max(0, len(sent)-3000):])
			}
		}
	})
}
