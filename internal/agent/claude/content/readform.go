package content

import (
	"fmt"
	"strings"
)

// FileRead is a call that read a file, and whose output is lost.
type FileRead struct {
	File   string // its path, as the call names it
	Offset int64  // the first line that was asked for, from 1; 0 for none
	Limit  int64  // how many lines; 0 for all
	At     int64  // where the call's record begins in the session's file, in bytes
}

const (
	MaxText   = 1 << 18 // length of a text of a file, in bytes, up to which it is kept
	wholeRead = 2000    // how many lines are read if the call does not say
	longLine  = 2000    // length of a line, in bytes, from which on the client may cut it
)

// ReadForm is the form in which a client shows what it has read.
type ReadForm struct {
	Line   string // format of a line: its number and its text
	Suffix string
}

// ReadForms are the line formats of all versions. The oldest two differ in the sign between number and text.
var ReadForms = []string{"%d\t%s", "%6d→%s", "%6d\t%s"}

// Show is what a client shows of a text for a call; false if the call asked for lines that the text does not have.
func (form ReadForm) Show(text string, c FileRead) (string, bool) {
	lines := strings.Split(text, "\n")
	first := max(c.Offset, 1)
	limit := c.Limit
	if limit <= 0 {
		limit = wholeRead
	}
	if text == "" || first > int64(len(lines)) || c.Limit <= 0 && int64(len(lines)) > wholeRead {
		return "", false
	}
	return form.numbered(lines[first-1:min(int64(len(lines)), first-1+limit)], first)
}

// numbered are lines as a client shows them, the first with a given number; false if the client may have cut any.
func (form ReadForm) numbered(lines []string, first int64) (string, bool) {
	var b strings.Builder
	for i, l := range lines {
		if len(l) > longLine {
			return "", false
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, form.Line, first+int64(i), l)
	}
	return b.String() + form.Suffix, b.Len() <= MaxText
}
