package reader

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// file is a session's text, decoded as a client does: a line that is no JSON is not there, and of a member that is there twice the
// last counts.
type file struct {
	text    []byte
	records []record
	ids     map[string]int32
	leaf    string
	leafAt  session.Pos // where that is said
}

// record is one of those that a conversation may lead through.
type record struct {
	Record
	id, parent, answer    string
	pos                   session.Pos
	at                    int // where its line begins in the text
	turn                  int
	content               gjson.Result // of a message, or what a record of another kind tells the model
	rendered              int          // what an attachment tells the model: how many texts
	renderedRole          string
	keeps                 []string // what a compaction keeps
	anchor                string   // the record behind which that comes
	meta, summary, filler bool
	local                 bool // says what a command printed
	null                  bool // a message without content
	old                   bool // said by a model before 4.5
	other                 bool // its model is of another maker
	bound                 bool // its model binds thinking to what stands in front of it
}

var bom = []byte("\xef\xbb\xbf")

func parse(text []byte, is Traits) *file {
	f := &file{text: text, ids: map[string]int32{}}
	turn := 0
	for at, no := 0, int64(1); at < len(text); no++ {
		end := bytes.IndexByte(text[at:], '\n')
		next := at + end + 1
		if end < 0 {
			end, next = len(text)-at, len(text)
		}
		line := text[at : at+end]
		start := at
		if no == 1 && bytes.HasPrefix(line, bom) && !is.BOMBad {
			line, start = line[len(bom):], start+len(bom)
		}
		at = next
		if line = readable(line, is); line != nil {
			f.add(line, start, session.Pos{Line: no}, &turn)
		}
	}
	return f
}

// readable is what a client reads of a line, nil if that is nothing. Bytes that are not UTF-8 are no harm: it takes each for U+FFFD.
func readable(line []byte, is Traits) []byte {
	v := jsonl.NewScanner(nil).Scan(line, nil)
	switch {
	case v.Fault == jsonl.None, v.Fault == jsonl.NotUTF8 && jsonl.Valid(bytes.ToValidUTF8(line, []byte("\ufffd"))):
		return line
	case v.Fault == jsonl.Trailing && !is.LinesAlone:
		return readable(line[:v.At], is)
	}
	return nil
}

// parsed is a value whose parts point into a line.
func parsed(line []byte) gjson.Result {
	return gjson.Parse(unsafe.String(unsafe.SliceData(line), len(line)))
}

func str(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return v.Str
}

func isTrue(v gjson.Result) bool { return v.Type == gjson.True }

// envelope is what a line says of its record besides what goes into the record as it is.
type envelope struct {
	typ, leaf, subtype         string
	content, message, metadata gjson.Result
	apiError                   bool
}

// envelope reads a line's members.
func (r *record) envelope(line gjson.Result) (e envelope) {
	line.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "type":
			e.typ = str(v)
		case "subtype":
			e.subtype = str(v)
		case "uuid":
			r.id = str(v)
		case "parentUuid":
			r.parent = str(v)
		case "timestamp":
			if t, err := time.Parse(time.RFC3339, str(v)); err == nil {
				r.When = t.UnixMilli()
			}
		case "isSidechain":
			r.Side = isTrue(v) || v.Type == gjson.String
		case "isMeta":
			r.meta = isTrue(v)
		case "isCompactSummary":
			r.summary = isTrue(v)
		case "isApiErrorMessage":
			e.apiError = isTrue(v)
		case "message":
			e.message = v
		case "content":
			e.content = v
		case "compactMetadata":
			e.metadata = v
		case "rendered":
			r.rendered = int(v.Get("#").Int())
		case "renderedRole":
			r.renderedRole = str(v)
		case "leafUuid":
			e.leaf = str(v)
		}
		return true
	})
	return e
}

// add takes a line, which is valid.
func (f *file) add(line []byte, at int, pos session.Pos, turn *int) {
	v := parsed(line)
	if !v.IsObject() {
		return
	}
	r := record{at: at, pos: pos}
	e := r.envelope(v)
	switch e.typ {
	case "user", "assistant":
		r.Role = Prompt
		if e.typ == "assistant" {
			r.Role = Answer
		}
		r.message(e.message, e.apiError)
		if r.isPrompt() {
			*turn++
		}
	case "system":
		f.system(&r, e)
	case "attachment":
		r.Role = Link
	case "progress":
		r.Role, r.Progress = Link, true
	case "last-prompt":
		if strings.Trim(e.leaf, "0-") != "" {
			f.leaf, f.leafAt = e.leaf, pos
		}
		return
	default:
		return
	}
	r.turn = *turn
	f.ids[r.id] = int32(len(f.records))
	f.records = append(f.records, r)
}

// system takes a line of the client's own.
func (f *file) system(r *record, e envelope) {
	switch r.Role = Link; e.subtype {
	case "compact_boundary":
		r.Role = Mark
		if !r.Side {
			f.leaf, f.leafAt = "", session.Pos{} // an end that was named in front of a compaction counts no more (2.1.215 and 2.1.332, measured)
		}
		kept := e.metadata.Get("preservedMessages")
		r.anchor = kept.Get("anchorUuid").Str
		for _, id := range kept.Get("uuids").Array() {
			r.keeps = append(r.keeps, id.String())
		}
	case "local_command":
		r.local, r.content = e.content.Type == gjson.String, e.content
	}
}

