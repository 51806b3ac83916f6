package pi

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// viewOf is a text as its client reads it: each line that parses is a record, whatever it is; null is none.
func viewOf(text []byte, t traits) (v *view, lines [][]byte) {
	var facts []fact
	shut := ""
	if t.ReadsBOM {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	scanner := jsonl.NewScanner(shape)
	defer scanner.Done()
	rec := session.Record{Spans: make([]jsonl.Span, fields)}
	number := int64(0)
	for line := range bytes.Lines(text) {
		number++
		rec.Raw = bytes.TrimRight(line, "\r\n")
		f, value := readLine(scanner, &rec)
		switch {
		case string(bytes.TrimSpace(rec.Raw)) == "null":
			if t.NullRefused {
				shut = "a line says null"
			}
			continue
		case f == nil && !value:
			continue
		case f == nil:
			f = &fact{}
		}
		f.ref.Pos.Line = number
		facts, lines = append(facts, *f), append(lines, rec.Raw)
	}
	v = newView(facts)
	v.shut = shut
	v.number()
	return v, lines
}

// readLine reads a line as the client does, nil if it is no object; value says whether it is another value.
func readLine(scanner *jsonl.Scanner, rec *session.Record) (f *fact, value bool) {
	switch s := scanner.Scan(rec.Raw, rec.Spans); {
	case s.Fault != jsonl.None && s.Fault != jsonl.NotUTF8:
		return nil, false
	case !s.Object:
		return nil, true
	case s.Duplicate >= 0: // of two members with one key the last counts
		var first []session.Cut
		for _, pair := range session.DoubledMembers(rec.Raw) {
			first = append(first, pair.First)
		}
		rec.Raw = session.Blanked(rec.Raw, first...)
		scanner.Scan(rec.Raw, rec.Spans)
	}
	return factOf(rec), false
}

// factOfLine is what the client reads of a single line; nil if it is no record.
func factOfLine(line []byte) *fact {
	scanner := jsonl.NewScanner(shape)
	defer scanner.Done()
	f, _ := readLine(scanner, &session.Record{Raw: line, Spans: make([]jsonl.Span, fields)})
	return f
}

// readSent is what the client of a version sends of a session.
func readSent(text []byte, _ agent.ReadAt, version string) (*session.Sent, error) {
	t := traitsOf(version)
	v, lines := viewOf(text, t)
	r := v.read(t)
	s := &session.Sent{Refused: r.refused}
	switch {
	case r.round:
		s.Refused = "the chain of parents leads back to itself"
	case r.fails > 0:
		s.Refused = "every prompt ends with an error of the client, because of the shape of a record"
	}
	if leaf := v.leaf(); leaf >= 0 {
		s.Steers = []session.Pos{v.facts[leaf].ref.Pos}
	}
	turn, turns := 0, make([]int, len(v.facts))
	for i := range v.facts {
		if v.facts[i].role == "user" {
			turn++
		}
		turns[i] = turn
	}
	if r.mark >= 0 {
		s.Compacted = v.facts[r.mark].ref.Pos
	}
	sent := make([]bool, len(v.facts))
	w := &writer{sent: s, traits: t, message: -1, joins: r.asked.plainIDs, openAt: map[string][]int{}}
	for _, i := range r.sent {
		sent[i] = true
		if !r.uncalled[i] && !r.skips(&v.facts[i]) {
			w.record(&v.facts[i], lines[i], turns[i])
		}
	}
	for i := range v.facts {
		if f := &v.facts[i]; !sent[i] && f.says > 0 && !f.dropped && s.Refused == "" {
			s.Unsent = append(s.Unsent, f.ref.Pos)
		}
	}
	w.fill()
	return s, nil
}

// writer makes the items of a request.
type writer struct {
	sent    *session.Sent
	traits  traits
	message int
	block   int              // how many blocks of the message there are so far
	joins   bool             // results behind each other are one message of the Messages API
	results bool             // the newest message is one of results
	open    []*session.Item  // calls since the last message that is no result, nil where one has its result
	openAt  map[string][]int // by the id of a call, where those without a result stand in open
}

// next begins a message.
func (w *writer) next(results bool) {
	if !w.joins || !w.results || !results {
		w.message++
		w.block = 0
	}
	w.results = results
}

// record adds what is sent of a record.
func (w *writer) record(f *fact, line []byte, turn int) {
	if f.says == 0 || f.dropped {
		return
	}
	for k := range f.flaws {
		if w.traits.harms(f.flaws[k].harm) == hides && f.flaws[k].cuts != nil {
			return
		}
	}
	add := func(kind session.ItemKind, role, path string, v gjson.Result, more session.Item) {
		item := more
		item.Pos, item.Path, item.Kind, item.Role, item.Turn, item.Message, item.Block = f.ref.Pos, path, kind, role, turn, w.message, w.block
		w.block++
		item.Content = json.RawMessage(v.Raw)
		if v.Index > 0 && v.Index+len(v.Raw) <= len(line) {
			item.Content = line[v.Index : v.Index+len(v.Raw)]
		}
		item.Sum = sumOf(&item, v)
		w.sent.Items = append(w.sent.Items, item)
	}
	if f.role != "toolResult" {
		w.fill()
	}
	w.next(f.role == "toolResult")
	path, kind, role := "message.content", session.TextItem, f.role
	switch {
	case f.kind == "compaction" || f.kind == "branch_summary":
		path, kind, role = "summary", session.SummaryItem, "user"
	case f.kind == "custom_message":
		path, role = "content", "user"
	case f.role == "bashExecution":
		path, role = "message", "user"
	case f.role == "toolResult":
		kind = session.OutputItem
		if at := w.openAt[f.answers]; len(at) > 0 {
			w.open[at[0]], w.openAt[f.answers] = nil, at[1:]
		}
	}
	content := gjson.GetBytes(line, path)
	if kind == session.OutputItem || !content.IsArray() {
		add(kind, role, path, content, session.Item{CallID: f.answers, Tool: f.tool})
		return
	}
	for n, b := range content.Array() {
		path, is := path+"."+strconv.Itoa(n), session.Item{}
		switch typ := b.Get("type").String(); {
		case typ == "text" && b.Get("text").String() != "":
			add(session.TextItem, role, path, b, is)
		case typ == "thinking" && (b.Get("thinking").String() != "" || isText(b.Get("thinkingSignature"))):
			add(session.ReasoningItem, role, path, b, session.Item{ID: gjson.Get(b.Get("thinkingSignature").String(), "id").String()}) // the Responses API names it in errors
		case typ == "image":
			add(session.ImageItem, role, path, b, is)
		case typ == "toolCall" && role == "assistant":
			add(session.CallItem, role, path, b, session.Item{CallID: b.Get("id").String(), Tool: b.Get("name").String()})
			call := w.sent.Items[len(w.sent.Items)-1]
			w.openAt[call.CallID] = append(w.openAt[call.CallID], len(w.open))
			w.open = append(w.open, &call)
		}
	}
}

// fill adds the results that the client makes up for calls that have none.
func (w *writer) fill() {
	for _, c := range w.open {
		if c == nil {
			continue
		}
		w.next(true)
		w.sent.Items = append(w.sent.Items, session.Item{Pos: c.Pos, Made: "filler", Kind: session.OutputItem, Role: "toolResult", CallID: c.CallID, Tool: c.Tool, Turn: c.Turn, Message: w.message, Block: w.block})
		w.block++
	}
	w.open = nil
	clear(w.openAt)
}

// sumOf hashes what an item says, without what a repair may spell in another way.
func sumOf(item *session.Item, v gjson.Result) (sum [16]byte) {
	s := session.NewSaying(item.Kind, item.Role)
	switch {
	case item.Kind == session.OutputItem && v.IsArray(), item.Kind == session.TextItem && v.Type == gjson.String:
		for _, b := range v.Array() {
			if b.Type == gjson.String || b.Get("type").String() == "text" {
				s.Text(b.Get("text").String() + b.Str)
			} else {
				s.Value(b)
			}
		}
	case item.Kind == session.TextItem && v.Get("text").Exists():
		s.Text(v.Get("text").String())
	default:
		s.Value(v)
	}
	return s.Sum()
}
