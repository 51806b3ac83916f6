//go:build unix

package cmd

import (
	"testing"

	"github.com/creack/pty"
)

// TestProgressIsNotSpoken: at a terminal that is read out, how far the work is would be told five times a second.
func TestProgressIsNotSpoken(t *testing.T) {
	tty, side, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer tty.Close()
	defer side.Close()
	e := &env{err: side}
	for _, c := range []struct {
		term, accessible string
		shown            bool
	}{{"xterm", "", true}, {"xterm", "1", false}, {"dumb", "", false}} {
		t.Setenv("TERM", c.term)
		t.Setenv("ACCESSIBLE", c.accessible)
		p := e.newProgress(nil, 1)
		if (p != nil) != c.shown {
			t.Errorf("TERM=%s ACCESSIBLE=%s: shown %v", c.term, c.accessible, p != nil)
		}
		p.end()
	}
}
