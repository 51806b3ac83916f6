package cmd

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/preresume"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/source"
)

func pluginCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "plugin", Usage: "tell the agents themselves about hist: a skill, and a hook that names damage at the start", ArgsUsage: "install | remove",
		Description: "install writes the folder skills/hist into the home of each agent that has one here, or of --agent. The agent then knows how\nto use hist on a session, and Claude Code says in one line, when it starts, that the session before was damaged. remove takes\nthe folder away again. docs/agents.md says more.",
		Flags:       []cli.Flag{agentFlag()},
		Action:      e.plugin,
	}
}

func (e *env) plugin(c *cli.Context) error {
	verb := c.Args().First()
	if c.NArg() != 1 {
		verb = ""
	}
	switch verb {
	case "hook": // what Claude Code runs; not for people
		return e.pluginHook(c)
	case "install", "remove":
	default:
		return usage("plugin takes install or remove; see hist plugin --help")
	}
	homes, err := defaultHomes(c.String("agent"))
	if err != nil {
		return err
	}
	done := 0
	for _, h := range homes {
		if !disk.IsDir(h.dir) && !c.IsSet("agent") {
			continue
		}
		word := "installed"
		if verb == "remove" {
			word, err = "removed", removePlugin(h.dir)
		} else {
			err = installPlugin(c.Context, h.dir, self())
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) && verb == "remove":
			continue
		case errors.Is(err, errAltered):
			return fmt.Errorf("%w; move it away and try again, nothing was changed", err)
		case err != nil:
			return fmt.Errorf("%s: %w", pluginDir(h.dir), disk.Cause(err))
		}
		done++
		if err := e.tell("%s %s (%s)\n", word, pluginDir(h.dir), h.agent.Title); err != nil {
			return err
		}
	}
	if done == 0 && verb == "remove" {
		return errors.New("the plugin is not installed; nothing was removed")
	}
	if done == 0 {
		return errors.New("no agent has a home here yet; --agent names the one to install it for")
	}
	return nil
}

// self is how others find this program: its name if PATH leads to it, so that an update is found, too, otherwise its path.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return "hist"
	}
	if reached, err := exec.LookPath("hist"); err == nil {
		if same, err := publish.SameFile(path, reached); err == nil && same {
			return "hist"
		}
	}
	return path
}

// started is what a client tells its hook.
type started struct {
	Transcript string `json:"transcript_path"`
	CWD        string `json:"cwd"`
	Source     string `json:"source"` // startup, resume, clear or compact
}

// maxHook is how much of it is read, in bytes.
const maxHook = 1 << 20

// pluginHook answers a client that has just started: with one line for the user and the model if the session before was damaged,
// otherwise with nothing. No error of it is worth a delay of the start, but those of its input.
func (e *env) pluginHook(c *cli.Context) error {
	data, err := io.ReadAll(io.LimitReader(e.in, maxHook))
	if err != nil {
		return err
	}
	var s started
	if err := json.Unmarshal(data, &s); err != nil || s.Transcript == "" {
		return usage("plugin hook reads what a client tells its SessionStart hook")
	}
	words := e.damaged(c, s)
	if words == "" {
		return nil
	}
	return format.Write(e.out, map[string]any{
		"systemMessage":      words,
		"hookSpecificOutput": map[string]string{"hookEventName": "SessionStart", "additionalContext": words},
	})
}

// damaged says in one line what is wrong with the session that was resumed, or else with the last one of the directory; "" if nothing
// of it is lost, or if it is not known.
func (e *env) damaged(c *cli.Context, s started) string {
	home := agentHome{}
	for _, a := range all.Homed() {
		if dir := a.HomeAbove(s.Transcript); dir != "" {
			home = agentHome{a, dir}
		}
	}
	if home.agent == nil {
		return ""
	}
	path, which := s.Transcript, "this session"
	if s.Source != "resume" {
		var err error
		which = "the session before this one"
		if path, err = home.last(c.Context, s.CWD, false); err != nil || path == "" || path == s.Transcript {
			return ""
		}
	}
	src, err := source.Open(path)
	if err != nil {
		return ""
	}
	defer src.Close()
	t := target{path: path, home: home.dir}
	opts := inspect.Options(src, t.home, clients{})
	opts.Live = opts.Live || path == s.Transcript
	a, err := preresume.Look(c.Context, preresume.Request{Source: src, Home: home.dir, Lint: opts})
	if err != nil || path != s.Transcript && a.Verdict == preresume.InUse {
		return ""
	}
	told := "client refuses it"
	switch n := a.Counts; {
	case n.Blocks > 0:
	case n.Rejects > 0:
		told = "API refuses what is sent of it"
	case n.Loses > 0:
		told = "model is not sent all of it"
	default:
		return ""
	}
	words := fmt.Sprintf("hist: %s is damaged: the %s; %s repairs and resumes it", which, told, format.Command("hist", "resume", repairOperand(a)))
	if path == s.Transcript {
		words += ", once it is closed here"
	}
	return oneLine(words)
}

