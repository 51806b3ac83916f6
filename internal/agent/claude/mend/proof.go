package mend

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"math"
	"slices"
	"sort"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// proof is what a session records of the requests that its client sent: for each message, the SHA-256 of its canonical JSON.
// Clients from about 2.1.300 on write these records.
type proof struct {
	sent    map[evidence.Digest]content.Role // the hashes of all messages that were sent; of those recorded whole, whose they are: the model's or the user's, which includes the system's
	answers map[string]*answer               // the answers that begin with thinking, by the message's id
	resent  map[*node]*resent                // the first request after each compaction, by its summary
	open    *resent                          // that of the last summary, until a request follows
	at      []finding.Ref                    // where the requests are recorded
	whole   []finding.Ref                    // the requests that are recorded in full: the first of each client
	told    map[evidence.Digest]struct{}     // the thinking of answers that the client sent in another form than is in the file
}

// answer hashes an answer that begins with thinking while its records come: all of it, and without its thinking.
type answer struct {
	whole, bare hash.Hash
	blocks      [2]int          // how many blocks were hashed, of each
	thinks      *node           // the first record with thinking
	first       evidence.Digest // the hash of that thinking
	end         session.Pos
	odd         bool // a part of it can't be read, is not a list of blocks, or was written by a repair
	model       string
}

func newProof() proof {
	return proof{sent: map[evidence.Digest]content.Role{}, answers: map[string]*answer{}, resent: map[*node]*resent{}, told: map[evidence.Digest]struct{}{}}
}

// answer takes a record of an answer whose first record begins with thinking.
func (p *proof) answer(n *node, list, model []byte) {
	if n.Role != content.RoleAssistant || n.Side || n.Msg == "" || n.Synthetic || len(p.sent) == 0 {
		return
	}
	a := p.answers[n.Msg]
	if a == nil {
		if len(n.Blocks) == 0 || n.Blocks[0].Kind != content.BlockThinking {
			return
		}
		a = &answer{whole: sha256.New(), bare: sha256.New(), thinks: n, model: string(model)}
		p.answers[n.Msg] = a
	}
	a.end = n.Pos()
	a.odd = a.odd || n.Version == "" || bytes.Contains(list, evidence.HistMark) || a.model != string(model) || n.mended || len(n.Faults) > 0 || len(list) == 0 || list[0] != '['
	i := 0
	gjson.ParseBytes(list).ForEach(func(_, b gjson.Result) bool {
		one := evidence.AppendCanonical(nil, b)
		if a.blocks[0] == 0 {
			a.first = sha256.Sum256(one)
		}
		a.add(0, one)
		if i < len(n.Blocks) && n.Blocks[i].Kind != content.BlockThinking {
			a.add(1, one)
		}
		i++
		return true
	})
}

// add hashes a block: as a part of the whole answer (0), or of the answer without its thinking (1).
func (a *answer) add(which int, block []byte) {
	h, lead := a.whole, ","
	if which == 1 {
		h = a.bare
	}
	if a.blocks[which] == 0 {
		lead = `{"content":[`
	}
	a.blocks[which]++
	h.Write([]byte(lead))
	h.Write(block)
}

// sentAs says whether an answer was sent as it is in the file, with or without its thinking, or at least its thinking was,
// beside calls that the client has changed.
func (p *proof) sentAs(a *answer) bool {
	if _, ok := p.told[a.first]; ok {
		return true
	}
	for _, h := range []hash.Hash{a.whole, a.bare} {
		h.Write([]byte(`],"role":"assistant"}`))
		if _, ok := p.sent[evidence.Digest(h.Sum(nil))]; ok {
			return true
		}
	}
	return false
}

