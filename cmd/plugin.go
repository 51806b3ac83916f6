package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"

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
