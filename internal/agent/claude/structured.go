package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/hist-cli/hist/internal/jsonl"
)

// Beside the output of a tool, its record holds the tool's own result, which no client sends. Where the output was hit, and what
// stands behind it is whole, that tells the same.

// maxTold is how long an output may be, in bytes, that is told by the tool's own result: of longer ones clients send a part.
const maxTold = 16 << 10

// toldResult is the end of a record with an output, from the id of the record or the tool's own result on.
type toldResult struct {
	UUID   string `json:"uuid"`
	Source string `json:"sourceToolAssistantUUID"`
	Result struct {
		Type        string  `json:"type"`
		Stdout      string  `json:"stdout"`
		Stderr      *string `json:"stderr"`
		Interrupted bool    `json:"interrupted"`
		Image       bool    `json:"isImage"`
		Background  string  `json:"backgroundTaskId"`
		Persisted   string  `json:"persistedOutputPath"`
		File        struct {
			Data string `json:"base64"`
			Type string `json:"type"`
		} `json:"file"`
	} `json:"toolUseResult"`
}

// takeTold keeps what the tool's own result in an unreadable line tells of the output.
func (p *pieces) takeTold(raw []byte, line int64) {
	raw = bytes.TrimRight(raw, "\r\n\x00")
	for _, start := range []string{`"uuid":"`, `"toolUseResult":{`} {
		at := bytes.LastIndex(raw, []byte(start))
		if at < 0 {
			continue
		}
		var r toldResult
		if whole := append([]byte("{"), raw[at:]...); !sound(whole) || json.Unmarshal(whole, &r) != nil {
			continue
		}
		content := r.content()
		if content == nil {
			continue
		}
		b := piece{Type: "tool_result", Content: content}
		if r.UUID != "" {
			p.outputsAt = kept(p.outputsAt, r.UUID, b)
		} else if r.Source == "" {
			b.Name = r.tool()
			p.outputsIn = append(p.outputsIn, toldLine{line, b})
		}
		if _, known := p.outputsFrom[r.Source]; r.Source != "" && !known {
			p.outputsFrom = kept(p.outputsFrom, r.Source, b)
		}
		p.size += len(content)
		return
	}
}

// tool is the name of the tool that has such results.
func (r toldResult) tool() string {
	if r.Result.Type == "image" {
		return "Read"
	}
	return "Bash"
}

// toldLine is an output that a tool's own result tells in a line of which no id is left.
type toldLine struct {
	line int64
	piece
}

// toldBetween is the output of a call that a line between it and another record tells; none if there are two.
func (p *pieces) toldBetween(call, until *node, id string) (left piece, ok bool) {
	from, _ := slices.BinarySearchFunc(p.outputsIn, call.pos().Line, func(t toldLine, line int64) int { return cmp.Compare(t.line, line) })
	for _, t := range p.outputsIn[from:min(len(p.outputsIn), from+maxPieceTries)] {
		if t.line >= until.pos().Line {
			break
		}
		if slices.ContainsFunc(call.blocks, func(b block) bool { return b.id == id && b.name == t.Name }) {
			if ok {
				return piece{}, false
			}
			left, ok = t.piece, true
		}
	}
	return left, ok
}

// content is what the client sends of a tool's own result, as far as that tells it for sure: the picture that was read, and what a
// command printed that is over (0.2.126 to 2.1.330, measured). It is nil for others.
func (r toldResult) content() json.RawMessage {
	switch told := r.Result; {
	case told.Type == "image" && whole(told.File.Data) && told.File.Type == "image/"+realType(told.File.Data):
		return slices.Concat([]byte("["), imageOf(told.File.Data).json(), []byte("]"))
	case told.Stderr == nil || *told.Stderr != "" || told.Stdout == "" || len(told.Stdout) > maxTold,
		told.Interrupted || told.Image || told.Background != "" || told.Persisted != "":
		return nil
	}
	return jsonl.AppendQuote(nil, r.Result.Stdout)
}