// errAltered says that a file in the folder is not as hist wrote it.
var errAltered = errors.New("it is not as hist wrote it")

// pluginFiles is what hist lays into the homes of agents, so that they know of it: a skill, and for clients that have them, a hook that
// runs when a session starts. Both clients take a folder below skills that holds a SKILL.md for a skill; the one that has plugins takes
// it for a plugin, too.
//
//go:embed all:plugin
var pluginFiles embed.FS

// pluginRecord is the file that tells what hist has written: hashes by path, so that what a user has changed is left alone.
const pluginRecord = ".hist.json"

// pluginDir is the folder in an agent's home.
func pluginDir(home string) string { return filepath.Join(home, "skills", "hist") }

// installPlugin writes the folder into an agent's home, over an earlier one. program is how the hook finds hist: a name in PATH, or a
// path. The error is errAltered, and nothing is written, if a file there is not as hist wrote it.
func installPlugin(ctx context.Context, home, program string) (err error) {
	dir := pluginDir(home)
	list, err := pluginContents(program)
	if err != nil {
		return err
	}
	if err := unaltered(dir, list); err != nil {
		return err
	}
	written := map[string]string{}
	for name, data := range list {
		written[name] = hexSHA256(data)
	}
	if list[pluginRecord], err = json.MarshalIndent(written, "", "  "); err != nil {
		return err
	}
	for name, data := range list {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := publish.Write(ctx, publish.Target{Path: path, Replace: true, Mode: 0o644}, publish.Bytes(data), publish.Checks{}); err != nil {
			return err
		}
	}
	return nil
}

// removePlugin takes away what installPlugin wrote, and the folders that are then empty. The error is fs.ErrNotExist if it is not
// installed, and errAltered, with nothing removed, if a file is not as hist wrote it.
func removePlugin(home string) error {
	dir := pluginDir(home)
	written, err := pluginWritten(dir)
	if err != nil {
		return err
	}
	if err := unaltered(dir, nil); err != nil {
		return err
	}
	for name := range written {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		os.Remove(filepath.Dir(path)) //nolint:errcheck // not empty yet, or a user's
	}
	if err := os.Remove(filepath.Join(dir, pluginRecord)); err != nil {
		return err
	}
	os.Remove(dir) //nolint:errcheck // a user may have put more into it
	return nil
}

// pluginContents are the files to be written, by path.
func pluginContents(program string) (map[string][]byte, error) {
	list := map[string][]byte{}
	err := fs.WalkDir(pluginFiles, "plugin", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := pluginFiles.ReadFile(path)
		list[strings.TrimPrefix(path, "plugin/")] = data
		return err
	})
	if err != nil {
		return nil, err
	}
	word := format.Command(filepath.ToSlash(program))
	quoted, err := json.Marshal(fmt.Sprintf("command -v %s >/dev/null && %s plugin hook || true", word, word)) // hist may be gone
	list["hooks/hooks.json"] = []byte(strings.Replace(string(list["hooks/hooks.json"]), `"HOOK"`, string(quoted), 1))
	return list, err
}

// unaltered checks that the files in the folder are as hist wrote them, or as it is about to write them.
func unaltered(dir string, next map[string][]byte) error {
	written, err := pluginWritten(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(written)), slices.Collect(maps.Keys(next))) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if now := hexSHA256(data); now != written[name] && (next[name] == nil || now != hexSHA256(next[name])) {
			return fmt.Errorf("%s: %w", path, errAltered)
		}
	}
	return nil
}

// pluginWritten is what an earlier installPlugin wrote; the error is fs.ErrNotExist if there was none.
func pluginWritten(dir string) (map[string]string, error) {
	path := filepath.Join(dir, pluginRecord)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var written map[string]string
	if err := json.Unmarshal(data, &written); err != nil {
		return nil, fmt.Errorf("%s: %w", path, errAltered)
	}
	for name := range written {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%s: %w", path, errAltered)
		}
	}
	return written, nil
}

func hexSHA256(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
