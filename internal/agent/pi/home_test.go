package pi_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/cmd"
	"github.com/hist-cli/hist/internal/agent/pi"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit/agenttest"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// TestSuite: pi passes what every agent must.
func TestSuite(t *testing.T) {
	sessions := map[string][]byte{}
	for _, scenario := range []string{"clean", "parallel"} {
		_, sessions[scenario] = recording(t, "1.5.2", scenario)
	}
	agenttest.Suite(t, pi.Agent, sessions)
}

// happened are the recordings to which something happened.
var happened = []string{"disk_full", "deleted_while_open"}

// TestRecordings: what real clients wrote has no finding, and a repair gives the same bytes.
func TestRecordings(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(fixtures, "*", "*", "*Z_*.jsonl"))
	if len(paths) < 40 {
		t.Fatalf("%d recordings", len(paths))
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		hurt := false
		for _, h := range happened {
			hurt = hurt || strings.Contains(path, "/"+h+"/")
		}
		found := linted(t, filepath.Base(path), text).Findings
		if !hurt && (len(found) > 0 || !bytes.Equal(repaired(t, filepath.Base(path), text), text)) {
			t.Errorf("%s: findings in a healthy session, or a repair changes it: %v", path, found)
		}
	}
}

// home lays recordings into a home, in the folder of /home/dev/demo.
func home(t *testing.T, scenarios ...string) (dir string, files []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), ".pi", "agent")
	folder := filepath.Join(dir, "sessions", "--home-dev-demo--")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios {
		paths, _ := filepath.Glob(filepath.Join(fixtures, "1.5.2", s, "*.jsonl"))
		for _, p := range paths {
			text, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(folder, filepath.Base(p))
			if err := os.WriteFile(to, text, 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, to)
		}
	}
	return dir, files
}

