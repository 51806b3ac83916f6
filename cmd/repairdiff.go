package cmd

import (
	"cmp"
	"fmt"

	"github.com/fatih/color"

	"github.com/hist-cli/hist/repair"
)

// unified prints the changed lines as a unified diff without context.
func (p *reportPrinter) unified(rep *repair.Report) {
	target := cmp.Or(rep.Target, rep.Source)
	fmt.Fprintf(p.w, "--- %s\n+++ %s\n", oneLine(rep.Source), oneLine(target))
	for i := range rep.Edits {
		e := &rep.Edits[i]
		if len(e.Before)+len(e.After) == 0 {
			continue
		}
		fmt.Fprintf(p.w, "@@ -%s +%s @@ %s\n", hunkRange(e.Line, int64(len(e.Before))+e.MoreBefore), hunkRange(e.LineAfter, int64(len(e.After))+e.MoreAfter), e.Rule)
		p.hunk(e.Before, e.MoreBefore, "-", p.st.removed)
		p.hunk(e.After, e.MoreAfter, "+", p.st.added)
	}
}

// hunk prints one side of a hunk; lines beyond those that are kept are only counted.
func (p *reportPrinter) hunk(lines []repair.Excerpt, more int64, sign string, paint *color.Color) {
	for _, x := range lines {
		fmt.Fprintln(p.w, paint.Sprint(sign+p.shown(x)))
	}
	if more > 0 {
		fmt.Fprintf(p.w, "\\ %d more lines of %s are not shown\n", more, sign)
	}
}

// hunkRange is a range of lines as unified diffs write it; an empty range names the line before it.
func hunkRange(line, n int64) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", line-1)
	}
	return fmt.Sprintf("%d,%d", line, n)
}
