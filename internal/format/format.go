// Package format writes findings in the forms that other programs read, and reads and writes the files of those that are known.
//
// In: sessions with their findings, one after another. Out: JSON, JSON lines, SARIF, JUnit or GitHub annotations, on a
// stream, written as they come: no format collects the findings first. Nothing is judged or left out here. The form for
// people is in cmd, with everything else that a terminal shows.
package format

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/hist-cli/hist/internal/escape"
)

// Finding is one finding. Its JSON form is documented.
type Finding struct {
	Path    string `json:"path"`
	Line    int64  `json:"line"`   // from 1; 0 if it is about the file as a whole
	Offset  int64  `json:"offset"` // bytes from 0, in the uncompressed file
	Rule    string `json:"rule"`
	Impact  string `json:"impact"`
	Fix     string `json:"fix"`
	Message string `json:"message"` // no words of the conversation
	Record  string `json:"record,omitempty"`
	Source  string `json:"source,omitempty"`
	Option  string `json:"option,omitempty"`
	Count   int64  `json:"count,omitempty"`

	Fingerprint string `json:"-"` // stable, without content
	LineOffset  int64  `json:"-"` // where its line begins and how long that is, in bytes; 0 and 0 if not known
	LineSize    int64  `json:"-"`
	Fails       bool   `json:"-"` // it reaches the threshold
	Note        bool   `json:"-"` // it is only a note
}

// Session is a session with its findings, or a file beside sessions, such as a database.
type Session struct {
	Path     string
	Findings []Finding
	Err      error    // why it could not be read, or not to its end
	Row      *Row     // the session in numbers; nil for a file beside sessions
	Next     []string // the command to run now, nil if there is none
}

// Rule is what a format says about a rule.
type Rule struct{ Name, Impact, Title, Text, Family string }

// About is what a format says about the whole run.
type About struct {
	Version string // of hist
	Dir     string // the working directory; paths below it are written relative to it
	Rules   []Rule
}

// Printer writes sessions in one format. End comes last, once.
type Printer interface {
	Session(s *Session) error
	End() error
}

// printers are the constructors of the printers, by the format's name.
var printers = map[string]func(io.Writer, About) Printer{
	"json": newJSON, "jsonl": newJSONL, "sarif": newSARIF, "junit": newJUnit, "github": newGitHub, "sessions": newRows,
}

// New returns a printer for the format of that name; nil if there is none.
func New(name string, w io.Writer, about About) Printer {
	if make := printers[name]; make != nil {
		return make(w, about)
	}
	return nil
}

// Printable replaces what would control a terminal: control characters and bidirectional overrides. Line breaks stay.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if r == '\r' || r == unicode.ReplacementChar || escape.Hidden(r) {
			return '·'
		}
		return r
	}, s)
}

// OneLine is Printable with line breaks and tabs replaced, too.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return '·'
		}
		return r
	}, Printable(s))
}

// Words are a finding's message and, if the same fault is on many lines, on how many.
func Words(message string, count int64) string {
	if count > 1 {
		return fmt.Sprintf("%s (%d times, this is the first)", message, count)
	}
	return message
}

// place says in words where a finding is.
func place(f *Finding) string {
	if f.Line == 0 {
		return "file"
	}
	return fmt.Sprintf("line %d", f.Line)
}
