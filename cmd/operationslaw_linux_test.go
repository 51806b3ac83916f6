package cmd

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hist-cli/hist/internal/testkit"
	"github.com/hist-cli/hist/repair"
)

// The sessions of an operatedHome.
const (
	claudeSession = "0a2f75a0-c959-4f4c-a509-f76b3242eb06"
	codexSession  = "01a21a4f-57e6-79b2-be9f-1de958417358"
	piSession     = "01a21a41-df4d-74cc-86b1-6366f3ca9bd7"
)

// operatedHome is a home of each agent with a sound session, with what its client keeps beside it.
type operatedHome struct{ dir string }

// path is a path below the home's directory.
func (h operatedHome) path(rel string) string { return filepath.Join(h.dir, filepath.FromSlash(rel)) }

// Paths below an operatedHome.
const (
	claudeFolder = "home/.claude/projects/-home-dev-demo"
	claudeFile   = claudeFolder + "/" + claudeSession + ".jsonl"
	codexFile    = "codex/sessions/2026/11/27/rollout-2026-11-27T00-02-17-" + codexSession + ".jsonl"
	piFile       = "pi/sessions/--home-dev-demo--/2026-11-26T23-47-34-349Z_" + piSession + ".jsonl"
	codexView    = "codex/thread_history_1.sqlite"
)

// fileOf is the session that an operation changes, by its agent.
var fileOf = map[string]string{"claude": claudeFile, "codex": codexFile, "pi": piFile}

// another is a copy of the home.
func (h operatedHome) another(t *testing.T) operatedHome {
	t.Helper()
	c := operatedHome{t.TempDir()}
	if err := os.CopyFS(c.dir, os.DirFS(h.dir)); err != nil {
		t.Fatal(err)
	}
	return c
}

func newOperatedHome(t *testing.T) operatedHome {
	t.Helper()
	h := operatedHome{t.TempDir()}
	fixture := func(pattern string) string {
		found, err := filepath.Glob("../fixtures/" + pattern)
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		text, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	files := map[string]string{
		claudeFile: fixture("claude/2.1.332/compact/*.jsonl"),
		claudeFolder + "/" + claudeSession + "/tool-results/one.txt": "an output\n",
		claudeFolder + "/memory/MEMORY.md":                           "what is known of the project\n",
		"home/.claude/file-history/" + claudeSession + "/0001@v1":    "a file before an edit\n",
		"home/.claude/history.jsonl":                                 `{"display":"one","project":"/home/dev/demo","sessionId":"` + claudeSession + `","timestamp":1}` + "\n",
		"home/.claude.json":                                          `{"theme":"dark","projects":{"/home/dev/demo":{"hasTrustDialogAccepted":true}}}`,
		codexFile:                                                    fixture("codex/0.171.0/compact/*.jsonl"),
		"codex/session_index.jsonl":                                  `{"id":"` + codexSession + `","thread_name":"a name"}` + "\n",
		piFile:                                                       fixture("pi/1.5.2/compact/*.jsonl"),
		"work/README":                                                "where copies go\n",
		"elsewhere/home/.claude/projects/x/y":                        "another machine\n",
	}
	for rel, text := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(h.path(rel)), 0o755), os.WriteFile(h.path(rel), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", h.path(codexView))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{
		"CREATE TABLE thread_turns (thread_id TEXT, turn_id TEXT, rollout_ordinal INTEGER, rollout_byte_offset INTEGER)",
		"CREATE TABLE thread_items (thread_id TEXT, turn_id TEXT, item_id TEXT)",
		"CREATE TABLE thread_history_projection_state (thread_id TEXT PRIMARY KEY, next_rollout_byte_offset INTEGER, next_rollout_ordinal INTEGER)",
		"INSERT INTO thread_turns VALUES ('" + codexSession + "', '01a21a4f-57fe-70b0-8a23-3785c0f691c8', 1, 625)",
		fmt.Sprintf("INSERT INTO thread_history_projection_state VALUES ('%s', %d, 9)", codexSession, len(files[codexFile])),
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"cut", "--last", "1", "-o", "work/" + claudeSession + ".jsonl", claudeFile},
		{"cut", "--last", "1", "-o", "work/" + filepath.Base(codexFile), codexFile},
		{"cut", "--last", "1", "-o", "work/" + filepath.Base(piFile), piFile},
		{"move", "--bundle", "work/claude.tgz", claudeSession},
		{"move", "--bundle", "work/codex.tgz", codexSession},
		{"move", "--bundle", "work/pi.tgz", piSession},
	} {
		if code, out := h.hist(t, nil, args...); code != ExitOK {
			t.Fatalf("%v: exit %d: %s", args, code, out)
		}
	}
	if err := os.RemoveAll(h.path("state")); err != nil {
		t.Fatal(err)
	}
	return h
}