// thinking reports thinking that differs from what the client has sent before, so that its signature does not fit any more.
// This can be judged only if the answer's own client has made a request after it.
func (c *Checker) thinking() {
	if len(c.proof.answers) == 0 {
		return
	}
	for _, n := range c.nodes {
		a := c.proof.answers[n.Msg]
		if a == nil || a.thinks != n || a.odd || !c.sentBehind(a) || c.proof.sentAs(a) || c.partLost(a) {
			continue
		}
		cuts := []finding.Cut{}
		for _, b := range n.Blocks {
			if b.Kind == content.BlockThinking {
				cuts = append(cuts, finding.Cut{Start: b.Span.From(), End: b.Span.To(), Element: true})
			}
		}
		f := c.fault(n, faults.BadThinking, n.Blocks[0].Span.From(), "a thinking block is not what the client has sent before: its text or its signature was changed", cuts...)
		if len(cuts) == len(n.Blocks) {
			f.Cuts, f.Drop = nil, true
		}
	}
}

// sentBehind says whether the client that went on after an answer made a request, which then must hold the answer. If two
// clients share the session, the request may be the other's, and it can't be known to which of two requests an answer belongs.
func (c *Checker) sentBehind(a *answer) bool {
	asked := c.spokenBefore(a.thinks)
	if asked == nil || c.proof.between(asked.Pos(), a.thinks.Pos()) > 1 {
		return false
	}
	for _, m := range c.nodes[a.thinks.index+1 : min(len(c.nodes), a.thinks.index+maxSiblings)] {
		if before := c.spokenBefore(m); before != nil && before.Msg == a.thinks.Msg && m.HasMessage() && m.Msg != before.Msg {
			return c.proof.between(m.Pos(), session.Pos{Line: math.MaxInt}) > 0
		}
	}
	return false
}

// spokenBefore is the nearest message above a record, by the ids that the records name; nil if it is not found.
func (c *Checker) spokenBefore(n *node) *node {
	p := c.ids.get(n.Parent)
	for steps := 0; p != nil && !p.HasMessage(); steps++ {
		if steps == maxSiblings {
			return nil
		}
		p = c.ids.get(p.Parent)
	}
	return p
}

// between is how many requests were made after one place of the file and before another.
func (p *proof) between(after, until session.Pos) int {
	first := sort.Search(len(p.at), func(i int) bool { return after.Less(p.at[i].Pos) })
	return sort.Search(len(p.at), func(i int) bool { return !p.at[i].Pos.Less(until) }) - first
}

// partLost says whether a part of an answer may be lost, so that the rest was never sent as a message. That may be if the rest
// is only thinking; if, from it to the next message, a parent is missing or a line is unreadable; or if a part of it is there
// twice, or in front of its parent.
func (c *Checker) partLost(a *answer) bool {
	ofIt := func(n *node) bool { return n.Msg == a.thinks.Msg }
	if a.blocks[1] == 0 || slices.ContainsFunc(c.nodes[max(0, a.thinks.index-maxSiblings):a.thinks.index], ofIt) {
		return true
	}
	after := a.thinks.Pos()
	for _, n := range c.nodes[a.thinks.index:min(len(c.nodes), a.thinks.index+maxSiblings)] {
		p := c.ids.get(n.Parent)
		if n.Parent != "" && p == nil || ofIt(n) && (len(c.copies[n.Pos()]) > 0 || p != nil && p.index > n.index) {
			return true
		}
		if after = n.Pos(); a.end.Less(after) && n.HasMessage() {
			break
		}
	}
	return slices.ContainsFunc(c.dead, func(p session.Pos) bool { return a.thinks.Pos().Less(p) && p.Less(after) })
}

// blob takes a message that the client has recorded whole. words are those of the prompts in it.
func (p *proof) blob(rec *session.Record, words []string) {
	of := content.RoleUser
	if gjson.GetBytes(format.Field(rec, format.FieldMessage), "role").Str == "assistant" {
		of = content.RoleAssistant
	}
	p.note(format.Text(rec, format.FieldHash), of)
	if p.open != nil {
		if p.open.say(format.Field(rec, format.FieldMessage)); len(words) == 1 {
			p.open.words[string(format.Text(rec, format.FieldHash))] = words[0]
		}
	}
	p.tellThinking(format.Field(rec, format.FieldMessage))
}

