package content

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/format"
)

// told by a tool's structured result: what the call was. It is read while the record is in hand.
type rebuilt struct {
	Name  string
	Input format.Object
	Known bool // all of it
}

// Rebuild reads from a tool's structured result which tool it was and what it was given.
func Rebuild(raw []byte) *rebuilt {
	v := gjson.ParseBytes(raw)
	file := v.Get("file")
	switch {
	case v.Get("oldString").Exists() && v.Get("newString").Exists():
		in := format.Object{"file_path": v.Get("filePath").String(), "old_string": v.Get("oldString").String(), "new_string": v.Get("newString").String()}
		if all := v.Get("replaceAll"); all.Exists() {
			in["replace_all"] = all.Bool()
		}
		return &rebuilt{"Edit", in, true}
	case v.Get("type").String() == "create" || v.Get("type").String() == "update":
		return &rebuilt{"Write", format.Object{"file_path": v.Get("filePath").String(), "content": v.Get("content").String()}, true}
	case file.IsObject():
		in := format.Object{"file_path": file.Get("filePath").String()}
		if start := file.Get("startLine").Int(); start > 1 {
			in["offset"] = start
		}
		if n, total := file.Get("numLines"), file.Get("totalLines"); n.Exists() && total.Exists() && n.Int() < total.Int() {
			in["limit"] = n.Int()
		}
		return &rebuilt{"Read", in, file.Get("filePath").Exists()}
	case v.Get("stdout").Exists():
		return &rebuilt{"Bash", format.Object{"command": LostInput}, false}
	case v.Get("agentId").Exists():
		return &rebuilt{"Task", format.Object{"description": v.Get("description").String(), "prompt": v.Get("prompt").String()}, v.Get("prompt").Exists()}
	case v.Get("filenames").Exists():
		return &rebuilt{"Glob", format.Object{"note": LostInput}, false}
	case v.Get("newTodos").Exists():
		return &rebuilt{"TodoWrite", format.Object{"todos": json.RawMessage(v.Get("newTodos").Raw)}, true}
	}
	return &rebuilt{LostToolName, format.Object{"note": LostInput}, false}
}
