package pi

import (
	"hash/maphash"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// flaw is something in one record that its client, or a model's API, can't take.
type flaw struct {
	rule    *finding.Rule
	harm    harm
	fix     finding.Fix
	message string
	cuts    []session.Cut // that mend it; if there are none, the record has to go: nothing is lost, or nothing can be saved
}

func (f *fact) flaw(rule *finding.Rule, harm harm, fix finding.Fix, message string, cuts ...session.Cut) {
	f.flaws = append(f.flaws, flaw{rule, harm, fix, message, cuts})
}

// misshapen is a flaw of a shape: of one with which every prompt fails, in the client or at the API, that is said.
func (f *fact) misshapen(harm harm, fix finding.Fix, message string, cut session.Cut) {
	if harm != hidesBlock {
		message = "every prompt fails: " + message
	}
	f.flaw(ruleBadShape, harm, fix, message, cut)
}

// call is a call of an answer. An id or a name that the API does not take is empty here; the result of the call may say it.
type call struct {
	id, name     string
	written      string // the id as it stands there
	again        string // the id that it has, if an earlier call of the answer has it
	stray        int    // the number of the flaw because of which it is not sent; 0: none
	foreign      bool   // it is a block as the Messages API has them
	file         string // that it is about
	idAt, nameAt *slot  // of what the API does not take
}

// lacks says what the API does not take of a call; "" if it takes it.
func (c *call) lacks() string {
	switch {
	case c.id == "" && c.name == "":
		return "id and name"
	case c.id == "":
		return "id"
	case c.name == "":
		return "name"
	}
	return ""
}

// cuts set what the API does not take.
func (c *call) cuts(id, name string) (list []session.Cut) {
	if c.idAt != nil {
		list = append(list, c.idAt.to(quote(id)))
	}
	if c.nameAt != nil {
		list = append(list, c.nameAt.to(quote(name)))
	}
	return list
}

// harm is what a flaw does, in which versions.
type harm uint8

const (
	harmless   harm = iota
	hides           // it is not sent
	hidesBlock      // one of its blocks is not
	refused         // the API refuses the request
	strange         // the same, unless a model has answered behind it
	fails           // every prompt ends with an error before anything is sent
	failsOld        // the same, in versions that read no content as an error
	failsNew        // the same, in versions that read the usage of every answer
	crashes         // the client ends when it opens the file
)

// read looks into the body of a record.
func (f *fact) read(rec *session.Record) {
	r := gjson.ParseBytes(rec.Raw)
	switch f.kind {
	case "session":
		v := r.Get("version")
		number := v.Type == gjson.Null || v.Type == gjson.Number
		f.old, f.rewritten, f.spare = number && v.Num < 2, number && v.Num < 3, slotIn(r, "version")
	case "message":
		if m := r.Get("message"); m.IsObject() {
			f.message(m)
		} else if m.Type == gjson.Null {
			f.flaw(ruleBadShape, crashes, finding.SetAside, "a message record without its message: the client ends when it opens the session", instead(r.Get("type"), `"custom","customType":"hist.lost-message"`))
		}
	case "custom_message":
		f.content(r, r.Get("content"))
	case "branch_summary":
		f.says = min(1, len(r.Get("summary").String()))
	case "compaction":
		summary := r.Get("summary").String()
		f.target, f.spare, f.says = r.Get("firstKeptEntryId").String(), slotIn(r, "firstKeptEntryId"), 1
		f.split = strings.Contains(summary, "(split turn)")
		for _, name := range append(r.Get("details.readFiles").Array(), r.Get("details.modifiedFiles").Array()...) {
			f.files = append(f.files, name.String())
		}
		f.summed = !saysNothing.MatchString(summary)
	case "context_edit":
		switch v := r.Get("replacement"); {
		case !v.Exists():
			f.flaw(ruleBadShape, crashes, finding.SetAside, "a context edit without a replacement: the client ends when it opens the session")
		case v.Type == gjson.String:
			f.flaw(ruleBadShape, hides, finding.Exact, "a context edit whose replacement is a bare text: its target is not sent", instead(v, `{"content":`+v.Raw+`}`))
		}
	}
}

// saysNothing are summaries that tell nothing: there is none, or OpenClaw could not make one, or found nothing to sum up, and says only so.
var saysNothing = regexp.MustCompile(`^\s*$|^(?:Context contained \d+ messages[^.\n]*\. )?Summary unavailable[^\n]*\s*$|^\s*##[^\n]*\nNo prior history\.\s*(?:(?:##[^\n]*\n|None(?: captured)?\.)\s*)*$`)

// message looks into a message.
func (f *fact) message(m gjson.Result) {
	f.role = f.spelled(m)
	content := m.Get("content")
	switch f.role {
	case "assistant":
		stop := m.Get("stopReason").String()
		f.dropped, f.spare = stop == "error" || stop == "aborted", slotIn(m, "stopReason")
		if stop == "error" {
			f.said = m.Get("errorMessage").String()
			for _, r := range api.Explain(f.said) {
				f.uncalled = f.uncalled || r.Mend == "no-call"
				f.twins = f.twins || r.Mend == "twin-call" || r.Mend == "twin-output"
			}
		}
		if m.Get("usage").Type == gjson.Null {
			f.misshapen(failsNew, finding.Exact, "an answer does not say how many tokens it took", slotIn(m, "usage").to([]byte(noUsage)))
		}
		api := m.Get("api").String()
		f.plainIDs, f.google = api == "anthropic-messages", strings.HasPrefix(api, "google-")
		f.content(m, content)
		if api == "openai-responses" || api == "openclaw-transcript" {
			f.mirror = m.Get("provider").String() == "openclaw" && slices.Contains(notesOfChat, m.Get("model").String()) && len(f.calls) == 0
			f.openClaw = f.mirror
		}
		f.idle = len(f.calls) == 0 && (strings.Contains(content.Raw, `"HEARTBEAT_OK"`) || strings.Contains(content.Raw, `"NO_REPLY"`))
	case "toolResult":
		f.answers, f.tool, f.spare = m.Get("toolCallId").Str, m.Get("toolName").String(), slotIn(m, "toolCallId")
		f.gave = maphash.String(seed, content.Raw)
		words := content.Get("0.text").String()
		f.noTool = words == "Tool "+f.tool+" not found" || strings.HasPrefix(words, "Validation failed for tool ")
		f.madeUp = strings.HasPrefix(words, "[") && strings.Contains(words, "missing tool result in session history")
		if f.tool == "" {
			at := slotIn(m, "toolName")
			f.toolAt = &at
		}
		f.content(m, content)
		f.says = 1
	case "user", "custom", "hookMessage":
		f.content(m, content)
	case "bashExecution":
		if !m.Get("excludeFromContext").Bool() {
			f.says = 1
		}
	case "system":
		f.target = toldCWD(m)
		if slices.ContainsFunc(m.Get("toolsAdded").Array(), func(t gjson.Result) bool { return !isText(t.Get("name")) }) {
			f.flaw(ruleBadShape, hides, finding.SetAside, "a system message with tools that have no name: the model is sent no tools at all; the client writes it anew")
		}
	}
}

// notesOfChat are what OpenClaw names as the model of its notes of a chat. A provider may have the same name as it, and a model give answers.
var notesOfChat = []string{"delivery-mirror", "gateway-injected"}

// toldCWD is the directory that a system message tells the model.
func toldCWD(message gjson.Result) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(message.Get("sections.cwd").String(), "<cwd>"), "</cwd>"))
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
	f.flaw(ruleUnknownRole, hides, finding.Exact, "a message of a role that the client does not send; by its members its role is "+should, slotIn(m, "role").to(quote(should)))
	return should
}