// hist runs the program in the home's directory. The exit code is -1 if it was killed.
func (h operatedHome) hist(t *testing.T, env []string, args ...string) (code int, out string) {
	t.Helper()
	c := exec.Command(os.Args[0])
	if strings.HasPrefix(args[0], "ulimit ") {
		c = exec.Command("bash", append([]string{"-c", `trap "" XFSZ; ` + args[0] + `; exec -a hist "$0" "$@"`, os.Args[0]}, args[1:]...)...)
	} else {
		c.Args = append([]string{"hist"}, args...)
	}
	c.Dir = h.dir
	c.Env = append(append(os.Environ(), "HOME="+h.path("home"), "CLAUDE_CONFIG_DIR=", "CODEX_HOME="+h.path("codex"), "CODEX_SQLITE_HOME=", "PI_CODING_AGENT_DIR="+h.path("pi"), "XDG_STATE_HOME="+h.path("state")), env...)
	for i, v := range c.Env {
		c.Env[i] = strings.Replace(v, "=elsewhere/", "="+h.path("elsewhere")+"/", 1)
	}
	text, err := c.CombinedOutput()
	if ee, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	} else if ok && ee.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return -1, string(text)
	}
	return c.ProcessState.ExitCode(), string(text)
}

// files are all files but those of hist's own, the temporary ones among them, and databases: of those, how many rows their view has.
func (h operatedHome) files(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(h.dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && rel == "state":
			return fs.SkipDir
		case d.IsDir(), strings.HasPrefix(d.Name(), ".hist-"), strings.HasPrefix(rel, codexView):
			return nil
		}
		text, err := os.ReadFile(path)
		if repair.IsBundle(path) {
			text = []byte("a bundle") // it holds the times of its files
		}
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	files[codexView] = strconv.Itoa((&crashHome{dir: h.path("codex")}).view(t)) + " rows"
	return files
}

var (
	ids   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	times = regexp.MustCompile(`20\d\d-\d\d-\d\d(?:T[0-9:.-]+Z?)?|/20\d\d/\d\d/\d\d/|(?:REDACTED_[a-z0-9_]*_)[0-9a-f]{8}|(?:toolu|msg)_[0-9a-f]{24}|"(?:id|parentId|toolCallId)":"(?:call_)?[0-9a-f]{8}"|"timestamp":\d{13}`)
)

// masked is a text without the ids that are not in the home before, and without times, tags, and what a hand-over calls calls and answers.
func masked(text string, known map[string]bool) string {
	text = ids.ReplaceAllStringFunc(text, func(id string) string {
		if known[id] {
			return id
		}
		return "ID"
	})
	return times.ReplaceAllString(text, "TIME")
}

// idsIn are the ids in some files.
func idsIn(files map[string]string) map[string]bool {
	known := map[string]bool{}
	for path, text := range files {
		for _, id := range ids.FindAllString(path+text, -1) {
			known[id] = true
		}
	}
	return known
}

// differs says in which files two states of a home differ; "" if in none.
func differs(a, b map[string]string) string {
	var list []string
	for path := range a {
		if text, ok := b[path]; !ok {
			list = append(list, path+" is missing")
		} else if text != a[path] {
			list = append(list, fmt.Sprintf("%s differs (%d and %d bytes)", path, len(a[path]), len(text)))
		}
	}
	for path := range b {
		if _, ok := a[path]; !ok {
			list = append(list, path+" was not there")
		}
	}
	slices.Sort(list)
	return strings.Join(list, "\n  ")
}

// maskedFiles masks the files that were not there before, their names too.
func maskedFiles(files, old map[string]string) map[string]string {
	known := idsIn(old)
	out := map[string]string{}
	for path, text := range files {
		if _, was := old[path]; !was {
			path, text = masked(path, known), masked(text, known)
			for out[path] != "" { // a second one like it
				path += "+"
			}
		} else if text != old[path] {
			text = masked(text, known)
		}
		out[path] = text
	}
	return out
}

// between says what is wrong with a home where an operation was cut off: each file is the old one or the new one, whole.
func between(now, old, new map[string]string) string {
	var list []string
	masked := maskedFiles(now, old)
	for path, text := range masked {
		was, isOld := old[path]
		will, isNew := new[path]
		if !(isOld && text == was || isNew && text == will) {
			list = append(list, fmt.Sprintf("%s is neither the old one nor the new one (%d bytes)", path, len(text)))
		}
	}
	for path := range old {
		_, stays := new[path]
		if _, is := masked[path]; !is && stays {
			list = append(list, path+" is gone")
		}
	}
	return strings.Join(list, "\n  ")
}

