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
	"github.com/hist-cli/hist/lint"
)

// formatNames are the formats of findings, as the help lists them.
const formatNames = "text, json, jsonl, sarif, junit or github"

// outputTo is one format and where it goes.
type outputTo struct {
	format string
	file   string // "" is standard output
}

// parseOutputs reads the value of --format: names parted by commas, each with or without "=FILE".
func parseOutputs(value string) ([]outputTo, error) {
	var list []outputTo
	taken := map[string]bool{}
	for _, part := range strings.Split(value, ",") {
		name, file, named := strings.Cut(part, "=")
		if !slices.Contains(strings.FieldsFunc(formatNames, func(r rune) bool { return r == ' ' || r == ',' }), name) || name == "or" {
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
		switch {
		case taken[file] && file == "":
			return nil, usage("--format sends two formats to standard output; give all but one a file, as in text,sarif=hist.sarif")
		case taken[file]:
			return nil, usage("--format sends two formats to %s", file)
		}
		taken[file] = true
		list = append(list, outputTo{name, file})
	}
	return list, nil
}

// apart refuses to write two things to one file, or to replace a session that is to be linted.
func (l *lintRun) apart(outputs []outputTo, baseline string) error {
	files := []string{baseline}
	for _, o := range outputs {
		if o.file != "" && baseline != "" && o.file == filepath.Clean(baseline) {
			return usage("--format and --write-baseline both name %s", o.file)
		}
		files = append(files, o.file)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		for _, t := range l.targets {
			if session, err := os.Stat(t.path); err == nil && os.SameFile(info, session) {
				return usage("this would replace the session %s", file)
			}
		}
	}
	return nil
}

// open makes the printers and runs: each file is written under another name and takes its own when all is done.
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
		inner = l.with(o.format, w, rest)
		return inner
	}, nil)
	if inner != nil && errors.Is(err, inner) {
		return inner // it is not about this file
	}
	return err
}

// mode is readable by all where no word of the conversation can stand.
func (o outputTo) mode() fs.FileMode {
	if o.format == "text" {
		return 0o600
	}
	return 0o644
}

// with adds a printer and goes on to the other outputs.
func (l *lintRun) with(name string, w io.Writer, rest []outputTo) error {
	buf := bufio.NewWriter(w)
	if name == "text" {
		st, err := styled(l.c, w)
		if err != nil {
			return err
		}
		l.printers = append(l.printers, &textPrinter{w: buf, st: st, notes: l.c.Bool("notes"), content: l.c.Bool("show-content")})
		return l.open(rest)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	about := format.About{Version: Version(), Dir: dir}
	for _, r := range lint.Rules {
		about.Rules = append(about.Rules, format.Rule{Name: r.Name, Impact: r.Impact.String(), Title: r.Title, Text: r.Text, Family: r.Family})
	}
	l.printers = append(l.printers, &machinePrinter{w: buf, to: format.New(name, buf, about), threshold: l.threshold})
	return l.open(rest)
}

// machinePrinter hands sessions to one of the formats that programs read.
type machinePrinter struct {
	w         *bufio.Writer
	to        format.Printer
	threshold lint.Impact
}

func (p *machinePrinter) session(r linted) error {
	s := &format.Session{Path: r.target.path, Err: r.err}
	if r.result != nil {
		for i := range r.result.Findings {
			f := &r.result.Findings[i]
			s.Findings = append(s.Findings, format.Finding{
				Path: r.target.path, Line: f.Pos.Line, Offset: f.Offset, Rule: f.Rule.Name, Impact: f.Impact.String(), Fix: f.Fix.String(),
				Message: f.Message, Record: f.Record, Source: f.Source, Count: f.Count,
				Fingerprint: r.prints[i], LineOffset: f.On.Offset, LineSize: f.On.Size,
				Fails: f.Impact.AtLeast(p.threshold), Note: f.Impact == lint.Notes,
			})
		}
	}
	return errors.Join(p.to.Session(s), p.w.Flush())
}

func (p *machinePrinter) end() error { return errors.Join(p.to.End(), p.w.Flush()) }
