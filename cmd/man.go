package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

func manCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "man", Usage: "print the man page",
		Description: "To read it: hist man | man -l -. To install it: hist man > /usr/local/share/man/man1/hist.1.",
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usage("man takes no arguments")
			}
			_, err := io.WriteString(e.out, manPage(c.App))
			return writing("the man page", err)
		},
	}
}

// manPage is the man page in troff's man macros.
func manPage(app *cli.App) string {
	m := &man{}
	m.line(`.TH HIST 1 "" "hist %s" "User Commands"`, roff(app.Version))
	m.section("NAME")
	m.line("hist \\- %s", roff(app.Usage))
	m.section("SYNOPSIS")
	for _, c := range app.Commands {
		m.line(".B hist %s", roff(c.Name))
		m.line("[options] %s", roff(c.ArgsUsage))
		m.line(".br")
	}
	m.section("DESCRIPTION")
	m.prose(app.Description)
	m.section("COMMANDS")
	for _, c := range app.Commands {
		m.command(c)
	}
	m.section("EXIT STATUS")
	for _, row := range exitStatus("") {
		m.item(row[0], row[1])
	}
	for _, s := range manSections {
		m.section(s.name)
		for _, entry := range s.entries {
			m.item(entry[0], entry[1])
		}
	}
	return m.b.String()
}

// manSections are the sections that are not made from the commands' help.
var manSections = []struct {
	name    string
	entries [][2]string
}{
	{"FILES", [][2]string{
		{"~/.codex/sessions, ~/.codex/archived_sessions", "the sessions of Codex"},
		{"~/.claude/projects", "the sessions of Claude Code"},
		{configName, "the config: the nearest from the working directory upwards, otherwise ~/.config/hist/config.toml; see docs/config.md"},
		{"~/.local/state/hist/runs", "the records of repairs, which hist undo reads"},
		{"~/.local/state/hist/decisions.jsonl", "what hist pre-resume was asked and what it answered; hist list --decisions shows it"},
		{"~/.cache/hist", "what hist lint found in sessions that have not changed since; hist cache clean removes it"},
	}},
	{"ENVIRONMENT", [][2]string{
		{"CODEX_HOME, CLAUDE_CONFIG_DIR", "the homes of Codex and of Claude Code, instead of ~/.codex and ~/.claude"},
		{"XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME", "instead of ~/.config, ~/.local/state and ~/.cache"},
		{"CODEX_THREAD_ID", "the thread whose agent runs hist; set by Codex"},
		{"HIST_CODEX, HIST_CODEX_ACP, HIST_SHIM, HIST_SHIM_REJOIN, HIST_SHIM_TIMEOUT", "settings of hist shim; see there"},
		{"NO_COLOR, CLICOLOR, CLICOLOR_FORCE", "whether the output is coloured if --color is auto"},
		{"ACCESSIBLE", "questions on the terminal are asked in a form for screen readers"},
	}},
}

type man struct{ b strings.Builder }

func (m *man) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

func (m *man) section(name string) { m.line(".SH %s", name) }

func (m *man) prose(text string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			m.line(".PP")
		}
		m.line("%s", roff(strings.ReplaceAll(paragraph, "\n", " ")))
	}
}

func (m *man) item(name, text string) {
	m.line(".TP")
	m.line(".B %s", roff(name))
	m.line("%s", roff(text))
}

func (m *man) command(c *cli.Command) {
	m.line(".SS hist %s %s", roff(c.Name), roff(c.ArgsUsage))
	m.line("%s.", roff(strings.ToUpper(c.Usage[:1])+c.Usage[1:]))
	m.line(".PP")
	m.prose(c.Description)
	flags := slices.DeleteFunc(slices.Clone(c.Flags), func(f cli.Flag) bool { return f == cli.HelpFlag }) // the running command has it already
	for _, flag := range append(flags, cli.HelpFlag) {
		f := completedOf(c.Name, flag)
		m.item(f.spelled(), f.help(flag))
	}
	for _, x := range examples[c.Name] {
		m.line(".PP\n%s:\n.RS 4\n.nf\n.B %s\n.fi\n.RE", roff(strings.ToUpper(x.does[:1])+x.does[1:]), roff(x.line))
	}
}

// roff escapes characters that mean something to troff.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
