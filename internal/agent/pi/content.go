package pi

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/image"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// flaw is something in one record that its client, or a model's API, can't take.
type flaw struct {
	rule    *finding.Rule
	harm    harm
	fix     finding.Fix
	message string
	cuts    []session.Cut
	drop    bool   // the record has to go: nothing is lost, or nothing can be saved
	call    int    // the number of the call that lacks a member, from 1; 0: none does. The result of the call may say it
	member  string // that member
}

// call is a call of an answer. A member that the API does not take is empty here; at is the block.
type call struct {
	id, name string
	file     string // that it is about
}

// spare is a member that a rule may have to set to a value, because of what another record says.
type spare struct{ cut session.Cut }

func (s spare) to(value string) session.Cut {
	c := s.cut
	c.New = append(slices.Clip(c.New), value...)
	if c.Start == c.End { // the member is not there
		c.New = append(c.New, ',')
	}
	return c
}

// spareAt is the member key of the object at a path.
func spareAt(line []byte, path, key string) spare {
	c := session.SetMember(line, path, key, nil)
	c.New = bytes.TrimSuffix(c.New, []byte(","))
	return spare{c}
}

// harm is what a flaw does, in which versions.
type harm uint8

const (
	harmless   harm = iota
	hides           // it is not sent
	hidesBlock      // one of its blocks is not
	refused         // the API refuses the request
	fails           // every prompt ends with an error before anything is sent
	failsOld        // the same, in versions that read no content as an error
	failsNew        // the same, in versions that read the usage of every answer
	crashes         // the client ends when it opens the file
)

const shapeMessage = "every prompt ends with a JavaScript error: "

// read looks into the body of a record.
func (f *fact) read(rec *session.Record) {
	switch f.kind {
	case "session":
		v := gjson.GetBytes(rec.Raw, "version")
		f.old, f.rewritten = v.Type == gjson.Null || v.Type == gjson.Number && v.Num < 2, v.Type == gjson.Null || v.Type == gjson.Number && v.Num < 3
		f.spare = spareAt(rec.Raw, "", "version")
	case "message":
		f.message(rec)
	case "custom_message":
		f.says = 1
	case "branch_summary":
		f.says = min(1, len(gjson.GetBytes(rec.Raw, "summary").String()))
	case "compaction":
		v := gjson.GetBytes(rec.Raw, "summary")
		f.target, f.spare, f.says = gjson.GetBytes(rec.Raw, "firstKeptEntryId").String(), spareAt(rec.Raw, "", "firstKeptEntryId"), 1
		f.split = strings.Contains(v.String(), "(split turn)")
		for _, key := range []string{"readFiles", "modifiedFiles"} {
			for _, name := range gjson.GetBytes(rec.Raw, "details."+key).Array() {
				f.files = append(f.files, name.String())
			}
		}
		if v.Type == gjson.Null || v.Type == gjson.String && v.Str == "" {
			f.flaw(flaw{rule: ruleNoSummary, harm: hides, fix: finding.SetAside, message: "a compaction without its summary: the model is told nothing of what it summed up; what stands before it is still in the file", drop: true})
		}
	case "context_edit":
		v := gjson.GetBytes(rec.Raw, "replacement")
		switch {
		case !v.Exists():
			f.flaw(flaw{rule: ruleBadShape, harm: crashes, fix: finding.SetAside, message: "a context edit without a replacement: the client ends when it opens the session", drop: true})
		case v.Type == gjson.String:
			f.flaw(flaw{rule: ruleBadShape, harm: hides, fix: finding.Exact, message: "a context edit whose replacement is a bare text: its target is not sent", cuts: wrap(v, `{"content":`, `}`)})
		}
	}
}

func (f *fact) flaw(one flaw) { f.flaws = append(f.flaws, one) }

// wrap puts something around a value.
func wrap(v gjson.Result, before, behind string) []session.Cut {
	return []session.Cut{{Start: v.Index, End: v.Index, New: []byte(before)}, {Start: v.Index + len(v.Raw), End: v.Index + len(v.Raw), New: []byte(behind)}}
}

func instead(v gjson.Result, by string) []session.Cut {
	return []session.Cut{{Start: v.Index, End: v.Index + len(v.Raw), New: []byte(by)}}
}

