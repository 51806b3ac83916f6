//go:build unix

package cmd

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestNothingHiddenOnATerminal runs the commands at a terminal, where some print otherwise than into a file.
func TestNothingHiddenOnATerminal(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	t.Setenv("PAGER", "cat")
	for name, id := range map[string]string{"a proper id": "01a1edfd-e191-74b0-9003-79b97f4a7c15", "a hostile id": everyHidden, "a word in colour": "\x1b[31mx\x1b[0m"} {
		t.Run(name, func(t *testing.T) {
			session := hostileHome(t, id)
			said := filepath.Join(t.TempDir(), "error")
			if err := os.WriteFile(said, []byte("API Error: 400 "+everyHidden), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"lint"},
				{"lint", session},
				{"lint", "-v", "--notes", "--show-content", session},
				{"list"},
				{"show", session},
				{"show", "--show-content", session},
				{"export", session},
				{"export", "-f", "text", session},
				{"doctor"},
				{"pre-resume", session},
				{"pre-resume", "--error-file", said, session},
				{"pre-resume", "--card", session},
				{"repair", "-n", "--diff", "--show-content", session},
				{"completion", "sessions", "0"},
				{"runs"},
				{"explain"},
				{"undo", "-n", everyHidden},
				{"lint", "x" + everyHidden},
				{"--" + everyHidden},
				{"repair", session},
				{"runs"},
				{"list"},
			} {
				nothingHidden(t, strings.Join(args, " "), printedOnTerminal(t, args))
			}
		})
	}
}

// printedOnTerminal runs a command at a terminal, and returns what it prints there.
func printedOnTerminal(t *testing.T, args []string) string {
	t.Helper()
	tty, side, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer tty.Close()
	printed := make(chan string)
	go func() {
		var b bytes.Buffer
		io.Copy(&b, tty) //nolint:errcheck // it ends with an error when the other side is closed
		printed <- strings.ReplaceAll(b.String(), "\r\n", "\n")
	}()
	Main(append([]string{"hist"}, args...), strings.NewReader(""), side, side)
	side.Close()
	select {
	case text := <-printed:
		return text
	case <-time.After(10 * time.Second):
		t.Fatalf("%q: the terminal stays open", args)
		return ""
	}
}
