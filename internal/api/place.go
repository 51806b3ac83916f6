package api

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Place is an item of a request that a refusal is about.
type Place struct {
	Item  int // index in session.Sent.Items
	Fault Fault
}

// Locate is which items of what a client sends a refusal is about: those that have the fault which it names. named is the item at
// the place that it gives, -1 if it gives none or the request has no such item; it need not have the fault, because a gateway may
// have changed the list on its way, or the session since.
func Locate(r *Refusal, sent *session.Sent) (places []Place, named int) {
	named = r.at(sent)
	l := &locator{r: r, sent: sent, named: named}
	if r.Mend == "path" && r.Map == 'E' {
		return Invalid(sent, ""), -1
	}
	if r.Mend == "images" && r.Most > 0 {
		return l.tooMany(), -1
	}
	all := r.Mend == "field" || r.Mend == "item-type" || r.Mend == "bound" || r.Mend == "namespace" || r.lacksSeal() // the next item of the kind would be refused after it
	if named >= 0 && !all {
		if f, ok := l.fault(named); ok {
			return l.withKind(Place{named, f}), named
		}
	}
	for i := range sent.Items {
		if f, ok := l.fault(i); ok {
			places = append(places, Place{i, f})
		}
	}
	if r.Map != 'E' && !all && named >= 0 && len(places) > 1 { // the nearest: the list was only moved
		slices.SortStableFunc(places, func(a, b Place) int { return distance(a.Item, named) - distance(b.Item, named) })
		places = l.withKind(places[0])
	}
	if len(places) == 0 && (r.Mend == "image" || r.Mend == "document") && !l.mended() {
		places = Unanswered(sent, r.Mend)
	}
	return places, named
}

// withKind is a place, and with thinking that can't be what the API gave, all of that kind: the next request would be refused for the next.
func (l *locator) withKind(p Place) (places []Place) {
	if l.r.Mend != "thinking" || !unsigned(&l.sent.Items[p.Item]) {
		return []Place{p}
	}
	for i := range l.sent.Items {
		if it := &l.sent.Items[i]; it.Kind == session.ReasoningItem && unsigned(it) {
			places = append(places, Place{i, p.Fault})
		}
	}
	return places
}

// unsigned says whether thinking is of another maker's model, or has a signature that is cut short.
func unsigned(it *session.Item) bool {
	return it.Other || cutShort(gjson.GetBytes(it.Content, "signature").Str)
}

// cutShort says whether a signature ends before its beginning says: a byte and then the length of what follows. Of 43,000 published ones that
// begin so, none does.
func cutShort(signature string) bool {
	digits := strings.TrimRight(signature, "=")
	var head [6]byte
	n, _ := base64.StdEncoding.Decode(head[:], []byte(digits[:min(len(digits), 8)]))
	if n < 2 || head[0] != 0x12 {
		return false
	}
	length, size := binary.Uvarint(head[1:n])
	return size > 0 && length > uint64(base64.RawStdEncoding.DecodedLen(len(digits))-1-size)
}

// mended says whether what a refusal names has been mended since: in its place stands something else that the model says, or what a repair
// says of an image.
func (l *locator) mended() bool {
	switch {
	case l.named < 0:
		return false
	case l.r.Mend == "thinking":
		return l.sent.Items[l.named].Role == "assistant"
	}
	return bytes.Contains(l.sent.Items[l.named].Content, []byte("[hist: "))
}

// answers says whether a model said or did an item.
func answers(it *session.Item) bool {
	return it.Role == "assistant" || it.Kind == session.CallItem || it.Kind == session.ReasoningItem
}

// Invalid are the items of what a client sends that a provider, "" being any, is known to refuse: by what each of them holds, and by what it needs
// beside it.
func Invalid(sent *session.Sent, provider string) (places []Place) {
	for i := range sent.Items {
		for _, f := range Check(sent.Items[i].Content, provider, "") {
			places = append(places, Place{i, f})
		}
	}
	for k := range limits {
		l := &limits[k]
		if l.When != "request" || provider != "" && !slices.Contains(l.Providers, provider) {
			continue
		}
		pairs := &locator{r: &Refusal{Mend: l.Mend, Found: Found{Message: -1, Block: -1, Inner: -1}}, sent: sent, named: -1}
		for i := range sent.Items {
			if l.Kind != "*" && gjson.GetBytes(sent.Items[i].Content, "type").Str != l.Kind {
				continue
			}
			if f, ok := pairs.pairing(i); ok {
				places = append(places, Place{i, f})
			}
		}
	}
	return places
}

// Wants says whether a provider is known to want something of the whole request; mend is what the table says of the fault.
func Wants(provider, mend string) bool {
	return slices.ContainsFunc(limits, func(l limit) bool {
		return l.When == "request" && l.Mend == mend && slices.Contains(l.Providers, provider)
	})
}

