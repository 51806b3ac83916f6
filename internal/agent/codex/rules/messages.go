package rules

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

var ruleLostMessage = texts.Rule(Rule{Name: "lost-message", Family: "calls", Impact: Loses, Fix: Recovered})

// witness is an event that shows what another record says.
type witness struct {
	ref  Ref
	name string
	torn bool   // its line had been cut: what it tells was never written a second time, or is lost with the rest
	sum  uint64 // of a message's event: its bytes
	from string // the file that holds it, if the session has lost it and it is not the client's database
}

// source names it in a report.
func (t *witness) source() string {
	if t.ref.Pos.Lost > 0 {
		return first(t.from, KeptSource)
	}
	return fmt.Sprintf("%s on line %d", t.name, t.ref.Pos.Line)
}

// messageChecker looks for messages of which only the event is left, next to a hole.
type messageChecker struct {
	run    *run
	seed   maphash.Seed
	user   []textSum   // of the texts of the prompts' items that no event has shown yet
	cut    tornPrompt  // the newest of them that was cut inside its text
	shown  session.Pos // the newest event that showed a prompt, or began or ended a turn
	agent  *witness    // an answer's event whose item has not come yet
	said   textSum     // its text
	begun  bool        // the session has events that begin turns
	open   bool        // the turn in hand has not ended
	turn   session.Pos // where it began
	answer session.Pos // the newest answer's item
	text   textSum     // of its text
	worked session.Pos // the newest call, output or prompt
	// thoughts are the events that show what was thought, until its item comes.
	thoughts []witness
	packed   bool    // the newest record but for settings is a compaction
	front    textSum // of an answer's item that is the newest record but for settings
	alone    alonePrompts
	mute     promptless
	copies   recent[struct{}]        // events that show messages, by their bytes
	early    map[textSum]session.Pos // of findings of answers whose items did not come behind their events, by their texts
	restored map[uint64]lostText     // messages told as lost, by the bytes of their events
	echo     *lostText               // one whose event stands here a second time
	echoOf   uint64                  // by the bytes of its event
}

// lostText is a message, or a thought, that was told as lost.
type lostText struct {
	text    textSum
	thought bool
	torn    bool        // it stands there cut, and is replaced by the whole of it
	at      session.Pos // of the finding
}

// theEnd is the line behind the last one.
const theEnd = 1 << 62

// maxRestored is how many are remembered.
const maxRestored = 256

// textSum stands for a text as it is in the file, quotes included; the zero value for none.
type textSum struct {
	size int
	hash uint64
}

// maxCopies is how many records are known again by their bytes: a doubled block shows no message that is not there.
const maxCopies = 1024

// copied says whether the record has been seen, and remembers it.
func (c *messageChecker) copied(sum uint64) bool {
	if c.copies.get(sum) != nil {
		return true
	}
	c.copies.put(sum, struct{}{})
	return false
}

func newMessageChecker(s *run) *messageChecker {
	return &messageChecker{run: s, seed: maphash.MakeSeed(), copies: recent[struct{}]{limit: maxCopies}}
}

func (c *messageChecker) sum(text []byte) textSum {
	if len(text) == 0 {
		return textSum{}
	}
	return textSum{len(text), maphash.Bytes(c.seed, text)}
}

func (c *messageChecker) Record(rec *session.Record) {
	if rec.Kind == session.TurnStart {
		c.promptLost()
	}
	c.mute.see(rec, c.alone.review.open)
	if rec.Kind == session.Evidence && c.tellsOfFront(rec) {
		c.resolveAgent(rec.Pos)
		return
	}
	if rec.Kind != session.Context && rec.Kind != session.Other {
		c.packed, c.front = rec.Kind == session.Compaction, textSum{}
	}
	switch rec.Kind {
	case session.Evidence:
		c.event(rec)
	case session.Message:
		if rec.Type == "response_item/reasoning" || codex.KeepsThought(rec) {
			c.thoughts = nil
			if c.echo != nil && c.echo.thought {
				c.standsAgain(c.echoOf, *c.echo)
				c.echo = nil
			}
		}
		if string(rec.Role) == "developer" {
			break // one that tells the model of a loss may stand between what belongs together
		}
		c.resolveThought(rec.Pos, rec.Begins)
		c.message(rec)
	case session.Other:
		c.alone.other(rec)
	case session.Call, session.Output, session.Compaction:
		c.resolveThought(rec.Pos, false)
		c.resolveAgent(rec.Pos)
		c.worked = rec.Pos
		if rec.Kind == session.Call {
			c.answeredAlone()
		}
	case session.TurnStart:
		c.alone.event = nil
		c.resolveThought(rec.Pos, c.open)
		c.cutAgent(rec.Pos)
		c.shown, c.begun, c.open, c.turn = rec.Pos, true, true, rec.Pos
	case session.TurnEnd:
		c.alone.event = nil
		c.resolveThought(rec.Pos, c.open && codex.CutOff(rec))
		if codex.CutOff(rec) {
			c.cutAgent(rec.Pos)
		}
		c.resolveAgent(rec.Pos)
		c.lastAnswer(rec)
		c.shown, c.open = rec.Pos, false // what a later turn lacks was not lost before this one's end
	}
}

