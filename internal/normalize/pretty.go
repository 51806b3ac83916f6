package normalize

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hist-cli/hist/internal/finding"
)

// A session that went through a program that lays JSON out for people, as jq does, has each record over many lines: a brace
// alone, then lines that are indented, then a brace alone again.

// blanks may stand at the end of a line beside its newline.
const blanks = " \t\r"

// laidOut says whether a line is the first of a record that is laid out for people.
func laidOut(line []byte) bool {
	return len(line) > 0 && line[0] == '{' && len(bytes.Trim(line[1:], blanks)) == 0
}

// endsLaidOut says whether a line is the last of such a record.
func endsLaidOut(line []byte) bool {
	return len(line) > 0 && line[0] == '}' && len(bytes.Trim(line[1:], blanks)) == 0
}

// gather takes the lines of a record that is laid out for people, and returns the record on one line, as a client writes it.
// If the lines are not one whole record it returns nil and takes none.
func (f *Normalizer) gather(raw []byte) []byte {
	if !f.line.Terminated || bytes.IndexByte(f.line.Raw, 0) >= 0 {
		return nil
	}
	f.line.hold()
	text := bytes.Clone(raw)
	size := f.line.size
	for i := 0; ; i++ {
		next := f.peek(i)
		if next == nil || next.Passed > 0 || bytes.IndexByte(next.Raw, 0) >= 0 || len(text)+len(next.Raw) > maxMendText {
			return nil
		}
		text = append(append(text, '\n'), next.Raw...)
		size += next.size
		if !endsLaidOut(next.Raw) {
			if len(next.Raw) == 0 || next.Raw[0] != ' ' && next.Raw[0] != '\t' {
				return nil // another record begins, or this is none
			}
			continue
		}
		p, _, ok := f.mendText(text, f.scanner.Scan(text, f.spans))
		var record bytes.Buffer
		if !ok || json.Compact(&record, p.raw) != nil { // Compact refuses what is nested very deep
			return nil
		}
		f.reportLaidOut(p, i+2)
		f.line.size, f.rec.Size = size, size
		f.line.Terminated, f.line.Raw = next.Terminated, text
		f.ahead = f.ahead[i+1:]
		return record.Bytes()
	}
}

// reportLaidOut reports a record that takes so many lines. If its characters had to be mended as well, it is a finding of
// its own rule, so that the user's choice is asked for that mend alone.
func (f *Normalizer) reportLaidOut(p piece, lines int) {
	if p.mended {
		f.report(SplitRecord, 0, max(finding.Exact, p.fix), fmt.Sprintf("one record is broken over %d lines, and some of its characters are damaged: the client drops all of them", lines))
		return
	}
	fault := f.report(PrettyPrinted, 0, finding.Exact, "records are laid out over several lines, as jq prints them: the client reads none of them")
	if f.line.Number > 1 {
		fault.Impact = finding.Loses
	}
}

// tighten returns the head of a session with each record that is laid out for people on a line of its own, without blanks, and
// records in quotes without them: agents recognize their sessions by the bytes that they write.
func tighten(head []byte) []byte {
	if bytes.HasPrefix(head, []byte(`"{\"`)) {
		return bytes.ReplaceAll(head, []byte(`\"`), []byte(`"`))
	}
	first, _, _ := bytes.Cut(head, []byte{'\n'})
	if !laidOut(bytes.TrimPrefix(first, utf8BOM)) {
		return head
	}
	out := make([]byte, 0, len(head))
	inText, escaped := false, false
	for i, c := range head {
		switch {
		case inText:
			inText = escaped || c != '"'
			escaped = c == '\\' && !escaped
		case c == '\n' && i+1 < len(head) && head[i+1] != '{': // still in a record
			continue
		case bytes.IndexByte([]byte(blanks), c) >= 0:
			continue
		case c == '"':
			inText = true
		}
		out = append(out, c)
	}
	return out
}
