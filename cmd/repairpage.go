package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/repair"
)

// maxTimelines is for how many sessions of a repair a page with the timeline is written.
const maxTimelines = 50

// maxNamed is how many sessions the command at the top of a page names.
const maxNamed = 8

// timelinesOf is the directory beside a report's page that holds the pages of the sessions' timelines.
func timelinesOf(page string) string {
	return strings.TrimSuffix(page, filepath.Ext(page)) + "-timelines"
}

// pages writes the report as a page and, in a directory beside it, the timelines of the sessions in which something was
// repaired or left, with links in both directions.
func (p *reportPrinter) pages(ctx context.Context) (err error) {
	defer func() {
		if p.timelines && err != nil && !errors.Is(err, publish.ErrPublished) {
			os.RemoveAll(timelinesOf(p.page)) //nolint:errcheck // without the page, nothing links to them
		}
	}()
	about := make([]repair.Session, len(p.reports))
	titles := &titles{off: !p.content, byHome: map[string]map[string]string{}}
	written := 0
	for i, rep := range p.reports {
		path := rep.Source
		if rep.Target != "" && isFile(rep.Target) {
			path = rep.Target
		}
		if !isFile(path) {
			continue // it came from standard input
		}
		if s, err := timeline.Look(ctx, path, timeline.LookOptions{Content: p.content}); err == nil {
			home := homeOf(path)
			about[i].Title = titles.of(ctx, s, home)
			if about[i].Title == "" && s.Thread != "" {
				about[i].Title = "Session " + shortOf(s.Thread, path)
			}
			about[i].Where = changed(oneLine(s.CWD), s.Modified)
		}
		if written == maxTimelines || len(rep.Edits)+len(rep.Left) == 0 {
			continue
		}
		link, err := p.timeline(ctx, path, i)
		if err != nil {
			return err
		}
		about[i].Timeline = link
		written++
	}
	opts := repair.PageOptions{Content: p.content, About: func(i int) repair.Session { return about[i] }}
	switch {
	case !p.c.Bool("dry-run") || !slices.ContainsFunc(p.reports, func(r *repair.Report) bool { return len(r.Edits) > 0 }):
	case len(p.reports) == 1:
		opts.Next = p.reports[0].Next
	case p.c.NArg() <= maxNamed: // a command of many words is of no use; each session has its own
		opts.Next = append(withoutDryRun(p.c), p.c.Args().Slice()...)
	}
	return writePage(ctx, p.page, func(w io.Writer) error {
		return repair.HTML(w, p.reports, opts)
	})
}

// next is the command that makes what a dry run shows of one session.
func (p *reportPrinter) next(rep *repair.Report) []string {
	words := withoutDryRun(p.c)
	if p.c.Bool("all") { // it names its sessions itself
		return words
	}
	if rep.Operation == nil || p.c.NArg() == 0 {
		return append(words, nameOf(rep.Thread, rep.Source))
	}
	return append(words, p.c.Args().Slice()...) // an operation may take more than sessions
}

// withoutDryRun are the words of the command line that say how to repair: without its operands, and without what only decides how a
// report is shown.
func withoutDryRun(c *cli.Context) []string {
	words := []string{"hist", c.Command.Name}
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !c.IsSet(name) || slices.Contains([]string{"dry-run", "html", "format", "diff", "verbose", "show-content", "color", "any"}, name) {
			continue
		}
		switch value := c.Value(name).(type) {
		case bool:
			if value && name != "last" { // it names a session; with a number, it says what is cut
				words = append(words, "--"+name)
			}
		case cli.StringSlice:
			for _, v := range value.Value() {
				words = append(words, "--"+name, v)
			}
		default:
			words = append(words, "--"+name, fmt.Sprint(value))
		}
	}
	return words
}

// timeline writes the page of one session's timeline and returns a link to it.
func (p *reportPrinter) timeline(ctx context.Context, path string, i int) (string, error) {
	dir := timelinesOf(p.page)
	if !p.timelines {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", fmt.Errorf("making a place for the timelines: %w", err)
		}
		p.timelines = true
	}
	name := fmt.Sprintf("%d.html", i+1)
	report := fmt.Sprintf("../%s#session-%d", url.PathEscape(filepath.Base(p.page)), i)
	err := writePage(ctx, filepath.Join(dir, name), func(w io.Writer) error {
		return p.env.showOne(p.c, target{path: path, home: homeOf(path)}, newPage(w, report))
	})
	return url.PathEscape(filepath.Base(dir)) + "/" + name, err
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// changed says where a session worked and when it was last changed, with the date: a page may be read long after it was made.
func changed(dir string, at time.Time) string {
	if at.IsZero() {
		return dir
	}
	return strings.TrimPrefix(dir+", changed "+at.UTC().Format("2006-01-02 15:04 UTC"), ", ")
}
