package pi

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// The fields that every record is scanned for, as indexes of session.Record.Spans.
const (
	fieldType = iota
	fieldID
	fieldParent
	fieldTime
	fieldRole
	fieldContent
	fieldCall // of a result, the call that it answers
	fieldTool
	fields
)

var shape = func() *jsonl.Shape {
	s, err := jsonl.Compile("type", "id", "parentId", "timestamp", "message.role", "message.content", "message.toolCallId", "message.toolName")
	if err != nil {
		panic(err) // the paths are constants
	}
	return s
}()

// Decoder reads session files of every version.
type Decoder struct{ session.WholeRecords }

// types are the records that clients write, and what they are to the model. A record of any other type is a link of the chain, if it has an
// id and names a parent.
var types = map[string]session.Kind{
	"session": session.Header, "message": session.Message, "model_change": session.Context, "compaction": session.Compaction,
	"thinking_level_change": session.Other, "session_info": session.Other, "label": session.Other, "custom": session.Other,
	"custom_message": session.Message, "branch_summary": session.Message, "context_edit": session.Other, "usage": session.Other,
}

// starts are the first bytes of a record, also where a script has put spaces into it.
var starts = func() (list [][]byte) {
	for _, begin := range []string{`{"type":"`, `{"type": "`, `{ "type": "`} {
		for t := range types {
			list = append(list, []byte(begin+t+`"`))
		}
	}
	return append(list, []byte(`{"customType":"`))
}()

func (Decoder) Shape() *jsonl.Shape { return shape }
func (Decoder) Paths() int          { return fields }
func (Decoder) Starts() [][]byte    { return starts }

// Weigh counts what the client needs of a record.
func (Decoder) Weigh(rec *session.Record) int {
	record := gjson.ParseBytes(rec.Raw)
	w := session.Tells(record, needed, neededIn)
	for _, member := range []string{"id", "parentId", "timestamp"} {
		if record.Get(member).String() != "" {
			w++
		}
	}
	if _, known := types[text(rec, fieldType)]; known {
		w++
	}
	return w
}

// Doubled is the offset of a key that stands twice in a block.
func (Decoder) Doubled(rec *session.Record) int {
	content := rec.Spans[fieldContent]
	if content.End == 0 || rec.Raw[content.Start] != '[' {
		return -1
	}
	if at := session.DoubledInList(content.Of(rec.Raw)); at >= 0 {
		return content.Start + at
	}
	return -1
}

// IsName says whether a member holds a name or an id.
func (Decoder) IsName(key []byte) bool {
	return outline.Values[string(key)] || string(key) == "name"
}

// Envelope says whether an object is a record: it has a type that clients write, or an id and a parent.
func (Decoder) Envelope(rec *session.Record) bool {
	_, known := types[text(rec, fieldType)]
	return known && (text(rec, fieldID) != "" || text(rec, fieldTime) != "") || text(rec, fieldID) != "" && len(raw(rec, fieldParent)) > 0
}

// Complete says whether a record that was cut, and closed behind its last whole member, still says all that the client needs. Calls are
// no longer the model's own if something of them is gone.
func (Decoder) Complete(rec *session.Record) bool {
	if rec.Kind == session.Header || text(rec, fieldID) == "" || len(raw(rec, fieldParent)) == 0 {
		return false
	}
	switch text(rec, fieldType) {
	case "message":
		return len(raw(rec, fieldContent)) > 2 && (text(rec, fieldRole) != "toolResult" || text(rec, fieldCall) != "")
	case "compaction", "branch_summary":
		return false
	}
	return true
}

// TextCut says whether the byte at an offset lies in a text that was said, or that a tool gave out.
func (Decoder) TextCut(rec *session.Record, at int) bool {
	span := rec.Spans[fieldContent]
	if at < span.Start || at >= span.End || text(rec, fieldRole) == "" {
		return false
	}
	head := rec.Raw[span.Start:at]
	words := max(bytes.LastIndex(head, []byte(`"text":"`)), bytes.LastIndex(head, []byte(`"thinking":"`)))
	return len(head) == 0 || words > bytes.LastIndex(head, []byte(`"arguments":`)) && words > bytes.LastIndex(head, []byte(`"data":"`)) && words > bytes.LastIndex(head, []byte(`Signature":"`))
}