func distance(a, b int) int { return max(a-b, b-a) }

// at is the item at the place that a refusal names, -1 if it names none or there is no such item. Of a message without a block it is
// the first item.
func (r *Refusal) at(sent *session.Sent) int {
	if r.Message < 0 || r.Map == 'E' && r.Block < 0 {
		return -1
	}
	first := -1
	for i := range sent.Items {
		it := &sent.Items[i]
		if it.Message != r.Message {
			continue
		}
		if first < 0 {
			first = i
		}
		if it.Block == r.Block {
			return i
		}
	}
	if r.Block >= 0 {
		return -1
	}
	return first
}

// locator looks for the items that have the fault which a refusal names.
type locator struct {
	r       *Refusal
	sent    *session.Sent
	named   int              // the item at the place that the refusal names, -1 if there is none
	calls   map[string][]int // items by the call_id of a call; nil until asked for
	outputs map[string][]int
	ids     map[string][]int
}

// fault says whether an item has the fault that the refusal names, and what it is.
func (l *locator) fault(i int) (Fault, bool) {
	it := &l.sent.Items[i]
	if it.Made != "" && len(it.Content) == 0 {
		return Fault{}, false
	}
	r := l.r
	is := func(ok bool, path, what string) (Fault, bool) { return Fault{Path: path, What: what, Mend: r.Mend}, ok }
	content := gjson.ParseBytes(it.Content)
	switch r.Mend {
	case "field":
		path := fieldIn(content, r.Field)
		f, ok := is(path != "", path, "it has the field "+path)
		f.Mend = "drop"
		return f, ok && l.sameKind(content)
	case "missing":
		return l.missing(it, content)
	case "namespace":
		return l.namespace(content)
	case "alone":
		found := Check(it.Content, "", "call_id")
		k := slices.IndexFunc(found, func(f Fault) bool { return f.Mend == "tell" })
		if k < 0 {
			return Fault{}, false
		}
		return found[k], true
	case "no-output", "no-call", "twin-output", "twin-call", "twin-id", "order", "reference", "served", "pairs":
		return l.pairing(i)
	case "encrypted":
		return l.encrypted(it, content)
	case "item-type", "block":
		typ := content.Get("type").String()
		if path := "content." + itoa(r.Inner); r.Inner >= 0 && it.Message == r.Message && it.Block == r.Block && content.Get(path).Exists() {
			if content.Get(path+".type").String() == "text" { // all take it
				return Fault{}, false
			}
			return Fault{Path: path, What: "it holds a block of the type " + strconv.Quote(clip(content.Get(path+".type").String())), Mend: "inner"}, true
		}
		f, ok := is(len(r.IDs) > 0 && typ == r.IDs[0], "type", "it is a "+clip(typ))
		if r.Mend == "item-type" && !Sealed(it.Content) {
			f.Mend = "tell"
		}
		return f, ok
	case "thinking", "bound":
		if it.Kind != session.ReasoningItem {
			return Fault{}, false
		}
		there := r.Message < 0 || it.Message == r.Message
		if r.Mend == "bound" {
			there = there || it.Message > r.Message
		} else if !there { // a gateway that moves or drops a message counts from another one
			there = l.named >= 0 && !l.mended()
		}
		return is(there, "signature", "it is thinking that the API does not take")
	case "image", "images", "document", "image-type":
		return l.picture(it)
	case "text":
		text := content.Get("text")
		if content.Type == gjson.String {
			text = content
		}
		return is(text.Type == gjson.String && strings.TrimSpace(text.Str) == "" && it.Kind != session.OutputItem, "text", "its text is blank")
	case "tool-reference":
		path := ""
		if len(r.IDs) > 0 {
			path = referenceTo(content, r.IDs[0])
		}
		return is(path != "", path, "it refers to a tool that is not offered")
	case "surrogate":
		return is(argumentShape.ScanOne(it.Content, nil).Surrogate >= 0, "", "it holds half of a character")
	case "parts":
		path := r.topField()
		n := len(content.Get(path).Array())
		return is(r.Most > 0 && n > r.Most, path, fmt.Sprintf("its %s has %d elements, more than %d", path, n, r.Most))
	case "message", "empty":
		return is(empty(content), "content", "it is empty")
	case "arguments":
		return l.input(it, content)
	}
	return l.limited(it)
}

// NULs are the outputs since the last answer that hold the character NUL, at which the API stops reading by public reports. mended says that there
// are none because a repair has put U+FFFD in their place: what no repair has written, a client writes without an escape.
func NULs(sent *session.Sent) (places []Place, mended bool) {
	for i := len(sent.Items) - 1; i >= 0 && !answers(&sent.Items[i]); i-- {
		if it := &sent.Items[i]; it.Kind == session.OutputItem {
			if len(nuls(it.Content)) > 0 {
				places = append(places, Place{i, Fault{What: "it holds NUL characters, which two public reports blame", Mend: "nul"}})
			}
			mended = mended || bytes.Contains(it.Content, []byte(instead))
		}
	}
	slices.Reverse(places)
	return places, mended && len(places) == 0
}

