package codex

import (
	"slices"

	"github.com/hist-cli/hist/internal/session"
)

// What each version of Codex sends of a session when it resumes it. In: a session's records in the order of the file, behind those of
// the sessions that it goes on from. Out: the items that the client sends, each with the record that it comes from, or that it refuses.
// All of this is pure: nothing is kept, nothing is looked up elsewhere. What differs between versions is one table of traits.

// clientRecord is what a client looks at in a record, or in an item that a compaction holds.
type clientRecord struct {
	Kind   session.Kind
	Family session.Family
	Call   string // what pairs a call and its output
	Flags  recordFlags
	// Ordinal is its number, if hasOrdinal; Turns how many turns a Rollback takes back; Held what a Compaction leaves.
	Ordinal int64
	Turns   int
	Held    []clientRecord
	Segment int // which of the files that a session consists of it is in; the last is the session's own
}

// recordFlags is what is true of a record.
type recordFlags uint16

// The flags.
const (
	isModel      recordFlags = 1 << iota // part of the history that is sent
	isPrompt                             // a user's prompt
	isUnread                             // the client can't read it
	isForeign                            // bytes of the line are not UTF-8
	isBlank                              // a line without any content
	hasOrdinal                           // it has a number
	hasBadNumber                         // its number is none
	isListOutput                         // an output that is a list of parts
	hasNoMessage                         // a compaction without the message that the client wants
	hasList                              // a compaction that has a list of items
	hasBadList                           // one whose list is no list
	isUneven                             // one whose two lists differ in length
)

func (r *clientRecord) has(flags recordFlags) bool { return r.Flags&flags != 0 }

// clientSession is what is read.
type clientSession struct {
	Records   []clientRecord
	Paginated bool
	Inherits  int64 // the number that what a sub-agent inherits reaches; 0 if it inherits nothing
	Header    bool  // the client can read the header
	Named     bool  // the header names the thread that the file is named for
}

// clientTraits is what differs between versions in what they send. The zero value is the newest that was measured.
type clientTraits struct {
	AnyFirst    bool // takes a session whose first line is no header
	StrayIsNone bool // a second header of a paginated session changes nothing
	NoNumbers   bool // does not read ordinals
	WholeText   bool // refuses any session with a line that is not UTF-8, not only one without ordinals
	AnyLengths  bool // reads a compaction whose two lists differ in length
	NoSearch    bool // does not know the client's tool search
	NoLists     bool // does not read outputs of custom tools that are lists
	RollsItems  bool // a rollback takes prompts out of what a compaction left, and does not bring back what was in front of it
	AnyName     bool // does not compare the header's id with the file's name
}

// traitsBefore are those of all versions before one, the oldest first; a version that is before none of them has the newest's. Measured are
// 0.79, 0.114, 0.145, 0.169 and 0.171; what lies between two of them reads as the older one.
var traitsBefore = []struct {
	major, minor int
	clientTraits
}{
	{0, 100, clientTraits{AnyFirst: true, StrayIsNone: true, NoNumbers: true, WholeText: true, AnyLengths: true, NoSearch: true, NoLists: true, RollsItems: true, AnyName: true}},
	{0, 145, clientTraits{AnyFirst: true, StrayIsNone: true, NoNumbers: true, WholeText: true, AnyLengths: true, NoSearch: true, RollsItems: true, AnyName: true}},
	{0, 146, clientTraits{StrayIsNone: true, WholeText: true, AnyLengths: true, RollsItems: true, AnyName: true}},
	{0, 170, clientTraits{AnyName: true}},
}

// traitsOf are the traits of a version, by before, which says whether it comes before major.minor; one that can't be read is the newest.
func traitsOf(before func(major, minor int) bool) clientTraits {
	for _, t := range traitsBefore {
		if before(t.major, t.minor) {
			return t.clientTraits
		}
	}
	return clientTraits{}
}

// madeUp is why the client makes an item up.
type madeUp uint8

// The reasons.
const (
	notMade     madeUp = iota // it does not: a record says it, or an item that a compaction holds
	madeAborted               // a call without an output
	madeNothing               // a search without an answer
	madeSummary               // what a compaction without a list says becomes a message
)

// clientItem is one item of a request.
type clientItem struct {
	Record int // the index of the record that it comes from
	Held   int // which of the items that a compaction holds, from 1; 0: it is the record
	Made   madeUp
	what   *clientRecord
}

// clientSent is what a client sends when it resumes a session.
type clientSent struct {
	Refused string // why it does not resume, in a clause; "" if it does. Items are what it would send if it ignored that
	Items   []clientItem
	Base    int // the record of the compaction that the history begins with, -1 if there is none
}

// inFront is the history in front of a prompt.
type inFront struct {
	items []clientItem
	base  int
}

// reading is one reading of a session.
type reading struct {
	s     *clientSession
	is    clientTraits
	sent  clientSent
	turns []inFront // the newest prompts
	items []clientItem
	base  int
	begun bool          // a first line was seen
	head  bool          // a header was
	last  *clientRecord // that the client reads
}

