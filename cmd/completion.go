package cmd

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/lint"
)

//go:embed completion.tmpl
var completionText string

// shells are those for which a completion can be written; each has a template of that name.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print a shell's completion of commands, flags, sessions and runs", ArgsUsage: "bash|zsh|fish|powershell",
		Description: "In bash: source <(hist completion bash). In zsh: source <(hist completion zsh). In fish: hist completion fish | source.\n" +
			"In PowerShell: hist completion powershell | Out-String | Invoke-Expression.\n\n" +
			"The shells ask it what begins with a word, newest first: hist completion sessions [WORD], hist completion runs [WORD].",
		Action: func(c *cli.Context) error {
			shell := c.Args().First()
			if (shell == "sessions" || shell == "runs") && c.NArg() <= 2 {
				return e.offer(c, shell, c.Args().Get(1))
			}
			if c.NArg() != 1 || !slices.Contains(shells, shell) {
				return usage("completion takes one shell: %s", strings.Join(shells, ", "))
			}
			t, err := template.New("").Funcs(template.FuncMap{"join": strings.Join, "quote": quoteShell}).Parse(completionText)
			if err != nil {
				return err
			}
			return writing("the completion", t.ExecuteTemplate(e.out, shell, completed(c.App)))
		},
	}
}

// completedCommand is what a shell completes of a command.
type completedCommand struct {
	Name, Usage string
	Values      []string // of its operands; if there are none, they are files
	Asks        string   // sessions or runs: its operands are asked of hist itself; "" if not
	Flags       []completedFlag
}

// completedFlag is one of its flags.
type completedFlag struct {
	Name, Short, Usage string   // without dashes; Short is "" if there is none
	Takes              bool     // it takes a value
	What               string   // what the value is, in a word
	Files              bool     // the value is a path
	Values             []string // the value is one of these
	Listed             bool     // or several, separated by commas, each with a file behind "="
}

func (c completedCommand) Dashed() string {
	return strings.Join(mapped(c.Flags, func(f completedFlag) string { return "--" + f.Name }), " ")
}

// completed lists the commands with their flags.
func completed(app *cli.App) []completedCommand {
	return mapped(app.Commands, func(command *cli.Command) completedCommand {
		one := completedCommand{Name: command.Name, Usage: command.Usage}
		switch command.Name {
		case "lint", "repair", "resume", "pre-resume", "list", "show", "watch", "slim", "cut", "fork", "redact", "move", "join", "handoff", "export":
			one.Asks = "sessions"
		case "undo":
			one.Asks = "runs"
		case "runs":
			one.Asks, one.Values = "runs", []string{"list", "show", "prune"}
		case "cache":
			one.Values = []string{"status", "clean"}
		case "shim":
			one.Values = []string{"install", "remove", "status"}
		case "plugin":
			one.Values = []string{"install", "remove"}
		case "completion":
			one.Values = shells
		case "explain":
			one.Values = ruleNames()
		}
		for _, flag := range append(slices.Clone(command.Flags), cli.HelpFlag) {
			if f := completedOf(command.Name, flag); !slices.ContainsFunc(one.Flags, func(have completedFlag) bool { return have.Name == f.Name }) {
				one.Flags = append(one.Flags, f)
			}
		}
		return one
	})
}

func completedOf(command string, flag cli.Flag) completedFlag {
	names := flag.Names()
	f := completedFlag{Name: names[0]}
	if len(names) > 1 {
		f.Short = names[1]
	}
	if told, ok := flag.(cli.DocGenerationFlag); ok {
		f.Takes = told.TakesValue()
		if parts := strings.SplitN(told.GetUsage(), "`", 3); len(parts) == 3 {
			f.What = parts[1]
		}
		f.Usage = strings.ReplaceAll(told.GetUsage(), "`", "")
		f.Files = slices.Contains([]string{"FILE", "PATH", "DIRECTORY"}, f.What)
	}
	f.Values, f.Listed = flagValues(command, f.Name), command+" "+f.Name == "lint format"
	return f
}

// flagValues are the values of a flag, if they are few.
func flagValues(command, flag string) []string {
	switch command + " " + flag {
	case "lint format":
		return namesIn(formatNames)
	case "export format":
		return []string{"markdown", "text"}
	case "show format":
		return []string{"text", "json", "jsonl"}
	}
	switch flag {
	case "format":
		return []string{"text", "json"}
	case "fail-on":
		return []string{"blocks", "loses", "rejects", "shows", "notes"}
	case "rule":
		return ruleNames()
	case "provider":
		return lint.Providers()
	case "color":
		return []string{"auto", "always", "never"}
	case "only":
		return []string{"exact", "recovered", "stand-in", "set-aside"}
	case "state":
		return []string{"completed", "interrupted", "failed", "open", "unanswered", "none"}
	case "agent":
		return all.Names()
	}
	return nil
}

// quoteShell puts a text between single quotes, for fish.
func quoteShell(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// maxAbout is how many characters a shell shows beside a word that it offers.
const maxAbout = 48

// offer prints what a shell may complete a word to: per line, the word, a tab, and a description. What can't be read is left
// out silently, because the user is typing.
func (e *env) offer(c *cli.Context, what, begin string) error {
	w := bufio.NewWriter(e.out)
	var err error
	if what == "runs" {
		offerRuns(w, begin)
	} else {
		err = offerSessions(c, w, strings.ToLower(begin))
	}
	if err != nil {
		return err
	}
	return writing("what can be completed", w.Flush())
}

func offerSessions(c *cli.Context, w io.Writer, begin string) error {
	conf, err := loadConfig(c)
	if err != nil {
		return err
	}
	list, homes, err := newest(c.Context, func(t target) bool { return strings.Contains(strings.ToLower(t.path), begin) })
	if err != nil {
		return err
	}
	titles := newTitles(c, conf)
	for _, s := range list {
		if id := oneLine(strings.ToLower(s.Thread)); id != "" && strings.HasPrefix(id, begin) {
			about := cmp.Or(titles.of(c.Context, s, homes[s.Path]), tilde(s.CWD))
			fmt.Fprintf(w, "%s\t%s  %s\n", id, age(time.Since(s.Modified)), clip(about, maxAbout))
		}
	}
	return nil
}

func offerRuns(w io.Writer, begin string) {
	list, _ := runs.List()
	for i := range list {
		if m := &list[i]; strings.HasPrefix(m.Run, begin) {
			fmt.Fprintf(w, "%s\t%s  %s, %s\n", m.Run, age(time.Since(m.Started)), count(len(m.Files), "session", "sessions"), m.State())
		}
	}
}
