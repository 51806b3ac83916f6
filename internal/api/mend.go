package api

import (
	"bytes"
	"crypto/sha256"
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
	case "tell":
		return Told(item, role)
	case "set":
		return set(jsonl.AppendQuote(nil, f.Value))
	case "empty":
		return set([]byte("null"))
	case "input":
		return set([]byte("{}"))
	case "part":
		if role == "assistant" {
			return set([]byte(`"output_text"`))
		}
		return set([]byte(`"input_text"`))
	case "open": // what stands there can be read: it is a text like others
		part, words := gjson.GetBytes(item, parent), gjson.GetBytes(item, f.Path)
		return Mending{Cuts: []session.Cut{{Start: part.Index, End: part.Index + len(part.Raw), New: []byte(`{"type":"input_text","text":` + words.Raw + `}`)}}}, true
	case "reference", "order": // what has all that it says in it, needs no id
		switch typ := gjson.GetBytes(item, "type").String(); {
		case typ == "thinking", typ == "reasoning" && f.Mend == "reference":
			return Mending{Drop: true}, true
		case f.Mend == "order":
			return Mending{}, false
		}
		cut := session.DropMember(item, "", "id")
		return Mending{Cuts: []session.Cut{cut}}, cut.End > 0
	case "keys":
		v := gjson.GetBytes(item, f.Path)
		short := shortKeys(arguments(v))
		if v.Type != gjson.String {
			return set([]byte(short))
		}
		return set(jsonl.AppendQuote(nil, short))
	case "nul":
		return Mending{Cuts: nuls(item)}, true
	case "parts":
		return joined(item, f.Path)
	case "fill":
		return fill(item, f.Path)
	case "inner":
		part := append([]byte(`{"type":"text","text":`), jsonl.AppendQuote(nil, "[hist: "+strings.TrimPrefix(f.What, "it holds ")+" stood here; the API refused it]")...)
		cut := session.SetMember(item, parent, last, append(part, '}'))
		return Mending{Cuts: []session.Cut{cut}, Loses: true}, true
	case "tool-reference":
		return Mending{Cuts: []session.Cut{element(item, f.Path)}}, true
	case "image", "images", "document":
		return picture(item, f)
	}
	return Mending{}, false
}

// instead is what is put in place of a NUL.
const instead = `\ufffd`

