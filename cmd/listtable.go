package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// listTable shows sessions in a table: on a terminal one that fits it, otherwise one with every column. What programs read
// in full is the JSON.
type listTable struct {
	ctx    context.Context
	width  int // of the terminal; 0 if it is not one
	limit  int // at most so many rows; 0: all
	health bool
	more   bool // also size, branch and model
	st     *styles
	titles *titles
	copies *inspect.Copies
	homes  map[string]string // by path
	run    *inspect.Run
	cache  *inspect.Cache
	filter *filter         // which findings count
	newer  map[part]string // files that a revert has replaced, and with which
	parts  map[string]int  // by thread: how many files of it have no row of their own
}

// shownByDefault is how many sessions are listed on a terminal.
const shownByDefault = 20

func newListTable(c *cli.Context, e *env, conf *config, homes map[string]string) *listTable {
	terminal := isTerminal(e.out) && !c.Bool("json")
	t := &listTable{
		ctx: c.Context, limit: c.Int("limit"), health: c.Bool("health") || !c.Bool("json") && !c.IsSet("health"), more: c.Bool("verbose") || !terminal,
		titles: newTitles(c, conf), homes: homes, filter: &filter{config: conf}, newer: map[part]string{}, parts: map[string]int{}, st: newStyles(false),
	}
	if t.health {
		t.cache = inspect.OpenCache(Version())
	}
	t.run = inspect.NewRun(t.cache)
	t.copies = t.run.Copies
	if terminal {
		t.width = max(widthOf(e.out), 40)
		if !c.IsSet("limit") {
			t.limit = shownByDefault
		}
	}
	return t
}

// maxHealth is the largest session that is linted for a list, in bytes of the file.
const maxHealth = 24 << 20

// healthOf is a session's health in a word: ok, or the worst impact; "?" if the session is too large to lint, "" if health was
// not asked for. What it finds is taken for an obstacle, too.
func (t *listTable) healthOf(s *timeline.Glance) string {
	if !t.health {
		return ""
	}
	if s.Size > maxHealth {
		return "?"
	}
	src, err := source.Open(s.Path)
	if err != nil {
		return "?"
	}
	defer src.Close()
	r := &linted{target: target{path: s.Path, home: t.homes[s.Path]}, src: src}
	opts := inspect.Options(src, r.target.home, clients{})
	t.filter.config.apply(&opts)
	r.result, err = t.run.Lint(t.ctx, src, opts)
	if err != nil || r.result.Summary.Partial != nil {
		return "?"
	}
	t.filter.narrow(r)
	s.Hinder(r.result.Findings)
	worst := worstOf(r.result.Findings)
	if worst == lint.Notes {
		return "ok"
	}
	if c := t.copies.Of(t.ctx, src.Real, src.Info.Size()); c.Thread != "" && !c.InPart {
		return "repaired"
	}
	return worst.String()
}

// part is a file of a thread, by the id of the file: after a revert a thread has several.
type part struct{ thread, file string }

func partOf(s *timeline.Glance) part {
	return part{strings.ToLower(s.Thread), lint.NameOf(s.Path, true).FileID}
}

// goesOn notes which file of the same thread a session continues.
func (t *listTable) goesOn(s *timeline.Glance) {
	if base := s.Header.BaseThread; base != "" {
		t.newer[part{strings.ToLower(s.Thread), strings.ToLower(base)}] = s.Path
	}
}

// threads leaves of a list, newest first, one session a thread: after a revert a thread has several files, and so has one of which
// there is a second copy. A file beside such a copy counts before it, if it is not the smaller one.
func (t *listTable) threads(list []*timeline.Glance) []*timeline.Glance {
	first, size := map[string]bool{}, map[string]int64{}
	for _, s := range list {
		size[s.Path] = s.Size
	}
	return slices.DeleteFunc(list, func(s *timeline.Glance) bool {
		key := threadKey(s)
		own, copied := size[filepath.Join(filepath.Dir(s.Path), lint.NameOf(s.Path, true).Right)]
		copied = copied && own >= s.Size
		if s.Thread == "" || !first[key] && t.newer[partOf(s)] == "" && !copied {
			first[key] = true
			return false
		}
		t.parts[key]++
		return true
	})
}

func threadKey(s *timeline.Glance) string { return s.Agent.Name + " " + strings.ToLower(s.Thread) }

// repaired is the thread that is a session's repaired copy, "" if there is none.
func (t *listTable) repaired(s *timeline.Glance) string {
	return copyOf(t.ctx, t.copies, s.Path).Thread
}

// copyOf is the repaired copy of the session in a file, if there is one.
func copyOf(ctx context.Context, known *inspect.Copies, path string) inspect.Copy {
	src, err := source.Open(path)
	if err != nil {
		return inspect.Copy{}
	}
	defer src.Close()
	return known.Of(ctx, src.Real, src.Info.Size())
}

