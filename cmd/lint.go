package cmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

func lintCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "lint", Usage: "say what is wrong with sessions, and what the agent does with it", ArgsUsage: "[PATH|ID ...]",
		Description: "Reads each session and prints what is damaged. PATH is a file (.jsonl, .jsonl.zst), a directory, or - for\nstandard input; ID is a thread's id, looked up in the homes of Codex\nand Claude Code ($CODEX_HOME or ~/.codex, $CLAUDE_CONFIG_DIR or ~/.claude). Without either, it takes all sessions there.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "text", Usage: "`FORMATS` of the findings, separated by commas: " + formatNames + "; NAME=FILE writes to a file"},
			&cli.StringFlag{Name: "fail-on", Value: "loses", Usage: "exit 1 for findings of this `IMPACT` or a worse one: blocks, loses, rejects, shows or notes"},
			&cli.StringSliceFlag{Name: "rule", Usage: "report only this `RULE`; may be given more than once"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "in text, also print the byte offset, record type, impact and fix of each finding, and why a record is hung where it is"},
			&cli.BoolFlag{Name: "statistics", Usage: "count findings by rule, client version and month instead of listing them"},
			noTitlesFlag(),
			lastFlag(), anyFlag(), agentFlag(),
			&cli.BoolFlag{Name: "notes", Usage: "also print notes, which text only counts"},
			clientFlag("codex", "judge by"), clientFlag("claude", "judge by"), clientFlag("pi", "judge by"),
			providerFlag(),
			&cli.BoolFlag{Name: "show-content", Usage: "show the bytes around each finding, which may contain words of the conversation"},
			&cli.StringFlag{Name: "files-from", Usage: "also lint the sessions listed in this `FILE`, one per line; - is standard input"},
			&cli.StringFlag{Name: "shard", Usage: "lint only the `PART` I/N of all sessions, I from 0; auto/N takes I from the batch scheduler's variable"},
			&cli.BoolFlag{Name: "no-cache", Usage: "neither use nor update the cache"},
			colorFlag(),
			&cli.StringFlag{Name: "config", Usage: "read this config `FILE` instead of the " + configName + " found from here upwards"},
			&cli.BoolFlag{Name: "no-config", Usage: "read no config file"},
			&cli.StringFlag{Name: "baseline", Usage: "leave out the findings that are in this `FILE`"},
			&cli.StringFlag{Name: "write-baseline", Usage: "write all findings to this `FILE` for --baseline, and exit 0 whatever is found"},
		},
		Action: e.lint,
	}
}

// linted is the result for one target.
type linted struct {
	target target
	result *lint.Result
	src    *source.Source
	err    error
	prints []string // the findings' fingerprints
	// How many findings the config or the baseline left out, and how many the config gave a lower impact.
	ignored, known, lowered int64
	beside                  bool   // it is about something that a client keeps beside its sessions
	repaired                string // the thread that is its repaired copy, "" if there is none
}

type lintRun struct {
	env       *env
	c         *cli.Context
	threshold lint.Impact
	by        clients
	kept      lint.KeptBy
	inspect   *inspect.Run
	every     []target // everything that was asked for
	targets   []target // the targets of this shard
	shard     walk.Shard
	filter    *filter
	printers  []lintPrinter
	cache     *inspect.Cache
	told      map[string]bool // errors that were reported already, so that they are not repeated for every session
	silenced  int64           // findings that the config left out or gave a lower impact
	same      sameSession
	failed    bool // a finding reached the threshold
	unread    bool // something could not be read
}