// An operationCase is an operation on a session of an agent.
type operationCase struct {
	agent   string
	args    []string
	env     []string
	forgets bool // there is no undo
}

func operationCases() (cases []operationCase) {
	for agent, path := range fileOf {
		id := map[string]string{"claude": claudeSession, "codex": codexSession, "pi": piSession}[agent]
		for _, args := range [][]string{
			{"slim", id},
			{"slim", "-i", id},
			{"slim", "-o", "work/small.jsonl", path},
			{"slim", "-i", "--level", "marked", "--max-output", "50", "--keep-images", "0", "--drop-thinking", id},
			{"cut", "--last", "1", id},
			{"cut", "--after-turn", "2", "-i", id},
			{"cut", "--after-turn", "1", "-i", "--purge", id},
			{"fork", id},
			{"redact", "--pattern", "(?i)\\b(?:count|please|say|tell)\\b", id},
			{"redact", "-i", "--keep-original", "--pattern", "(?i)\\b(?:count|please|say|tell)\\b", id},
			{"redact", "-i", "--pattern", "(?i)\\b(?:count|please|say|tell)\\b", id},
			{"move", "--to", "/srv/new", id},
			{"move", "--to", "/srv/new", "--rewrite", "history", id},
			{"move", "--all", "--agent", agent, "--from", "/home/dev/demo", "--to", "/srv/new"},
		} {
			cases = append(cases, operationCase{agent: agent, args: args, forgets: args[0] == "redact" && args[1] == "-i" && args[2] != "--keep-original"})
		}
		for to := range fileOf {
			if to != agent {
				cases = append(cases, operationCase{agent: agent, args: []string{"handoff", "--to", to, id}})
			}
		}
		elsewhere := []string{"CODEX_HOME=elsewhere/codex", "CLAUDE_CONFIG_DIR=elsewhere/home/.claude", "PI_CODING_AGENT_DIR=elsewhere/pi"}
		cases = append(cases,
			operationCase{agent: agent, args: []string{"join", "-i", "work/" + filepath.Base(path), path}},
			operationCase{agent: agent, args: []string{"move", "--bundle", "work/new.tgz", id}, forgets: true},
			operationCase{agent: agent, args: []string{"move", "--to", "/srv/new", "work/" + agent + ".tgz"}, env: elsewhere},
			operationCase{agent: agent, args: []string{"move", "work/" + agent + ".tgz"}, env: elsewhere},
		)
	}
	slices.SortFunc(cases, func(a, b operationCase) int { return strings.Compare(a.String(), b.String()) })
	return cases
}

func (c operationCase) String() string { return c.agent + ": " + strings.Join(c.args, " ") }

// law is what is known of an operation that nothing has disturbed.
type law struct {
	operationCase
	home     operatedHome
	old, new map[string]string
	steps    int
}

// undisturbed carries an operation out, a second time, and takes it back.
func (c operationCase) undisturbed(t *testing.T, home operatedHome) law {
	t.Helper()
	h := home.another(t)
	l := law{operationCase: c, home: home, old: h.files(t)}
	counted := h.path("state/steps")
	if err := os.MkdirAll(h.path("state"), 0o755); err != nil {
		t.Fatal(err)
	}
	if code, out := h.hist(t, append([]string{dieAt + "=0", countSteps + "=" + counted}, c.env...), c.args...); code != ExitOK {
		t.Fatalf("exit %d: %s", code, out)
	}
	text, err := os.ReadFile(counted)
	if err != nil {
		t.Fatal(err)
	}
	if l.steps, err = strconv.Atoi(string(text)); err != nil {
		t.Fatal(err)
	}
	is := h.files(t)
	if l.new = maskedFiles(is, l.old); maps.Equal(is, l.old) {
		t.Fatal("nothing was done")
	}
	if d := l.again(t, h); d != "" {
		t.Errorf("a second time: %s", d)
	}
	if d := l.undone(t, h); d != "" {
		t.Errorf("undo: %s", d)
	}
	return l
}

// again does it once more: then everything is as if nothing had disturbed it.
func (l law) again(t *testing.T, h operatedHome) string {
	t.Helper()
	code, out := h.hist(t, l.env, l.args...)
	named := slices.Contains(l.args, "-o") || slices.Contains(l.args, "--bundle")
	if code != ExitOK && !(named && code == ExitIO && strings.Contains(out, "exists already")) {
		return fmt.Sprintf("exit %d: %s", code, out)
	}
	if d := differs(l.new, maskedFiles(h.files(t), l.old)); d != "" {
		return d + "\n" + out
	}
	return ""
}

