package evidence

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
)

// TakeTold keeps the output that the tool's own result in an unreadable line shows.
func (p *Pieces) TakeTold(raw []byte, line int64) {
	raw = bytes.TrimRight(raw, "\r\n\x00")
	for _, start := range []string{`"uuid":"`, `"toolUseResult":{`} {
		at := bytes.LastIndex(raw, []byte(start))
		if at < 0 {
			continue
		}
		var r content.ToldResult
		if whole := append([]byte("{"), raw[at:]...); !sound(whole) || json.Unmarshal(whole, &r) != nil {
			continue
		}
		words := r.Content()
		if words == nil {
			continue
		}
		b := piece{Type: "tool_result", Content: words}
		if r.UUID != "" {
			p.OutputsAt = kept(p.OutputsAt, r.UUID, b)
		} else if r.Source == "" {
			b.Name = r.Tool()
			p.outputsIn = append(p.outputsIn, toldLine{line, b})
		}
		if _, known := p.OutputsFrom[r.Source]; r.Source != "" && !known {
			p.OutputsFrom = kept(p.OutputsFrom, r.Source, b)
		}
		p.Size += len(words)
		return
	}
}

// toldLine is an output that was taken from a tool's own result in a line without any id.
type toldLine struct {
	line int64
	piece
}

// OutputBetween is the output of a call that was taken from a line behind one and in front of another; ok is false if there is none, or
// more than one. call is the record with the call.
func (p *Pieces) OutputBetween(call *content.Facts, id string, after, until int64) (left piece, ok bool) {
	from, _ := slices.BinarySearchFunc(p.outputsIn, after, func(t toldLine, line int64) int { return cmp.Compare(t.line, line) })
	for _, t := range p.outputsIn[from:min(len(p.outputsIn), from+MaxPieceTries)] {
		if t.line >= until {
			break
		}
		if slices.ContainsFunc(call.Blocks, func(b content.Block) bool { return b.ID == id && b.Name == t.Name }) {
			if ok {
				return piece{}, false
			}
			left, ok = t.piece, true
		}
	}
	return left, ok
}
