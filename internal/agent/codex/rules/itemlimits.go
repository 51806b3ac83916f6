package rules

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// limitedItems reports what the API is known to refuse in single items, by the tables of package api. Nearly all items are of a plain
// shape, of which that need not be asked.
type limitedItems struct {
	run     *run
	unnamed [session.Search + 1][]unnamedCall // calls without a call_id whose output has not come, by their families, oldest first
	owned   map[callKey]ownedOutput
	calls   int         // how many there were
	holes   int         // how many lines can't be read
	leftOut int         // how many images of the item in hand the client does not send
	paired  session.Pos // the newest output that answers one of them by its place
}

// unnamedCall is a call without a name by which its output could be told.
type unnamedCall struct {
	finding finding.Finding
	family  session.Family
	id      []byte // what it is called instead
	holes   int    // how many lines in front of it can't be read
}

// ownedOutput is an output that is taken for that of an unnamed call.
type ownedOutput struct {
	call unnamedCall
	at   session.Pos
	id   []byte // of the output, as a literal
}

// What stands in a part of a message that the other role writes.
var (
	partOfAnswer = []byte(`"output_text"`)
	partOfPrompt = []byte(`"input_text"`)
)

// check looks at an item. If the item has to go, it returns the finding that says why.
func (c *limitedItems) check(it item) *finding.Finding {
	switch it.Type {
	case "response_item/web_search_call":
	case "response_item/message":
		other := partOfAnswer
		if string(it.Role) == "assistant" {
			other = partOfPrompt
		}
		list := it.Spans[codex.FieldContent]
		if codex.OneText(it.Record) { // which may be long
			list.End = it.Spans[codex.FieldFirstText].Start
		}
		if !bytes.Contains(list.Of(it.Raw), other) && bytes.Count(list.Of(it.Raw), typeKey) <= maxParts+c.leftOut {
			return nil
		}
	case "response_item/agent_message": // most of it is encrypted
		list := it.Spans[codex.FieldContent].Of(it.Raw)
		if bytes.Count(list, sealKey) == bytes.Count(list, sealedPart) {
			return nil
		}
	case "response_item/function_call":
		if !plainCallID(it.Record) || c.getsID(it) {
			c.callID(it)
		}
		if !mayHoldLongKey(codex.Field(it.Record, codex.FieldArguments)) {
			return nil
		}
	default:
		if !plainCallID(it.Record) || c.getsID(it) {
			c.callID(it)
		}
		if it.Type != "response_item/tool_search_call" || len(codex.Field(it.Record, codex.FieldArguments)) <= maxKey {
			return nil
		}
	}
	raw := it.Raw
	if it.path != "" {
		raw = codex.Field(it.Record, codex.FieldPayload)
	}
	for _, fault := range api.Check(raw, c.run.provider.Name, "") {
		if drop := c.fault(it, raw, fault); drop != nil {
			return drop
		}
	}
	return nil
}

// What the API is known to refuse: how long a key in arguments may be, in characters, how many parts a message may have, and call_ids.
var (
	maxKey       = codex.LimitsOfArguments.Most("longest-key")
	maxParts     = api.LimitsOf("message", "content").Most("most")
	callIDLimits = api.LimitsOf("function_call", "call_id")
)

// sealKey stands in front of what is encrypted in a part of an agent's message, and sealedPart where that is in OpenAI's form.
var sealKey, sealedPart = []byte(`"encrypted_content":`), []byte(`"encrypted_content":"gAAAA`)

// typeKey stands in each part of a message.
var typeKey = []byte(`"type"`)

// keyEnd is what stands behind each key in arguments, which are JSON in a string.
var keyEnd, keyStart = []byte(`\":`), []byte(`\"`)

// mayHoldLongKey says whether a key in the arguments of a call may be too long; no shorter text can be.
func mayHoldLongKey(literal []byte) bool {
	for from := 0; len(literal)-from > maxKey; {
		end := bytes.Index(literal[from:], keyEnd)
		if end < 0 {
			return false
		}
		end += from
		if near := literal[max(from, end-maxKey-1):end]; end-from > maxKey && bytes.LastIndex(near, keyStart) < 0 {
			return true
		}
		from = end + len(keyEnd)
	}
	return false
}

// plainCallID says whether a call_id is one that no API refuses.
func plainCallID(rec *session.Record) bool {
	n := len(codex.Field(rec, codex.FieldCallID))
	return n > len(`""`) && n <= callIDLimits.Most("longest")+len(`""`) || n == len("null") || n == 0
}

// fault reports one fault of an item, unless a rule of its own does. raw is the item's JSON.
func (c *limitedItems) fault(it item, raw []byte, fault api.Fault) *finding.Finding {
	switch fault.Mend {
	case "item", "part", "parts", "keys", "open":
	default: // ids, names, long texts, images: each has a rule
		return nil
	}
	start := it.Spans[codex.FieldPayload].Start
	if it.held() {
		start = 0
	}
	f := it.finding(check.Refused, finding.Exact, 0, "the API refuses every request: "+kindOf(it)+": "+fault.What)
	m, ok := api.Mend(raw, string(it.Role), fault)
	switch {
	case !ok:
		f.Fix = finding.NoFix
	case m.Drop:
		f.Fix = finding.SetAside
		return &f
	default:
		for _, cut := range m.Cuts {
			cut.Start, cut.End = cut.Start+start, cut.End+start
			f.Edits = append(f.Edits, it.splice(cut))
		}
	}
	c.run.Report(f)
	return nil
}

