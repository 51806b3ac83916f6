package operate

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	claude "github.com/hist-cli/hist/testing/claude/clienttest"
	codex "github.com/hist-cli/hist/testing/codex/clienttest"
)

var all = flag.Bool("operate-all", false, "take every recording of the newest clients, and not only one of each")

// client is a real client in a home of its own.
type client interface {
	// Here makes the home hist's, too.
	Here(t *testing.T)
	// Places are: what holds all of the home, what the client calls its home, and the directory that it works in.
	Places() (root, config string, dir *string)
	// Lay puts a session into the home.
	Lay(t *testing.T, path string, text []byte) (id string)
	// Last resumes the session that the client itself takes for the last one of its directory. The session is said to hold a text.
	Last(t *testing.T, id, held string) (said []string)
	// Refused is what the API would not take of what was sent last, "" for nothing.
	Refused() string
	// Fill makes this home a copy of another one's.
	Fill(t *testing.T, from client)
}

type codexClient struct {
	*codex.Home
	last codex.Result
}

func newCodex(t *testing.T) client {
	bin, err := codex.Find(codex.Newest)
	if err != nil {
		t.Skip(err)
	}
	h, err := codex.NewHome(t.TempDir(), bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return &codexClient{Home: h}
}

func (c *codexClient) Here(t *testing.T)                          { t.Setenv("CODEX_HOME", c.Codex) }
func (c *codexClient) Places() (root, config string, dir *string) { return c.Root, c.Codex, &c.Work }

func (c *codexClient) Lay(t *testing.T, path string, text []byte) string {
	id, err := c.AddSession(written(t, filepath.Base(path), text))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (c *codexClient) Last(t *testing.T, id, held string) []string {
	app, err := c.App(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list, err := app.Call(t.Context(), "thread/list", map[string]any{"cwd": c.Work, "sourceKinds": []string{"exec", "cli"}})
	if err != nil || gjson.GetBytes(list, "data.0.id").String() != id {
		t.Errorf("the client's list of %s: %v %.300s, want %s", c.Work, err, list, id)
	}
	if err := app.Close(); err != nil {
		t.Fatal(err)
	}
	c.last = c.Resume(t.Context(), "--last", codex.Prompt)
	if took, _ := codex.SessionID(c.last.Rollout); took != id {
		t.Errorf("the client takes %q for the last session, want %s: %s", took, id, c.last.Stderr)
	}
	said, err := c.Said(c.last, id, held)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

func (c *codexClient) Refused() string {
	var body struct{ Input []json.RawMessage }
	if err := json.Unmarshal(c.last.Requests[0].Body, &body); err != nil {
		return err.Error()
	}
	return codex.Refusal(body.Input)
}

func (c *codexClient) Fill(t *testing.T, from client) {
	config, err := os.ReadFile(filepath.Join(c.Codex, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	replace(t, c.Codex, from.(*codexClient).Codex)
	if err := os.WriteFile(filepath.Join(c.Codex, "config.toml"), config, 0o600); err != nil {
		t.Fatal(err)
	}
}

type claudeClient struct {
	*claude.Home
	last claude.Result
}

func newClaude(t *testing.T) client {
	bin, err := claude.Find(claude.Newest)
	if err != nil {
		t.Skip(err)
	}
	h, err := claude.NewHome(bin, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return &claudeClient{Home: h}
}

func (c *claudeClient) Here(t *testing.T) { t.Setenv("CLAUDE_CONFIG_DIR", c.Config()) }
func (c *claudeClient) Places() (root, config string, dir *string) {
	return c.Root, c.Config(), &c.Work
}

func (c *claudeClient) Lay(t *testing.T, path string, text []byte) string {
	id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	if _, err := c.Put(id, text); err != nil {
		t.Fatal(err)
	}
	return id
}

func (c *claudeClient) Last(t *testing.T, id, held string) []string {
	var err error
	if c.last, err = c.Run(t.Context(), "-p", claude.Prompt, "--continue"); err != nil {
		t.Fatal(err)
	}
	said, err := c.Said(c.last, id, held)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

func (c *claudeClient) Refused() string { return strings.Join(claude.Breaches(c.last.First), ", ") }

func (c *claudeClient) Fill(t *testing.T, from client) {
	replace(t, c.Config(), from.(*claudeClient).Config())
}

func replace(t *testing.T, dir, by string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(by)); err != nil {
		t.Fatal(err)
	}
}

func written(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// agents are those whose newest clients are driven. {} in a command is the session.
var agents = []struct {
	name, one string // one is the recording that is tried by default
	client    func(*testing.T) client
}{
	{"codex", "/" + codex.Newest + "/compact/", newCodex},
	{"claude", "/" + claude.Newest + "/compact_auto/", newClaude},
}

// recordings are sound sessions of an agent's newest client.
func recordings(t *testing.T, name, one string) (paths []string) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	paths, err := filepath.Glob("../../fixtures/" + name + "/" + strings.Split(one, "/")[1] + "/*/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatal("no recordings", err)
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		if !*all {
			return !strings.Contains(path, one)
		}
		_, err := hist(strings.NewReplacer(), [][]string{{"fork", "--dry-run", path}})
		return err != nil // its client was killed: it must be repaired first
	})
}

// newID is how the path of what hist has written ends.
var newID = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// recordedIn is the directory that recordings name.
const recordedIn = "/home/dev/demo"

// TestRealClientsMove: after the project was renamed, in a copy of the home, and in the home of another machine, the client takes the session
// for the last one of the directory, and sends what it would have sent before, but for the directory.
func TestRealClientsMove(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real clients; left out by -short")
	}
	for _, a := range agents {
		for _, path := range recordings(t, a.name, a.one) {
			t.Run(a.name+" "+filepath.Base(filepath.Dir(path)), func(t *testing.T) {
				t.Setenv("XDG_STATE_HOME", t.TempDir())
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				c := a.client(t)
				root, config, dir := c.Places()
				in := func(dir string) []byte { return bytes.ReplaceAll(text, []byte(recordedIn), []byte(dir)) }
				before := in(*dir)
				id := c.Lay(t, path, before)
				var said [3][]string
				for n := range 2 {
					said[n] = c.Last(t, id, string(before))
				}

				for _, rewrite := range []string{"fields", "history"} {
					moved := a.client(t)
					_, _, dir := moved.Places()
					before, to := in(*dir), *dir+"-renamed"
					moved.Lay(t, path, before)
					if err := os.Rename(*dir, to); err != nil {
						t.Fatal(err)
					}
					*dir = to
					if a.name == "claude" && rewrite == "history" && bytes.Contains(before, []byte(`"type":"thinking"`)) {
						continue // it is bound to the old directory, and hist refuses to change that
					}
					do(t, moved, "move", "--to", to, "--rewrite", rewrite, id)
					for n := range 2 {
						got := renamed(moved.Last(t, id, string(before)), "-renamed", "")
						told(t, "renamed, --rewrite "+rewrite, said[n], got, rewrite == "fields")
					}
				}

				bundle := filepath.Join(t.TempDir(), "sessions.tar")
				one := a.client(t)
				one.Lay(t, path, before)
				do(t, one, "move", "--bundle", bundle, id)
				other := a.client(t)
				_, _, there := other.Places()
				do(t, other, "move", "--to", *there, bundle)
				for n := range 2 {
					told(t, "another machine", said[n], renamed(other.Last(t, id, string(before)), root, "HOME"), true)
				}

				copied := a.client(t)
				copied.Fill(t, c)
				_, place, at := copied.Places()
				*at = *dir
				said[2] = c.Last(t, id, string(before))
				if err := os.RemoveAll(config); err != nil {
					t.Fatal(err)
				}
				do(t, copied, "move", "--home", place)
				told(t, "copied home", said[2], renamed(copied.Last(t, id, string(before)), root, "HOME"), true)
			})
		}
	}
}

// do runs hist in a client's home.
func do(t *testing.T, c client, args ...string) (told string) {
	t.Helper()
	c.Here(t)
	told, err := hist(strings.NewReplacer(), [][]string{args})
	if err != nil {
		t.Fatalf("%v: %s", err, told)
	}
	return told
}

func renamed(parts []string, from, to string) (list []string) {
	for _, part := range parts {
		list = append(list, strings.ReplaceAll(part, from, to))
	}
	return list
}

// told: the client sends the same as before. If the place has changed, parts that name it may differ, and it may be told once more.
func told(t *testing.T, what string, before, after []string, place bool) {
	t.Helper()
	if place {
		without := func(parts, others []string) []string {
			return slices.DeleteFunc(slices.Clone(parts), func(part string) bool {
				return strings.Contains(part, "HOME/") && !slices.Contains(others, part)
			})
		}
		before, after = without(before, after), without(after, before)
	}
	if err := same(nil, before, after); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// TestRealClientsHandOff: the other agent's client takes what was handed over for its last session, and sends each text, command and output of it,
// in order, in a request that its API takes: at once, and after a turn of its own.
func TestRealClientsHandOff(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real clients; left out by -short")
	}
	for i, a := range agents {
		to := agents[1-i]
		for _, path := range recordings(t, a.name, a.one) {
			t.Run(a.name+" "+filepath.Base(filepath.Dir(path)), func(t *testing.T) {
				t.Setenv("XDG_STATE_HOME", t.TempDir())
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				from := a.client(t)
				root, _, in := from.Places()
				text = bytes.ReplaceAll(text, []byte(recordedIn), []byte(*in))
				id := from.Lay(t, path, text)
				want := slices.DeleteFunc(spoken(from.Last(t, id, string(text))), func(s string) bool {
					return strings.HasPrefix(s, "<") || strings.HasPrefix(s, "You are performing a CONTEXT CHECKPOINT") || slices.Contains([]string{codex.Prompt, claude.Prompt, "No response requested."}, s)
				})
				other := to.client(t)
				_, _, dir := other.Places()
				other.Here(t)
				from.Here(t)
				id = newID.FindString(do(t, other, "handoff", "--to", to.name, "--cwd", *dir, written(t, filepath.Base(path), text)))
				for _, which := range []string{"first", "next"} {
					got := strings.ReplaceAll(strings.Join(spoken(other.Last(t, id, "")), "\n"), root, "HOME")
					if why := other.Refused(); why != "" {
						t.Errorf("the API would not take the %s request: %s", which, why)
					}
					rest := got
					for _, w := range want {
						if strings.HasPrefix(w, "[Tool call interrupted: ") { // hist says so in its own words, and in front of the other outputs
							if !strings.Contains(got, "[the call was interrupted: ") {
								t.Errorf("the %s request does not say that a call was interrupted", which)
							}
							continue
						}
						_, behind, ok := strings.Cut(rest, w)
						if !ok {
							t.Errorf("the %s request: %q is not in it, or not in its place:\n%s", which, w, got)
							break
						}
						rest = behind
					}
				}
				t.Logf("%d texts, commands and outputs arrive", len(want))
			})
		}
	}
}

// spoken are the texts, commands and outputs in the parts of a request, without what stands apart from the conversation.
func spoken(parts []string) (list []string) {
	for _, part := range parts {
		v := gjson.Parse(part[max(0, strings.IndexByte(part, '{')):])
		role, _, _ := strings.Cut(part, " {")
		if role == "system" || role == "tools" || strings.HasPrefix(part, "instructions ") || v.Get("role").String() == "developer" {
			continue
		}
		for _, at := range []string{"text", "input.command", "content", "output"} {
			list = append(list, texts(v.Get(at))...)
		}
		if args := v.Get("arguments").String(); args != "" {
			list = append(list, gjson.Get(args, "cmd").String())
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// texts are those of a value that is one or holds several.
func texts(v gjson.Result) (list []string) {
	if v.IsArray() {
		for _, c := range v.Array() {
			list = append(list, texts(c.Get("text"))...)
		}
	} else if s := strings.TrimSpace(v.String()); v.Type == gjson.String {
		list = append(list, s)
	}
	return list
}
