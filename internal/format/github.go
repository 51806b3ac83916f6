package format

import (
	"fmt"
	"io"
	"strings"
)

// github writes workflow commands, which GitHub shows beside the lines of a change.
type github struct {
	w     io.Writer
	about About
}

func newGitHub(w io.Writer, about About) Printer { return &github{w, about} }

// What must be escaped in a command's text, and in one of its properties: those end at a colon or a comma.
var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// data escapes a text for the text of a command. Line breaks must be escaped because the next line could be another command.
func data(s string) string { return dataEscapes.Replace(Printable(s)) }

func property(s string) string { return propertyEscapes.Replace(OneLine(s)) }

func (p *github) Session(s *Session) error {
	for i := range s.Findings {
		f := &s.Findings[i]
		level := "warning"
		switch {
		case f.Fails:
			level = "error"
		case f.Note:
			level = "notice"
		}
		line := ""
		if f.Line > 0 {
			line = fmt.Sprintf(",line=%d", f.Line)
		}
		text := Words(f.Message, f.Count) + "\n" + f.Impact + "; fix: " + f.Fix
		_, err := fmt.Fprintf(p.w, "::%s file=%s%s,title=%s::%s\n", level, property(p.about.relative(f.Path)), line, property("hist: "+f.Rule), data(text))
		if err != nil {
			return err
		}
	}
	if s.Err != nil {
		_, err := fmt.Fprintf(p.w, "::error file=%s,title=hist::%s\n", property(p.about.relative(s.Path)), data(s.Err.Error()))
		return err
	}
	return nil
}

func (p *github) End() error { return nil }