func (e *env) lint(c *cli.Context) error {
	c.Context = walk.Remember(c.Context)
	l := &lintRun{env: e, c: c, kept: inspect.KeptOfMany()}
	outputs, err := l.flags()
	if err != nil {
		return err
	}
	operands, err := operandsOf(c)
	if err != nil {
		return err
	}
	if operands, err = l.filesFrom(operands); err != nil {
		return err
	}
	if l.every, err = l.env.targets(c.Context, operands, c.String("agent")); err != nil {
		return err
	}
	l.targets = l.every
	if l.shard != walk.WholeShard {
		l.targets = slices.DeleteFunc(slices.Clone(l.every), func(t target) bool { return !l.shard.Owns(t.path) })
	}
	if err := l.apart(outputs); err != nil {
		return err
	}
	if err := l.open(outputs); err != nil {
		return err
	}
	switch {
	case l.unread:
		return exit(ExitIO)
	case l.failed && l.filter.save == nil:
		return exit(ExitFindings)
	}
	return nil
}

func (l *lintRun) flags() ([]outputTo, error) {
	var err error
	if l.threshold, err = lint.ParseImpact(l.c.String("fail-on")); err != nil {
		return nil, usage("--fail-on: %w", err)
	}
	if l.filter, err = newFilter(l.c); err != nil {
		return nil, err
	}
	if l.by, err = judgedBy(l.c); err != nil {
		return nil, err
	}
	if _, err := styled(l.c, l.env.out); err != nil {
		return nil, err
	}
	l.shard = walk.WholeShard
	if l.c.IsSet("shard") {
		if l.shard, err = walk.ParseShard(l.c.String("shard"), os.Getenv); err != nil {
			return nil, usage("--%w", err)
		}
	}
	outputs, err := parseOutputs(l.c.String("format"))
	if err == nil && !slices.ContainsFunc(outputs, func(o outputTo) bool { return forPeople(o.format) }) {
		for _, only := range []string{"show-content", "verbose", "statistics"} { // the other formats have all notes anyway
			if l.c.Bool(only) {
				return nil, usage("--%s is for text; the other formats never have words of the conversation", only)
			}
		}
	}
	if l.filter.save != nil {
		outputs = append(outputs, outputTo{toBaseline, filepath.Clean(l.c.String("write-baseline"))})
	}
	return outputs, err
}

// set adds the settings of the config and the command line to the options.
func (l *lintRun) set(opts *lint.Options) {
	l.filter.config.apply(opts)
	opts.Kept, opts.Provider = l.kept, l.c.String("provider")
	opts.Processors = max(1, runtime.GOMAXPROCS(0)/len(l.targets))
}

func (l *lintRun) run() error {
	if !l.c.Bool("no-cache") && !l.c.Bool("show-content") {
		l.cache = inspect.OpenCache(Version())
		defer l.cache.Close()
	}
	l.inspect, l.told = inspect.NewRun(l.cache), map[string]bool{}
	in := map[string][]string{}
	for _, t := range l.every {
		if t.all && t.err == nil {
			in[t.home] = append(in[t.home], t.path)
		}
	}
	l.inspect.Whole(l.c.Context, in)
	bar := l.env.newProgress(l.targets, 1)
	defer bar.end()
	for slot := range l.all(bar) {
		for _, r := range <-slot {
			bar.clear()
			if err := l.show(r); err != nil {
				return err
			}
		}
	}
	for _, out := range l.inspect.Outside(l.c.Context) {
		if !l.shard.Owns(out.Path) {
			continue
		}
		if err := l.show(linted{target: target{path: out.Path}, result: &lint.Result{Findings: out.Findings}, err: out.Err, beside: true}); err != nil {
			return err
		}
	}
	for _, p := range l.printers {
		if err := p.end(); err != nil {
			return fmt.Errorf("writing the findings: %w", err)
		}
	}
	for _, line := range l.same.told(l.c.Context) {
		l.env.complain(line)
	}
	if l.silenced > 0 && !l.text() {
		fmt.Fprintf(l.env.err, "hist: %s left out or downgraded by %s\n", count(l.silenced, "finding", "findings"), oneLine(l.filter.config.path))
	}
	return nil
}

func (l *lintRun) text() bool {
	return slices.ContainsFunc(l.printers, func(p lintPrinter) bool { _, ok := p.(*textPrinter); return ok })
}