// message reads what a record says.
func (r *record) message(message gjson.Result, apiError bool) {
	var model string
	message.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "id":
			if r.Role == Answer {
				r.answer = str(v)
			}
		case "model":
			model = str(v)
		case "content":
			r.content = v
		}
		return true
	})
	r.null = !r.content.Exists() || r.content.Type == gjson.Null
	r.Mute = r.null || apiError
	r.filler = r.Role == Answer && model == "<synthetic>" && !apiError
	r.old, r.bound = oldModel(model), session.BindsThinking(model)
	r.other = model != "" && model[0] != '<' && !strings.Contains(model, "claude")
	r.content.ForEach(func(_, b gjson.Result) bool {
		switch str(b.Get("type")) {
		case "tool_use":
			r.Asks = true
		case "tool_result":
			if r.Role == Prompt {
				r.Role = Output
			}
		}
		return r.Role == Prompt || r.Role == Answer && !r.Asks
	})
}

// hollow says whether a record of the conversation holds neither a text nor a list of blocks (2.1.332 finds no conversation in a file of such
// records alone, measured).
func (r *record) hollow() bool {
	return (r.Role == Prompt || r.Role == Answer) && r.content.Type != gjson.String && !r.content.IsArray()
}

// oldModel says whether a model came before 4.5, by the numbers in its name: "claude-3-7-sonnet-20250219", "claude-opus-4-20250514".
func oldModel(name string) bool {
	name, ours := strings.CutPrefix(name, "claude-")
	if !ours {
		return false
	}
	var numbers [2]int
	n := 0
	for word := range strings.SplitSeq(name, "-") {
		if v, err := strconv.Atoi(word); err == nil && len(word) < 3 && n < len(numbers) {
			numbers[n] = v
			n++
		}
	}
	return n > 0 && (numbers[0] < 4 || numbers[0] == 4 && numbers[1] < 5)
}

// IsPrompt says whether a record begins a turn.
func (r *record) isPrompt() bool {
	if r.Role != Prompt || r.Side || r.meta || r.summary || r.Mute {
		return false
	}
	first := str(r.content.Get("0.type"))
	return first != "tool_use" && first != "thinking"
}

// isPart says whether all that is said in a file is said by a sub-agent or to it.
func (f *file) isPart() bool {
	part := false
	for i := range f.records {
		if r := &f.records[i]; r.says() {
			if part = r.Side; !part {
				return false
			}
		}
	}
	return part
}

// alone takes a sub-agent's conversation for one that its client would resume by itself.
func (f *file) alone() {
	for i := range f.records {
		f.records[i].Side = false
	}
}

// each yields an id in the blocks of a type, or of one that the API's servers answer for, whose name ends the same.
func (r *record) each(typ, id string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !r.content.IsArray() {
			return
		}
		r.content.ForEach(func(_, b gjson.Result) bool {
			return !strings.HasSuffix(str(b.Get("type")), typ) || yield(b.Get(id).String())
		})
	}
}

func (f *file) find(id string) int32 {
	if i, ok := f.ids[id]; ok && id != "" {
		return i
	}
	return Missing
}

// session is what Read wants.
func (f *file) session(is Traits) *Session {
	s := &Session{Leaf: None, Records: make([]Record, len(f.records))}
	if f.leaf != "" {
		s.Leaf = f.find(f.leaf)
	}
	for i := range f.records {
		r := &f.records[i]
		if r.Up = None; r.parent != "" {
			r.Up = f.find(r.parent)
		}
		r.Old = f.ids[r.id] != int32(i)
		s.Records[i] = r.Record
	}
	for i := range f.records {
		if r := &f.records[i]; r.Role == Mark && len(r.keeps) > 0 {
			f.rehang(s, r)
		}
	}
	s.Answer = func(i int) string { return f.records[i].answer }
	s.Calls = func(i int) iter.Seq[string] { return f.records[i].each("tool_use", "id") }
	s.Outputs = func(i int) iter.Seq[string] { return f.records[i].each("tool_result", "tool_use_id") }
	s.Keeps = func(i int) (list []int32) {
		for _, id := range f.records[i].keeps {
			k := f.find(id)
			if k < 0 {
				return nil
			}
			list = append(list, k)
		}
		return list
	}
	s.Anchor = func(i int) int32 { return f.find(f.records[i].anchor) }
	if !is.WholeFront && slices.ContainsFunc(f.records, func(r record) bool { return len(r.keeps) > 0 }) {
		s.Place = FirstPlaces(len(f.records), func(i int) string { return f.records[i].id })
	}
	return s
}

// rehang puts what a compaction keeps between its summary and what follows that, if all of it is there.
func (f *file) rehang(s *Session, mark *record) {
	kept := make([]int32, len(mark.keeps))
	for k, id := range mark.keeps {
		if kept[k] = f.find(id); kept[k] < 0 {
			return
		}
	}
	for i := range f.records {
		if r := &f.records[i]; r.parent == mark.anchor && mark.anchor != "" && !slices.Contains(kept, int32(i)) {
			s.Records[i].Up = kept[len(kept)-1]
		}
	}
	up := f.find(mark.anchor)
	for _, k := range kept {
		s.Records[k].Up = up
		up = k
	}
}