// tellThinking keeps the thinking of an answer that the client has recorded as it sent it, because it differs from what is in
// the file: 2.1.330 sends a call of Task as one of Agent (measured).
func (p *proof) tellThinking(message []byte) {
	if !bytes.Contains(message, []byte(`"thinking"`)) {
		return
	}
	if m := gjson.ParseBytes(message); m.Get("role").Str == "assistant" {
		if first := m.Get("content.0"); first.Get("type").Str == "thinking" {
			p.told[sha256.Sum256(evidence.AppendCanonical(nil, first))] = struct{}{}
		}
	}
}

func (p *proof) request(rec *session.Record) {
	p.at = append(format.Doubled(p.at), finding.RefOf(rec))
	if gjson.ParseBytes(format.Field(rec, format.FieldKeep)).Int() == 0 {
		p.whole = append(p.whole, finding.RefOf(rec))
		p.resend(rec)
	}
	for list := format.Field(rec, format.FieldTail); ; { // a list of hashes: find all quoted strings
		_, from, more := bytes.Cut(list, []byte(`"`))
		hash, behind, whole := bytes.Cut(from, []byte(`"`))
		if !more || !whole {
			break
		}
		p.note(hash, content.RoleOther)
		list = behind
	}
}

func (p *proof) note(hash []byte, of content.Role) {
	if len(hash) > 0 {
		d := evidence.DigestOf(hash)
		p.sent[d] = max(p.sent[d], of)
	}
}

// proves says whether the client has sent this message.
func (p *proof) proves(role string, content []byte) bool {
	if len(p.sent) == 0 {
		return false
	}
	_, ok := p.sent[evidence.DigestOfMessage(role, content)]
	return ok
}

const (
	provedWords = ", proved by the hash of the request"
	maxPlaces   = 16 // how many places of a message a block is tried at
)

// provedAmong is words for the report if the client has sent a message that consists of the blocks of some records and one more
// block, in whatever place; "" if that can't be shown. It is tried with and without thinking.
func (c *Checker) provedAmong(role string, records []*node, block format.Object) string {
	if len(c.proof.sent) == 0 || len(records) > maxPlaces || slices.ContainsFunc(records, func(n *node) bool { return n.mended || n.new != nil }) {
		return ""
	}
	all, bare, ok := c.blocksOf(records)
	if !ok {
		return ""
	}
	for _, parts := range [][][]byte{all, bare} {
		for at := range min(len(parts)+1, maxPlaces) {
			if c.proof.proves(role, listOf(slices.Insert(slices.Clone(parts), at, block.JSON()))) {
				return provedWords
			}
		}
	}
	return ""
}

// blocksOf are the blocks of some records as they stand in the file, and those of them that are no thinking; ok is false if a record can't be
// read again.
func (c *Checker) blocksOf(records []*node) (all, bare [][]byte, ok bool) {
	ok = true
	for _, n := range records {
		var line []byte
		if c.opts.Beside != nil {
			line = c.opts.Beside.Line(n.Offset)
		}
		ok = ok && line != nil
		for i, b := range evidence.ContentBlocks(gjson.GetBytes(line, "message.content")) {
			all = append(all, []byte(b.Raw))
			if i < len(n.Blocks) && n.Blocks[i].Kind != content.BlockThinking {
				bare = append(bare, []byte(b.Raw))
			}
		}
	}
	return all, bare, ok
}

// listOf is a JSON array of some values.
func listOf(values [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))
}

// answerRecords are the records of an answer near a place of the file.
func (c *Checker) answerRecords(msg string, at int) (list []*node) {
	for _, m := range c.nodes[max(0, at-maxSiblings):min(len(c.nodes), at+maxSiblings)] {
		if m.Role == content.RoleAssistant && m.Msg == msg && !m.Side && m.dropped == nil {
			list = append(list, m)
		}
	}
	return list
}

// otherOutputs are the records with outputs of the same answer's other calls.
func (c *Checker) otherOutputs(call *node) (list []*node) {
	if call.Msg == "" {
		return nil
	}
	for _, m := range c.answerRecords(call.Msg, call.index) {
		for _, id := range m.IDs(content.BlockCall) {
			for _, r := range c.results()[id] {
				if r.dropped == nil && !slices.Contains(list, r) {
					list = append(list, r)
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *node) int { return a.index - b.index })
	return list
}
