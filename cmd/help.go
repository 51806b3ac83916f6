package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// helpPage is a help text that fits the terminal it is written to; elsewhere each entry is one line.
type helpPage struct {
	w     io.Writer
	width int
}

// proseWidth is how wide a paragraph is unless a terminal is narrower.
const proseWidth = 100

// proseIn is how wide a paragraph is on a terminal with this width; 0 means that there is no terminal.
func proseIn(width int) int {
	if width > 0 {
		return min(proseWidth, width)
	}
	return proseWidth
}

func (e *env) help(w io.Writer, _ string, data any) {
	p := &helpPage{w: w, width: widthOf(e.out)}
	command := ""
	switch of := data.(type) {
	case *cli.Command:
		command = of.Name
		p.line("NAME:\n%s\n", folded("   hist "+of.Name+" - "+of.Usage, p.width, 6))
		p.line("USAGE:\n%s\n", folded(strings.TrimRight("   hist "+of.Name+" [options] "+of.ArgsUsage, " "), p.width, 6))
		p.prose(of.Description)
		p.flags(of.Name, of.Flags)
		if list := examples[of.Name]; len(list) > 0 {
			p.line("EXAMPLES:")
			for _, x := range list {
				p.line("   %s\n%s", x.line, folded("      "+x.does, p.width, 6))
			}
			p.line("")
		}
	case *cli.App:
		p.line("NAME:\n%s\n", folded("   hist - "+of.Usage, p.width, 6))
		p.line("USAGE:\n   %s\n\nVERSION:\n   %s\n", of.UsageText, of.Version)
		p.prose(of.Description)
		p.commands(of.Commands)
		p.flags("", of.Flags)
	}
	p.line("EXIT STATUS:")
	p.table(exitStatus(command))
}

// commandGroups are the commands by what they are for, in the order in which they are listed.
var commandGroups = []struct {
	title    string
	commands []string
}{
	{"FIND WHAT IS WRONG", []string{"doctor", "lint", "list", "show", "explain", "watch"}},
	{"MEND IT", []string{"repair", "resume", "undo", "runs"}},
	{"CHANGE A SESSION", []string{"slim", "cut", "fork", "redact", "move", "join", "handoff", "export"}},
	{"AUTOMATE", []string{"pre-resume", "shim", "plugin", "cache", "completion", "man", "version"}},
}

// commands prints what each command does, by groups.
func (p *helpPage) commands(all []*cli.Command) {
	wide := 0
	for _, c := range all {
		wide = max(wide, len(c.Name))
	}
	for _, g := range commandGroups {
		var rows [][2]string
		for _, name := range g.commands {
			for _, c := range all {
				if c.Name == name {
					rows = append(rows, [2]string{fmt.Sprintf("%-*s", wide, c.Name), c.Usage})
				}
			}
		}
		if len(rows) == 0 {
			continue
		}
		p.line("%s:", g.title)
		p.table(rows)
		p.line("")
	}
}

// flagGroups say which flags are listed together; those of no group come first.
var flagGroups = []struct {
	title string
	flags []string
}{
	{"WHICH SESSIONS", []string{"last", "any", "agent", "all", "cwd", "since", "state", "limit", "files-from", "shard", "branch", "older-than"}},
	{"HOW TO JUDGE", []string{"for-codex", "for-claude", "for-pi", "provider", "fail-on", "rule", "only", "config", "no-config", "baseline", "write-baseline", "timeout", "max-size", "deep", "error", "error-file"}},
	{"WHAT IS PRINTED", []string{"format", "verbose", "statistics", "notes", "show-content", "redact", "no-titles", "color", "json", "html", "diff", "card", "markdown", "quiet", "health", "decisions"}},
}

// ungrouped is how many flags a command may have before they are listed in groups.
const ungrouped = 8

// groupOf is the number of a flag's group, from 1; 0 if it is in none.
func groupOf(name string) int {
	for i, g := range flagGroups {
		if slices.Contains(g.flags, name) {
			return i + 1
		}
	}
	return 0
}

func (p *helpPage) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

func (p *helpPage) prose(text string) {
	width := proseIn(p.width)
	p.line("DESCRIPTION:")
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		p.line("%s\n", folded("   "+strings.ReplaceAll(paragraph, "\n", " "), width, 3))
	}
}

func (p *helpPage) flags(command string, flags []cli.Flag) {
	rows := make([][][2]string, len(flagGroups)+1)
	for _, flag := range flags {
		f := completedOf(command, flag)
		group := 0
		if len(flags) > ungrouped {
			group = groupOf(f.Name)
		}
		rows[group] = append(rows[group], [2]string{f.spelled(), f.help(flag)})
	}
	for i, group := range rows {
		if len(group) == 0 {
			continue
		}
		title := "OPTIONS"
		if i > 0 {
			title = flagGroups[i-1].title
		}
		p.line("%s:", title)
		p.table(group)
		p.line("")
	}
}

// spelled is a flag as it is typed, with a word for its value.
func (f completedFlag) spelled() string {
	name := "--" + f.Name
	if f.Short != "" {
		name += ", -" + f.Short
	}
	if f.What != "" {
		name += " " + f.What
	}
	return name
}

// help is what a flag does, and its default.
func (f completedFlag) help(flag cli.Flag) string {
	if told, ok := flag.(cli.DocGenerationFlag); ok && f.Takes && told.GetDefaultText() != "" && told.GetDefaultText() != "0s" {
		return f.Usage + " (default: " + strings.Trim(told.GetDefaultText(), `"`) + ")"
	}
	return f.Usage
}

// table prints entries with their meanings. On a narrow terminal, each meaning goes below its entry.
func (p *helpPage) table(rows [][2]string) {
	wide := 0
	for _, r := range rows {
		wide = max(wide, utf8.RuneCountInString(r[0]))
	}
	at := wide + 5
	below := p.width > 0 && p.width < 2*at+20
	for _, r := range rows {
		if below {
			p.line("   %s\n%s", r[0], folded("      "+r[1], p.width, 6))
		} else {
			p.line("%s", folded(fmt.Sprintf("   %-*s  %s", wide, r[0], r[1]), p.width, at))
		}
	}
}

// welcomeLines are what hist prints on a terminal when it is asked for nothing.
var welcomeLines = []sample{
	{"hist doctor", "what is wrong with my sessions, worst first"},
	{"hist repair ID", "make a copy of one that resumes; the original stays as it is"},
	{"hist resume", "check the last session of this directory, repair it if need be, go on"},
	{"hist list", "all sessions: title, age, health"},
	{"hist undo", "take the last repair or other change back"},
}

// welcome says in ten lines what can be done now.
func (e *env) welcome() {
	fmt.Fprint(e.out, "hist finds and repairs damage in the session files of AI coding agents.\n\n")
	wide := 0
	for _, w := range welcomeLines {
		wide = max(wide, len(w.line))
	}
	for _, w := range welcomeLines {
		fmt.Fprintln(e.out, folded(fmt.Sprintf("  %s%s  %s", w.line, strings.Repeat(" ", wide-len(w.line)), w.does), widthOf(e.out), wide+4))
	}
	fmt.Fprint(e.out, "\nhist --help lists all commands; hist COMMAND --help has examples.\n")
}