// clientSends is what a client sends of a session.
func clientSends(s *clientSession, is clientTraits) clientSent {
	r := &reading{s: s, is: is, base: -1}
	segment := -1
	for i := range s.Records {
		if s.Records[i].Segment != segment {
			segment, r.begun, r.head = s.Records[i].Segment, false, false
		}
		r.record(i)
	}
	switch {
	case !r.head:
		r.refuse("the session has no header")
	case !is.NoNumbers && s.Paginated && !r.last.has(hasOrdinal):
		r.refuse("the last record has no ordinal")
	case !is.NoNumbers && s.Inherits > 0 && r.last.Ordinal < s.Inherits:
		r.refuse("what the sub-agent inherits is not whole")
	case !s.Header:
		r.refuse("the client can't read the header")
	case !s.Named && !is.AnyName:
		r.refuse("the header names another thread than the file's name")
	}
	r.sent.Items, r.sent.Base = pairs(r.items), r.base
	return r.sent
}

func (r *reading) refuse(why string) {
	if r.sent.Refused == "" {
		r.sent.Refused = why
	}
}

// unread says whether the client does not read a record.
func (r *reading) unread(c *clientRecord) bool {
	return c.Kind == session.Unreadable || c.has(isUnread) || c.has(hasBadNumber) && !r.is.NoNumbers || c.Family == session.Search && r.is.NoSearch ||
		c.has(isListOutput) && c.Family == session.Custom && r.is.NoLists
}

func (r *reading) record(i int) {
	c := &r.s.Records[i]
	if c.has(isForeign) && (r.is.WholeText || !r.s.Paginated) {
		r.refuse("a line is not UTF-8")
	}
	if !r.begun && !c.has(isBlank) {
		r.begun = true
		if c.Kind != session.Header && !r.is.AnyFirst {
			r.refuse("the first line is no header")
		}
	}
	if r.unread(c) {
		return
	}
	r.last = c
	switch {
	case c.Kind == session.Header:
		if r.head && r.s.Paginated && !r.is.StrayIsNone {
			r.items, r.turns, r.base = nil, nil, -1
		}
		r.head = true
	case c.Kind == session.Compaction:
		r.compact(i, c)
	case c.Kind == session.Rollback:
		r.rollBack(c.Turns)
	case c.has(isModel):
		if c.has(isPrompt) {
			r.turns = append(r.turns, inFront{slices.Clip(r.items), r.base})
		}
		r.items = append(r.items, clientItem{Record: i, what: c})
	}
}

// rollBack takes the newest turns out of the history.
func (r *reading) rollBack(n int) {
	if r.is.RollsItems {
		for i := len(r.items) - 1; i >= 0 && n > 0; i-- {
			if r.items[i].what.has(isPrompt) {
				n--
				r.items = slices.Clip(r.items[:i])
			}
		}
		return
	}
	if n = min(n, len(r.turns)); n > 0 {
		at := len(r.turns) - n
		r.items, r.base, r.turns = r.turns[at].items, r.turns[at].base, r.turns[:at]
	}
}

// compact replaces the history by what a compaction holds. Before 0.59 it holds only a summary, and the client keeps the prompts.
func (r *reading) compact(i int, c *clientRecord) {
	if c.has(hasNoMessage|hasBadList) || c.has(isUneven) && !r.is.AnyLengths {
		return
	}
	var items []clientItem
	if c.has(hasList) {
		for k := range c.Held {
			if c.Held[k].has(isUnread) {
				return // the client does not read the compaction at all
			}
			items = append(items, clientItem{Record: i, Held: k + 1, what: &c.Held[k]})
		}
	} else {
		for _, t := range r.items {
			if t.what.has(isPrompt) {
				items = append(items, t)
			}
		}
		items = append(items, clientItem{Record: i, Made: madeSummary, what: c})
	}
	r.items, r.base = items, i
}

type pair struct {
	family session.Family
	id     string
}

func (c *clientRecord) pair() pair { return pair{c.Family, c.Call} }

// pairs does what the client does before it sends: a call without an output gets one, and an output without a call goes.
func pairs(items []clientItem) []clientItem {
	calls, outputs := map[pair]bool{}, map[pair]bool{}
	for i := range items {
		switch c := items[i].what; c.Kind {
		case session.Call:
			calls[c.pair()] = true
		case session.Output:
			outputs[c.pair()] = true
		}
	}
	sent := make([]clientItem, 0, len(items)+4)
	for _, t := range items {
		switch c := t.what; {
		case c.Kind == session.Output && !calls[c.pair()]:
		case c.Kind == session.Call && !outputs[c.pair()]:
			made := t
			if made.Made = madeAborted; c.Family == session.Search {
				made.Made = madeNothing
			}
			sent = append(sent, t, made)
		default:
			sent = append(sent, t)
		}
	}
	return sent
}