// row is a session as it is listed.
type row struct {
	id, age, agent, health, turn, title, dir, size, branch, model string

	gone bool // there is no such directory any more
	past bool // it is archived, or has a repaired copy: nobody goes on with it
}

// healths is the health of each session; several are linted at once.
func (t *listTable) healths(list []*timeline.Glance) []string {
	defer t.cache.Close()
	out := make([]string, len(list))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		wg.Go(func() {
			for i := range next {
				out[i] = t.healthOf(list[i])
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

// rows are the sessions as they are listed, in their order.
func (t *listTable) rows(list []*timeline.Glance, now time.Time) []row {
	rows := make([]row, len(list))
	for i, health := range t.healths(list) {
		rows[i] = t.row(list[i], health, now)
	}
	return rows
}

func (t *listTable) row(s *timeline.Glance, health string, now time.Time) row {
	r := row{
		id: shortOf(s.Thread, s.Path), age: age(now.Sub(s.Modified)), health: health, agent: s.Agent.Name, turn: string(s.Turn.State), dir: oneLine(s.CWD),
		title: t.titles.of(t.ctx, s, t.homes[s.Path]), size: bytesOf(s.Size), branch: clip(oneLine(s.Header.Branch), maxName), model: clip(oneLine(s.Model), maxName),
	}
	if t.width == 0 && s.Thread != "" {
		r.id = oneLine(s.Thread)
	}
	if s.Obstacle() != "" && (r.health == "" || r.health == "ok") {
		r.health = "can't resume"
		if s.Archived {
			r.health, r.past = "archived", true
		}
	} else if s.Archived {
		r.title = strings.TrimRight("archived: "+r.title, ": ")
	}
	if s.Turn.Class != "" && t.more {
		r.turn += " (" + string(s.Turn.Class) + ")"
	}
	if of := s.Agent.OfSubagent; of != nil && of(s.Header) {
		r.title = strings.TrimRight("sub-agent: "+r.title, ": ")
	}
	if n := t.parts[threadKey(s)]; n > 0 && s.Thread != "" {
		r.title = strings.TrimRight(fmt.Sprintf("%d files: %s", n+1, r.title), ": ")
	}
	if _, err := os.Stat(s.CWD); filepath.IsAbs(s.CWD) && errors.Is(err, fs.ErrNotExist) {
		r.gone = true
	}
	if original := t.copies.Original(s.Path); original != "" {
		r.title = strings.TrimRight("copy of "+short(original)+": "+r.title, ": ")
	} else if copied := t.repaired(s); copied != "" {
		r.past = true
		r.title = strings.TrimRight("repaired as "+short(copied)+": "+r.title, ": ")
	}
	return r
}

type column struct {
	head string
	of   func(*row) *string
}

// columns are those to be shown for these rows. The agent is left out if it is the same for all.
func (t *listTable) columns(rows []row) []column {
	mixed := slices.ContainsFunc(rows, func(r row) bool { return r.agent != rows[0].agent })
	wide := t.width == 0 || t.width >= minForAll && (!mixed || t.width >= minForBoth)
	var shown []column
	for _, c := range []struct {
		column
		wanted bool
	}{
		{column{"ID", func(r *row) *string { return &r.id }}, true},
		{column{"AGE", func(r *row) *string { return &r.age }}, true},
		{column{"AGENT", func(r *row) *string { return &r.agent }}, mixed && (t.width == 0 || t.width >= minForAgent)},
		{column{"HEALTH", func(r *row) *string { return &r.health }}, t.health || t.width > 0},
		{column{"LAST TURN", func(r *row) *string { return &r.turn }}, wide},
		{column{"TITLE", func(r *row) *string { return &r.title }}, !t.titles.off},
		{column{"DIRECTORY", func(r *row) *string { return &r.dir }}, (wide || t.titles.off || t.width >= minForDirectory) && (!t.more || t.width == 0 || t.width >= minForMore)},
		{column{"SIZE", func(r *row) *string { return &r.size }}, t.more},
		{column{"BRANCH", func(r *row) *string { return &r.branch }}, t.more && (t.width == 0 || t.width >= minForMore)},
		{column{"MODEL", func(r *row) *string { return &r.model }}, t.more},
	} {
		if c.wanted {
			shown = append(shown, c.column)
		}
	}
	return shown
}

// How wide a terminal must be to show the agent, the state of the last turn, both, and the directory beside the title.
const (
	minForAgent     = 60
	minForAll       = 72
	minForBoth      = 92
	minForMore      = 120 // with size, branch and model
	minForDirectory = 56
)

// How long, in characters, titles and directories, and branches and models, may be in a table that is not on a terminal.
const (
	maxCell = 60
	maxName = 30
)

func (t *listTable) write(w io.Writer, list []*timeline.Glance, more int, now time.Time) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "no session fits")
		return err
	}
	rows := t.rows(list, now)
	columns := t.columns(rows)
	if t.width > 0 {
		t.fit(rows, columns)
	} else {
		for i := range rows {
			rows[i].title, rows[i].dir = clip(rows[i].title, maxCell), rows[i].place(maxCell, oneLine)
		}
	}
	for _, line := range t.lines(rows, columns) {
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	if damaged := slices.ContainsFunc(rows, func(r row) bool { _, err := lint.ParseImpact(r.health); return err == nil }); damaged && t.width > 0 {
		fmt.Fprintln(w, "hist doctor says what to do about the damaged ones")
	}
	if i := slices.IndexFunc(rows, func(r row) bool { return r.gone }); i >= 0 && t.width > 0 {
		fmt.Fprintf(w, "if a directory that is gone was moved:\n  %s\n", format.Command(moveAll(list[i].CWD)...))
	}
	if more > 0 {
		_, err := fmt.Fprintf(w, "%d more: --limit %d\n", more, len(list)+more)
		return err
	}
	return nil
}

// lines are the rows as lines, the head first, in columns.
func (t *listTable) lines(rows []row, columns []column) []string {
	lines := make([]strings.Builder, len(rows)+1)
	for n, c := range columns {
		wide := widestOf(rows, c)
		put := func(line *strings.Builder, text string, paint *color.Color) {
			line.WriteString(paint.Sprint(text))
			if n < len(columns)-1 {
				line.WriteString(strings.Repeat(" ", wide+2-utf8.RuneCountInString(text)))
			}
		}
		put(&lines[0], c.head, t.st.dim)
		for i := range rows {
			put(&lines[i+1], *c.of(&rows[i]), t.paint(&rows[i], c.head))
		}
	}
	out := make([]string, len(lines))
	for i := range lines {
		out[i] = lines[i].String()
	}
	return out
}

// paint is the colour of a cell: what needs attention has one, and what is archived or repaired, or of a directory that is gone, is
// dim. What it says stands there in words, too.
func (t *listTable) paint(r *row, head string) *color.Color {
	switch {
	case head == "HEALTH" && r.health == "ok":
		return t.st.added
	case head == "HEALTH":
		if impact, err := lint.ParseImpact(r.health); err == nil {
			return t.st.impact[impact]
		}
		return t.st.dim
	case head == "LAST TURN" && (strings.HasPrefix(r.turn, "failed") || strings.HasPrefix(r.turn, "open") || strings.HasPrefix(r.turn, "unanswered")):
		return t.st.impact[lint.Loses]
	case head == "DIRECTORY" && r.gone, r.past:
		return t.st.dim
	}
	return t.st.plain
}

// fit shortens titles and directories so that a row fits in one line of the terminal. Of a directory, the end is kept.
func (t *listTable) fit(rows []row, columns []column) {
	room := t.width - 2*(len(columns)-1)
	if t.width < minForBoth+2*maxName {
		for i := range rows {
			rows[i].branch, rows[i].model = clip(rows[i].branch, idDigits), clip(rows[i].model, idDigits)
		}
	}
	titles := 0
	for _, c := range columns {
		switch c.head {
		case "TITLE":
			titles = widestOf(rows, c)
		case "DIRECTORY":
		default:
			room -= widestOf(rows, c)
		}
	}
	room = max(room, 10)
	if !slices.ContainsFunc(columns, func(c column) bool { return c.head == "DIRECTORY" }) {
		titles = room
	} else if titles > 0 {
		titles = min(max(room*3/5, len("repaired as : ")+idDigits), room-len("DIRECTORY"), titles)
	}
	for i := range rows {
		rows[i].title = clip(rows[i].title, titles)
		rows[i].dir = rows[i].place(room-titles, tilde)
	}
}

// goneMark is put before a directory that is not there any more.
const goneMark = "gone: "

// place is the directory, shortened at its front, with a mark if it is gone.
func (r *row) place(n int, short func(string) string) string {
	if r.gone {
		return goneMark + clipFront(short(r.dir), n-len(goneMark))
	}
	return clipFront(short(r.dir), n)
}

// widestOf is the width of a column, in characters.
func widestOf(rows []row, c column) int {
	widest := len(c.head)
	for i := range rows {
		widest = max(widest, utf8.RuneCountInString(*c.of(&rows[i])))
	}
	return widest
}

// clipFront shortens a path to a number of characters, keeping its end.
func clipFront(path string, n int) string {
	if utf8.RuneCountInString(path) <= n {
		return path
	}
	if base := filepath.Base(path); utf8.RuneCountInString(base)+2 <= n {
		return "…/" + base
	}
	runes := []rune(path)
	return "…" + string(runes[len(runes)-max(1, n-1):])
}