// tellsOfFront says whether an answer's event is about the record in front of it, so that no item follows: the client
// tells so that it has compacted the history, and at a review's end it writes the answer first.
func (c *messageChecker) tellsOfFront(rec *session.Record) bool {
	if c.packed && codex.TellsCompaction(rec) {
		return true
	}
	if c.front.size == 0 {
		return false
	}
	tells, _ := codex.Evidence(rec)
	return tells&codex.TellsAgent != 0 && c.front == c.sum(codex.ShownText(rec))
}

func (c *messageChecker) End() {
	c.promptLost()
	end := session.Pos{Line: theEnd}
	c.resolveThought(end, !c.run.opts.Live && (c.open || !c.begun))
	if c.run.opts.Live {
		c.resolveAgent(end)
	} else {
		c.cutAgent(end)
	}
}

// promptLost settles whether the turn in hand had a prompt.
func (c *messageChecker) promptLost() {
	f := c.mute.lost()
	c.mute = promptless{}
	if f != nil && !c.run.paginated && !codex.OfSubagent(c.run.header) && !c.run.history.RolledBack(f.Pos) {
		c.run.report(*f)
	}
}

// cutAgent settles an answer's event behind which the session breaks off, or goes on in a turn that begins while the one
// before it has not ended: the client writes the event first, so the item was never written. Before 0.100 nothing ends
// a turn, and only the end of the file tells.
func (c *messageChecker) cutAgent(at session.Pos) {
	if c.agent != nil && c.agent.ref.Pos.Lost == 0 && (c.open || !c.begun) {
		c.lostAt(Edit{At: c.agent.ref.Pos, Op: After}, c.agent, "answer")
		c.agent = nil
	}
	c.resolveAgent(at)
}

func (c *messageChecker) event(rec *session.Record) {
	tells, name := codex.Evidence(rec)
	if tells&codex.TellsThought == 0 {
		c.resolveThought(rec.Pos, false)
	}
	if tells&(codex.TellsUser|codex.TellsAgent|codex.TellsThought) == 0 {
		return
	}
	if rec.Mended && !rec.Torn { // the model is not sent events
		c.run.AmendFraming(rec.Pos.Line, func(f *Finding) {
			if f.Rule == normalize.LoneSurrogate || f.Rule == normalize.RawControl {
				f.Impact = min(f.Impact, Shows)
			}
		})
	}
	sum := maphash.Bytes(c.seed, rec.Raw)
	again := c.copied(sum)
	t := &witness{ref: refOf(rec), name: name, torn: rec.Torn, sum: sum, from: rec.From}
	c.echo = nil
	switch {
	case tells&codex.TellsUser != 0:
		if one, ok := c.restored[sum]; again && ok && c.matches(codex.ShownText(rec)) {
			c.standsAgain(sum, one)
		} else if text := codex.ShownText(rec); !again && !c.matches(text) {
			if c.cut.beginsLike(text) && shows(rec) {
				c.restoreTorn(c.cut.at, t)
			} else {
				c.lostPrompt(rec, t)
			}
		}
		c.user, c.shown, c.cut = c.user[:0], rec.Pos, tornPrompt{}
	case tells&codex.TellsAgent != 0:
		c.resolveAgent(rec.Pos)
		if text := codex.ShownText(rec); !again && (len(text) > len(`""`) || shows(rec)) {
			c.agent, c.said = t, c.sum(text)
		} else if one, ok := c.restored[sum]; again && ok {
			c.echo = &one
			c.echoOf = sum
		}
	case tells&codex.TellsThought != 0:
		c.resolveAgent(rec.Pos)
		if one, ok := c.restored[sum]; again && ok {
			c.echo, c.echoOf = &one, sum
		} else if !again {
			c.thought(rec, t)
		}
	}
}

// lostPrompt reports the prompt of an event whose item has not come, if one is known to be missing.
func (c *messageChecker) lostPrompt(rec *session.Record, t *witness) {
	if rec.Pos.Lost > 0 {
		if shows(rec) {
			c.lostAt(Edit{At: rec.Pos, Op: Before}, t, "prompt")
		}
	} else if h := c.run.holes.Newest(c.shown, rec.Pos); h != nil && shows(rec) {
		c.lost(h, t, "prompt")
	} else if !c.run.paginated && len(c.user) == 0 && shows(rec) { // else it shows an item that damage has changed
		c.alone.shown(t, c.sum(codex.ShownText(rec)))
	}
}

