package content

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// MaxTold is up to how many bytes an output is restored from the tool's own result: of longer ones, clients send only a part.
const MaxTold = 16 << 10

// ToldResult is the end of a record with an output, from the record's id or the tool's own result on.
type ToldResult struct {
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

// Tool is the name of the tool whose result it is.
func (r ToldResult) Tool() string {
	if r.Result.Type == "image" {
		return "Read"
	}
	return "Bash"
}

// Told is what the client sends for the tool's own result in a record, as JSON; nil if that can't be said. Of a file or a sub-agent's answer it
// may lack what some versions add to that.
func Told(rec *session.Record, version string) json.RawMessage {
	var r ToldResult
	result := format.Field(rec, format.FieldToolResult)
	if len(result) == 0 || result[0] != '{' || json.Unmarshal(result, &r.Result) != nil {
		return nil
	}
	switch told := r.Result; {
	case told.Type == "text" && told.File.Text != "" && len(told.File.Text) <= MaxTold:
		form := ReadForm{Line: ReadForms[0]}
		if format.Before(version, "2.1.100") {
			form.Line = ReadForms[1]
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
	return r.Content()
}

// Content is what the client sends for a tool's own result, if that can be said for sure: the image that was read, or what a
// finished command printed (0.2.126 to 2.1.330, measured). Otherwise it is nil.
func (r ToldResult) Content() json.RawMessage {
	switch told := r.Result; {
	case told.Type == "image" && whole(told.File.Data) && told.File.Type == "image/"+realType(told.File.Data):
		return slices.Concat([]byte("["), imageOf(told.File.Data).JSON(), []byte("]"))
	case told.Stderr == nil || *told.Stderr != "" || told.Stdout == "" || len(told.Stdout) > MaxTold,
		told.Interrupted || told.Image || told.Background != "" || told.Persisted != "":
		return nil
	}
	return jsonl.AppendQuote(nil, r.Result.Stdout)
}
