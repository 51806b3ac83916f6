package mend

import (
	"bytes"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// callFrom is what is known of the call whose output a record is.
func (c *Checker) callFrom(result *node) (name string, input format.Object, known bool) {
	r := result.Rebuilt
	if r == nil {
		return content.LostToolName, format.Object{"note": content.LostInput}, false
	}
	if r.Name == "Edit" && format.Before(c.written, "2.1.0") { // these versions leave out what was not asked for (up to 2.0.76, measured)
		if all, ok := r.Input["replace_all"].(bool); ok && !all {
			delete(r.Input, "replace_all")
		}
	}
	return r.Name, r.Input, r.Known
}

// nodeOf reads a record of the tree from a line of another file.
func nodeOf(line []byte) *node {
	rec := session.Record{Raw: line, Spans: make([]jsonl.Span, format.FieldCount), Pos: session.Pos{Line: 1}}
	format.Shape.ScanOne(line, rec.Spans)
	n := &node{mending: untouched}
	n.Read(&rec, &content.Facts{}, &content.Tools{})
	n.stands(&rec)
	return n
}

// withParent is a record's line with another parent.
func withParent(line []byte, n *node, parent string) []byte {
	return session.Splice(line, parentCut(n, parent))
}

// parentCut is the cut that gives a record another parent, "" for none.
func parentCut(n *node, parent string) finding.Cut {
	cut := member(n.ParentSpan.In(), int(n.Start), "parentUuid", parent)
	if parent == "" {
		cut.New = bytes.Replace(cut.New, []byte(`""`), []byte("null"), 1)
	}
	return cut
}

// move is one change of a record's parent.
type move struct {
	by       *draft
	from, up *node
}

// relink adds the edits that give records their new parents. A finding whose edits another one has made unnecessary counts as
// mended with that one; a finding that is left without any edit can't be fixed.
func (c *Checker) relink() {
	if len(c.found) == 0 {
		return
	}
	for _, n := range c.added {
		if up := c.anchor(n.up); up != n.new.Parent && c.chosen(n.edit.in) {
			n.reparent(up, c.beside) // its parent is gone or will not be written
		}
	}
	overtaken := map[*draft]bool{}
	for _, n := range c.nodes {
		last := c.lastMove(n)
		if last == nil || c.chosen(n.dropped) {
			continue
		}
		if up := c.anchor(last.up); up != n.parentWas() {
			last.by.Edits = append(last.by.Edits, finding.Edit{At: n.Pos(), Op: finding.Splice, Cuts: []finding.Cut{parentCut(n, up)}})
			for _, m := range n.moves {
				overtaken[m.by] = true
			}
		}
	}
	for _, d := range c.found {
		if len(d.Edits) == 0 && !overtaken[d] && !d.later {
			d.Fix, d.Source, d.Lost = finding.NoFix, "", 0
		}
	}
}

// reparent changes the parent of a record that hist wrote, in its edit.
func (n *node) reparent(up string, beside format.Setting) {
	n.new.Parent = up
	content := &n.edit.in.Edits[n.edit.at].New
	if n.new.UUID != "" {
		content.Literal = n.new.JSON(beside)
	} else {
		content.Literal = withParent(content.Literal, nodeOf(content.Literal), up)
	}
}

// lastMove is the last move for a finding that will be mended; if there is none, the last one for a finding that the client
// mends by itself.
func (c *Checker) lastMove(n *node) *move {
	var last *move
	for i := range n.moves {
		m := &n.moves[i]
		if m.by.left || last != nil && !c.chosen(m.by) && c.chosen(last.by) {
			continue
		}
		last = m
	}
	return last
}

// anchor is the id of the nearest record, from p upwards, that will be in the file under its id; "" if there is none.
func (c *Checker) anchor(p *node) string {
	for p != nil && (p.new != nil && !c.chosen(p.edit.in) || p.named != nil && !c.chosen(p.named) || c.chosen(p.dropped)) {
		p = p.up
	}
	if p == nil {
		return ""
	}
	return p.UUID
}
