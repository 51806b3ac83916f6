package api

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Mending is what makes an item one that the API takes.
type Mending struct {
	Cuts  []session.Cut // of the item
	Drop  bool          // the whole item goes
	Loses bool          // words or an image go with it
}

// Mend is how a fault of an item is mended; ok is false if only a person can, or if other items must be changed with it.
func Mend(item []byte, role string, f Fault) (m Mending, ok bool) {
	parent, last := "", f.Path
	if i := strings.LastIndexByte(f.Path, '.'); i >= 0 {
		parent, last = f.Path[:i], f.Path[i+1:]
	}
	set := func(value []byte) (Mending, bool) {
		return Mending{Cuts: []session.Cut{session.SetMember(item, parent, last, value)}}, true
	}
	switch f.Mend {
	case "drop":
		cut := session.DropMember(item, parent, last)
		return Mending{Cuts: []session.Cut{cut}}, cut.End > 0
	case "item", "block":
		return Mending{Drop: true}, true
	case "drop-block", "text", "thinking", "bound":
		return Mending{Drop: true}, !strings.HasPrefix(string(item), `"`)
	case "empty":
		return set([]byte("null"))
	case "input":
		return set([]byte("{}"))
	case "part":
		if role == "assistant" {
			return set([]byte(`"output_text"`))
		}
		return set([]byte(`"input_text"`))
	case "keys":
		return set(jsonl.AppendQuote(nil, shortKeys(gjson.GetBytes(item, f.Path).Str)))
	case "fill":
		return fill(item, f.Path)
	case "inner":
		part := append([]byte(`{"type":"text","text":`), jsonl.AppendQuote(nil, "[hist: "+strings.TrimPrefix(f.What, "it holds ")+" stood here; the API refused it]")...)
		cut := session.SetMember(item, parent, last, append(part, '}'))
		return Mending{Cuts: []session.Cut{cut}, Loses: true}, true
	case "image", "images":
		return picture(item, f)
	}
	return Mending{}, false
}

// fill adds a field that an item lacks, where there is a value that says nothing; an item that is nothing without it goes.
func fill(item []byte, field string) (Mending, bool) {
	values := map[string]string{"summary": "[]", "content": "[]", "arguments": `"{}"`, "input": `""`, "output": `"[hist: the output of this call was lost]"`, "name": `"unknown_tool"`, "status": `"completed"`, "tools": "[]"}
	value, ok := values[field]
	if !ok {
		return Mending{Drop: true, Loses: true}, field == "id" || field == "action" || field == "encrypted_content" || field == "result"
	}
	return Mending{Cuts: []session.Cut{session.SetMember(item, "", field, []byte(value))}}, true
}

// picture puts a text that says so in place of an image, or gives it the type that its bytes have.
func picture(item []byte, f Fault) (m Mending, ok bool) {
	v := gjson.ParseBytes(item)
	if f.Path != "" {
		v = v.Get(f.Path)
	}
	if !v.IsObject() {
		return m, false
	}
	typ, words := "text", fmt.Sprintf("[hist: an image of %d characters stood here; the API refused it: %s]", len(v.Raw), strings.TrimPrefix(f.What, "its image "))
	if v.Get("image_url").Exists() {
		typ = "input_text"
	} else if v.Get("type").String() != "image" {
		return m, false
	}
	part := append([]byte(`{"type":"`+typ+`","text":`), jsonl.AppendQuote(nil, words)...)
	return Mending{Cuts: []session.Cut{{Start: v.Index, End: v.Index + len(v.Raw), New: append(part, '}')}}, Loses: true}, true
}

// maxKey is the longest key that the API takes in a call's arguments, in characters.
const maxKey = 256

// shortKeys is a text of JSON in which no key is longer than the API takes: of a long one the beginning stays, and a note of how much
// it was.
func shortKeys(text string) string {
	var cuts []session.Cut
	var look func(v gjson.Result, depth int)
	look = func(v gjson.Result, depth int) {
		if depth > maxDepth || !v.IsObject() && !v.IsArray() {
			return
		}
		object := v.IsObject()
		v.ForEach(func(key, value gjson.Result) bool {
			if runes := []rune(key.Str); object && len(runes) > maxKey {
				words := string(runes[:100]) + "… [hist: key " + strconv.Itoa(len(cuts)+1) + " of " + strconv.Itoa(len(runes)) + " characters]"
				cuts = append(cuts, session.Cut{Start: key.Index, End: key.Index + len(key.Raw), New: jsonl.AppendQuote(nil, words)})
			}
			look(value, depth+1)
			return true
		})
	}
	look(gjson.Parse(text), 0)
	out, err := session.Apply([]byte(text), cuts)
	if err != nil {
		return text
	}
	return string(out)
}