// nuls are the cuts that put U+FFFD in place of each NUL in the texts of an item.
func nuls(item []byte) (cuts []session.Cut) {
	const escaped = `\u0000`
	for at := 0; ; {
		i := bytes.Index(item[at:], []byte(escaped))
		if i < 0 {
			return cuts
		}
		i += at
		at = i + len(escaped)
		if before := len(item[:i]) - len(bytes.TrimRight(item[:i], `\`)); before%2 == 0 { // else its backslash is itself escaped
			cuts = append(cuts, session.Cut{Start: i, End: at, New: []byte(instead)})
		}
	}
}

// maxTold is how much of an item is told as text, in bytes.
const maxTold = 16 << 10

// Told puts a text in place of an item: what kind it was, and what can be read in it. An item in which nothing can goes. role is "" for
// an item that is no block of a message.
func Told(item []byte, role string) (Mending, bool) {
	v := gjson.ParseBytes(item)
	if output := v.Get("output"); role == "" && v.Get("type").Str == "function_call_output" && v.Get("call_id").Str == "" && output.Exists() {
		return Mending{Cuts: []session.Cut{{End: len(item), New: prompted(output)}}}, true
	}
	words := readable(v, "", 0, nil)
	if len(words) == 0 {
		return Mending{Drop: true, Loses: true}, true
	}
	told := strings.Join(words, "\n")
	if len(told) > maxTold {
		told = strings.ToValidUTF8(told[:maxTold], "") + "…"
	}
	text := jsonl.AppendQuote(nil, "[hist: "+strings.ReplaceAll(v.Get("type").String(), "_", " ")+"]\n"+told)
	head, tail := `{"type":"text","text":`, "}"
	if role == "" {
		head, tail = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":`, "}]}"
	}
	return Mending{Cuts: []session.Cut{{End: len(item), New: append(append([]byte(head), text...), tail...)}}}, true
}

// readable are the texts in a value that a person can read: no ids, no types, nothing encrypted.
func readable(v gjson.Result, key string, depth int, words []string) []string {
	switch {
	case depth > maxDepth || unreadable[key] || strings.HasSuffix(key, "id") || strings.HasPrefix(key, "encrypted"):
	case v.IsObject() || v.IsArray():
		v.ForEach(func(k, value gjson.Result) bool {
			words = readable(value, k.String(), depth+1, words)
			return true
		})
	case v.Type == gjson.String && strings.TrimSpace(v.Str) != "":
		words = append(words, v.Str)
	}
	return words
}

// prompted is an output that answers no call, as the message that it is: another thread or the client itself sent it.
func prompted(output gjson.Result) []byte {
	parts := output.Raw
	if output.Type == gjson.String {
		parts = `[{"type":"input_text","text":` + output.Raw + `}]`
	}
	return []byte(`{"type":"message","role":"user","content":` + parts + `}`)
}

// unreadable are the members of items that say nothing to a reader.
var unreadable = map[string]bool{"type": true, "status": true, "signature": true, "data": true, "result": true, "cache_control": true}

// FreshID is a call's id that the API takes, the same for the same old one.
func FreshID(call []byte, old string) string {
	prefix := "call"
	if kind := gjson.GetBytes(call, "type").String(); kind == "server_tool_use" {
		prefix = IDPrefix(kind)
	}
	return fmt.Sprintf("%s_hist_%x", prefix, sha256.Sum256([]byte(old)))[:len(prefix)+len("_hist_")+16]
}

// Renamed is what gives a call or an output another id.
func Renamed(item []byte, old, id string) (m Mending) {
	for _, key := range []string{"id", "call_id", "tool_use_id"} {
		if gjson.GetBytes(item, key).String() == old {
			m.Cuts = append(m.Cuts, session.SetMember(item, "", key, jsonl.AppendQuote(nil, id)))
		}
	}
	return m
}

// maxParts is how many elements a list of content may have.
var maxParts = LimitsOf("message", "content").Most("most")

// joined makes one text, line for line, of texts that follow each other in a list, so that it has no more elements than the API takes. All that
// they say stays, and so does what is no text.
func joined(item []byte, path string) (m Mending, ok bool) {
	text := func(part gjson.Result) gjson.Result {
		v := part.Get("text")
		if len(part.Map()) != 2 || v.Type != gjson.String || !part.Get("type").Exists() {
			return gjson.Result{}
		}
		return v
	}
	parts := gjson.GetBytes(item, path).Array()
	for i := 1; i < len(parts); i++ {
		before, behind := text(parts[i-1]), text(parts[i])
		if before.Exists() && behind.Exists() && parts[i-1].Get("type").Str == parts[i].Get("type").Str {
			m.Cuts = append(m.Cuts, session.Cut{Start: before.Index + len(before.Raw) - 1, End: behind.Index + 1, New: []byte(`\n`)})
		}
	}
	return m, len(parts)-len(m.Cuts) <= maxParts
}

// element is the cut that takes the element of a list out of an item.
func element(item []byte, path string) session.Cut {
	v := gjson.GetBytes(item, path)
	return session.Cut{Start: v.Index, End: v.Index + len(v.Raw), Element: true}
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

// picture puts a text that says so in place of an image, a document or a reference to a tool.
func picture(item []byte, f Fault) (m Mending, ok bool) {
	v := gjson.ParseBytes(item)
	if f.Path != "" {
		v = v.Get(f.Path)
	}
	part, kind := "text", v.Get("type").String()
	if kind == "input_image" {
		part, kind = "input_text", "image"
	}
	what, ok := map[string]string{"image": "an image", "document": "a document", toolReference: "a reference to the tool " + v.Get("tool_name").String()}[kind]
	if !ok {
		return m, false
	}
	if kind != toolReference {
		what += fmt.Sprintf(" of %d characters stood here; the API refused it: %s", len(v.Raw), strings.TrimPrefix(f.What, "its image "))
	} else {
		what += " stood here; the API refused it"
	}
	text := append([]byte(`{"type":"`+part+`","text":`), jsonl.AppendQuote(nil, "[hist: "+what+"]")...)
	return Mending{Cuts: []session.Cut{{Start: v.Index, End: v.Index + len(v.Raw), New: append(text, '}')}}, Loses: true}, true
}

// maxKey is the longest key that the API takes in a call's arguments, in characters.
var maxKey = LimitsOf("function_call", "arguments").Most("longest-key")

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
