package mend

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// answering is the answer whose parts are being read. All of them came with one request, which the client notes in each.
type answering struct {
	parts   []answerPart // behind those of the answers that wait
	from    int          // where they begin
	mixed   bool         // they have different ids
	request []byte
	index   int64           // of the last part; -1: the client does not note it
	apart   [][]answerPart  // the answers so far whose parts have different ids
	again   [][]answerPart  // those with the id of an earlier answer
	waiting []waitingAnswer // to be compared with those before them

	so     saidSoFar
	begun  saidSoFar // in front of the answer
	first  requests  // the first with each answer's id
	latest uint64    // the id of the answer before, by its hash,
	over   bool      // and whether that ended its turn
	prior  string    // the record in front
	inLine bool      // the answer hangs on what stands in front of it

	byAnthropic bool // the request of some thinking has an id as Anthropic's API gives them
}

// saidSoFar is how many prompts there are so far, and how many prompts and outputs.
type saidSoFar struct{ prompts, all int32 }

// request is one that an answer came with: its name, if the client notes one, and what stands in front of the answer.
type request struct {
	id     uint64 // of the answer, by its hash
	name   uint64 // by its hash; 0: the client notes none
	begun  saidSoFar
	says   uint64 // the first part of the answer
	last   uint64 // and the id of the last one, by its hash
	inLine bool   // it hangs on what stands in front of it
	shared bool   // a prompt stands between the end of its turn and the next answer, which has its id
}

// waitingAnswer is an answer that waits to be compared, its request as if none before had its id.
type waitingAnswer struct {
	request
	parts []answerPart
	over  bool // it ends its turn
}

// answersAtOnce is how many answers are compared at a time, so that the cache misses of looking up their ids overlap.
const answersAtOnce = 64

// answerPart is a part of an answer, and where in the record its message and the id of that stand.
type answerPart struct {
	*node
	message, id jsonl.Span
}

// take reads the next record. Where a request is made again, its parts are counted anew: what comes then is another answer. Where they are
// not counted, one hangs on the other, which does not end the turn; that the requests have one name is no proof by itself, because some
// programs write over them. And there a record of several blocks is a whole answer: where a stream broke off, the client asks once more, under
// the same name, and writes what comes in one piece. Without one name, the parts of an answer have one id, and one hangs on the other.
func (a *answering) take(n *node, rec *session.Record) {
	prior := a.prior
	a.prior = n.UUID
	if !n.Side && n.IsPrompt() {
		a.so.prompts++
	}
	if !n.Side && (n.Role == content.RoleResult || n.IsPrompt()) {
		a.so.all++
	}
	if n.Role != content.RoleAssistant || n.Side || !n.Sent() {
		return
	}
	id, ref := format.Text(rec, format.FieldRequestID), format.Text(rec, format.FieldRequestRef)
	a.byAnthropic = a.byAnthropic || bytes.HasPrefix(id, []byte("req_0")) && n.thoughts() > 0
	index := int64(-1)
	if raw := format.Field(rec, format.FieldBlockIndex); len(raw) > 0 {
		index = gjson.ParseBytes(raw).Int()
	}
	goesOn := false
	if len(a.parts) > a.from {
		last := a.parts[len(a.parts)-1]
		oneName := len(a.request) > 0 && len(a.request) == len(id)+len(ref) && bytes.HasPrefix(a.request, id) && bytes.HasSuffix(a.request, ref)
		goesOn = (oneName || n.Parent == last.UUID && n.Msg == last.Msg) &&
			(index > a.index || index < 0 && len(n.Blocks) < 2 && n.Parent == last.UUID && last.goesOnWith(n.Stop))
	}
	if a.index = index; !goesOn {
		a.end()
		a.request, a.begun, a.inLine = append(append(a.request[:0], id...), ref...), a.so, n.Parent == prior
	}
	a.parts = append(a.parts, answerPart{})
	part := &a.parts[len(a.parts)-1] // a part that is put together elsewhere can't be copied at once
	part.node, part.message, part.id = n, rec.Spans[format.FieldMessage], rec.Spans[format.FieldMessageID]
	a.mixed = a.mixed || n.Msg != a.parts[a.from].Msg
}

// end is called where the parts of an answer end.
func (a *answering) end() {
	parts := a.parts[a.from:]
	switch {
	case a.mixed && !unnamed(parts):
		a.apart = append(a.apart, slices.Clone(parts))
	case !a.mixed && len(parts) > 0 && parts[0].Msg != "":
		a.wait(parts)
		a.from = len(a.parts)
	}
	if a.parts, a.mixed = a.parts[:a.from], false; len(a.waiting) == answersAtOnce {
		a.compare()
	}
}

