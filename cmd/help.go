package cmd

import (
	"fmt"
	"io"
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

// help prints the help of hist or of one command.
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
		p.line("COMMANDS:")
		var rows [][2]string
		for _, c := range of.Commands {
			rows = append(rows, [2]string{c.Name, c.Usage})
		}
		p.table(rows)
		p.line("")
		p.flags("", of.Flags)
	}
	p.line("EXIT STATUS:")
	p.table(exitStatus(command))
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
	p.line("OPTIONS:")
	var rows [][2]string
	for _, flag := range flags {
		f := completedOf(command, flag)
		name := "--" + f.Name
		if f.Short != "" {
			name += ", -" + f.Short
		}
		if f.What != "" {
			name += " " + f.What
		}
		rows = append(rows, [2]string{name, f.help(flag)})
	}
	p.table(rows)
	p.line("")
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
