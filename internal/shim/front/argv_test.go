package front

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

const id = "01a1fa85-bfc3-74d1-9684-43a82083e7d1"

func TestParse(t *testing.T) {
	named := func(session string) Command { return Command{Kind: Session, Session: session} }
	chatted := func(session string) Command { return Command{Kind: Session, Session: session, Chat: true} }
	for _, c := range []struct {
		line string
		want Command
	}{
		// An option's value is not the session.
		{"resume -c model=o3 ID", chatted(id)},
		{"exec resume --json -m gpt-5 ID go", named(id)},
		{"-p resume exec hello", Command{}},
		{"exec --json -o last.txt resume ID", named(id)},
		{"exec --experimental-json --model=x --cd /work --skip-git-repo-check resume ID", Command{Kind: Session, Session: id, Dir: "/work"}},
		{"resume -mo3 -sread-only ID", chatted(id)},
		{"resume -m=o3 --image a.png b.png --last", chatted("--last")},
		{"resume --image a.png ID", Command{}}, // as the client: an image of the prompt, and a picker
		{"-i a.png resume ID", Command{}},
		{"exec resume -i a.png ID go", named(id)},

		// Where the session is one.
		{"resume ID", chatted(id)},
		{"exec resume ID go on", named(id)},
		{"e resume my-task", named("my-task")},
		{"exec resume -- ID -", named(id)},
		{"resume --last", chatted("--last")},
		{"exec resume --last --all go", Command{Kind: Session, Session: "--last", All: true}},
		{"exec resume go --last", named("--last")},
		{"fork --last -C ../x", Command{Kind: Session, Session: "--last", Dir: "../x", Chat: true}},
		{"exec fork ID", named(id)},
		{"fork ID", chatted(id)},
		{"prompt resume ID", chatted(id)}, // measured: a command may stand behind a prompt
		{"exec prompt resume ID", named(id)},

		// Where there is none.
		{"", Command{}},
		{"resume", Command{}},
		{"exec resume", Command{}},
		{"exec hello", Command{}},
		{"exec -- resume ID", Command{}},
		{"-- resume ID", Command{}},
		{"resume ID --help", Command{}},
		{"--version", Command{}},
		{"mcp-server", Command{}},
		{"archive ID", Command{}},
		{"--remote ws://127.0.0.1:1 resume ID", Command{}},
		{"exec --remote ws://127.0.0.1:1 resume ID", Command{}},

		// Options that nobody here knows: a UUID counts, nothing else.
		{"resume --some-new-option ID", Command{Kind: Session, Session: id}},
		{"resume --some-new-option my-task", Command{}},
		{"--some-new-option resume exec hello", Command{}},
		{"--new 1 exec resume -x ID", Command{Kind: Session, Session: id}},

		// The server.
		{"app-server", Command{Kind: Server}},
		{"app-server -c approval_policy=never --listen unix:///tmp/x/engine.sock", Command{Kind: Server, Listen: "unix:///tmp/x/engine.sock", At: 4}},
		{"app-server --listen=stdio://", Command{Kind: Server, Listen: "stdio://", At: 1}},
		{"app-server --stdio", Command{Kind: Server, Listen: "stdio://", At: 1}},
		{"-c x=1 app-server --listen off", Command{Kind: Server, Listen: "off", At: 4}},
		{"app-server --new-option value", Command{Kind: Server}},
		{"app-server proxy", Command{}},
		{"app-server daemon start", Command{}},
		{"app-server generate-ts --out x", Command{}},
		{"app-server --help", Command{}},
		{"app-server what", Command{}},
	} {
		args := strings.Fields(strings.ReplaceAll(c.line, "ID", id))
		if got := Parse(args); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.line, got, c.want)
		}
	}
}

func TestIsID(t *testing.T) {
	for s, want := range map[string]bool{
		id: true, strings.ToUpper(id): true, "": false, id[1:]: false, strings.Replace(id, "-", "0", 1): false,
		strings.Replace(id, "f", "g", 1): false, "__hapi_capability_probe__": false, strings.Replace(id, "1", "\x11", 1): false,
	} {
		if IsID(s) != want {
			t.Errorf("%q", s)
		}
	}
}

// FuzzParse: whatever is on the command line, the session is one of the arguments, or --last.
func FuzzParse(f *testing.F) {
	f.Add("exec resume -m x " + id)
	f.Add("app-server --listen=unix://x")
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		c := Parse(args)
		found := c.Session == "--last"
		for _, a := range args {
			found = found || a == c.Session
		}
		if c.Kind == Session && !found || c.Kind != Session && c.Session != "" && c.Kind == Other || c.At >= len(args) {
			t.Errorf("%q: %+v", args, c)
		}
	})
}

// option is a line of a client's help that begins with an option: its names, and what stands for its value.
var option = regexp.MustCompile(`(?m)^ +(?:(-\w), +)?(--[a-z0-9-]+)( <[^>]+>)?(\.\.\.)?(?:$| {2,}\S.*)`)

// TestTablesAreTheClients holds the tables against the help of every client in $HIST_CODEX_DIR.
func TestTablesAreTheClients(t *testing.T) {
	clients, err := filepath.Glob(filepath.Join(os.Getenv("HIST_CODEX_DIR"), "*/node_modules/.bin/codex"))
	if err != nil || len(clients) == 0 {
		t.Skip("no client is in $HIST_CODEX_DIR")
	}
	for _, client := range clients {
		for _, c := range []struct {
			command string
			takes   table
		}{{"", global}, {"resume", chat}, {"fork", chat}, {"exec", executing}, {"exec resume", execResume}, {"exec fork", execResume}, {"app-server", server}} {
			run := osexec.Command(client, append(strings.Fields(c.command), "--help")...)
			run.Env = append(run.Environ(), "CODEX_HOME="+t.TempDir())
			out, err := run.Output()
			found := option.FindAllStringSubmatch(string(out), -1)
			if !strings.Contains(string(out), "Usage: codex "+c.command) {
				t.Logf("%s has no %s", client, c.command) // older ones: its help is another command's
				continue
			}
			if err != nil || len(found) < 4 {
				t.Fatalf("%s %s: %v: %s", client, c.command, err, out)
			}
			for _, m := range found {
				want := flag
				switch {
				case m[4] != "":
					want = many
				case m[3] != "":
					want = one
				}
				for _, name := range m[1:3] {
					if n, known := c.takes.find(name); name != "" && (!known || n != want) {
						t.Errorf("%s %s: %s takes %d, the table says %d (%v)", client, c.command, name, want, n, known)
					}
				}
			}
		}
	}
}

// codex-acp serves an editor, whatever is configured, unless it is asked for help.
func TestParseACP(t *testing.T) {
	for line, want := range map[string]Kind{"": Server, "-c model=o3": Server, "--help": Other, "-c x=y -h": Other} {
		if got := ParseACP(strings.Fields(line)); got.Kind != want {
			t.Errorf("%q: %v", line, got.Kind)
		}
	}
}
