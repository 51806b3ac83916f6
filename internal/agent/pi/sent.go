package pi

import (
	"bytes"
	"encoding/json"
	"slices"
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
	if r.mark >= 0 {
		s.Compacted = v.facts[r.mark].ref.Pos
	}
	w := &writer{reading: r, to: s, message: -1}
	turn := 0
	for i := range v.facts {
		f := &v.facts[i]
		if f.role == "user" {
			turn++
		}
		w.turns = append(w.turns, turn)
		if !r.goes(i) && f.says > 0 && !f.dropped && s.Refused == "" {
			s.Unsent = append(s.Unsent, f.ref.Pos)
		}
	}
	for _, i := range r.sent {
		switch f := &v.facts[i]; {
		case f.dropped:
			w.fill()
		case f.says > 0 && !f.hidden(t) && !r.leftOut(i):
			w.record(i, lines[i])
		}
	}
	w.fill()
	return s, nil
}

// writer makes the items of a request.
type writer struct {
	*reading
	to      *session.Sent
	turns   []int // of the records
	message int
	block   int    // how many blocks of the message there are so far
	results bool   // the newest message is one of results
	newest  *group // that of the newest answer, until something else is said
}

// next begins a message.
func (w *writer) next(results bool) {
	if !w.asked.plainIDs || !w.results || !results { // the Messages API has results behind each other in one message
		w.message++
		w.block = 0
	}
	w.results = results
}

// record adds what is sent of a record.
func (w *writer) record(i int, line []byte) {
	f := &w.facts[i]
	add := func(kind session.ItemKind, role, path string, v gjson.Result, more session.Item) {
		item := more
		item.Pos, item.Path, item.Kind, item.Role, item.Turn, item.Message, item.Block = f.ref.Pos, path, kind, role, w.turns[i], w.message, w.block
		w.block++
		item.Content = json.RawMessage(v.Raw)
		if v.Index > 0 && v.Index+len(v.Raw) <= len(line) {
			item.Content = line[v.Index : v.Index+len(v.Raw)]
		}
		item.Sum = sumOf(&item, v)
		w.to.Items = append(w.to.Items, item)
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
	case len(f.calls) > 0:
		w.groups = w.groups[slices.IndexFunc(w.groups, func(g *group) bool { return g.answer == i }):]
		w.newest = w.groups[0]
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
		}
	}
}

// fill adds the results that the client makes up for calls whose ids no result has.
func (w *writer) fill() {
	if w.newest == nil {
		return
	}
	f := &w.facts[w.newest.answer]
	for n, c := range f.calls {
		if w.newest.has[n] >= 0 || c.again != "" || c.hidden(f) {
			continue
		}
		w.next(true)
		w.to.Items = append(w.to.Items, session.Item{Pos: f.ref.Pos, Made: "filler", Kind: session.OutputItem, Role: "toolResult", CallID: c.written, Tool: c.name, Turn: w.turns[w.newest.answer], Message: w.message, Block: w.block})
		w.block++
	}
	w.newest = nil
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
