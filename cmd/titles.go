package cmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/timeline"
)

// titles are the names of sessions as their client shows them: the name that the user gave, or else the first words of the
// first prompt. They are words of the conversation, so they can be switched off.
type titles struct {
	off    bool
	byHome map[string]map[string]string // by home and thread
}

func noTitlesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "no-titles", Usage: "don't show titles, which contain words of the conversation"}
}

func newTitles(c *cli.Context, conf *config) *titles {
	return &titles{off: c.Bool("no-titles") || conf.NoTitles, byHome: map[string]map[string]string{}}
}

// of is a session's title on one line, "" if it has none or titles are off. The session must have been looked at with its
// content.
func (t *titles) of(ctx context.Context, s *timeline.Glance, home string) string {
	if t.off {
		return ""
	}
	if home != "" && t.byHome[home] == nil {
		names := map[string]string{}
		if s.Agent.Home != nil && s.Agent.Names != nil {
			names = s.Agent.Names(home)
		}
		threads, _ := inspect.OpenHome(ctx, home).Threads(ctx) // without the client's list, the first prompt is used
		for _, thread := range threads {
			if thread.Named || names[thread.ID] == "" {
				names[thread.ID] = thread.Title
			}
		}
		t.byHome[home] = names
	}
	title := t.byHome[home][strings.ToLower(s.Thread)]
	if s.Agent.Typed != nil {
		title = s.Agent.Typed(title)
	}
	if title == "" {
		title = s.First
	}
	return strings.Join(strings.Fields(printable(clip(title, 4*maxTitle))), " ")
}

// maxTitle is how long a title may be where nothing else limits it, in characters.
const maxTitle = 100

// clip shortens a text to a number of characters, with an ellipsis if anything was cut.
func clip(s string, n int) string {
	if n < 1 || utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}

// tilde is a path with the user's home directory written as ~.
func tilde(path string) string {
	dir, err := os.UserHomeDir()
	if err == nil && dir != "" && dir != "/" {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return oneLine(filepath.Join("~", rel))
		}
	}
	return oneLine(path)
}
