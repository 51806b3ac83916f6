package cmd

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/glance"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// listTable shows sessions in a table: on a terminal one that fits it, otherwise one with everything in full.
type listTable struct {
	ctx    context.Context
	width  int // of the terminal; 0: it is none
	limit  int // at most so many rows; 0: all
	health bool
	more   bool // size, branch and model, too
	titles *titles
	copies *copies
	homes  map[string]string // by path
}

// shownByDefault is how many sessions are listed on a terminal.
const shownByDefault = 20

func newListTable(c *cli.Context, e *env, conf *config, homes map[string]string) *listTable {
	terminal := isTerminal(e.out) && !c.Bool("json")
	t := &listTable{
		ctx: c.Context, limit: c.Int("limit"), health: c.Bool("health") || terminal, more: c.Bool("verbose") || !terminal,
		titles: newTitles(c, conf), copies: newCopies(), homes: homes,
	}
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

// healthOf says in a word how a session is: ok, or the worst that is wrong with it; "?" if it is too large to look, "" if
// nobody asks.
func (t *listTable) healthOf(s *glance.Session) string {
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
	res, err := lint.Source(t.ctx, src, options(src, target{path: s.Path, home: t.homes[s.Path]}, ""))
	if err != nil || res.Summary.Partial != nil {
		return "?"
	}
	worst := lint.Notes
	for i := range res.Findings {
		worst = max(worst, res.Findings[i].Impact)
	}
	switch {
	case worst == lint.Notes:
		return "ok"
	case t.copies.of(t.ctx, src.Real, src.Info.Size()) != "":
		return "repaired"
	}
	return worst.String()
}

// repaired is the thread that is a session's repaired copy, "" if there is none.
func (t *listTable) repaired(s *glance.Session) string {
	src, err := source.Open(s.Path)
	if err != nil {
		return ""
	}
	defer src.Close()
	return t.copies.of(t.ctx, src.Real, src.Info.Size())
}

// row is a session as it is listed.
type row struct{ id, age, health, turn, title, dir, size, branch, model string }

func (t *listTable) row(s *glance.Session, now time.Time) row {
	r := row{
		id: shortOf(s.Thread, s.Path), age: age(now.Sub(s.Modified)), health: t.healthOf(s), turn: string(s.Turn.State), dir: oneLine(s.CWD),
		title: t.titles.of(t.ctx, s, t.homes[s.Path]), size: bytesOf(s.Size), branch: oneLine(s.Header.Branch), model: oneLine(s.Model),
	}
	if t.width == 0 && s.Thread != "" {
		r.id = oneLine(s.Thread)
	}
	if s.Obstacle() != "" && (r.health == "" || r.health == "ok") {
		r.health = "can't resume"
		if s.Archived {
			r.health = "archived"
		}
	}
	if s.Turn.Class != "" && t.more {
		r.turn += " (" + string(s.Turn.Class) + ")"
	}
	if original := t.copies.original(s.Path); original != "" {
		r.title = strings.TrimRight("copy of "+short(original)+": "+r.title, ": ")
	} else if copied := t.repaired(s); copied != "" {
		r.title = strings.TrimRight("repaired as "+short(copied)+": "+r.title, ": ")
	}
	return r
}

func (t *listTable) write(w io.Writer, list []*glance.Session, more int, now time.Time) error {
	if len(list) == 0 {
		return nil
	}
	rows := make([]row, len(list))
	for i, s := range list {
		rows[i] = t.row(s, now)
	}
	head := row{"ID", "AGE", "HEALTH", "LAST TURN", "TITLE", "DIRECTORY", "SIZE", "BRANCH", "MODEL"}
	if t.width > 0 {
		t.fit(rows)
	}
	out := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, r := range append([]row{head}, rows...) {
		cells := []string{r.id, r.age, r.health, r.turn, r.title, r.dir}
		if t.titles.off {
			cells = []string{r.id, r.age, r.health, r.turn, r.dir}
		}
		if !t.health && t.width == 0 {
			cells = append(cells[:2:2], cells[3:]...)
		}
		if t.more {
			cells = append(cells, r.size, r.branch, r.model)
		}
		fmt.Fprintln(out, strings.Join(cells, "\t"))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if more > 0 {
		_, err := fmt.Fprintf(w, "%d more: --limit %d\n", more, len(list)+more)
		return err
	}
	return nil
}

// fit cuts titles and directories so that a row has room in one line of the terminal: of a directory the end is kept.
func (t *listTable) fit(rows []row) {
	columns := []struct {
		head string
		of   func(row) string
	}{
		{"ID", func(r row) string { return r.id }},
		{"AGE", func(r row) string { return r.age }},
		{"HEALTH", func(r row) string { return r.health }},
		{"LAST TURN", func(r row) string { return r.turn }},
		{"SIZE", func(r row) string { return r.size }},
		{"BRANCH", func(r row) string { return r.branch }},
		{"MODEL", func(r row) string { return r.model }},
	}
	if !t.more {
		columns = columns[:4]
	}
	fixed := 0
	for _, c := range columns {
		fixed += widestOf(rows, c.head, c.of) + 2
	}
	room := max(24, t.width-fixed-2)
	titles := min(max(room*3/5, len("repaired as ")+idDigits), widestOf(rows, "TITLE", func(r row) string { return r.title }))
	if t.titles.off {
		titles = 0
	}
	for i := range rows {
		rows[i].title = clip(rows[i].title, titles)
		rows[i].dir = clipFront(tilde(rows[i].dir), room-titles)
	}
}

func widestOf(rows []row, head string, of func(row) string) int {
	widest := len(head)
	for _, r := range rows {
		widest = max(widest, utf8.RuneCountInString(of(r)))
	}
	return widest
}

// clipFront cuts a path to a number of characters, and keeps its end.
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