// undone takes everything back.
func (l law) undone(t *testing.T, h operatedHome) string {
	t.Helper()
	if l.forgets {
		return ""
	}
	code, out := h.hist(t, l.env, "undo")
	if nothing := strings.Contains(out, "nothing to undo") || strings.Contains(out, "changed nothing"); code != ExitOK && !(code == ExitIO && nothing) {
		return fmt.Sprintf("exit %d: %s", code, out)
	}
	if d := differs(l.old, h.files(t)); d != "" {
		return d + "\n" + out
	}
	return ""
}

// TestOperationsCutOff ends each operation after some of its steps, each after others, and with a disk that is full earlier or later: each file is
// then the old one or the new one, undo brings every byte back, and a second try comes to the same end as if nothing had been.
func TestOperationsCutOff(t *testing.T) {
	home := newOperatedHome(t)
	for i, c := range testkit.Sample(operationCases(), 8, 0) {
		t.Run(c.String(), func(t *testing.T) {
			l := c.undisturbed(t, home)
			for at := 1 + i%29; at <= l.steps; at += 29 {
				l.cutOff(t, fmt.Sprintf("killed after step %d of %d", at, l.steps), func(h operatedHome) bool {
					code, _ := h.hist(t, append([]string{dieAt + "=" + strconv.Itoa(at)}, l.env...), l.args...)
					return code == -1
				})
			}
			sizes, every := []int{0, 1, 2, 4, 8, 16, 32, 64}, max(testkit.Stride(8), 3)
			for n := i % every; n < len(sizes); n += every {
				kb := sizes[n]
				l.cutOff(t, fmt.Sprintf("no file larger than %d KB", kb), func(h operatedHome) bool {
					code, out := h.hist(t, l.env, append([]string{"ulimit -f " + strconv.Itoa(kb)}, l.args...)...)
					if strings.Contains(out, "panic") {
						t.Error(out)
					}
					return code != ExitOK
				})
			}
		})
	}
}

// TestOperationsAndAClient has a client write to the session at some steps of each operation: what it writes stands in a session afterwards, whole
// behind what was there or behind what the operation made of it, and an undo does not take it away.
func TestOperationsAndAClient(t *testing.T) {
	home := newOperatedHome(t)
	for i, c := range testkit.Sample(operationCases(), 8, 5) {
		t.Run(c.String(), func(t *testing.T) {
			l := c.undisturbed(t, home)
			path := fileOf[c.agent]
			if c.args[0] == "join" {
				path = c.args[2]
			}
			for at := 1 + i%37; at <= l.steps; at += 37 {
				h := home.another(t)
				code, out := h.hist(t, append([]string{appendAt + "=" + strconv.Itoa(at) + " " + h.path(path)}, l.env...), l.args...)
				holders := l.holders(t, h)
				if len(holders) == 0 && (code != ExitOK || at < 3) {
					t.Errorf("step %d: exit %d: what the client has written is lost: %s", at, code, out)
				}
				if d := l.kept(h.files(t)); d != "" {
					t.Errorf("step %d: exit %d: %s\n%s", at, code, d, out)
				}
				h.hist(t, l.env, "undo")
				if now := l.holders(t, h); len(now) < min(1, len(holders)) {
					t.Errorf("step %d: an undo took away what the client has written to %v", at, holders)
				}
				if d := l.kept(h.files(t)); d != "" {
					t.Errorf("step %d: after an undo: %s", at, d)
				}
			}
		})
	}
}

// holders are the files that hold what the client has written.
func (l law) holders(t *testing.T, h operatedHome) (list []string) {
	for path, text := range h.files(t) {
		if strings.Contains(text, appended) {
			list = append(list, path)
		}
	}
	return list
}

// kept says what is wrong with a home to whose session a client has appended: without that, each file is the old one or the new one.
func (l law) kept(now map[string]string) string {
	for path, text := range now {
		now[path] = strings.Replace(text, appended, "", 1)
	}
	return between(now, l.old, l.new)
}

// cutOff looks at a home after each way out of what has cut an operation off.
func (l law) cutOff(t *testing.T, how string, operate func(operatedHome) bool) {
	t.Helper()
	for _, way := range []func(*testing.T, operatedHome) string{l.again, l.undone} {
		h := l.home.another(t)
		if !operate(h) {
			return
		}
		if d := between(h.files(t), l.old, l.new); d != "" {
			t.Errorf("%s: %s", how, d)
		}
		if d := way(t, h); d != "" {
			t.Errorf("%s, then: %s", how, d)
		}
	}
}