// show counts what was found in one target, and prints it.
func (l *lintRun) show(r linted) error {
	if errors.Is(r.err, context.Canceled) {
		return r.err
	}
	if r.err != nil {
		if _, beside := errors.AsType[*inspect.BesideError](r.err); !beside || !l.told[r.err.Error()] {
			l.unread = true
			l.env.report(r.err)
			l.told[r.err.Error()] = true
		}
	}
	if r.result != nil {
		l.same.add(r)
		l.filter.narrow(&r)
		l.silenced += r.ignored + r.lowered
		for i := range r.result.Findings {
			l.failed = l.failed || r.result.Findings[i].Impact.AtLeast(l.threshold)
		}
	}
	for _, p := range l.printers {
		if err := p.session(r); err != nil {
			return fmt.Errorf("writing the findings: %w", err)
		}
	}
	return nil
}

func knownRules(names []string) error {
	for _, n := range names {
		if lint.FindRule(n) == nil {
			return usage("--rule: there is no rule %q%s", n, meantOr(n, ruleNames(), "; hist explain lists them"))
		}
	}
	return nil
}

// ahead is how many groups of targets per processor may be finished before they are shown. Without it, processors would wait
// for each other, which takes longer than linting a session that the cache knows.
const ahead = 8

// Targets are handed to processors in groups, because handing over one takes as long as linting a session that the cache knows.
// Groups are small enough that all processors finish at nearly the same time.
const (
	maxGroup  = 32
	minGroups = 64 // for each processor
)

// all lints the targets in parallel, a group of them on each processor. The results come in the order of the targets.
func (l *lintRun) all(bar *progress) <-chan chan []linted {
	processors := runtime.GOMAXPROCS(0)
	slots, begun := make(chan chan []linted, ahead*processors), make(chan begunLint, ahead*processors)
	for range min(processors, len(l.targets)) {
		go func() {
			for b := range begun {
				group := make([]linted, len(b.targets))
				for i, t := range b.targets {
					group[i] = l.one(l.c.Context, t, bar)
				}
				b.slot <- group
			}
		}()
	}
	go func() {
		defer close(slots)
		defer close(begun)
		for group := range slices.Chunk(l.targets, max(1, min(maxGroup, len(l.targets)/(processors*minGroups)))) {
			slot := make(chan []linted, 1)
			slots <- slot
			begun <- begunLint{group, slot}
		}
	}()
	return slots
}

// begunLint is a group of targets being linted, and where the results go.
type begunLint struct {
	targets []target
	slot    chan []linted
}

// one lints one session. Even with an error there may be a result, for the part that could be read.
func (l *lintRun) one(ctx context.Context, t target, bar *progress) linted {
	r := linted{target: t, err: t.err}
	if t.err != nil {
		return r
	}
	if l.sound(ctx, &r); r.result != nil {
		bar.begin(r.src)()
	} else if l.anew(ctx, &r, bar); r.result == nil {
		return r
	}
	if p := r.result.Summary.Partial; p != nil {
		r.err = fmt.Errorf("%w; it was read up to byte %d only", p, r.result.Summary.Bytes)
		return r
	}
	r.repaired = l.inspect.Copies.Settle(ctx, r.src, r.result)
	return r
}

// sound sets the result for a session that was found healthy when it was last linted and has not changed since, without opening it.
func (l *lintRun) sound(ctx context.Context, r *linted) {
	if l.cache == nil || r.target.path == "-" {
		return
	}
	if r.src = source.OpenLazily(r.target.path); r.src == nil {
		return
	}
	opts := inspect.AtRest(r.src, r.target.home, l.by)
	l.set(&opts)
	r.result, r.err = l.inspect.KnownSound(ctx, r.src, opts)
}