// wait notes an answer, to be compared later.
func (a *answering) wait(parts []answerPart) {
	a.waiting = append(a.waiting, waitingAnswer{})
	front, last, w := parts[0], parts[len(parts)-1], &a.waiting[len(a.waiting)-1]
	w.id, w.says, w.last = sumOf(front.Msg), front.Message, sumOf(last.UUID)
	if len(a.request) > 0 {
		w.name = max(1, maphash.Bytes(content.NodeSeed, a.request))
	}
	w.begun, w.inLine, w.over, w.parts = a.begun, a.inLine, last.Stop == "end_turn", parts
}

// compare compares each answer that waits with the first that has its id, if there was one.
func (a *answering) compare() {
	for i, place := range a.first.places(a.waiting) {
		w := &a.waiting[i]
		switch was, known := a.first.with(w.id, place); {
		case !known:
			*was = w.request
		case was.last == sumOf(w.parts[0].Parent):
			was.last = w.last
		case was.begun.all < w.begun.all && (was.name == 0 || was.name != w.name):
			if was.inLine && w.inLine && a.over && w.id == a.latest && was.begun.prompts < w.begun.prompts && was.says != w.says {
				was.shared = true
			}
			a.again = append(a.again, slices.Clone(w.parts))
		}
		a.latest, a.over = w.id, w.over
	}
	a.parts, a.from, a.waiting = a.parts[:0], 0, a.waiting[:0]
}

// unnamed says whether the parts have only ids that the client makes up where the API gives none, as some proxies do: it sends them all, but for
// thinking (2.1.332, measured).
func unnamed(parts []answerPart) bool {
	return !slices.ContainsFunc(parts, func(p answerPart) bool { return !format.IsID(p.Msg) || p.thoughts() > 0 })
}

// oneAnswer gives all parts of an answer one id: the client puts an answer together by it. It is the one that most of them have and no other
// answer.
func (c *Checker) oneAnswer() {
	c.answering.end()
	c.answering.compare()
	c.ownID()
	if len(c.answering.apart) == 0 {
		return
	}
	all := map[string]int{}
	for _, n := range c.nodes {
		all[n.Msg]++
	}
	for _, parts := range c.answering.apart {
		own := map[string]int{}
		for _, p := range parts {
			own[p.Msg]++
			if a := c.proof.answers[p.Msg]; a != nil {
				a.odd = true // it was hashed as what the ids make of it
			}
		}
		id, most := evidence.AnswerID(parts[0].UUID), 0
		for _, p := range parts {
			if p.Msg != "" && own[p.Msg] > most && own[p.Msg] == all[p.Msg] {
				id, most = p.Msg, own[p.Msg]
			}
		}
		for _, p := range parts {
			if p.Msg != id {
				c.renameAnswer(p, parts, id, faults.OldAndNewer(finding.Notes, finding.Loses), "this part of an answer has another message id than the rest of it, which came with the same request: the client tears the answer apart, and drops thinking or an output")
			}
		}
	}
}

// ownID gives each answer an id of its own that has that of an earlier one, to another request, with an output or a prompt in between: the client
// takes them for parts of one answer, and sends what was said in between behind it (2.1.2 and 2.1.332, measured). Some gateways give one id
// to all answers. Where requests have no names, that shows where a prompt stands between two of them: some versions hang a call of an answer on the
// output of the call before it.
func (c *Checker) ownID() {
	for _, parts := range c.answering.again {
		if was := c.answering.first.of(sumOf(parts[0].Msg)); was.name == 0 && !was.shared {
			continue
		}
		if a := c.proof.answers[parts[0].Msg]; a != nil {
			a.odd = true // it was hashed as what the ids make of it
		}
		id := evidence.AnswerID(parts[0].UUID)
		for _, p := range parts {
			c.renameAnswer(p, parts, id, faults.OnAll(finding.Loses), "this answer has the message id of an earlier one: the client makes one of them, and sends what was said in between behind it")
		}
	}
}

// renameAnswer gives a part of an answer another id.
func (c *Checker) renameAnswer(p answerPart, parts []answerPart, id string, impact faults.ByVersion, message string) {
	d := c.find(p.node, faults.WrongMessageID, message)
	d.also, d.Impact = []*node{parts[0].node, parts[len(parts)-1].node}, c.worst(impact)
	d.Edits = []finding.Edit{{At: p.Pos(), Op: finding.Splice, Cuts: []finding.Cut{member(p.id, p.message.Start, "id", id)}}}
	if c.chosen(d) {
		p.Msg = id
	}
}

// goesOnWith says whether a later part of an answer, which has a given stop reason, may be of the same answer as this record.
func (n *node) goesOnWith(stop any) bool {
	return n.Role == content.RoleAssistant && !n.Synthetic && !n.Filler && n.Stop != "end_turn" && (n.Stop == "" || stop == nil || stop == n.Stop)
}