// content looks at what a message says.
func (f *fact) content(m, v gjson.Result) {
	switch {
	case v.IsArray():
		v.ForEach(func(_, b gjson.Result) bool {
			f.block(b)
			return true
		})
		f.named = nil
	case v.Type == gjson.Null:
		f.misshapen(failsOld, finding.Exact, "a message has no content (before 0.87.0)", slotIn(m, "content").to([]byte("[]")))
	case v.IsObject() && neededIn[v.Get("type").String()] != nil:
		f.misshapen(fails, finding.Exact, "the content of a message is one block where a list is due", instead(v, "["+v.Raw+"]"))
		f.block(v)
		f.named = nil
	case v.Type == gjson.String && !f.listed():
		f.says += min(1, len(v.Str))
	default:
		f.misshapen(fails, finding.Exact, "the content of a message is no list", instead(v, `[`+textBlock(v.String())+`]`))
		f.says += min(1, len(v.String()))
	}
}

// listed says whether what a message says must be a list: in a message of the user, or of an extension, it may be a text.
func (f *fact) listed() bool { return f.role == "assistant" || f.role == "toolResult" }

// textBlock is a block that says something.
func textBlock(words string) string { return `{"type":"text","text":` + string(quote(words)) + `}` }

// guesses tell by a member what a block is that does not say it in the client's words.
var guesses = [][2]string{{"text", "text"}, {"thinking", "thinking"}, {"arguments", "toolCall"}, {"data", "image"}}

