package surgery

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Value is a JSON value in a record, and where it stands.
type Value struct {
	gjson.Result
	Path       []string // the members that lead to it; an element of a list has its list's path
	Start, End int
}

// Walk shows each value of a record that is neither an object nor a list, in their order. visit is first asked about each object and
// list, too; where it answers false, what is in it is passed over.
func Walk(raw []byte, visit func(v *Value) bool) {
	root := gjson.ParseBytes(raw)
	walk(&Value{Result: root, End: len(raw)}, visit)
}

func walk(v *Value, visit func(*Value) bool) {
	if !visit(v) || !v.IsObject() && !v.IsArray() {
		return
	}
	object := v.IsObject()
	v.ForEach(func(key, val gjson.Result) bool {
		path := v.Path
		if object {
			path = append(path[:len(path):len(path)], key.String())
		}
		walk(&Value{Result: val, Path: path, Start: val.Index, End: val.Index + len(val.Raw)}, visit)
		return true
	})
}

// At is the value at a path as gjson reads them; ok is false if there is none.
func At(raw []byte, path string) (v Value, ok bool) {
	r := gjson.GetBytes(raw, path)
	if !r.Exists() || r.Index == 0 {
		return v, false
	}
	return Value{Result: r, Start: r.Index, End: r.Index + len(r.Raw)}, true
}

// Instead is the cut that puts another value in a value's place.
func (v *Value) Instead(by []byte) session.Cut {
	return session.Cut{Start: v.Start, End: v.End, New: by}
}

// JSON is a value of texts, numbers, lists and objects as one line, without the escapes that HTML needs.
func JSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprint("surgery: ", err)) // it holds nothing else
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Quote is a text as JSON.
func Quote(s string) []byte { return JSON(s) }

// TextBlock is a block of a message that says something, as Claude Code and pi write it.
func TextBlock(s string) []byte {
	return append(append([]byte(`{"type":"text","text":`), Quote(s)...), '}')
}

// Key is the last member of the path, "" at the top.
func (v *Value) Key() string {
	if len(v.Path) == 0 {
		return ""
	}
	return v.Path[len(v.Path)-1]
}