// answeredAlone reports a prompt of which only the event is left, now that the model has answered it.
func (c *messageChecker) answeredAlone() {
	if t := c.alone.answered(); t != nil {
		c.lostAt(Edit{At: t.ref.Pos, Op: Before}, t, "prompt")
	}
}

// shows says whether an event holds anything that a message can be made of: damage may have taken its words.
func shows(rec *session.Record) bool {
	_, err := codex.MessageFrom(rec.Raw)
	return err == nil
}

// maxUnshown is how many prompts are kept until an event shows them.
const maxUnshown = 16

// matches says whether the item of a prompt with this text has come.
func (c *messageChecker) matches(text []byte) bool {
	sum := c.sum(text)
	for _, have := range c.user {
		if have == sum || sum.size == 0 {
			return true
		}
	}
	return false
}

func (c *messageChecker) message(rec *session.Record) {
	switch {
	case rec.Boundary:
		c.worked = rec.Pos
		if rec.Begins {
			c.cutAgent(rec.Pos)
		}
		if rec.Torn {
			c.cut = cutPrompt(rec)
		}
		text := c.sum(codex.FirstText(rec))
		if len(c.user) < maxUnshown {
			c.user = append(c.user, text)
		}
		c.alone.item(text)
	case string(rec.Role) == "assistant":
		c.answeredAlone()
		if c.echo != nil && c.echo.text == c.sum(codex.FirstText(rec)) && c.echo.text.size > 0 {
			c.standsAgain(c.echoOf, *c.echo)
		}
		c.echo = nil
		text := c.sum(codex.FirstText(rec))
		if c.agent != nil && c.agent.ref.Pos.Lost > 0 && !rec.Torn && text != c.said {
			c.resolveAgent(rec.Pos) // it is another answer's item
		}
		if c.agent == nil || text != c.said {
			c.cameLate(text)
		}
		c.answer, c.text, c.front = rec.Pos, text, text
		if rec.Mended && bytes.Contains(codex.FirstText(rec), cutMark) {
			c.text = textSum{} // what the turn's end repeats is the whole of it, and no other answer
		}
		if rec.Torn && c.agent != nil {
			c.restoreTorn(rec.Pos, c.agent)
		}
		c.agent = nil
		return
	}
	c.resolveAgent(rec.Pos)
}

// resolveAgent settles an answer's event once its item can't come any more.
func (c *messageChecker) resolveAgent(at session.Pos) {
	if c.agent == nil {
		return
	}
	if c.agent.ref.Pos.Lost > 0 {
		if c.said != c.text || c.text.size == 0 {
			c.lostAt(Edit{At: c.agent.ref.Pos, Op: After}, c.agent, "answer")
			c.answer, c.text = c.agent.ref.Pos, c.said
		}
	} else if c.agent.torn {
		c.lostAt(Edit{At: c.agent.ref.Pos, Op: After}, c.agent, "answer")
		c.answer, c.text = c.agent.ref.Pos, textSum{}
	} else if h := c.run.holes.First(c.agent.ref.Pos, at); h != nil {
		c.lost(h, c.agent, "answer")
		c.answer = c.agent.ref.Pos
		c.text = textSum{}
	} else if c.itemsFollow(at) {
		c.lostAt(Edit{At: c.agent.ref.Pos, Op: After}, c.agent, "answer")
		c.answer, c.text = c.agent.ref.Pos, c.said
		if c.early == nil {
			c.early = map[textSum]session.Pos{}
		}
		if len(c.early) < maxRestored {
			c.early[c.said] = c.agent.ref.Pos
		}
	}
	c.agent = nil
}

// cameLate takes back that an answer is lost: of two clients that write one session, one's records may stand between the
// other's event and item.
func (c *messageChecker) cameLate(text textSum) {
	if at, ok := c.early[text]; ok && text.size > 0 {
		delete(c.early, text)
		c.run.Withdraw(func(f *Finding) bool { return f.Rule == ruleLostMessage && f.Pos == at })
	}
}

// itemsFollow says whether what the model said or thought is known to be lost if its item has not come by a place. In a
// session without ordinals no gap tells of lost lines; but the client writes the item right behind the events that show
// it (measured with 0.72.0 to 0.150.0: 64 answers and 33 thoughts without an exception; up to 0.63 it writes all items of
// a response behind all events of it). A review's events are its own thread's.
func (c *messageChecker) itemsFollow(at session.Pos) bool {
	return !c.run.paginated && !c.alone.review.open && at.Line < theEnd && !codex.Before(c.run.header.Version, 0, 72)
}

