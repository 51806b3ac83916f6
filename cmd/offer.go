package cmd

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/runs"
)

// maxAbout is how many characters a shell shows beside a word that it offers.
const maxAbout = 48

// offer prints what a shell may complete a word to: per line, the word, a tab, and a description. What can't be read is left
// out silently, because the user is typing.
func (e *env) offer(c *cli.Context, what, begin string) error {
	w := bufio.NewWriter(e.out)
	var err error
	if what == "runs" {
		offerRuns(w, begin)
	} else {
		err = offerSessions(c, w, strings.ToLower(begin))
	}
	if err != nil {
		return err
	}
	return writing("what can be completed", w.Flush())
}

func offerSessions(c *cli.Context, w io.Writer, begin string) error {
	conf, err := loadConfig(c)
	if err != nil {
		return err
	}
	list, homes, err := newest(c.Context, maxOffered, func(t target) bool { return strings.Contains(strings.ToLower(t.path), begin) })
	if err != nil {
		return err
	}
	titles := newTitles(c, conf)
	for _, s := range list {
		if id := oneLine(strings.ToLower(s.Thread)); id != "" && strings.HasPrefix(id, begin) {
			about := cmp.Or(titles.of(c.Context, s, homes[s.Path]), tilde(s.CWD))
			fmt.Fprintf(w, "%s\t%s  %s\n", id, age(time.Since(s.Modified)), clip(about, maxAbout))
		}
	}
	return nil
}

func offerRuns(w io.Writer, begin string) {
	list, _ := runs.List()
	for i := range list {
		if m := &list[i]; strings.HasPrefix(m.Run, begin) {
			fmt.Fprintf(w, "%s\t%s  %s, %s\n", m.Run, age(time.Since(m.Started)), count(int64(len(m.Files)), "session", "sessions"), m.State())
		}
	}
}