// Decode fills rec from its fields.
func (Decoder) Decode(rec *session.Record) {
	typ := text(rec, fieldType)
	rec.Kind, rec.Type = types[typ], typ
	rec.Family, rec.Ordinal, rec.Prepared = session.NoFamily, session.Ordinal{}, nil
	rec.ID, rec.CallID, rec.TurnID, rec.Role = nil, nil, nil, nil
	rec.Model, rec.Boundary, rec.Answer = rec.Kind == session.Compaction || rec.Kind == session.Message, false, false
	if typ != "message" {
		return
	}
	role := text(rec, fieldRole)
	rec.Type, rec.Role = "message/"+role, bare(raw(rec, fieldRole))
	switch role {
	case "user":
		rec.Boundary = true
	case "assistant":
		rec.Answer = true
		if bytes.Contains(raw(rec, fieldContent), []byte(`"toolCall"`)) {
			rec.Kind, rec.Family = session.Call, session.Function
		}
	case "toolResult":
		rec.Kind, rec.Family, rec.CallID = session.Output, session.Function, bare(raw(rec, fieldCall))
	case "system":
		rec.Kind, rec.Model = session.Context, false
	}
}

// raw is a field as it stands in the record, nil if it is absent.
func raw(rec *session.Record, f int) []byte {
	if f >= len(rec.Spans) {
		return nil
	}
	return rec.Spans[f].Of(rec.Raw)
}

func bare(quoted []byte) []byte {
	if len(quoted) < 2 || quoted[0] != '"' {
		return nil
	}
	return quoted[1 : len(quoted)-1]
}

// text is a text field; "" if it is absent or no text.
func text(rec *session.Record, f int) string {
	b := bare(raw(rec, f))
	if bytes.IndexByte(b, '\\') >= 0 {
		return gjson.ParseBytes(raw(rec, f)).String()
	}
	return string(b)
}

// fact is what a record says, as far as rules and reader ask. It is not changed but by a view, in a copy of its own.
type fact struct {
	ref        finding.Ref
	kind, role string // its type, and of a message its role
	id, up     string // its own id and its parent's; "" if it has none
	root       bool   // it says that it has no parent: null
	idAt, upAt slot
	when       int64 // milliseconds since 1970; 0 if it does not say
	sum        uint64
	dropped    bool   // an answer that the client leaves out, with its calls: it failed, or was stopped
	said       string // of such an answer: the error; uncalled says that it is about a result without a call, twins about two of one id
	uncalled   bool
	twins      bool
	calls      []call
	named      map[string]bool // the ids of its calls, while it is read
	answers    string          // of a result: the id of the call; tool is its tool
	tool       string
	gave       uint64 // and what it gave, by its hash
	target     string // of a compaction: the first record that it keeps; files are those that it has summed up
	files      []string
	split      bool // of a compaction: its summary says that it ends within a turn; summed, that it tells anything
	summed     bool
	idle       bool // an answer that says only that there is nothing to do
	spare      slot // of a result: the id of its call; of an answer: why it ended; of a compaction: the first record that it keeps; of a header: its version
	plainIDs   bool // an API was asked that takes only plain ids of calls; google: one that wants the name of the tool with a result
	google     bool
	toolAt     *slot // of a result that does not name its tool
	says       int   // how many items it is sent as
	flaws      []flaw
	old        bool   // of a header: its version says that records have no ids
	rewritten  bool   // of a header: the client writes a file of its version anew at the next resume, without lines that are no record
	unread     bool   // the client reads no record of its line as it stands
	was        *fact  // what it reads of that instead; nil: this
	gone       bool   // set aside
	openClaw   bool   // OpenClaw wrote it
	mirror     bool   // OpenClaw's note of what it has sent to a chat: it looks like an answer, but no model gave it
	noTool     bool   // a result: there is no tool of its name, or it does not take what the call gave it
	madeUp     bool   // a result: OpenClaw made it up
	made       []byte // of a record that a repair adds: its line
	behind     int    // the index of the record that it is added behind; of one of the file: its own, unless it is moved
	index      int    // its own, once it is added
}

var seed = maphash.MakeSeed()