func change(t *testing.T, path, old, with string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%s does not hold %s (%v)", path, old, err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(old), []byte(with), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

func inHome(t *testing.T, dir, path string) *lint.Result {
	t.Helper()
	res, err := lint.File(context.Background(), path, lint.Options{Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestNeighbours: what in its folder is in the way of a session is told with the session.
func TestNeighbours(t *testing.T) {
	dir, files := home(t, "clean", "parallel")
	if found := inHome(t, dir, files[0]).Findings; len(found) > 0 {
		t.Errorf("a healthy home: %v", found)
	}
	change(t, files[1], `"cwd":"/home/dev/demo"`, `"cwd":"/home/dev-demo"`)
	if found := inHome(t, dir, files[0]).Findings; len(found) != 1 || found[0].Rule.Name != "shared-folder" {
		t.Errorf("two projects in one folder: %v", found)
	}
	change(t, files[1], `"id":"`, `"idd":"`)
	if found := inHome(t, dir, files[0]).Findings; len(found) != 1 || found[0].Rule.Name != "bad-neighbour" {
		t.Errorf("a neighbour without an id: %v", found)
	}
}

// TestRecovered: a record that the file has lost comes back from a fork in the same folder, with its own bytes, also where hundreds of sessions lie
// between the two. One whose chain leads back to itself is hung where it was, and what the fork has of it is not put beside it.
func TestRecovered(t *testing.T) {
	for _, between := range []int{0, 300} {
		t.Run(fmt.Sprint(between), func(t *testing.T) {
			_, files := home(t, "fork")
			for _, other := range files[2:] {
				if err := os.Remove(other); err != nil {
					t.Fatal(err)
				}
			}
			dir, name := filepath.Split(files[1])
			if err := os.Rename(files[1], filepath.Join(dir, "2031-"+name[len("2026-"):])); err != nil {
				t.Fatal(err)
			}
			for i := range between {
				other := fmt.Sprintf("2030-01-01T00-00-00-000Z_019cadb2-1111-7000-8000-%012d", i)
				if err := os.WriteFile(filepath.Join(dir, other+".jsonl"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			comesBack(t, files[0], without(model, 0))
			comesBack(t, files[0], func(l []string) []string { return swap(user, 0, up, `"parentId":"`+id(l[at(l, model, 0)])+`"`)(l) })
		})
	}
}

// comesBack damages a session and repairs a copy, which is what the session was.
func comesBack(t *testing.T, path string, damage func(lines []string) []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.Join(damage(strings.SplitAfter(string(text), "\n")), "")
	if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.WriteFile(path, text, 0o600)
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var out bytes.Buffer
	if _, err := repair.Do(context.Background(), repair.Job{Source: src, Mode: repair.ToStream, Stream: &out, Lint: lint.Options{Name: lint.NameOf(path, true)}}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), text) {
		t.Errorf("the session is not as it was:\n%s", clipped(out.Bytes()))
	}
}

// run runs hist.
func run(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if code := cmd.Main(append([]string{"hist"}, args...), strings.NewReader(""), &out, &out); code != want {
		t.Errorf("%v: exit code %d, want %d\n%s", args, code, want, out.String())
	}
	return out.String()
}

// TestCommandLine: what a user has for the others is there for pi.
func TestCommandLine(t *testing.T) {
	dir, files := home(t, "clean", "tree", "disk_full")
	t.Setenv("PI_CODING_AGENT_DIR", dir)
	t.Setenv("CODEX_HOME", filepath.Join(dir, "none"))
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(dir, "none"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CONFIG_HOME", dir)
	ids := make([]string, len(files))
	for i, f := range files {
		ids[i] = pi.Agent.ReadName(filepath.Base(f)).ThreadID
	}
	has := func(out string, words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(out, w) {
				t.Errorf("no %q in:\n%s", w, out)
			}
		}
	}
	has(run(t, 0, "list", "--json"), `"agent":"pi"`, ids[0], ids[2])
	has(run(t, 0, "show", ids[0]), "read (call_a1): ok", "bash (call_a2): ok")
	has(run(t, 0, "pre-resume", ids[0][:13]), "resumable", "pi --session "+ids[0])
	has(run(t, 1, "pre-resume", ids[2]), "repairable")
	has(run(t, 1, "doctor"), ids[2])
	has(run(t, 0, "repair", "--in-place", ids[2]), "all 6 known items")
	has(run(t, 0, "lint", ids[2]), "no damage was found")
	run(t, 0, "undo")
	run(t, 1, "lint", ids[2])
	has(run(t, 0, "export", ids[1]), "agent: pi")
	has(run(t, 0, "slim", "--dry-run", ids[1]), "history: identical")
	has(run(t, 0, "cut", "--dry-run", "--after-turn", "1", ids[1]), "history: the first 4 of 9")
	has(run(t, 0, "cut", "--in-place", "--after-turn", "1", ids[1]), "history: the first 4 of 9")
	has(run(t, 0, "undo"), "restored")
	has(run(t, 0, "fork", ids[1]), "history: identical", "pi --session")
	has(run(t, 0, "move", "--dry-run", "--to", dir, ids[1]), "history: identical")
	has(run(t, 0, "handoff", "--dry-run", "--to", "codex", ids[1]), "all of them arrive")
	has(run(t, 0, "handoff", "--dry-run", "--to", "pi", "--cwd", dir, "../../../fixtures/codex/healthy/parallel-calls/session.jsonl"), "all of them arrive")
	has(run(t, 0, "explain", "--error", "Session file is not a valid pi session: x"), "header")
	has(run(t, 0, "explain", "broken-link"), "chain of parents")
}

// TestBeforeTheFirstResume: what the client would rewrite for good is no session to resume, one of an older version is.
func TestBeforeTheFirstResume(t *testing.T) {
	for version, scenario := range map[string]string{"0.30.2": "clean", "0.32.3": "clean"} {
		name, text := recording(t, version, scenario)
		if found := linted(t, name, text).Findings; len(found) > 0 {
			t.Errorf("%s: %v", version, found)
		}
		bad := bytes.Replace(text, []byte(`"toolResult"`), []byte("\"tool\tResult\""), 1)
		bad = append(append(bytes.Clone(bad[:len(bad)/2]), "\n#!\n"...), bad[len(bad)/2:]...)
		if found := linted(t, name, bad).Findings; len(found) == 0 || found[0].Impact < lint.Loses {
			t.Errorf("%s with lines that do not parse: %v", version, found)
		}
	}
	text, err := os.ReadFile("../../../fixtures/pi/healthy/version-2/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, whole := range [][]byte{text, append(bytes.Clone(text), "#!\n"...)} { // a line in a sound file of version 2 is erased by the client, too
		found := linted(t, "", whole).Findings
		if bad := len(whole) > len(text); bad != (len(found) == 1) || bad && (found[0].Impact != lint.Loses || !strings.Contains(found[0].Message, "erases this line for good")) {
			t.Errorf("version 2, with a bad line: %v: %v", bad, found)
		}
	}
	_, text = recording(t, "1.5.2", "tree")
	for _, version := range []string{"", `"version":null,`, `"version":1,`} {
		found := linted(t, "", bytes.Replace(text, []byte(`"version":3,`), []byte(version), 1)).Findings
		if len(found) != 1 || found[0].Rule.Name != "lost-version" || found[0].Impact != lint.Loses {
			t.Errorf("version %q: %v", version, found)
		}
	}
}

// TestLinear: ten times the records take nowhere near a hundred times the time, healthy or damaged.
func TestLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	took := func(turns int, hurt bool) time.Duration {
		var b bytes.Buffer
		_, text := recording(t, "1.5.2", "clean")
		b.Write(bytes.SplitAfter(text, []byte("\n"))[0])
		up := "null"
		for i := range turns {
			for k, m := range []string{`"role":"user","content":"how wide?"`, `"role":"assistant","content":[{"type":"toolCall","id":"c%d","name":"read","arguments":{}}],"usage":{},"stopReason":"toolUse"`, `"role":"toolResult","toolCallId":"c%d","toolName":"read","content":[]`} {
				if k > 0 {
					m = fmt.Sprintf(m, i)
				}
				if hurt && k == 2 && i%3 == 0 {
					up = fmt.Sprintf(`"%08x"`, 1<<30+i)
				}
				fmt.Fprintf(&b, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-11-26T23:47:13.155Z","message":{%s}}`+"\n", 3*i+k, up, m)
				up = fmt.Sprintf(`"%08x"`, 3*i+k)
			}
		}
		begun := time.Now()
		linted(t, "", b.Bytes())
		return time.Since(begun)
	}
	for _, hurt := range []bool{false, true} {
		short, long := min(took(1500, hurt), took(1500, hurt), took(1500, hurt)), took(15000, hurt)
		for try := 0; try < 2 && long > 60*short; try++ { // perhaps the machine is busy
			long = min(long, took(15000, hurt))
		}
		if long > 60*short {
			t.Errorf("hurt %v: %v for 4,500 records, %v for 45,000", hurt, short, long)
		}
	}
}