func (f *fact) message(rec *session.Record) {
	m := gjson.GetBytes(rec.Raw, "message")
	if !m.IsObject() {
		if m.Type == gjson.Null {
			f.flaw(flaw{rule: ruleBadShape, harm: crashes, fix: finding.SetAside, message: "a message record without its message: the client ends when it opens the session", cuts: instead(gjson.GetBytes(rec.Raw, "type"), `"custom","customType":"hist.lost-message"`)})
		}
		return
	}
	f.role = f.spelled(m)
	content := m.Get("content")
	switch f.role {
	case "assistant":
		stop := m.Get("stopReason").String()
		f.dropped, f.spare = stop == "error" || stop == "aborted", spareAt(rec.Raw, "message", "stopReason")
		if stop == "error" {
			f.said = m.Get("errorMessage").String()
		}
		if u := m.Get("usage"); u.Type == gjson.Null {
			cut := session.SetMember(rec.Raw, "message", "usage", []byte(noUsage))
			f.flaw(flaw{rule: ruleBadShape, harm: failsNew, fix: finding.Exact, message: shapeMessage + "an answer does not say how many tokens it took", cuts: []session.Cut{cut}})
		}
		f.plainIDs = m.Get("api").String() == "anthropic-messages"
		f.content(rec, content)
	case "toolResult":
		f.answers, f.tool, f.spare = m.Get("toolCallId").Str, m.Get("toolName").String(), spareAt(rec.Raw, "message", "toolCallId")
		f.content(rec, content)
		f.says = 1
	case "user":
		f.content(rec, content)
	case "custom", "hookMessage":
		f.says = 1
	case "bashExecution":
		if !m.Get("excludeFromContext").Bool() {
			f.says = 1
		}
	case "system":
		f.target = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(m.Get("sections.cwd").String(), "<cwd>"), "</cwd>"))
		bad := false
		if tools := m.Get("toolsAdded"); tools.IsArray() {
			tools.ForEach(func(_, t gjson.Result) bool {
				bad = bad || !isText(t.Get("name"))
				return true
			})
		}
		if bad {
			f.flaw(flaw{rule: ruleBadShape, harm: hides, fix: finding.SetAside, message: "a system message with tools that have no name: the model is sent no tools at all; the client writes it anew", drop: true})
		}
	}
}

// spelled is the role of a message, by its shape if it says none that the client knows.
func (f *fact) spelled(m gjson.Result) string {
	role := m.Get("role")
	switch role.String() {
	case "user", "assistant", "toolResult", "bashExecution", "custom", "system", "hookMessage", "branchSummary", "compactionSummary":
		return role.String()
	}
	should := ""
	switch {
	case m.Get("toolCallId").Exists():
		should = "toolResult"
	case m.Get("stopReason").Exists() || m.Get("usage").Exists() || m.Get("provider").Exists():
		should = "assistant"
	case m.Get("sections").Exists():
		should = "system"
	case m.Get("content").Exists():
		should = "user"
	default:
		return role.String()
	}
	cuts := instead(role, `"`+should+`"`)
	if !role.Exists() {
		cuts = []session.Cut{{Start: m.Index + 1, End: m.Index + 1, New: []byte(`"role":"` + should + `",`)}}
	}
	f.flaw(flaw{rule: ruleUnknownRole, harm: hides, fix: finding.Exact, message: "a message of a role that the client does not send; by its members its role is " + should, cuts: cuts})
	return should
}

// content looks at what a message says.
func (f *fact) content(rec *session.Record, v gjson.Result) {
	bad := func(h harm, message string, cuts []session.Cut) {
		f.flaw(flaw{rule: ruleBadShape, harm: h, fix: finding.Exact, message: shapeMessage + message, cuts: cuts})
	}
	switch {
	case v.IsArray():
		v.ForEach(func(_, b gjson.Result) bool {
			f.block(b)
			return true
		})
		return
	case !v.Exists():
		bad(failsOld, "a message has no content (before 0.87.0)", []session.Cut{session.SetMember(rec.Raw, "message", "content", []byte("[]"))})
		return
	case v.Type == gjson.Null:
		bad(failsOld, "the content of a message is null (before 0.87.0)", instead(v, "[]"))
		return
	case v.Type == gjson.String && f.role == "user":
	case v.Type == gjson.String:
		bad(fails, "the content of a message is a text where a list is due", wrap(v, `[{"type":"text","text":`, `}]`))
	case v.IsObject():
		bad(fails, "the content of a message is one block where a list is due", wrap(v, "[", "]"))
		f.block(v)
		return
	default:
		bad(fails, "the content of a message is neither text nor list", wrap(v, `[{"type":"text","text":"`, `"}]`))
	}
	f.says += min(1, len(v.String()))
}

