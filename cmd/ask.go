package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"charm.land/huh/v2"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/timeline"
)

// asks says whether a question can be asked: standard input and standard error are both terminals.
func (e *env) asks() bool {
	f := e.stdin()
	return f != nil && term.IsTerminal(int(f.Fd())) && isTerminal(e.err)
}

// stdin is the file from which standard input comes, nil if it comes from none.
func (e *env) stdin() *os.File {
	in, _ := e.in.(*input)
	if in == nil {
		return nil
	}
	f, _ := in.in.(*os.File)
	return f
}

// agreed asks a question that is answered with y or n. Anything else counts as no.
func (e *env) agreed(question string) (bool, error) {
	fmt.Fprintf(e.err, "%s [y/N] ", question)
	line, err := bufio.NewReader(e.in).ReadString('\n')
	if err != nil && err != io.EOF {
		return false, err
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}

// maxNewest is how many of the newest sessions are offered where one is to be picked or completed, or asked who has them open.
const maxNewest = 50

// newest looks at the most recently changed sessions of the agents' homes, newest first. homes is the home of each, by path.
func newest(ctx context.Context, wanted func(target) bool) (list []*timeline.Glance, homes map[string]string, err error) {
	found, err := targets(ctx, nil, "")
	if err != nil {
		return nil, nil, err
	}
	type aged struct {
		target
		changed time.Time
	}
	var order []aged
	homes = map[string]string{}
	for _, t := range found {
		if t.err != nil || all.Part(t.path) || wanted != nil && !wanted(t) {
			continue
		}
		if info, err := os.Stat(t.path); err == nil {
			order = append(order, aged{t, info.ModTime()})
			homes[t.path] = t.home
		}
	}
	slices.SortStableFunc(order, func(a, b aged) int { return b.changed.Compare(a.changed) })
	paths := mapped(order[:min(maxNewest, len(order))], func(t aged) string { return t.path })
	for _, r := range timeline.LookMany(ctx, paths, timeline.LookOptions{Content: true}) {
		if r.Err == nil {
			list = append(list, r.Session)
		}
	}
	return list, homes, ctx.Err()
}

// pick asks on the terminal for one of the newest sessions, and returns its file. If the user breaks off, the command counts as
// interrupted.
func (e *env) pick(c *cli.Context, question string) (string, error) {
	conf, err := loadConfig(c)
	if err != nil {
		return "", err
	}
	list, homes, err := newest(c.Context, nil)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", errors.New("there is no session to pick; name a file, a directory or a session's id, or set CODEX_HOME or CLAUDE_CONFIG_DIR")
	}
	table := newListTable(c, e, conf, homes)
	table.width, table.health, table.more = max(widthOf(e.err), 40), true, false
	labels := table.labels(list, time.Now())
	options := make([]huh.Option[string], len(list))
	for i, s := range list {
		options[i] = huh.NewOption(labels[i+1], s.Path)
	}
	var path string
	field := huh.NewSelect[string]().Title(question).Description(strings.Repeat(" ", len("> ")) + labels[0]).Options(options...).Value(&path)
	if err := e.ask(c.Context, field, len(options)+questionLines); err != nil {
		return "", err
	}
	if path == "" {
		return "", errNotPicked
	}
	return path, nil
}

// errNotPicked is the error if the question was left without an answer.
var errNotPicked = &exitError{ExitInterrupted, errors.New("no session was picked")}

// How much of the terminal the question takes beside its options: columns for the frame and the cursor, and lines.
const (
	cursorColumns = 4
	questionLines = 2
)

// labels are the table's lines, the head first, each as wide as the room beside the cursor.
func (t *listTable) labels(list []*timeline.Glance, now time.Time) []string {
	rows := t.rows(list, now)
	t.width -= cursorColumns
	columns := t.columns(rows)
	t.fit(rows, columns)
	lines := t.lines(rows, columns)
	for i := range lines {
		lines[i] = clip(lines[i], t.width)
	}
	return lines
}

// spoken says whether the terminal can't move its cursor, or a screen reader is used.
func spoken() bool { return os.Getenv("TERM") == "dumb" || os.Getenv("ACCESSIBLE") != "" }

// lineInput is where the answers to a numbered list are read from. It notes when there are no more, which the library takes for
// the choice of the first entry.
type lineInput struct {
	io.Reader
	ended bool
}

func (l *lineInput) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	l.ended = l.ended || err != nil
	return n, err
}

// ask asks a question on the terminal, in at most so many lines. If spoken, it is a numbered list.
func (e *env) ask(ctx context.Context, field *huh.Select[string], rows int) error {
	form := huh.NewForm(huh.NewGroup(field)).WithInput(e.in.(*input).in).WithOutput(streamOf(e.err))
	lines := &lineInput{Reader: e.in}
	if spoken() {
		form.WithInput(lines).WithAccessible(true).WithTheme(huh.ThemeFunc(huh.ThemeBase)) // this theme has no colours, which would be noise there
	} else {
		form.WithTheme(huh.ThemeFunc(huh.ThemeBase16))
	}
	width, height := sizeOf(e.err)
	form.WithWidth(width).WithHeight(min(rows+2, max(height-1, 6)))
	switch err := form.RunWithContext(ctx); {
	case ctx.Err() != nil:
		return context.Canceled
	case lines.ended:
		return errNotPicked
	case errors.Is(err, huh.ErrUserAborted):
		return &exitError{ExitInterrupted, errors.New("interrupted; nothing was done")}
	case err != nil:
		return fmt.Errorf("asking on the terminal: %w; name the session on the command line", err)
	}
	return nil
}

// input is standard input whose reads end when the context is done: a read of a terminal or a pipe may never return.
type input struct {
	ctx context.Context
	in  io.Reader
	buf []byte // a buffer of its own, because the caller's must not be written to once Read has returned
}

func (i *input) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	p = p[:min(len(p), 1<<20)]
	if len(i.buf) < len(p) {
		i.buf = make([]byte, len(p))
	}
	type read struct {
		n   int
		err error
	}
	done := make(chan read, 1)
	go func() {
		n, err := i.in.Read(i.buf[:len(p)])
		done <- read{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, i.buf[:r.n]), r.err
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	}
}

// fileOrInput is the file at path, or standard input for "-". The first read opens the file; all reads end with the context.
func (e *env) fileOrInput(ctx context.Context, path string) io.Reader {
	if path == "-" {
		return &input{ctx: ctx, in: e.in}
	}
	return &input{ctx: ctx, in: &lateFile{path: path}}
}

// lateFile is a file that is opened by the first read, so that opening it ends with the context, too: opening a named pipe may
// never return.
type lateFile struct {
	path string
	file *os.File
}

func (f *lateFile) Read(p []byte) (n int, err error) {
	if f.file == nil {
		if f.file, err = os.Open(f.path); err != nil {
			return 0, err
		}
	}
	if n, err = f.file.Read(p); err != nil {
		f.file.Close()
	}
	return n, err
}
