package operate

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/surgery"
	claude "github.com/hist-cli/hist/testing/claude/clienttest"
	codex "github.com/hist-cli/hist/testing/codex/clienttest"
)

// screenshot is a picture that no compression makes much smaller.
func screenshot(t *testing.T, dir string, seed uint64, side int) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	pic := image.NewRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			pic.Set(x, y, color.RGBA{uint8(r.UintN(256)), uint8(r.UintN(256)), uint8(r.UintN(256)), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, pic); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fmt.Sprintf("shot-%d.png", seed))
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// withScreenshots has Codex work for some turns: it looks at a screenshot, a user shows it one in every second turn, and commands print pages.
// In front of every turn that compacts names, the history is summed up.
func (c *codexClient) withScreenshots(t *testing.T, turns, side int, compacts func(turn int) bool) (path string) {
	c.Config = append(c.Config, "model_auto_compact_token_limit=100000")
	for n := range turns {
		shot := screenshot(t, c.Work, uint64(2*n), side)
		if compacts(n) {
			c.Server.Queue(codex.Reply{Items: []codex.Item{codex.Message(fmt.Sprintf("msg_s%d", n), codex.Summary)}})
		}
		last := codex.Reply{Items: []codex.Item{codex.Message(fmt.Sprintf("msg_b%d", n), fmt.Sprintf("Turn %d is done.", n))}}
		if compacts(n + 1) {
			last.Tokens = 200000
		}
		c.Server.Queue(
			codex.Reply{Items: []codex.Item{codex.Function(fmt.Sprintf("fc_a%d", n), fmt.Sprintf("call_a%d", n), "", "view_image", fmt.Sprintf(`{"path": %q}`, shot))}},
			codex.Reply{Items: []codex.Item{codex.Shell(fmt.Sprintf("fc_b%d", n), fmt.Sprintf("call_b%d", n), fmt.Sprintf("seq %d %d", 1000*n, 1000*n+3000))}},
			last,
		)
		args := []string{fmt.Sprintf("look at the page, step %d", n)}
		if n%2 == 1 {
			args = append(args, "-i", screenshot(t, c.Work, uint64(2*n+1), side))
		}
		var res codex.Result
		if n == 0 {
			res = c.Exec(t.Context(), args[0])
		} else {
			id, err := codex.SessionID(path)
			if err != nil {
				t.Fatal(err)
			}
			res = c.Again(t.Context(), id, args...)
		}
		if res.Err != nil || res.ExitCode != 0 || res.Rollout == "" {
			t.Fatalf("turn %d: exit %d, %v: %s", n, res.ExitCode, res.Err, res.Stderr)
		}
		path = res.Rollout
	}
	return path
}

// withScreenshots has Claude Code do the same.
func (c *claudeClient) withScreenshots(t *testing.T, turns, side int, compacts func(turn int) bool) (path string) {
	var list []claude.Turn
	for n := range turns {
		if compacts(n) {
			list = append(list, claude.Turn{Prompt: "/compact", Answers: [][]claude.Block{{{Type: "text", Text: "<summary>pages were looked at</summary>"}}}})
		}
		call := func(id, name string, input any) []claude.Block {
			return []claude.Block{{Type: "tool_use", ID: fmt.Sprintf("toolu_01%s%d", id, n), Name: name, Input: input}}
		}
		list = append(list, claude.Turn{Prompt: fmt.Sprintf("look at the page, step %d", n), Answers: [][]claude.Block{
			call("a", "Read", map[string]any{"file_path": screenshot(t, c.Work, uint64(n), side)}),
			call("b", "Bash", map[string]any{"command": fmt.Sprintf("seq %d %d", 1000*n, 1000*n+3000), "description": "Count"}),
			{{Type: "text", Text: fmt.Sprintf("Turn %d is done.", n)}},
		}})
	}
	id, _, err := c.Record(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(c.Projects(), id+".jsonl")
}

// looker is a client that can be made to look at screenshots.
type looker interface {
	client
	withScreenshots(t *testing.T, turns, side int, compacts func(turn int) bool) (path string)
	requests(t *testing.T, path string) (first, next []string, err error)
}

func (c *codexClient) requests(t *testing.T, path string) (first, next []string, err error) {
	return codex.Requests(t.Context(), c.Bin, t.TempDir(), path)
}

func (c *claudeClient) requests(t *testing.T, path string) (first, next []string, err error) {
	return claude.Requests(t.Context(), c.Bin, t.TempDir(), path)
}

// TestRealClientsSlim: a session with screenshots becomes smaller by what its client never reads again, and the client sends the same of it, in
// the first request and in the next one. With -operate-all it is as large as those in docs/dev/benchmarks.md.
func TestRealClientsSlim(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real clients; left out by -short")
	}
	turns, side := 6, 120
	if *all {
		turns, side = 36, 470
	}
	every := max(4, turns/3-1)
	compacts := func(n int) bool { return n > 0 && n < turns && n%every == 0 }
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			c := a.client(t).(looker)
			path := c.withScreenshots(t, turns, side, compacts)
			size := func(path string) int64 {
				info, err := os.Stat(path)
				if err != nil {
					t.Fatal(err)
				}
				return info.Size()
			}
			var before [2][]string
			var err error
			if before[0], before[1], err = c.requests(t, path); err != nil {
				t.Fatal(err)
			}
			for _, level := range []string{"exact", "model", "marked"} {
				out := filepath.Join(t.TempDir(), filepath.Base(path))
				args := []string{"slim", "--level", level, "-o", out}
				if level == "marked" {
					args = append(args, "--keep-images", "2", "--max-output", "4KB")
				}
				do(t, c, append(args, path)...)
				was, is := size(path), size(out)
				t.Logf("history sent: slim, %s: %s → %s (%.0f %%)", level, surgery.Bytes(was), surgery.Bytes(is), 100*float64(is-was)/float64(was))
				if is > was*7/10 {
					t.Errorf("%s: %d of %d bytes stay", level, is, was)
				}
				if level == "marked" {
					continue
				}
				var after [2][]string
				if after[0], after[1], err = c.requests(t, out); err != nil {
					t.Fatal(err)
				}
				for n := range after {
					if err := same(nil, before[n], after[n]); err != nil {
						t.Errorf("%s: request %d: %v", level, n+1, err)
					}
				}
			}
		})
	}
}

