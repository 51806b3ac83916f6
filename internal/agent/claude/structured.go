package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
)

// A record with a tool's output also holds the tool's own structured result, which no client sends. If the output is damaged
// and what follows it is whole, the structured result shows what the output was.

// takeTold keeps the output that the tool's own result in an unreadable line shows.
func (p *pieces) takeTold(raw []byte, line int64) {
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
			p.outputsAt = kept(p.outputsAt, r.UUID, b)
		} else if r.Source == "" {
			b.Name = r.Tool()
			p.outputsIn = append(p.outputsIn, toldLine{line, b})
		}
		if _, known := p.outputsFrom[r.Source]; r.Source != "" && !known {
			p.outputsFrom = kept(p.outputsFrom, r.Source, b)
		}
		p.size += len(words)
		return
	}
}

// toldLine is an output that was taken from a tool's own result in a line without any id.
type toldLine struct {
	line int64
	piece
}

// outputBetween is the output of a call that was taken from a line behind one and in front of another; ok is false if there is none, or
// more than one. call is the record with the call.
func (p *pieces) outputBetween(call *content.Facts, id string, after, until int64) (left piece, ok bool) {
	from, _ := slices.BinarySearchFunc(p.outputsIn, after, func(t toldLine, line int64) int { return cmp.Compare(t.line, line) })
	for _, t := range p.outputsIn[from:min(len(p.outputsIn), from+maxPieceTries)] {
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
