package codex

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// readSent is what the client of a version sends of a session.
func readSent(text []byte, at agent.ReadAt, version string) (*session.Sent, error) {
	r := newSending(at)
	r.version = version
	r.read(text, 0)
	r.s.Named = r.named(at.Base)
	read := clientSends(&r.s, traitsOf(func(major, minor int) bool { return Before(version, major, minor) }))
	sent := &session.Sent{Refused: read.Refused, Settings: r.settings}
	if sent.Refused == "" {
		sent.Refused = r.refused
	}
	for i := range r.s.Records {
		if c := &r.s.Records[i]; c.Kind == session.Rollback && c.Segment == r.own {
			sent.Steers = append(sent.Steers, r.origins[i].pos)
		}
	}
	if read.Base >= 0 && r.s.Records[read.Base].Segment == r.own {
		sent.Compacted = r.origins[read.Base].pos
	}
	if at.Each == nil {
		sent.Items = make([]session.Item, 0, len(read.Items))
	}
	for i := range read.Items {
		t := &read.Items[i]
		if i == sent.Inherited && r.inherits(t.Record) {
			sent.Inherited++
		}
		item := r.item(t)
		item.Message, item.Block = i, -1
		if at.Each != nil {
			at.Each(&item)
			continue
		}
		sent.Items = append(sent.Items, item)
	}
	if sent.Refused == "" && at.Each == nil {
		sent.Unsent = r.unsent(sent.From())
	}
	return sent, nil
}

// unsent are the session's own records of the history that are not among those that items come from.
func (r *sending) unsent(from map[session.Pos]bool) (list []session.Pos) {
	for i := range r.s.Records {
		if c := &r.s.Records[i]; !r.inherits(i) && c.Flags&isModel != 0 && c.Flags&isUnread == 0 && !from[r.origins[i].pos] {
			list = append(list, r.origins[i].pos)
		}
	}
	return list
}

// sending decodes a session, and those that it goes on from, for the reader.
type sending struct {
	at      agent.ReadAt
	version string // of the client that will read the session; "" is the newest
	s       clientSession
	origins []origin       // of s.Records
	texts   map[int][]byte // of the files, by segment
	held    *Held
	spans   [fieldCount]jsonl.Span
	turns   session.Turns
	turn    int
	header  session.Info
	own     int // the segment of the session itself
	seen    map[string]bool
	refused string
	from    int64 // the first ordinal that is a sub-agent's own
	// settings are what the session itself decides of each request, decided those that its header does.
	settings []session.Setting
	decided  map[string]bool
	dead     map[recordFlags]bool // what the records that the client does not read have had in the file so far
}

// origin is where a record stands.
type origin struct {
	pos     session.Pos
	at, end int // where its line lies
	turn    int
	held    [][2]int // where the items that a compaction holds lie in the line
}

func newSending(at agent.ReadAt) *sending {
	return &sending{at: at, held: NewHeld(), texts: map[int][]byte{}, seen: map[string]bool{}, decided: map[string]bool{}}
}

// longestLineage is how many sessions a fork may go on from, one behind the other.
const longestLineage = 64

// read decodes a file. What it goes on from comes first.
func (r *sending) read(text []byte, depth int) {
	header := firstHeader(text)
	if depth == 0 {
		r.seen[header.ID] = true
		if name := readName(r.at.Base); name.Canonical {
			r.seen[name.FileID] = true
		}
	}
	if base := header.BaseThread; base != "" && r.at.Parent != nil && r.refused == "" {
		r.inherit(base, depth)
	}
	if depth == 0 {
		r.header, r.own, r.settings, r.decided = header, 0, nil, map[string]bool{}
		if n := len(r.s.Records); n > 0 {
			r.own = r.s.Records[n-1].Segment + 1
		}
		r.s.Paginated, r.from = header.Paginated(), header.SubagentStart
		if header.SubagentStart > 0 {
			r.s.Inherits = header.SubagentStart - 1
		}
	}
	segment := 0
	if n := len(r.s.Records); n > 0 {
		segment = r.s.Records[n-1].Segment + 1
	}
	r.turns, r.turn, r.dead, r.texts[segment] = session.Turns{}, 0, map[recordFlags]bool{}, text
	no := int64(0)
	for at := 0; at < len(text); {
		end := len(text)
		next := end
		if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
			end, next = at+n, at+n+1
		}
		no++
		r.line(text, at, end, session.Pos{Line: no}, segment)
		at = next
	}
}

// inherit decodes the session with an id, which another one goes on from.
func (r *sending) inherit(id string, depth int) {
	past := []byte(nil)
	if !r.seen[id] && depth < longestLineage {
		past = r.at.Parent(id)
	}
	switch {
	case r.seen[id]:
		r.refused = "the sessions that it goes on from lead in a circle"
	case past == nil:
		r.refused = "the session that it goes on from is not there"
	case !firstHeader(past).Paginated():
		r.refused = "the session that it goes on from is not paginated"
	default:
		r.seen[id] = true
		r.read(past, depth+1)
	}
}