// mostWords is how long a block may be, in bytes, that is written out as words.
const mostWords = 4096

// carries says whether a block holds more than words: a document, a file, or something as long as these.
func carries(b gjson.Result) bool {
	return b.Get("type").String() == "document" || len(b.Raw) > mostWords && !isText(b.Get("text")) ||
		slices.ContainsFunc([]string{"data", "file_data", "blob", "source", "file", "document", "image_url"}, func(key string) bool { return b.Get(key).Exists() })
}

// block looks at one block of a message's content. What is of no type that the client knows it leaves out of an answer or a result; in a
// message of the user it is sent as an image without data.
func (f *fact) block(b gjson.Result) {
	typ, stray := b.Get("type").String(), hidesBlock
	if !f.listed() {
		stray = strange
	}
	switch _, known := neededIn[typ]; {
	case b.Type == gjson.Null:
		f.misshapen(fails, finding.Exact, "a block of a message is no object", session.Without(b))
		return
	case !b.IsObject():
		f.misshapen(stray, finding.Exact, "a block of a message is no object", instead(b, textBlock(b.String())))
		f.says++
		return
	case !known:
		guess, held := "", stray == strange && carries(b)
		if k := slices.IndexFunc(guesses, func(g [2]string) bool { return b.Get(g[0]).Exists() }); k >= 0 && (typ == "" || stray == strange && (guesses[k][1] == "text" && !held || guesses[k][1] == "image" && soundImage(b))) {
			guess = guesses[k][1]
		} else if typ == "tool_use" && f.role == "assistant" && isText(b.Get("id")) {
			guess = "toolCall"
		}
		switch {
		case guess != "":
			typ = guess
			f.misshapen(stray, finding.Exact, "a block of a message is of no type that the client knows; by its members it is "+typ, slotIn(b, "type").to(quote(typ)))
		case stray == strange:
			fix, words := finding.Exact, b.Raw
			if held {
				fix, words = finding.StandIn, strings.TrimPrefix(b.Get("text").String()+"\n", "\n")+"[hist: a block of the type "+strconv.Quote(string(check.Clip([]byte(typ), 40)))+" stood here, which the client can't send]"
			}
			f.misshapen(stray, fix, "a block of a message is of no type that the client knows, and is sent as an image without data", instead(b, textBlock(words)))
			f.says++
		}
	}
	switch typ {
	case "text", "thinking":
		v, result := b.Get(typ), f.role == "toolResult"
		switch {
		case v.Type == gjson.Null && (result || typ == "thinking" && !isText(b.Get("thinkingSignature"))): // it is left out
		case v.Type == gjson.Null:
			f.misshapen(fails, finding.SetAside, "a "+typ+" block has no text", session.Without(b))
		case v.Type != gjson.String:
			harm := fails
			if result { // the client joins its texts
				harm = hidesBlock
			}
			if f.says++; !result || v.Type == gjson.JSON {
				f.misshapen(harm, finding.Exact, "the text of a block is no text", instead(v, string(quote(v.Raw))))
			}
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

// call looks at a call.
func (f *fact) call(b gjson.Result) {
	id, args := b.Get("id"), b.Get("arguments")
	c := call{id: id.Str, written: id.Str, name: b.Get("name").Str, file: args.Get("path").String()}
	if b.Get("type").String() != "toolCall" {
		c.stray, c.foreign = len(f.flaws), b.Get("type").String() == "tool_use"
	}
	if f.named == nil {
		f.named = map[string]bool{}
	}
	if c.id != "" && f.named[c.id] {
		c.id, c.again = "", c.id
	}
	if c.id == "" || f.plainIDs && !isPlain(c.id) {
		at := slotIn(b, "id")
		c.id, c.idAt = "", &at
	}
	if c.name == "" {
		at := slotIn(b, "name")
		c.nameAt = &at
	}
	if !args.IsObject() {
		fix, by := finding.StandIn, "{}"
		if in := b.Get("input"); in.IsObject() { // as the Messages API names it
			fix, by = finding.Exact, in.Raw
		} else if jsonl.Valid([]byte(args.Str)) && gjson.Parse(args.Str).IsObject() {
			fix, by = finding.Exact, args.Str
		}
		cut := slotIn(b, "arguments").to([]byte(by))
		if c.stray > 0 { // it is not sent as it stands
			is := &f.flaws[c.stray-1]
			is.fix, is.cuts = fix, append(is.cuts, cut)
		} else {
			f.flaw(ruleBadCall, refused, fix, "a call whose arguments are no object: the API refuses it", cut)
		}
	}
	f.named[c.id] = true
	f.calls = append(f.calls, c)
	f.says++
}

// strangers takes blocks as the Messages API has them for calls only if a result names them: the client leaves others out.
func (c *checker) strangers() {
	named := map[string]bool{}
	for i := range c.facts {
		named[c.facts[i].answers] = c.facts[i].answers != ""
	}
	for i := range c.facts {
		f := &c.facts[i]
		f.calls = slices.DeleteFunc(f.calls, func(call call) bool {
			out := call.foreign && !named[call.written]
			if out {
				f.flaws[call.stray-1].harm = harmless
				f.says--
			}
			return out
		})
	}
}

// readable is what can be read of an image, and whether the API takes that if its type is named.
func readable(b gjson.Result) (v api.ImageVerdict, ok bool) {
	v = api.CheckImage([]byte("data:" + b.Get("mimeType").String() + ";base64," + b.Get("data").String()))
	return v, v.Fault == "" && len(b.Get("data").Str) <= maxImage
}

// soundImage says whether a block is an image that the API takes.
func soundImage(b gjson.Result) bool {
	v, ok := readable(b)
	return ok && v.Real == v.Declared
}

// image looks at an image.
func (f *fact) image(b gjson.Result) {
	switch v, ok := readable(b); {
	case ok && v.Declared == v.Real:
	case ok:
		f.flaw(ruleRefusedImage, refused, finding.Exact, "an image that the API refuses: its data is "+v.Real, slotIn(b, "mimeType").to(quote("image/"+v.Real)))
	default:
		f.flaw(ruleRefusedImage, refused, finding.StandIn, "an image that the API refuses: its data can't be read, or is too long", instead(b, textBlock("[hist: an image stood here; the API refuses it]")))
	}
}

// content finds what in the records that are sent the client or the API can't take; of those that are not sent, what ends the client.
func (c *checker) content() (list []*found) {
	c.each(func(i int, f *fact) {
		for k, flaw := range f.flaws {
			h, drop := c.traits.harms(flaw.harm), flaw.cuts == nil
			if h == harmless || h == strange && c.now.taken[i] || h == refused && f.dropped || f.header() || h != crashes && !c.now.goes(i) && !c.old || c.old && drop {
				continue
			}
			one := c.find(i, flaw.rule, flaw.fix, "%s", flaw.message)
			if drop {
				if c.drop(one, i); h == hides {
					one.Impact = finding.Loses
				}
			} else {
				one.set(i, mended(k), flaw.cuts...)
				if flaw.fix != finding.Exact { // what it held is not known
					one.Lost = 1
				}
				if h == crashes {
					one.set(i, func(r *fact) { r.kind, r.role = "custom", "" })
				}
			}
			list = append(list, one)
		}
	})
	return list
}
