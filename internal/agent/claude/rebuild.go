package claude

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// told by a tool's structured result: what the call was. It is read while the record is in hand.
type rebuilt struct {
	name  string
	input object
	known bool // all of it
}

// rebuild reads from a tool's structured result which tool it was and what it was given.
func rebuild(raw []byte) rebuilt {
	v := gjson.ParseBytes(raw)
	file := v.Get("file")
	switch {
	case v.Get("oldString").Exists() && v.Get("newString").Exists():
		in := object{"file_path": v.Get("filePath").String(), "old_string": v.Get("oldString").String(), "new_string": v.Get("newString").String()}
		if all := v.Get("replaceAll"); all.Exists() {
			in["replace_all"] = all.Bool()
		}
		return rebuilt{"Edit", in, true}
	case v.Get("type").String() == "create" || v.Get("type").String() == "update":
		return rebuilt{"Write", object{"file_path": v.Get("filePath").String(), "content": v.Get("content").String()}, true}
	case file.IsObject():
		in := object{"file_path": file.Get("filePath").String()}
		if start := file.Get("startLine").Int(); start > 1 {
			in["offset"] = start
		}
		if n, total := file.Get("numLines"), file.Get("totalLines"); n.Exists() && total.Exists() && n.Int() < total.Int() {
			in["limit"] = n.Int()
		}
		return rebuilt{"Read", in, file.Get("filePath").Exists()}
	case v.Get("stdout").Exists():
		return rebuilt{"Bash", object{"command": lostInput}, false}
	case v.Get("agentId").Exists():
		return rebuilt{"Task", object{"description": v.Get("description").String(), "prompt": v.Get("prompt").String()}, v.Get("prompt").Exists()}
	case v.Get("filenames").Exists():
		return rebuilt{"Glob", object{"note": lostInput}, false}
	case v.Get("newTodos").Exists():
		return rebuilt{"TodoWrite", object{"todos": json.RawMessage(v.Get("newTodos").Raw)}, true}
	}
	return rebuilt{lostToolName, object{"note": lostInput}, false}
}

// callFrom is what is known of the call that a record answers.
func (c *Checker) callFrom(result *node) (name string, input object, known bool) {
	r := result.rebuilt
	if r.name == "" {
		return lostToolName, object{"note": lostInput}, false
	}
	if r.name == "Edit" && c.written != "" && before(c.written, "2.0.0") { // they did not say what was not asked for
		if all, ok := r.input["replace_all"].(bool); ok && !all {
			delete(r.input, "replace_all")
		}
	}
	return r.name, r.input, r.known
}

// nodeOf reads a record of the tree from a line of another file.
func nodeOf(line []byte) *node {
	rec := session.Record{Raw: line, Spans: make([]jsonl.Span, fieldCount), Pos: session.Pos{Line: 1}}
	jsonl.NewScanner(shape).Scan(line, rec.Spans)
	return newNode(&rec)
}

// withParent is a record's line with another parent.
func withParent(line []byte, n *node, parent string) []byte {
	return session.Splice(line, member(n.parentSpan, n.start, "parentUuid", parent))
}

// relink adds the edits by which records hang on their new parents.
func (c *Checker) relink() {
	for _, n := range c.added {
		if n.up == nil || n.up.uuid == n.new.parent || n.edit.in == nil {
			continue
		}
		n.new.parent = n.up.uuid // what it was to hang on has left
		content := &n.edit.in.Edits[n.edit.at].New
		if n.new.uuid != "" {
			content.Literal = n.new.json(c.beside)
		} else {
			content.Literal = withParent(content.Literal, nodeOf(content.Literal), n.up.uuid)
		}
	}
	for _, n := range c.nodes {
		if n.relinked == nil || n.dropped != nil {
			continue
		}
		up := ""
		if n.up != nil {
			up = n.up.uuid
		}
		if up == n.parentWas {
			continue
		}
		cut := member(n.parentSpan, n.start, "parentUuid", up)
		if up == "" {
			if n.parentSpan.End == 0 {
				continue
			}
			cut.New = []byte("null")
		}
		n.relinked.Edits = append(n.relinked.Edits, finding.Edit{At: n.ref.Pos, Op: finding.Splice, Cuts: []finding.Cut{cut}})
	}
}