// block looks at one block of a message's content.
func (f *fact) block(b gjson.Result) {
	bad := func(h harm, fix finding.Fix, message string, cuts []session.Cut) {
		f.flaw(flaw{rule: ruleBadShape, harm: h, fix: fix, message: shapeMessage + message, cuts: cuts})
	}
	out := []session.Cut{{Start: b.Index, End: b.Index + len(b.Raw), Element: true}}
	if !b.IsObject() {
		if b.Type == gjson.String {
			bad(fails, finding.Exact, "a block of a message is a bare text", wrap(b, `{"type":"text","text":`, `}`))
			f.says += min(1, len(b.Str))
			return
		}
		bad(fails, finding.Exact, "a block of a message is no object", out)
		return
	}
	typ := b.Get("type").String()
	if typ == "" {
		for _, guess := range [][2]string{{"text", "text"}, {"thinking", "thinking"}, {"arguments", "toolCall"}, {"data", "image"}} {
			if b.Get(guess[0]).Exists() && typ == "" {
				typ = guess[1]
				harm := hidesBlock
				if typ == "toolCall" {
					harm = hides // and its result has no call
				}
				f.flaw(flaw{rule: ruleBadShape, harm: harm, fix: finding.Exact, message: "a block of a message does not say what it is, and is not sent; by its members it is " + typ, cuts: []session.Cut{typed(b, typ)}})
			}
		}
	}
	switch typ {
	case "text", "thinking":
		v := b.Get(typ)
		switch {
		case v.Type == gjson.Null:
			bad(fails, finding.SetAside, "a "+typ+" block has no text", out)
		case v.Type != gjson.String:
			bad(fails, finding.Exact, "the text of a block is no text", instead(v, string(quote(v.Raw))))
			f.says++
		case v.Str != "" || isText(b.Get(typ+"Signature")):
			f.says++
		}
	case "image":
		f.image(b)
		f.says++
	case "toolCall":
		if f.role == "assistant" {
			f.call(b)
		}
	}
}

// typed names the type of a block.
func typed(b gjson.Result, typ string) session.Cut {
	if v := b.Get("type"); v.Exists() {
		return session.Cut{Start: v.Index, End: v.Index + len(v.Raw), New: quote(typ)}
	}
	return session.Cut{Start: b.Index + 1, End: b.Index + 1, New: []byte(`"type":"` + typ + `",`)}
}

// What the Messages API is known to refuse in calls and images.
var (
	idLimits = api.LimitsOf("tool_use", "id")
	maxImage = api.LimitsOf("image", "source.data").Most("longest") // bytes of base64
)

// isPlain says whether the Messages API takes an id.
func isPlain(id string) bool {
	_, wrong := idLimits.WrongText("anthropic", id)
	return !wrong
}

// newID says whether an id is one that the API takes for a further call of the answer.
func (f *fact) newID(id string) bool {
	return (!f.plainIDs || isPlain(id)) && !slices.ContainsFunc(f.calls, func(c call) bool { return c.id == id })
}

// call looks at a call.
func (f *fact) call(b gjson.Result) {
	c := call{file: b.Get("arguments.path").String()}
	for _, m := range []struct {
		key string
		to  *string
	}{{"id", &c.id}, {"name", &c.name}} {
		if v := b.Get(m.key); isText(v) && (m.key != "id" || f.newID(v.Str)) {
			*m.to = v.Str
		} else {
			f.flaw(flaw{rule: ruleBadCall, harm: refused, fix: finding.Exact, message: "a call without a usable " + m.key + ": the API refuses it", cuts: []session.Cut{memberOf(b, m.key)}, call: len(f.calls) + 1, member: m.key})
		}
	}
	if args := b.Get("arguments"); !args.IsObject() {
		fix, by := finding.StandIn, "{}"
		if args.Type == gjson.String && jsonl.Valid([]byte(args.Str)) && gjson.Parse(args.Str).IsObject() {
			fix, by = finding.Exact, args.Str
		}
		cut := memberOf(b, "arguments")
		cut.New = append(cut.New, by...)
		f.flaw(flaw{rule: ruleBadCall, harm: refused, fix: fix, message: "a call whose arguments are no object: the API refuses it", cuts: []session.Cut{closed(cut)}})
	}
	f.calls = append(f.calls, c)
	f.says++
}

// memberOf is the cut that sets a member of a block, with what stands in front of the value.
func memberOf(b gjson.Result, key string) session.Cut {
	if v := b.Get(key); v.Exists() {
		return session.Cut{Start: v.Index, End: v.Index + len(v.Raw)}
	}
	return session.Cut{Start: b.Index + 1, End: b.Index + 1, New: append(quote(key), ':')}
}

// closed ends a cut that adds a member in front of others.
func closed(c session.Cut) session.Cut {
	if c.Start == c.End {
		c.New = append(c.New, ',')
	}
	return c
}

// image looks at an image.
func (f *fact) image(b gjson.Result) {
	media, data := b.Get("mimeType"), b.Get("data")
	v := image.Check([]byte("data:" + media.String() + ";base64," + data.String()))
	switch {
	case v.Fault == "" && v.Declared == v.Real && len(data.Str) <= maxImage:
	case v.Fault == "" && v.Real != "" && len(data.Str) <= maxImage:
		cut := memberOf(b, "mimeType")
		cut.New = append(cut.New, `"image/`+v.Real+`"`...)
		f.flaw(flaw{rule: ruleRefusedImage, harm: refused, fix: finding.Exact, message: "an image that the API refuses: its data is " + v.Real, cuts: []session.Cut{closed(cut)}})
	default:
		f.flaw(flaw{rule: ruleRefusedImage, harm: refused, fix: finding.StandIn, message: "an image that the API refuses: its data can't be read, or is too long", cuts: instead(b, `{"type":"text","text":"[hist: an image stood here; the API refuses it]"}`)})
	}
}
