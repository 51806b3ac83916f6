package cmd

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// lintPrinter shows findings, session by session.
type lintPrinter interface {
	session(r linted) error
	end() error
}

// textPrinter is for people.
type textPrinter struct {
	w        *bufio.Writer
	st       *styles
	notes    bool
	content  bool
	sessions int64
	counts   [4]int64
	ignored  int64
	lowered  int64
	known    int64
}

func (p *textPrinter) session(r linted) error {
	if r.result == nil {
		return nil // why has been told
	}
	if !r.beside {
		p.sessions++
	}
	p.ignored += r.ignored
	p.lowered += r.lowered
	p.known += r.known
	for i := range r.result.Findings {
		f := &r.result.Findings[i]
		p.counts[f.Impact]++
		if f.Impact == lint.Notes && !p.notes {
			continue
		}
		p.finding(r, f)
	}
	return p.w.Flush()
}

func (p *textPrinter) finding(r linted, f *lint.Finding) {
	at, detail := oneLine(apartFromCommands(r.target.path))+":", ""
	if f.Pos.Line > 0 { // otherwise it is about the file as a whole
		at += fmt.Sprintf("%d:", f.Pos.Line)
		detail = fmt.Sprintf("byte %d", f.Offset)
	}
	fmt.Fprintf(p.w, "%s %s [%s]\n", p.st.path.Sprint(at), oneLine(f.Message), p.st.impact[f.Impact].Sprint(f.Rule.Name))
	if f.Record != "" {
		detail += ", " + f.Record
	}
	if detail != "" {
		detail += "; "
	}
	detail += f.Impact.String() + "; fix: " + f.Fix.String()
	if f.Source != "" {
		detail += " from " + f.Source
	}
	if f.Count > 1 {
		detail += fmt.Sprintf("; %d times, this is the first", f.Count)
	}
	fmt.Fprintln(p.w, "    "+p.st.dim.Sprint(oneLine(detail)))
	if p.content && f.Pos.Line > 0 {
		if text, mark := window(r.src, f.Offset); text != "" {
			fmt.Fprintf(p.w, "    %s%s%s\n", text[:mark], p.st.marked.Sprint(text[mark:min(mark+1, len(text))]), text[min(mark+1, len(text)):])
		}
	}
}

// apartFromCommands is a path that no CI server takes for a command at the beginning of a line.
func apartFromCommands(path string) string {
	if strings.HasPrefix(path, "::") {
		return "./" + path
	}
	return path
}

// windowBytes is how much is shown on each side of a finding.
const windowBytes = 30

// window quotes the bytes around an offset, so that nothing in them is obeyed by a terminal, and returns where in
// the quoted text the offset is.
func window(src *source.Source, offset int64) (text string, mark int) {
	if src == nil || src.Real == "" {
		return "", 0
	}
	from := max(0, offset-windowBytes)
	for n := int64(2 * windowBytes); n > 0; n /= 2 {
		raw, err := src.Extract(context.Background(), []source.Ref{{Offset: from, Length: offset - from + n}})
		if err != nil {
			continue // nearer to the end of the file than that
		}
		head := strconv.QuoteToASCII(string(raw[0][:offset-from]))
		tail := strconv.QuoteToASCII(string(raw[0][offset-from:]))
		return head[1:len(head)-1] + tail[1:len(tail)-1], len(head) - 2
	}
	return "", 0
}

func (p *textPrinter) end() error {
	if p.sessions == 0 {
		return p.w.Flush() // what kept them from being read has been told
	}
	found := p.counts[lint.Blocks] + p.counts[lint.Loses] + p.counts[lint.Rejects]
	line := count(p.sessions, "session", "sessions") + ": "
	if found == 0 {
		line += "nothing is damaged"
	} else {
		line += count(found, "finding", "findings")
		sep := " ("
		for _, i := range []lint.Impact{lint.Blocks, lint.Loses, lint.Rejects} {
			if p.counts[i] > 0 {
				line += fmt.Sprintf("%s%d %s", sep, p.counts[i], p.st.impact[i].Sprint(i))
				sep = ", "
			}
		}
		line += ")"
	}
	if n := p.counts[lint.Notes]; n > 0 {
		line += ", " + count(n, "note", "notes")
		if !p.notes {
			line += " (shown with --notes)"
		}
	}
	if p.ignored > 0 {
		line += fmt.Sprintf(", %d ignored by the config", p.ignored)
	}
	if p.lowered > 0 {
		line += fmt.Sprintf(", %d made less weighty by the config", p.lowered)
	}
	if p.known > 0 {
		line += fmt.Sprintf(", %d known by the baseline", p.known)
	}
	fmt.Fprintln(p.w, line)
	return p.w.Flush()
}
