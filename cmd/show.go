package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

func showCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show a session's turns, calls and findings in chronological order", ArgsUsage: "PATH|ID",
		Description: "Shows what happened in a session: turns, prompts, answers, tool calls with their outcomes, and the findings of\nlint in their place. PATH is a file (.jsonl, .jsonl.zst), or - for standard input; ID is a thread's id.",
		Flags: []cli.Flag{
			lastFlag(), anyFlag(), agentFlag(),
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "text", Usage: "`FORMAT` of the timeline: text, json (one object), or jsonl (one per entry)"},
			&cli.StringFlag{Name: "html", Usage: "write one page for a browser to `FILE`, which must not exist"},
			&cli.BoolFlag{Name: "show-content", Usage: "show all words: prompts, answers and readable reasoning, and the inputs and outputs of calls"},
			&cli.BoolFlag{Name: "redact", Usage: "show no words; a terminal shows the first of each prompt and answer"},
			colorFlag(),
		},
		Action: e.show,
	}
}

// showPrinter shows one session's timeline.
type showPrinter interface {
	begin(s *shown) error
	entry(e *timeline.Entry) error
	end() error
}

// shown is the session that is shown, and lint's findings about it.
type shown struct {
	path     string
	summary  lint.Summary
	findings []lint.Finding
	counts   impactCounts
	modified time.Time
	title    string   // "" if no words of the conversation are to be shown
	resume   []string // the command that resumes it
	newer    string   // the file that has replaced it by a revert, "" if none is shown
	repair   []string // the command that repairs it
}

func (e *env) show(c *cli.Context) error {
	operands, err := operandsOf(c)
	if err != nil {
		return err
	}
	if c.Bool("redact") && c.Bool("show-content") {
		return usage("--redact and --show-content exclude each other")
	}
	if len(operands) == 0 && e.asks() {
		path, err := e.pick(c, "Show which session?")
		if err != nil {
			return err
		}
		operands = []string{path}
	}
	if len(operands) != 1 {
		return usage("show takes one session: a file, - for standard input, a session's id, or --last")
	}
	if disk.IsDir(operands[0]) {
		return usage("%s is a directory; show takes one session", operands[0])
	}
	print, err := e.showPrinter(c)
	if err != nil {
		return err
	}
	list, err := e.targets(c.Context, operands, c.String("agent"))
	if err != nil {
		return err
	}
	if path := c.String("html"); path != "" {
		if len(list) > 1 {
			return usage("%s names several files, give one of them, such as the newest, %s", operands[0], list[0].path)
		}
		return writePage(c.Context, path, func(w io.Writer) error { return e.showOne(c, list[0], newPage(w, "")) })
	}
	slices.Reverse(list) // a reverted thread has several files, the newest first
	for i, t := range list {
		if i+1 < len(list) {
			t.newer = list[i+1].path
		}
		if err := e.showOne(c, t, print); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) showPrinter(c *cli.Context) (showPrinter, error) {
	st, err := styled(c, e.out)
	if err != nil {
		return nil, err
	}
	switch f := c.String("format"); {
	case c.String("html") == "-":
		return nil, usage("--html names no file")
	case c.String("html") != "" && c.IsSet("format"):
		return nil, usage("--html is a format of its own; leave --format out")
	case f == "text":
		return &timelinePrinter{w: bufio.NewWriter(e.out), st: st, width: widthOf(e.out)}, nil
	case f == "jsonl":
		return &jsonTimeline{w: bufio.NewWriter(e.out)}, nil
	case f == "json":
		return &jsonTimeline{w: bufio.NewWriter(e.out), whole: true}, nil
	default:
		return nil, usage("--format is %q; it takes text, json or jsonl", f)
	}
}

// showOne lints a session, reads it again and shows it. If it can't be read to its end, it is shown up to there.
func (e *env) showOne(c *cli.Context, t target, print showPrinter) error {
	conf, err := loadConfig(c)
	if err != nil {
		return err
	}
	r, opts, err := e.look(c.Context, t, conf, clients{})
	if err != nil {
		return err
	}
	defer r.src.Close()
	s := &shown{path: t.path, newer: t.newer, summary: r.result.Summary, findings: r.result.Findings}
	s.repair = []string{"hist", "repair", operandOf(t.path)}
	if g, err := timeline.Look(c.Context, t.path, timeline.LookOptions{Content: true}); err == nil && t.path != "-" {
		s.modified, s.resume = g.Modified, g.Resume()
		if t.home != "" && g.Thread != "" {
			s.repair[2] = g.Thread
		}
		if c.Bool("show-content") {
			s.title = clip((&titles{byHome: map[string]map[string]string{}}).of(c.Context, g, t.home), maxTitle)
		}
	}
	for i := range s.findings {
		s.counts[s.findings[i].Impact]++
	}
	in, err := r.src.Reader(c.Context)
	if err != nil {
		return err
	}
	defer in.Close()
	sent, err := timeline.Sent(c.Context, r.src, r.result, opts)
	if err != nil {
		return err
	}
	if err := print.begin(s); err != nil {
		return fmt.Errorf("writing the timeline: %w", err)
	}
	content := c.Bool("show-content")
	if p, ok := print.(*timelinePrinter); ok && isTerminal(e.out) && !content && !c.Bool("redact") && !conf.NoTitles {
		p.clipped, content = true, true
	}
	err = timeline.Read(c.Context, in, timeline.Options{Agent: all.Named(r.result.Summary.Agent), Findings: s.findings, Content: content, Live: opts.Live, Sent: sent}, print.entry)
	switch partial := s.summary.Partial; {
	case partial != nil:
		err = fmt.Errorf("%w; it was read up to byte %d only", partial, s.summary.Bytes)
	case errors.Is(err, source.ErrCorrupt):
		err = nil // there is a finding about it
	}
	if ended := print.end(); ended != nil {
		return fmt.Errorf("writing the timeline: %w", ended)
	}
	return err
}

// look lints a session and what is beside it; the session will be read again afterwards. The caller closes its source.
func (e *env) look(ctx context.Context, t target, conf *config, by clients) (*linted, lint.Options, error) {
	if t.err != nil {
		return nil, lint.Options{}, t.err
	}
	src, err := e.open(t.path)
	if err != nil {
		return nil, lint.Options{}, err
	}
	r, opts := &linted{target: t, src: src}, inspect.Options(src, t.home, by)
	conf.apply(&opts)
	if r.result, err = inspect.NewRun(nil).Lint(ctx, src, opts); err != nil {
		src.Close()
	}
	return r, opts, err
}

// open opens a session that is read more than once.
func (e *env) open(path string) (*source.Source, error) {
	if path == "-" {
		return source.Stdin(e.in, "")
	}
	return source.Open(path)
}

// writePage writes a new file. If a part of the page fails, no file is left.
func writePage(ctx context.Context, path string, fill func(io.Writer) error) error {
	err := publish.Write(ctx, publish.Target{Path: path}, fill, publish.Checks{})
	if errors.Is(err, publish.ErrExists) {
		return fmt.Errorf("%s: %w; give --html another name", path, publish.ErrExists)
	}
	return err
}