// TestRealClientsReview: a reviewer of approvals that Codex asks behind a resume is sent the same once slim has taken out the images that a
// compaction keeps for it, and so is the model.
func TestRealClientsReview(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real clients; left out by -short")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	path := recordings(t, "codex", agents[0].one)[0]
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	shot, err := os.ReadFile(screenshot(t, t.TempDir(), 1, 40))
	if err != nil {
		t.Fatal(err)
	}
	kept := `"type":"compacted","payload":{"guardian_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"an old request"},{"type":"input_image","image_url":"data:image/png;base64,` +
		base64.StdEncoding.EncodeToString(shot) + `"}]}],`
	before := written(t, filepath.Base(path), bytes.Replace(text, []byte(`"type":"compacted","payload":{`), []byte(kept), 1))
	after := filepath.Join(t.TempDir(), filepath.Base(path))
	if told := do(t, newCodex(t), "slim", "--level", "exact", "-o", after, before); !strings.Contains(told, "images-of-reviews") {
		t.Fatal(told)
	}
	was, is := reviewed(t, before), reviewed(t, after)
	if len(was) < 3 || !strings.Contains(strings.Join(was[1], ""), "APPROVAL REQUEST") || len(is) != len(was) {
		t.Fatalf("%d requests before, %d after, and no reviewer is asked", len(was), len(is))
	}
	for n := range was {
		if err := same(nil, was[n], is[n]); err != nil {
			t.Errorf("request %d: %v", n+1, err)
		}
	}
}

// reviewed resumes a session with a reviewer who is asked once, and returns what each request says.
func reviewed(t *testing.T, path string) (requests [][]string) {
	t.Helper()
	c := newCodex(t).(*codexClient)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	id := c.Lay(t, path, text)
	file := filepath.Join(c.Codex, "config.toml")
	config, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	by := strings.NewReplacer(`"never"`, "\"on-request\"\napprovals_reviewer = \"auto_review\"", "[features]", "[features]\nguardian_approval = true", "danger-full-access", "workspace-write")
	if err := os.WriteFile(file, []byte(by.Replace(string(config))), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Server.Queue(
		codex.Reply{Items: []codex.Item{codex.Function("fc_r1", "call_r1", "", "exec_command", `{"cmd":"true","sandbox_permissions":"require_escalated","justification":"it is wanted"}`)}},
		codex.Reply{Items: []codex.Item{codex.Message("msg_r2", `{"risk_level":"low","outcome":"allow","rationale":"ok","user_authorization":"high"}`)}},
		codex.Reply{Items: []codex.Item{codex.Message("msg_r3", "Done.")}},
	)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	app, err := c.FullApp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer app.Kill()
	thread, _, err := app.ThreadWith(ctx, "thread/resume", id, map[string]any{"approvalsReviewer": "auto_review", "approvalPolicy": "on-request", "sandbox": "workspace-write"})
	if err != nil {
		t.Fatal(err)
	}
	if err := app.Turn(ctx, thread, codex.Prompt); err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Server.Requests() {
		said, err := c.Said(codex.Result{Requests: []codex.Request{r}}, id, string(text))
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, said)
	}
	return requests
}