// limited is a fault by the limits, in the field that the refusal names.
func (l *locator) limited(it *session.Item) (Fault, bool) {
	want := l.r.topField()
	for _, f := range Check(it.Content, "", want) {
		if want == "" && mendsOf[l.r.Mend] == f.Mend || want != "" && topOf(f.Path) == want {
			return f, true
		}
	}
	if l.r.Mend == "path" {
		for _, f := range Misfits(it.Content) {
			if want != "" && topOf(f.Path) == want && (f.Path != want || l.r.Field == want || l.r.API == "gateway" || l.r.Map == 'B') { // what the error says of an element is not about a list that is not there
				if f.Path == "type" && !Sealed(it.Content) { // a kind that this server does not know is text to it
					f.Mend = "tell"
				}
				return f, true
			}
		}
	}
	return Fault{}, false
}

// mendsOf are the limits' mends by which a refusal's fault is known where it names no field.
var mendsOf = map[string]string{"id": "drop", "call-id": "pair", "name": "name", "long": "clip", "key": "keys", "reasoning": "empty", "search": "item", "role": "part"}

// topField is the field of an item that a refusal names: "content" of "content[1].image_url"; "" if it names none.
func (r *Refusal) topField() string {
	field := topOf(r.Field)
	switch { // a block's path begins with its type
	case field == "" && r.Mend == "search":
		return "action"
	case field == "" && r.Mend == "role":
		return "content"
	case r.Map == 'B' && strings.Contains(r.Field, "."):
		return r.Field[strings.LastIndexByte(r.Field, '.')+1:]
	case r.API == "gateway" && strings.Contains(r.Field, "."):
		return r.Field[strings.LastIndexByte(r.Field, '.')+1:]
	}
	return field
}

func topOf(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}

// sameKind says whether an item is of the kind that the refusal names by its place: elsewhere the same field may be sound.
func (l *locator) sameKind(content gjson.Result) bool {
	return l.named < 0 || gjson.GetBytes(l.sent.Items[l.named].Content, "type").String() == content.Get("type").String()
}

