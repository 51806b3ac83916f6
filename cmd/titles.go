package cmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/homes"
	"github.com/hist-cli/hist/internal/glance"
)

// titles names sessions as their client does: by the name that the user gave, else by the first words of the first prompt.
// They are words of the conversation; who may not show those switches them off.
type titles struct {
	off    bool
	byHome map[string]map[string]string // by home and thread
}

func noTitlesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "no-titles", Usage: "don't show titles, which contain words of the conversation", DisableDefaultText: true}
}

func newTitles(c *cli.Context, conf *config) *titles {
	return &titles{off: c.Bool("no-titles") || conf != nil && conf.NoTitles, byHome: map[string]map[string]string{}}
}

// of is a session's title in one line, "" if it has none or none is to be shown. The session was looked at with its content.
func (t *titles) of(ctx context.Context, s *glance.Session, home string) string {
	if t.off {
		return ""
	}
	if home != "" && t.byHome[home] == nil {
		t.byHome[home] = map[string]string{}
		if list, ok := homes.Open(ctx, home).(agent.Lister); ok {
			threads, _ := list.Threads(ctx) // without the client's list there is the first prompt
			for _, thread := range threads {
				t.byHome[home][thread.ID] = thread.Title
			}
		}
	}
	title := t.byHome[home][strings.ToLower(s.Thread)]
	if title == "" {
		title = s.First
	}
	return strings.Join(strings.Fields(printable(clip(title, 4*maxTitle))), " ")
}

// maxTitle is how long a title may be where nothing else limits it, in characters.
const maxTitle = 100

// clip cuts a text to a number of characters, and says so.
func clip(s string, n int) string {
	if n < 1 || utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}

// tilde is a path with the user's home directory cut short.
func tilde(path string) string {
	dir, err := os.UserHomeDir()
	if err == nil && dir != "" && dir != "/" {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return oneLine(filepath.Join("~", rel))
		}
	}
	return oneLine(path)
}