// lastAnswer compares what the end of a turn repeats as its last answer with the last item.
func (c *messageChecker) lastAnswer(rec *session.Record) {
	text := codex.Field(rec, codex.FieldLastMessage)
	if c.copied(maphash.Bytes(c.seed, rec.Raw)) {
		return
	}
	if len(text) < 3 || text[0] != '"' || c.sum(text) == c.text || c.shown.Less(c.answer) && c.text.size == 0 {
		return
	}
	from := c.shown
	if from.Less(c.answer) {
		from = c.answer
	}
	t := &witness{ref: refOf(rec), name: "task_complete"}
	if h := c.run.holes.Newest(from, rec.Pos); h != nil {
		c.lost(h, t, "answer")
	} else if c.open && c.answer.Less(c.worked) && c.turn.Less(c.worked) && !c.alone.review.open {
		c.lostAt(Edit{At: rec.Pos, Op: Before}, t, "answer")
	}
}

// lostAt reports a message that was lost without leaving a hole.
func (c *messageChecker) lostAt(edit Edit, t *witness, what string) {
	c.remember(t, lostText{text: c.said, at: t.ref.Pos})
	edit.New = Content{From: &t.ref, Build: codex.MessageFrom}
	c.run.report(Finding{
		Rule: ruleLostMessage, Impact: Loses, Fix: Recovered, Pos: t.ref.Pos, Offset: t.ref.Offset, Source: t.source(), On: t.ref,
		Message: "the " + what + " that this event shows is missing from what the model is sent", Edits: []Edit{edit},
	})
}

func (c *messageChecker) lost(h *check.Hole, t *witness, what string) {
	c.remember(t, lostText{text: c.said, at: h.At})
	c.run.report(Finding{
		Rule: ruleLostMessage, Impact: Loses, Fix: Recovered, Pos: h.At, Offset: h.Offset, Source: t.source(),
		Message: fmt.Sprintf("the %s that the event on line %d shows is missing from what the model is sent", what, t.ref.Pos.Line),
		Edits:   []Edit{h.Insert(Content{From: &t.ref, Build: codex.MessageFrom})}, Hole: true,
	})
}

// remember notes what was told as lost.
func (c *messageChecker) remember(t *witness, one lostText) {
	if t.sum == 0 || len(c.restored) >= maxRestored {
		return
	}
	if c.restored == nil {
		c.restored = map[uint64]lostText{}
	}
	c.restored[t.sum] = one
}

// standsAgain takes back that a message is lost: it was doubled with what stands around it, and its second copy is whole.
func (c *messageChecker) standsAgain(sum uint64, one lostText) {
	delete(c.restored, sum)
	if one.torn {
		c.run.AmendFraming(one.at.Line, func(f *Finding) {
			f.Fix, f.Source = SetAside, ""
			f.Edits = append(slices.DeleteFunc(f.Edits, func(e Edit) bool { return e.At == one.at }), Edit{At: one.at, Op: Remove})
		})
		return
	}
	c.run.Withdraw(func(f *Finding) bool { return f.Rule == ruleLostMessage && f.Pos == one.at })
}

// restoreTorn replaces a message that was cut inside its text by the whole one that its event shows.
func (c *messageChecker) restoreTorn(at session.Pos, from *witness) {
	c.remember(from, lostText{text: c.said, torn: true, at: at})
	c.run.AmendFraming(at.Line, func(f *Finding) {
		f.Source = from.source()
		f.Edits = append(f.Edits,
			Edit{At: at, Op: Remove, Moved: true},
			Edit{At: at, Op: Before, New: Content{From: &from.ref, Build: codex.MessageFrom}})
	})
}

// tornPrompt is a prompt's item that was cut inside its text.
type tornPrompt struct {
	at   session.Pos
	head []byte // how its text begins, quote included
}

// maxHead is how many bytes of a text tell that it is the same.
const maxHead = 4 << 10

func cutPrompt(rec *session.Record) tornPrompt {
	text := codex.FirstText(rec)
	if end := bytes.Index(text, cutMark); end >= 0 {
		text = text[:end]
	}
	return tornPrompt{rec.Pos, bytes.Clone(text[:min(len(text), maxHead)])}
}

// cutMark is the beginning of the mark, as it stands in a file.
var cutMark = []byte(strings.TrimSuffix(strings.TrimPrefix(string(quoted(normalize.CutMark)), `"`), `"`))

// beginsLike says whether a text goes on as the item begins.
func (p tornPrompt) beginsLike(text []byte) bool {
	return p.at.Line > 0 && len(p.head) > len(`"`) && bytes.HasPrefix(text, p.head)
}
