package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/jsonl"
)

// A record with a tool's output also holds the tool's own structured result, which no client sends. If the output is damaged
// and what follows it is whole, the structured result shows what the output was.

// maxTold is up to how many bytes an output is restored from the tool's own result: of longer ones, clients send only a part.
const maxTold = 16 << 10

// toldResult is the end of a record with an output, from the record's id or the tool's own result on.
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
		Status      string  `json:"status"`
		Content     []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		File struct {
			Data  string `json:"base64"`
			Type  string `json:"type"`
			Text  string `json:"content"`
			First int64  `json:"startLine"`
		} `json:"file"`
	} `json:"toolUseResult"`
}

// takeTold keeps the output that the tool's own result in an unreadable line shows.
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
		words := r.content()
		if words == nil {
			continue
		}
		b := piece{Type: "tool_result", Content: words}
		if r.UUID != "" {
			p.outputsAt = kept(p.outputsAt, r.UUID, b)
		} else if r.Source == "" {
			b.Name = r.tool()
			p.outputsIn = append(p.outputsIn, toldLine{line, b})
		}
		if _, known := p.outputsFrom[r.Source]; r.Source != "" && !known {
			p.outputsFrom = kept(p.outputsFrom, r.Source, b)
		}
		p.size += len(words)
		return
	}
}

// tool is the name of the tool whose result it is.
func (r toldResult) tool() string {
	if r.Result.Type == "image" {
		return "Read"
	}
	return "Bash"
}

// toldLine is an output that was taken from a tool's own result in a line without any id.
type toldLine struct {
	line int64
	piece
}

// toldBetween is the output of a call that was taken from a line between the call and another record; ok is false if there is
// none, or more than one.
func (p *pieces) toldBetween(call, until *node, id string) (left piece, ok bool) {
	from, _ := slices.BinarySearchFunc(p.outputsIn, call.Pos().Line, func(t toldLine, line int64) int { return cmp.Compare(t.line, line) })
	for _, t := range p.outputsIn[from:min(len(p.outputsIn), from+maxPieceTries)] {
		if t.line >= until.Pos().Line {
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

// toldContent is what the client sends for a tool's own result, as JSON; nil if that can't be said. Of a file or a sub-agent's answer it
// may lack what some versions add to that.
func toldContent(result []byte, version string) json.RawMessage {
	var r toldResult
	if len(result) == 0 || result[0] != '{' || json.Unmarshal(result, &r.Result) != nil {
		return nil
	}
	switch told := r.Result; {
	case told.Type == "text" && told.File.Text != "" && len(told.File.Text) <= maxTold:
		form := readForm{line: readForms[0]}
		if format.Before(version, "2.1.100") {
			form.line = readForms[1]
		}
		if words, whole := form.numbered(strings.Split(told.File.Text, "\n"), max(told.File.First, 1)); whole {
			return jsonl.AppendQuote(nil, words)
		}
		return nil
	case len(told.Content) > 0 && (told.Status == "completed" || told.Status == ""):
		var blocks [][]byte
		for _, b := range told.Content {
			if b.Type != "text" || strings.TrimSpace(b.Text) == "" {
				return nil
			}
			blocks = append(blocks, append(jsonl.AppendQuote([]byte(`{"type":"text","text":`), b.Text), '}'))
		}
		return slices.Concat([]byte("["), bytes.Join(blocks, []byte(",")), []byte("]"))
	case strings.TrimSpace(told.Stdout) == "" && told.Type != "image":
		return nil
	}
	return r.content()
}

// content is what the client sends for a tool's own result, if that can be said for sure: the image that was read, or what a
// finished command printed (0.2.126 to 2.1.330, measured). Otherwise it is nil.
func (r toldResult) content() json.RawMessage {
	switch told := r.Result; {
	case told.Type == "image" && whole(told.File.Data) && told.File.Type == "image/"+realType(told.File.Data):
		return slices.Concat([]byte("["), imageOf(told.File.Data).JSON(), []byte("]"))
	case told.Stderr == nil || *told.Stderr != "" || told.Stdout == "" || len(told.Stdout) > maxTold,
		told.Interrupted || told.Image || told.Background != "" || told.Persisted != "":
		return nil
	}
	return jsonl.AppendQuote(nil, r.Result.Stdout)
}