// firstHeader is what the first header of a file says.
func firstHeader(text []byte) session.Info {
	for rest := text; len(rest) > 0; {
		line, behind, _ := bytes.Cut(rest, []byte{'\n'})
		if IsHeader(line) {
			return ReadHeader(line)
		}
		if len(bytes.TrimSpace(line)) > 0 && bytes.Contains(line, []byte(`"ordinal"`)) {
			return session.Info{Mode: "paginated"}
		}
		rest = behind
	}
	return session.Info{}
}

// line decodes a line.
func (r *sending) line(text []byte, at, end int, pos session.Pos, segment int) {
	line := text[at:end]
	clear(r.spans[:])
	v := shape.ScanOne(line, r.spans[:])
	c := clientRecord{Segment: segment}
	o := origin{pos: pos, at: at, end: end}
	switch {
	case v.Fault != jsonl.None || !v.Object || v.Surrogate >= 0:
		c.Kind = session.Unreadable
		c.Flags |= flag(len(bytes.TrimSpace(line)) == 0, isBlank) | flag(!utf8.Valid(line), isForeign)
	default:
		rec := session.Record{Pos: pos, Raw: line, Spans: r.spans[:]}
		Decoder{}.Decode(&rec)
		c = r.fact(&rec, segment)
		if v.Depth > (Decoder{}).MaxDepth() {
			c.Flags |= isUnread
		}
		if rec.Kind == session.Header && segment == r.own && !r.s.Header {
			r.s.Header = len(HeaderFaults(line, Known{Client: r.version})) == 0
		}
		if segment == r.own && (rec.Kind == session.Header || rec.Kind == session.Context) {
			r.setting(&rec)
		}
		r.turns.See(&rec)
		if rec.Begins {
			r.turn++
		}
		if rec.Kind == session.Compaction {
			r.held.Each(&rec, func(item *session.Record, at int) {
				one := clientRecord{Kind: item.Kind, Family: item.Family, Flags: isUnread}
				if item.Kind != session.Unreadable {
					one = r.itemFact(item)
				}
				c.Held = append(c.Held, one)
				o.held = append(o.held, [2]int{at, at + len(item.Raw)})
			})
			said := gjson.GetBytes(line, "payload.replacement_history_metadata")
			uneven := said.Exists() && said.Type != gjson.Null && (!said.IsArray() || said.Get("#").Int() != int64(len(c.Held)))
			c.Flags |= flag(uneven, isUneven)
		}
	}
	o.turn = r.turn
	r.keep(c, o)
}

// setting keeps what a record decides of each request: the first header names the provider and how agents work together; where it says
// nothing of that, the contexts do (measured with 0.145.0 and 0.171.0).
func (r *sending) setting(rec *session.Record) {
	for _, name := range []string{session.ProviderSetting, session.AgentsSetting} {
		v := gjson.GetBytes(rec.Raw, "payload."+name)
		if r.decided[name] || v.Index == 0 || name == session.ProviderSetting && rec.Kind != session.Header {
			continue
		}
		r.decided[name] = rec.Kind == session.Header
		r.settings = append(r.settings, session.Setting{Name: name, Pos: rec.Pos, Value: json.RawMessage(rec.Raw[v.Index : v.Index+len(v.Raw)])})
	}
}

// keep keeps a record for the reader. A file may hold millions that are not sent: of those that the client does not read only the first of
// a kind tells the reader anything, and of those that it reads, in a row, the first of the file and the last.
func (r *sending) keep(c clientRecord, o origin) {
	n := len(r.s.Records)
	switch {
	case !isSilent(&c):
	case c.Kind == session.Unreadable || c.Flags&(isUnread|hasBadNumber) != 0:
		if r.dead[c.Flags] {
			return
		}
		r.dead[c.Flags] = true
	case n > 1 && r.s.Records[n-2].Segment == c.Segment && isSilent(&r.s.Records[n-1]) && r.s.Records[n-1].Flags&^hasOrdinal == 0:
		r.s.Records, r.origins = r.s.Records[:n-1], r.origins[:n-1]
	}
	r.s.Records, r.origins = append(r.s.Records, c), append(r.origins, o)
}

// isSilent says whether a record neither is sent nor changes what is.
func isSilent(c *clientRecord) bool {
	return c.Flags&isModel == 0 && c.Kind != session.Header && c.Kind != session.Compaction && c.Kind != session.Rollback
}

func flag(is bool, f recordFlags) recordFlags {
	if is {
		return f
	}
	return 0
}

// fact is what the client looks at in a record.
func (r *sending) fact(rec *session.Record, segment int) clientRecord {
	c := r.itemFact(rec)
	c.Segment = segment
	switch rec.Ordinal.State {
	case session.GoodOrdinal:
		c.Ordinal, c.Flags = rec.Ordinal.Value, c.Flags|hasOrdinal
	case session.BadOrdinal:
		c.Flags |= hasBadNumber
	}
	switch rec.Kind {
	case session.Rollback:
		c.Turns = int(max(0, gjson.ParseBytes(Field(rec, FieldNumTurns)).Int()))
	case session.Compaction:
		raw := Field(rec, FieldReplacement)
		isList := len(raw) > 0 && raw[0] == '['
		c.Flags |= flag(!IsString(rec, FieldMessage), hasNoMessage) | flag(isList, hasList) | flag(len(raw) > 0 && !isList && raw[0] != 'n', hasBadList)
	}
	return c
}