// kindOf is what an item is called in a sentence.
func kindOf(it item) string {
	switch kind := codex.ItemKind(it.Record); {
	case kind == "web_search_call":
		return "a web search"
	case strings.HasSuffix(kind, "_call"):
		return "a call"
	case strings.HasSuffix(kind, "_output"):
		return "an output"
	case kind == "message":
		return "a message"
	case kind == "agent_message":
		return "a message of another agent"
	case kind == "reasoning":
		return kind
	}
	return "an item"
}

// isOutput says whether an item is an output, by its type: one without a call_id is none to the rules of pairs.
func isOutput(it item) bool { return strings.HasSuffix(it.Type, "_output") }

// getsID says whether an item has no call_id, and is given one: a call that the client does not read without, and its output.
func (c *limitedItems) getsID(it item) bool {
	if len(it.CallID) > 0 {
		return false
	}
	if isOutput(it) {
		return len(c.unnamed[familyOf(it.Type)]) > 0
	}
	return codex.LacksCallID(it.Record)
}

// callID gives a call or an output another call_id, if the API refuses the one that it has. An empty one says nothing about which
// output answers which call: there the order does.
func (c *limitedItems) callID(it item) {
	id := it.Spans[codex.FieldCallID]
	rename := func(new []byte) finding.Edit {
		return it.splice(session.SetMember(it.Raw, it.path, "call_id", quoted(string(new))))
	}
	if len(it.CallID) > 0 {
		if fault, wrong := callIDLimits.WrongText(c.run.provider.Name, string(it.CallID)); wrong {
			f := it.finding(check.Refused, finding.Exact, id.Start, "the API refuses every request: "+kindOf(it)+": "+fault.What)
			f.First, f.Edits = true, []finding.Edit{rename([]byte(api.FreshID(it.Raw, string(it.CallID))))}
			c.run.Report(f)
		}
		return
	}
	family := familyOf(it.Type)
	if !isOutput(it) {
		c.calls++
		new := []byte("call_hist_" + strconv.Itoa(c.calls))
		f := it.finding(check.Refused, finding.Exact, id.Start, "the API refuses every request: a call has an empty call_id")
		if why := codex.Misfit(it.Record); why != "" {
			f = it.finding(ruleUnreadableRecord, finding.Exact, 0, "the client can't read this item: "+why)
			it.owner.Refused = true
		}
		f.First, f.Edits = true, []finding.Edit{rename(new)}
		c.unnamed[family] = append(c.unnamed[family], unnamedCall{f, family, new, c.holes})
		return
	}
	if call, ok := c.oldest(family); ok {
		f := call.finding
		f.Edits = append(f.Edits, rename(call.id))
		f.Message += fmt.Sprintf("; its output, on line %d, gets the same new one", it.owner.Pos.Line)
		c.run.Report(f)
		c.paired = it.owner.Pos
	}
}

// oldest takes the oldest call of a family.
func (c *limitedItems) oldest(family session.Family) (call unnamedCall, ok bool) {
	list := c.unnamed[family]
	if len(list) == 0 {
		return unnamedCall{}, false
	}
	c.unnamed[family] = list[1:]
	return list[0], true
}

// owns takes an output with an id that no call has yet for that of an unnamed call, until a call with that id comes.
func (c *limitedItems) owns(key callKey, rec *session.Record) {
	for _, list := range c.unnamed {
		if len(list) > 0 && list[0].holes < c.holes {
			return
		}
	}
	call, ok := c.oldest(rec.Family)
	if !ok {
		return
	}
	if c.owned == nil {
		c.owned = map[callKey]ownedOutput{}
	}
	c.owned[key] = ownedOutput{call, rec.Pos, quoted(string(rec.CallID))}
}

// disown takes that back: the call with the output's id has come.
func (c *limitedItems) disown(key callKey) {
	if o, ok := c.owned[key]; ok {
		delete(c.owned, key)
		list := c.unnamed[o.call.family]
		at, _ := slices.BinarySearchFunc(list, o.call.finding.Pos, func(u unnamedCall, at session.Pos) int { return u.finding.Pos.Compare(at) })
		c.unnamed[o.call.family] = slices.Insert(list, at, o.call)
	}
}

// settleOwned reports the calls that get the id of their output, and gives its key for each.
func (c *limitedItems) settleOwned(took func(key callKey)) {
	for key, o := range c.owned {
		o.call.finding.Message += fmt.Sprintf("; it gets that of its output, on line %d", o.at.Line)
		o.call.finding.Edits[0].Cuts[0].New = o.id
		c.run.Report(o.call.finding)
		took(key)
	}
	clear(c.owned)
}

// familyOf is which calls an item may pair with, by its type: one without a call_id has no family for the rules of pairs.
func familyOf(typ string) session.Family {
	switch {
	case bytes.Contains([]byte(typ), []byte("custom")):
		return session.Custom
	case bytes.Contains([]byte(typ), []byte("search")):
		return session.Search
	}
	return session.Function
}

// forget lets go of calls that a compaction has replaced, or whose turn was taken back: nothing will answer them.
func (c *limitedItems) forget() { clear(c.unnamed[:]) }

// end reports calls that no output answers.
func (c *limitedItems) end() {
	for _, list := range c.unnamed {
		for _, call := range list {
			c.run.Report(call.finding)
		}
	}
}