// fieldIn is the path of a field as an error writes it ("content[0].x", "text.cache_control.ttl") in an item that has it, "" if it has
// not. An error puts the types of blocks into the path: what the item does not have is left out.
func fieldIn(item gjson.Result, path string) string {
	found := ""
	at := item
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	for i, part := range parts {
		v := at.Get(strings.ReplaceAll(part, `\`, ""))
		if !v.Exists() {
			if i == len(parts)-1 && part != at.Get("type").String() {
				return "" // what the error is about is not there
			}
			continue
		}
		found, at = strings.TrimPrefix(found+"."+part, "."), v
	}
	return found
}

// lacksSeal says whether the refusal is about what no specification asks for, and an API that keeps no thoughts does.
func (r *Refusal) lacksSeal() bool { return r.Mend == "missing" && r.topField() == "encrypted_content" }

// missing says whether an item lacks the field that the refusal names.
func (l *locator) missing(it *session.Item, content gjson.Result) (Fault, bool) {
	field := l.r.topField()
	if field == "" || content.Get(field).Type != gjson.Null {
		return Fault{}, false
	}
	if l.r.lacksSeal() {
		return Fault{Path: field, What: "its " + field + " is missing", Mend: "fill"}, it.Kind == session.ReasoningItem
	}
	for _, f := range Misfits(it.Content) {
		if f.Path == field && (it.Message == l.r.Message || l.named < 0) {
			f.Mend = "fill"
			return f, true
		}
	}
	return Fault{}, false
}

// encrypted says whether an item holds encrypted content, and the one that the refusal names if it names one. A gateway between the Messages
// API and another gives that as the signature of thinking.
func (l *locator) encrypted(it *session.Item, content gjson.Result) (Fault, bool) {
	f := Fault{Path: "encrypted_content", What: "it holds encrypted content", Mend: "encrypted"}
	if it.Block >= 0 && it.Kind == session.ReasoningItem {
		f = Fault{Path: "signature", What: "it is thinking whose signature is that content", Mend: "thinking"}
	}
	sealed := content.Get(f.Path)
	if sealed.Type != gjson.String || sealed.Str == "" {
		return Fault{}, false
	}
	if len(l.r.IDs) == 0 || it.ID == l.r.IDs[0] {
		return f, true
	}
	head, tail, cut := strings.Cut(l.r.IDs[0], "...")
	return f, cut && strings.HasPrefix(sealed.Str, head) && strings.HasSuffix(sealed.Str, tail)
}

// referenceTo is the path of the first reference to a tool in the output of a search for tools, "" if there is none.
func referenceTo(content gjson.Result, tool string) string {
	for _, list := range []string{"content.tool_references", "content"} {
		for i, ref := range content.Get(list).Array() {
			if ref.Get("type").String() == toolReference && ref.Get("tool_name").String() == tool {
				return join(list, itoa(i))
			}
		}
	}
	return ""
}

// input says whether the arguments of a call are not what the API wants.
func (l *locator) input(it *session.Item, content gjson.Result) (Fault, bool) {
	if it.Kind != session.CallItem {
		return Fault{}, false
	}
	if in := content.Get("input"); in.Exists() && content.Get("type").String() == "tool_use" {
		return Fault{Path: "input", What: "its input is " + typeNames[typeOf(in)], Mend: "input"}, !in.IsObject()
	}
	args := content.Get("arguments")
	return Fault{Path: "arguments", What: "its arguments are not JSON", Mend: "arguments"}, args.Type == gjson.String && !isJSON(args.Str)
}

// empty says whether nothing is said in a message or an output.
func empty(content gjson.Result) bool {
	for _, key := range []string{"content", "output"} {
		if v := content.Get(key); v.Exists() && (v.Raw == `""` || v.Raw == "null" || v.Raw == "[]") {
			return true
		}
	}
	return content.Raw == `""` || content.Raw == "null"
}

// pairing says whether an item is the call, the output or the item that a refusal names by its id.
func (l *locator) pairing(i int) (Fault, bool) {
	l.index()
	it := &l.sent.Items[i]
	r := l.r
	named := func(id string) bool {
		return id != "" && (len(r.IDs) == 0 || slices.Contains(r.IDs, id))
	}
	say := func(ok bool, path, what string) (Fault, bool) {
		return Fault{Path: path, What: what, Mend: r.Mend}, ok
	}
	call, output := it.Kind == session.CallItem, it.Kind == session.OutputItem && it.Path != ""
	key := pairKey(it)
	switch id := it.CallID; r.Mend {
	case "no-output":
		return say(call && named(id) && len(l.outputs[key]) == 0, "call_id", "the call has no output")
	case "no-call":
		return say(output && named(id) && (len(l.calls[key]) == 0 || l.calls[key][0] > i), "call_id", "the output has no call in front of it")
	case "served":
		own := output && strings.HasSuffix(gjson.GetBytes(it.Content, "type").Str, "_tool_result")
		return say(own && named(id) && (len(l.calls[key]) == 0 || l.calls[key][0] > i || l.sent.Items[l.calls[key][0]].Message != it.Message), "call_id", "the output has no call in front of it in the same answer")
	case "twin-output":
		return say(output && named(id) && len(l.outputs[key]) > 1 && l.outputs[key][0] != i, "call_id", "the call has an output already")
	case "twin-call":
		return say(call && named(id) && len(l.calls[key]) > 1 && l.calls[key][0] != i, "call_id", "another call has the same id")
	case "twin-id":
		return say(named(it.ID) && len(l.ids[it.ID]) > 1 && l.ids[it.ID][0] != i, "id", "another item has the same id")
	case "pairs":
		return say(call && len(l.outputs[key]) == 0 || output && (len(l.calls[key]) == 0 || l.calls[key][0] > i), "call_id", "call and output do not follow each other")
	}
	return say(named(it.ID) && len(r.IDs) > 0, "id", "it is the item that the error names")
}

// families are how the keys begin of calls that pair with their own kind of output alone: one id may be that of calls of two families.
var families = [2]string{"custom", "search"}

// pairKey is the id of a call or an output with its family.
func pairKey(it *session.Item) string {
	switch gjson.GetBytes(it.Content, "type").Str {
	case "custom_tool_call", "custom_tool_call_output":
		return families[0] + it.CallID
	case "tool_search_call", "tool_search_output":
		return families[1] + it.CallID
	}
	return it.CallID
}

func (l *locator) index() {
	if l.calls != nil {
		return
	}
	l.calls, l.outputs, l.ids = map[string][]int{}, map[string][]int{}, map[string][]int{}
	for i := range l.sent.Items {
		it := &l.sent.Items[i]
		switch it.Kind {
		case session.CallItem:
			l.calls[pairKey(it)] = append(l.calls[pairKey(it)], i)
		case session.OutputItem:
			keys := []string{pairKey(it)}
			if it.Path == "" { // what the client makes up answers whatever has no output
				keys = []string{it.CallID, families[0] + it.CallID, families[1] + it.CallID}
			}
			for _, key := range keys {
				l.outputs[key] = append(l.outputs[key], i)
			}
		}
		if it.ID != "" && it.Block < 0 { // blocks of one answer share its id
			l.ids[it.ID] = append(l.ids[it.ID], i)
		}
	}
}