// hexID is an id as clients give them.
var hexID = regexp.MustCompile(`^[0-9a-f]{8}$`)

// Prepare reads the facts of records where their lines are scanned.
func (Decoder) Prepare() func(rec *session.Record) {
	return func(rec *session.Record) { rec.Prepared = factOf(rec) }
}

// factOf reads the facts of one record.
func factOf(rec *session.Record) *fact {
	f := &fact{kind: text(rec, fieldType), role: text(rec, fieldRole), id: text(rec, fieldID), up: text(rec, fieldParent), sum: maphash.Bytes(seed, rec.Raw)}
	brace := bytes.IndexByte(rec.Raw, '{') + 1
	f.idAt, f.upAt = slotAt(rec.Spans[fieldID], brace, "id"), slotAt(rec.Spans[fieldParent], brace, "parentId")
	f.root = string(raw(rec, fieldParent)) == "null"
	if t, err := time.Parse(time.RFC3339, text(rec, fieldTime)); err == nil {
		f.when = t.UnixMilli()
	}
	if _, known := types[f.kind]; !known && len(raw(rec, fieldParent)) == 0 {
		f.otherHeader(rec)
	}
	if f.kind == "custom" || f.kind == "custom_message" {
		by := gjson.GetBytes(rec.Raw, "customType").String()
		f.openClaw = by == "model-snapshot" || strings.HasPrefix(by, "openclaw")
	}
	f.read(rec)
	return f
}

// otherHeader takes a record for a header whose type is wrong, if it has all that only headers have.
func (f *fact) otherHeader(rec *session.Record) {
	r := gjson.ParseBytes(rec.Raw)
	if typ := r.Get("type"); r.Get("version").Type == gjson.Number && isText(r.Get("cwd")) && isText(r.Get("timestamp")) && f.id != "" && typ.Exists() {
		f.kind = "session"
		f.flaw(ruleWrongHeader, crashes, finding.Exact, "the header is of another type: the client refuses the file", instead(typ, `"session"`))
	}
}

// slot is where a member of a record is, or would go.
type slot struct {
	at  jsonl.Span
	key string // "" if the member is there
}

// slotAt is that of a member by its place, if it has one, in the object that begins at an offset.
func slotAt(at jsonl.Span, begin int, key string) slot {
	if at.Start < at.End {
		return slot{at: at}
	}
	return slot{jsonl.Span{Start: begin, End: begin}, key}
}

// slotIn is that of a member of an object.
func slotIn(object gjson.Result, key string) slot {
	v := object.Get(key)
	return slotAt(jsonl.Span{Start: v.Index, End: v.Index + len(v.Raw)}, object.Index+1, key)
}

// to sets the member.
func (s slot) to(value []byte) session.Cut {
	if s.key != "" {
		value = fmt.Appendf(nil, "%q:%s,", s.key, value)
	}
	return session.Cut{Start: s.at.Start, End: s.at.End, New: value}
}

// instead puts something in the place of a value.
func instead(v gjson.Result, by string) session.Cut {
	return session.Cut{Start: v.Index, End: v.Index + len(v.Raw), New: []byte(by)}
}

// isText says whether a value is a text that is not empty.
func isText(v gjson.Result) bool { return v.Type == gjson.String && v.Str != "" }

// known says whether a record is one of the chain: clients write its type, or it has an id and names a parent.
func (f *fact) known() bool {
	k, known := types[f.kind]
	return known && k != session.Header || f.id != "" && (f.up != "" || f.root)
}

// like says whether a record does what another does.
func (f *fact) like(g *fact) bool {
	return f.kind == g.kind && f.role == g.role && f.id == g.id && f.up == g.up && f.root == g.root && f.answers == g.answers && f.target == g.target &&
		f.says == g.says && len(f.flaws) == len(g.flaws) &&
		slices.EqualFunc(f.calls, g.calls, func(c, d call) bool { return c.id == d.id && c.name == d.name })
}

// answer says whether a model gave a record as an answer that is sent.
func (f *fact) answer() bool { return f.role == "assistant" && !f.dropped && !f.mirror }

func (f *fact) header() bool { return f.kind == "session" }

// quote is a text as JSON.
func quote(s string) []byte { return jsonl.AppendQuote(nil, s) }