// itemFact is what the client looks at in an item, whether it is a record of its own or one that a compaction holds.
func (r *sending) itemFact(rec *session.Record) clientRecord {
	c := clientRecord{Kind: rec.Kind, Family: rec.Family, Call: string(rec.CallID)}
	c.Flags = flag(rec.Model, isModel) | flag(rec.Boundary, isPrompt)
	if out := Field(rec, FieldOutput); rec.Kind == session.Output && len(out) > 0 && out[0] == '[' {
		c.Flags |= isListOutput
	}
	if rec.Model && !rec.Sound && rec.Type != "inter_agent_communication" {
		args := Field(rec, FieldArguments)
		asValue := rec.Type == "response_item/function_call" && len(args) > 0 && args[0] != '"' // read as a value, not as a text (measured)
		c.Flags |= flag(asValue || unreadItem(rec), isUnread)
	}
	return c
}

// named says whether the header names the thread that the file is named for.
func (r *sending) named(base string) bool {
	name := readName(base)
	return !name.Canonical || r.header.ID == "" || strings.EqualFold(name.ThreadID, r.header.ID)
}

// inherits says whether a record is another session's: of one that this one goes on from, or what a sub-agent was given.
func (r *sending) inherits(i int) bool {
	c := &r.s.Records[i]
	return c.Segment != r.own || r.from > 0 && c.Flags&hasOrdinal != 0 && c.Ordinal < r.from
}

// item is an item of the request, without its place in it.
func (r *sending) item(t *clientItem) session.Item {
	o := &r.origins[t.Record]
	line := r.texts[r.s.Records[t.Record].Segment][o.at:o.end]
	item := session.Item{Pos: o.pos, Turn: o.turn}
	if r.s.Records[t.Record].Segment != r.own {
		item.Turn = 0
	}
	if t.Made == madeSummary {
		item.Kind, item.Role, item.Path = session.SummaryItem, "user", "payload.message"
		v := gjson.GetBytes(line, item.Path)
		item.Content = json.RawMessage(line[v.Index : v.Index+len(v.Raw)])
		said := session.NewSaying(item.Kind, item.Role)
		said.Text(v.Str)
		item.Sum = said.Sum()
		return item
	}
	var v gjson.Result
	if t.Held > 0 { // the line holds many: it is not read again for each
		at := o.held[t.Held-1]
		v = gjson.Parse(unsafe.String(&line[at[0]], at[1]-at[0]))
		item.Path = "payload.replacement_history." + strconv.Itoa(t.Held-1)
		item.Content = json.RawMessage(line[at[0]:at[1]])
	} else if v, item.Path = gjson.Get(unsafe.String(unsafe.SliceData(line), len(line)), "payload"), "payload"; v.Index > 0 {
		item.Content = json.RawMessage(line[v.Index : v.Index+len(v.Raw)])
	}
	describe(&item, v)
	switch t.Made {
	case madeAborted:
		made(&item, "aborted")
	case madeNothing:
		made(&item, "nothing found")
	}
	return item
}

// made turns a call into the output that the client makes up for it.
func made(item *session.Item, why string) {
	item.Made, item.Path, item.Content = why, "", nil
	item.Kind, item.ID, item.Tool, item.Sum = session.OutputItem, "", "", [16]byte{}
}

// describe says what an item is, by its members; of those that are there twice the last counts.
func describe(item *session.Item, payload gjson.Result) {
	m := session.Members(payload)
	item.ID, item.CallID, item.Role = text(m["id"]), text(m["call_id"]), text(m["role"])
	kind := text(m["type"])
	switch {
	case kind == "message":
		item.Kind = session.TextItem
		if item.Role == "developer" || item.Role == "user" && contextual([]byte(payload.Get("content.0.text").Raw)) {
			item.Kind = session.ContextItem
		}
	case kind == "reasoning":
		item.Kind = session.ReasoningItem
	case kind == "compaction", kind == "compaction_summary", kind == "context_compaction":
		item.Kind = session.SummaryItem
	case strings.HasSuffix(kind, "_call") && kind != "web_search_call" && kind != "image_generation_call":
		item.Kind, item.Tool = session.CallItem, text(m["name"])
	case strings.HasSuffix(kind, "_output"):
		item.Kind = session.OutputItem
	case kind == "agent_message", kind == "":
		item.Kind = session.TextItem
	default:
		item.Kind = session.OtherItem
	}
	said := session.NewSaying(item.Kind, item.Role)
	switch out := m["output"]; {
	case item.Kind == session.OutputItem && out.Type == gjson.String:
		said.Text(out.Str)
	case item.Kind == session.OutputItem && out.Get("#").Int() == 1 && out.Get("0.type").Str == "input_text":
		said.Text(out.Get("0.text").Str)
	default:
		said.Value(payload, "id", "call_id", "metadata", "status", "internal_chat_message_metadata_passthrough")
	}
	item.Sum = said.Sum()
}

func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return strings.Clone(v.Str)
}
