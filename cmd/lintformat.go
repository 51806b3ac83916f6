package cmd

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

// formatNames are the formats of findings, as the help lists them.
const formatNames = "text, lines, grouped, json, jsonl, sarif, junit, github or sessions"

// outputTo is one format and where it goes.
type outputTo struct {
	format string // or toBaseline
	file   string // "" is standard output
}

// namesIn extracts the names from a list in words.
func namesIn(names string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(names, func(r rune) bool { return r == ' ' || r == ',' }), func(s string) bool { return s == "or" })
}

// forPeople says whether a format is text: grouped by session on a terminal, or one line a finding, as editors and
// other programs read it.
func forPeople(format string) bool {
	return format == "text" || format == "lines" || format == "grouped"
}

// toBaseline is the output that --write-baseline asks for.
const toBaseline = "baseline"

// errUnread prevents a baseline from being written without the findings of sessions that could not be read.
var errUnread = errors.New("the baseline was not written: not all sessions could be read")

// parseOutputs reads the value of --format: names separated by commas, each with or without "=FILE".
func parseOutputs(value string) ([]outputTo, error) {
	var list []outputTo
	stdout := false
	for _, part := range strings.Split(value, ",") {
		name, file, named := strings.Cut(part, "=")
		if !slices.Contains(namesIn(formatNames), name) {
			return nil, usage("--format is %q; it takes %s", name, formatNames)
		}
		if named && file == "" {
			return nil, usage("--format %s= names no file", name)
		}
		if file == "-" {
			file = ""
		}
		if file != "" {
			file = filepath.Clean(file)
		}
		if stdout && file == "" {
			return nil, usage("--format sends two formats to standard output; give all but one a file, as in text,sarif=hist.sarif")
		}
		stdout = stdout || file == ""
		list = append(list, outputTo{name, file})
	}
	return list, nil
}

// open makes the printers and runs lint. Each file is written under a temporary name, and renamed when everything is done.
func (l *lintRun) open(outputs []outputTo) error {
	if len(outputs) == 0 {
		return l.run()
	}
	o, rest := outputs[0], outputs[1:]
	if o.file == "" {
		return l.with(o.format, l.env.out, rest)
	}
	var inner error
	err := publish.Write(l.c.Context, publish.Target{Path: o.file, Replace: true, Mode: o.mode()}, func(w io.Writer) error {
		if o.format == toBaseline {
			inner = l.writeBaseline(w, rest)
		} else {
			inner = l.with(o.format, w, rest)
		}
		return inner
	}, publish.Checks{})
	if inner != nil && errors.Is(err, inner) {
		return inner // the error is not about this file
	}
	return err
}

// writeBaseline runs everything else first, and then writes the baseline.
func (l *lintRun) writeBaseline(w io.Writer, rest []outputTo) error {
	if err := l.open(rest); err != nil {
		return err
	}
	if l.unread {
		return errUnread
	}
	return l.filter.save.Encode(w)
}

// mode is that of the file that is replaced. A new file is readable by everybody if it can't hold any word of a conversation.
func (o outputTo) mode() fs.FileMode {
	if info, err := os.Stat(o.file); err == nil {
		return info.Mode().Perm()
	}
	if forPeople(o.format) {
		return 0o600
	}
	return 0o644
}

// with adds a printer and continues with the other outputs.
func (l *lintRun) with(name string, w io.Writer, rest []outputTo) error {
	buf := bufio.NewWriter(w)
	if forPeople(name) && l.c.Bool("statistics") {
		l.printers = append(l.printers, &statsPrinter{
			ctx: l.c.Context, w: buf, notes: l.c.Bool("notes"), rules: map[string]int64{}, versions: map[string]*tally{}, months: map[string]*tally{},
		})
		return l.open(rest)
	}
	if forPeople(name) {
		st, err := styled(l.c, w)
		if err != nil {
			return err
		}
		p := &textPrinter{
			w: buf, st: st, notes: l.c.Bool("notes"), content: l.c.Bool("show-content"), verbose: l.c.Bool("verbose"),
			same: repairOfSame(l.c), listed: l.c.IsSet("files-from") || l.shard != walk.WholeShard,
		}
		if name == "grouped" || name == "text" && isTerminal(w) {
			p.group = &grouping{width: widthOf(w), ctx: l.c.Context, titles: newTitles(l.c, l.filter.config)}
		}
		l.printers = append(l.printers, p)
		return l.open(rest)
	}
	dir, _ := os.Getwd() // if it is gone, nothing is below it
	about := format.About{Version: Version(), Dir: dir}
	for _, r := range lint.Rules {
		about.Rules = append(about.Rules, format.Rule{Name: r.Name, Impact: r.Impact.String(), Title: r.Title, Text: lint.Described(r), Family: r.Family})
	}
	l.printers = append(l.printers, &machinePrinter{w: buf, to: format.New(name, buf, about), threshold: l.threshold})
	return l.open(rest)
}

// machinePrinter passes sessions to one of the formats for programs.
type machinePrinter struct {
	w         *bufio.Writer
	to        format.Printer
	threshold lint.Impact
}

func (p *machinePrinter) session(r linted) error {
	if r.beside && r.err == nil && len(r.result.Findings) == 0 {
		return nil // every finding about this file was left out
	}
	s := &format.Session{Path: r.target.path, Err: r.err}
	if !r.beside {
		s.Row = rowOf(&r)
	}
	if r.result != nil {
		for i := range r.result.Findings {
			f := &r.result.Findings[i]
			s.Findings = append(s.Findings, format.Finding{
				Path: r.target.path, Line: f.Pos.Line, Offset: f.Offset, Rule: f.Rule.Name, Impact: f.Impact.String(), Fix: f.Fix.String(),
				Message: f.Message, Record: f.Record, Source: f.Source, Option: f.Option, Count: f.Count,
				Fingerprint: r.prints[i], LineOffset: f.On.Offset, LineSize: f.On.Size,
				Fails: f.Impact.AtLeast(p.threshold), Note: f.Impact == lint.Notes,
			})
		}
	}
	if r.result != nil && r.target.path != "-" && mendable(r.result.Findings) {
		s.Next = []string{"hist", "repair", nameOf(r.result.Summary.Header.ID, r.target.path)}
	}
	return errors.Join(p.to.Session(s), p.w.Flush())
}

// mendable says whether a repair has something to do.
func mendable(list []lint.Finding) bool {
	return slices.ContainsFunc(list, func(f lint.Finding) bool { return f.Impact != lint.Notes && f.Fix != lint.NoFix && f.Option == "" })
}

func (p *machinePrinter) end() error { return errors.Join(p.to.End(), p.w.Flush()) }
