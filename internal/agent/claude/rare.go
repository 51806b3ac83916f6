package claude

import (
	"bytes"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// span is a jsonl.Span in half the memory: no line is longer than an int32 can count.
type span struct{ start, end int32 }

func spanOf(s jsonl.Span) span { return span{int32(s.Start), int32(s.End)} }

func (s span) from() int { return int(s.start) }
func (s span) to() int   { return int(s.end) }

// in converts it back.
func (s span) in() jsonl.Span { return jsonl.Span{Start: int(s.start), End: int(s.end)} }

// place is where a record is in the file.
type place struct {
	line, offset, size int64
	part               int32
}

func placeOf(r finding.Ref) place { return place{r.Pos.Line, r.Offset, r.Size, r.Pos.Part} }

// set is placeOf where a record is, without a value that is put together first (see finding.Ref.Set).
func (p *place) set(rec *session.Record) {
	p.line, p.offset, p.size, p.part = rec.Pos.Line, rec.Offset, rec.Size, rec.Pos.Part
}

// pos is the record's line, and which of its records it is.
func (p *place) pos() session.Pos { return session.Pos{Line: p.line, Part: p.part} }

// ref is the place as findings name it.
func (p *place) ref() finding.Ref { return finding.Ref{Pos: p.pos(), Offset: p.offset, Size: p.size} }

// words are the short texts of a record that many records have in common.
type words struct {
	typ        string // as it stands there
	version    string
	attachment string
	stop       string // why the model stopped, as it stands there
	session    string // the id of the session, as it stands there
}

// vocabulary stores the words of the newest kinds of records, so that each is kept only once.
type vocabulary struct {
	kinds  [16]*words
	oldest int
}

// of are the words of a record.
func (v *vocabulary) of(rec *session.Record) *words {
	typ, version, attachment, stop, id := text(rec, fieldType), text(rec, fieldVersion), text(rec, fieldAttachment), text(rec, fieldStopReason), text(rec, fieldSession)
	for _, w := range v.kinds {
		if w != nil && w.typ == string(typ) && w.version == string(version) && w.attachment == string(attachment) && w.stop == string(stop) && w.session == string(id) {
			return w
		}
	}
	w := &words{typ: decoded(rec, fieldType), version: decoded(rec, fieldVersion), attachment: decoded(rec, fieldAttachment), stop: string(stop), session: string(id)}
	if !slices.ContainsFunc([][]byte{typ, version, attachment}, func(b []byte) bool { return bytes.IndexByte(b, '\\') >= 0 }) {
		v.kinds[v.oldest] = w
		v.oldest = (v.oldest + 1) % len(v.kinds)
	}
	return w
}

// rare are members that few records have. Read them as the node's own, but call own before you write one.
type rare struct {
	ref2      string // logicalParentUuid of a boundary
	faults    []fault
	pictures  int                 // images in the message
	noSuch    string              // the name of a tool that the client says there is none of, as this output gives it
	wide      []picture           // those of them that are too wide among many
	served    []served            // calls and outputs of the API's own servers
	keeps     []keptRecord        // the messages that a compaction's mark names as kept
	rebuilt   *rebuilt            // what the structured result shows of the call, if that may be needed
	renamed   *string             // the parent's id in the file, if the record names another now
	moves     []move              // its changes of parent, and for which findings
	named     *draft              // the finding that gives it another id
	dropped   *draft              // the finding that removes it
	byID      map[string][]*block // the blocks by id, if there are very many
	sideAt    jsonl.Span          // of the text "false" where the record should say that it is no sub-agent's
	emptySpan jsonl.Span          // the content of a message with no words in it
	contentAt int                 // where content would have to be inserted if the message has none; otherwise 0
	new       *made               // set if hist wrote the record
	edit      placed
	clock     placed // of the time that it was given
}

// nothing is the rare of all records that have no such member. It must not be written to.
var nothing = &rare{}

// own returns a record's rare members, to be written.
func (n *node) own() *rare {
	if n.rare == nothing {
		n.rare = &rare{}
	}
	return n.rare
}

// callParent makes a record name another parent than it does in the file.
func (n *node) callParent(id string) {
	if n.renamed == nil {
		was := n.parent
		n.own().renamed = &was
	}
	n.parent = id
}

// parentWas is the id of the record's parent in the file.
func (n *node) parentWas() string {
	if n.renamed != nil {
		return *n.renamed
	}
	return n.parent
}

// placed is where the edit is that inserts a record which hist wrote.
type placed struct {
	in *draft
	at int
}
