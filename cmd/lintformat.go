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

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
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
		return errors.New("the baseline was not written: not all sessions could be read")
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
	var printer lintPrinter
	switch {
	case forPeople(name) && l.c.Bool("statistics"):
		printer = &statsPrinter{
			ctx: l.c.Context, w: buf, notes: l.c.Bool("notes"), rules: map[string]int64{}, versions: map[string]*tally{}, months: map[string]*tally{},
		}
	case forPeople(name):
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
		printer = p
	default:
		dir, _ := os.Getwd() // if it is gone, nothing is below it
		rules := mapped(lint.Rules, func(r *lint.Rule) format.Rule {
			return format.Rule{Name: r.Name, Impact: r.Impact.String(), Title: r.Title, Text: lint.Described(r), Family: r.Family}
		})
		printer = &machinePrinter{w: buf, to: format.New(name, buf, format.About{Version: Version(), Dir: dir, Rules: rules}), threshold: l.threshold}
	}
	l.printers = append(l.printers, printer)
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
	if r.result == nil {
		return errors.Join(p.to.Session(s), p.w.Flush())
	}
	for i := range r.result.Findings {
		f := &r.result.Findings[i]
		s.Findings = append(s.Findings, format.Finding{
			Path: r.target.path, Line: f.Pos.Line, Offset: f.Offset, Rule: f.Rule.Name, Impact: f.Impact.String(), Fix: f.Fix.String(),
			Message: f.Message, Record: f.Record, Source: f.Source, Option: f.Option, Count: f.Count,
			Fingerprint: r.prints[i], LineOffset: f.On.Offset, LineSize: f.On.Size,
			Fails: f.Impact.AtLeast(p.threshold), Note: f.Impact == lint.Notes,
		})
	}
	if r.target.path != "-" && mendable(r.result.Findings) {
		s.Next = []string{"hist", "repair", nameOf(r.result.Summary.Header.ID, r.target.path)}
	}
	return errors.Join(p.to.Session(s), p.w.Flush())
}

// mendable says whether a repair has something to do.
func mendable(list []lint.Finding) bool {
	return slices.ContainsFunc(list, func(f lint.Finding) bool { return f.Impact != lint.Notes && f.Fix != lint.NoFix && f.Option == "" })
}

func (p *machinePrinter) end() error { return errors.Join(p.to.End(), p.w.Flush()) }

// apart refuses to write two outputs to one file, and to replace a session or a file that is read.
func (l *lintRun) apart(outputs []outputTo) error {
	var files []string
	for _, o := range outputs {
		if o.file == "" {
			continue
		}
		for _, other := range files {
			same, err := publish.SameFile(o.file, other)
			if err != nil {
				return err
			}
			if same {
				return usage("two outputs go to one file, %s", o.file)
			}
		}
		if err := l.spared(o.file); err != nil {
			return err
		}
		files = append(files, o.file)
	}
	return nil
}

// spared refuses to write to a file that is read, or that is a session.
func (l *lintRun) spared(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return nil // the file does not exist yet
	}
	same := func(other string) bool {
		its, err := os.Stat(other)
		return err == nil && os.SameFile(info, its)
	}
	for _, t := range l.every {
		if t.path == "-" {
			if f := l.env.stdin(); f != nil {
				if in, err := f.Stat(); err == nil && os.SameFile(info, in) {
					return usage("this would replace the session %s, which is standard input", file)
				}
			}
		} else if same(t.path) {
			return usage("this would replace the session %s", file)
		}
	}
	switch {
	case l.c.IsSet("baseline") && same(l.c.String("baseline")):
		return usage("this would replace the baseline %s; write a new one with --write-baseline", file)
	case l.filter.config.path != "" && same(l.filter.config.path):
		return usage("this would replace the config %s", file)
	case isSession(file, info):
		return usage("this would replace %s, which is a session", file)
	}
	return nil
}

// isSession says whether a regular file has the name of a session, or begins like one.
func isSession(path string, info os.FileInfo) bool {
	if lint.NameOf(path, false).Canonical {
		return true
	}
	if !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 64<<10).ReadSlice('\n')
	return all.IsRecord(line)
}

func rowOf(r *linted) *format.Row {
	row := &format.Row{Path: r.target.path, Outcome: format.Linted, HistVersion: Version()}
	if r.src != nil && r.src.Info != nil {
		row.StoredBytes = r.src.Info.Size()
		row.Started = lint.NameOf(r.src.Name, false).Time
	}
	if r.err != nil {
		row.Outcome, row.Error = format.Unreadable, r.err.Error()
		if errors.Is(r.err, agent.ErrUnclaimed) {
			row.Outcome = format.Unclaimed
		}
	}
	if r.result == nil {
		return row
	}
	s := &r.result.Summary
	row.Agent, row.ThreadID, row.ClientVersion = s.Agent, s.Header.ID, s.Header.Version
	row.Bytes, row.Records, row.Items, row.ItemsSeen = s.Bytes, s.Records, s.Items+s.Lost, s.Seen
	row.Findings = int64(len(r.result.Findings))
	worst := lint.Notes
	for i := range r.result.Findings {
		if f := &r.result.Findings[i]; row.Worst == "" || f.Impact.AtLeast(worst) {
			worst, row.Worst = f.Impact, f.Impact.String()
		}
	}
	return row
}