// anew opens a session, and lints it unless the cache knows what is in it.
func (l *lintRun) anew(ctx context.Context, r *linted, bar *progress) {
	if r.target.path == "-" {
		r.src = source.Once(l.env.in)
	} else if r.src, r.err = source.Open(r.target.path); r.err != nil {
		return
	}
	defer bar.begin(r.src)()
	opts := inspect.AtRest(r.src, r.target.home, l.by)
	l.set(&opts)
	opts.Live = inspect.Live(r.src, opts)
	r.result, r.err = l.inspect.Lint(ctx, r.src, opts)
}

// filesFrom adds to the operands what --files-from names.
func (l *lintRun) filesFrom(operands []string) ([]string, error) {
	if !l.c.IsSet("files-from") {
		return operands, nil
	}
	path := l.c.String("files-from")
	if path == "-" && slices.Contains(operands, "-") {
		return nil, usage("standard input is either a session or the list of --files-from")
	}
	named, err := linesOf(l.c.Context, l.env.fileOrInput(l.c.Context, path))
	if err != nil {
		return nil, fmt.Errorf("--files-from %s: %w", path, disk.Cause(err))
	}
	if len(named)+len(operands) == 0 {
		return nil, fmt.Errorf("--files-from %s: it names no session", path)
	}
	return append(operands, named...), nil
}

// maxPath is how long a line of --files-from may be, in bytes.
const maxPath = 64 << 10

// linesOf are the lines of a list that are not empty.
func linesOf(ctx context.Context, in io.Reader) (list []string, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxPath)
	number := 1
	for ; lines.Scan(); number++ {
		line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case bytes.IndexByte(line, 0) >= 0:
			return nil, fmt.Errorf("line %d holds a NUL byte; name one path a line", number)
		case string(line) == "-":
			return nil, fmt.Errorf("line %d is -: name files, directories or ids", number)
		case len(line) > 0:
			list = append(list, string(line))
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d is longer than %d bytes", number, maxPath)
	}
	return list, lines.Err()
}

// sameSession is which files of a run hold the same session: a snapshot, a backup, or a second copy of it.
type sameSession struct {
	files map[string][]string // by agent and id
	ids   []string            // of those that several files hold, in the order in which that was seen
}

// maxCompared is how many sessions that several files hold are compared.
const maxCompared = 16

// add notes a file that was linted. A sub-agent's file of Claude Code names its parent's id, and is no copy of that.
func (s *sameSession) add(r linted) {
	if r.src == nil || r.src.Real == "" || r.result == nil || r.result.Summary.Partial != nil {
		return
	}
	id := lint.NameOf(r.src.Name, true).FileID
	if id == "" && !all.Part(r.src.Name) {
		id = r.result.Summary.Header.ID
	}
	if id == "" {
		return
	}
	if s.files == nil {
		s.files = map[string][]string{}
	}
	id = r.result.Summary.Agent + " " + id
	if slices.Contains(s.files[id], r.src.Path) {
		return
	}
	if s.files[id] = append(s.files[id], r.src.Path); len(s.files[id]) == 2 {
		s.ids = append(s.ids, id)
	}
}

// told says of each session that several files hold what each of them has alone; nothing of files that hold the same.
func (s *sameSession) told(ctx context.Context) (list []string) {
	for _, id := range s.ids[:min(len(s.ids), maxCompared)] {
		paths := s.files[id]
		held := inspect.Hold(ctx, paths)
		if !slices.ContainsFunc(held, func(h inspect.Held) bool { return h.Alone > 0 }) {
			continue
		}
		each := make([]string, len(paths))
		for i, h := range held {
			each[i] = paths[i] + " " + holds(h)
		}
		line := "files of one session: " + strings.Join(each, "; ")
		if len(paths) == 2 && held[0].Lines {
			line += "; " + format.Command("hist", "join", paths[0], paths[1]) + " puts them together"
		}
		list = append(list, line)
	}
	return list
}

// holds says what one of several files of a session holds.
func holds(h inspect.Held) string {
	words := "holds " + count(h.Items, "item", "items") + " of the history"
	if h.Alone > 0 {
		words += fmt.Sprintf(", %d of which no other holds", h.Alone)
	}
	return words
}
