package rules

import (
	"bytes"
	"slices"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

var ruleLostMessage = texts.Rule(finding.Rule{Name: "lost-message", Family: "calls", Impact: finding.Loses, Fix: finding.Recovered})

// messageChecker looks for messages of which only the event is left, next to a hole.
type messageChecker struct {
	run *run

	// Prompts. The client writes the item first, then the event that shows it.
	unshown   []textSum   // texts of the prompts' items that no event has shown yet
	cutPrompt tornPrompt  // the newest of them that was cut inside its text
	whole     tornPrompt  // one that another file has whole, which takes its place
	lastShown session.Pos // the newest event that showed a prompt, or began or ended a turn
	shown     shownPrompt // the newest event that showed a prompt
	alone     alonePrompts
	mute      promptless

	// Answers and thoughts. The client writes the event first, then the item.
	answerEvent *witness    // an answer's event whose item has not come yet
	answerText  textSum     // its text
	lastItem    session.Pos // the newest answer's item
	lastText    textSum     // its text
	thoughts    []witness   // events that show the newest thought, until its item comes

	// Where the checker is.
	hasTurns        bool        // the session has events that begin turns
	turnOpen        bool        // the turn in hand has not ended
	turnStart       session.Pos // where it began
	lastWork        session.Pos // the newest call, output or prompt
	afterCompaction bool        // the newest record, settings excepted, is a compaction
	textInFront     textSum     // the text of an answer's item that is the newest record, settings excepted

	// What is needed to know a message when it comes after all.
	copies recent[struct{}]         // events that show messages, by their bytes
	stray  map[strayAnswer]bool     // answers whose events have not come in front of them
	early  map[textSum]*check.Claim // answers whose items did not follow their events, by their texts
	// lateThoughts are thoughts whose items did not follow their events, by what the first of these shows.
	lateThoughts map[uint64]*check.Claim
	restored     map[uint64]lostText // messages reported as lost, by eventSum
	echo         *lostText           // a message of restored whose event has come a second time
	echoOf       uint64              // its eventSum

	said saidAcross

	made batch[witness] // the events in hand

	twice   twoTexts                 // of the newest message
	decided map[session.Pos]twoTexts // messages with two texts, of which an event shows one: if that is the last, the first is zero
}

// theEnd is the line behind the last one.
const theEnd = 1 << 62

// textSum stands for a text as it is in the file, quotes included; the zero value for none.
type textSum struct {
	size int
	hash uint64
}

// maxCopies is how many events are recognized by their bytes when they come again: in a doubled block an event does not show
// a further message.
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
	return &messageChecker{run: s, copies: recent[struct{}]{limit: maxCopies}, said: saidAcross{newest: recent[struct{}]{limit: maxSaid}}}
}

// textIn is the text in a field of a record.
func textIn(rec *session.Record, field int) textSum {
	if !codex.IsString(rec, field) {
		return textSum{}
	}
	return textSum{len(codex.Field(rec, field)), codex.SumOf(rec, field)}
}

func firstText(rec *session.Record) textSum { return textIn(rec, codex.FieldFirstText) }

func shownText(rec *session.Record) textSum { return textIn(rec, codex.ShownField(rec)) }

func (c *messageChecker) Record(rec *session.Record) {
	if c.run.crossed.begins(rec) {
		c.said.forget()
	}
	if rec.Kind == session.TurnStart {
		c.promptLost()
	}
	c.mute.see(rec, c.run.review.open)
	if rec.Kind == session.Evidence && c.tellsOfFront(rec) {
		c.resolveAgent(rec.Pos)
		return
	}
	if rec.Kind != session.Context && rec.Kind != session.Other {
		c.afterCompaction, c.textInFront = rec.Kind == session.Compaction, textSum{}
	}
	switch rec.Kind {
	case session.Evidence:
		c.event(rec)
	case session.Message:
		if rec.Type == "response_item/reasoning" || codex.KeepsThought(rec) {
			c.thoughtCame(rec)
			c.thoughts = nil
			if c.echo != nil && c.echo.thought {
				c.standsAgain(c.echoOf, *c.echo)
				c.echo = nil
			}
		}
		if string(rec.Role) == "developer" {
			if two := textsOf(rec); two.role {
				c.twice = two
			}
			break // a placeholder that tells the model of a loss may come between records that belong together
		}
		c.resolveThought(rec.Pos, rec.Begins)
		c.message(rec)
	case session.Other:
		if c.run.review.open {
			c.alone.event = nil
		}
	case session.Call, session.Output, session.Compaction:
		c.resolveThought(rec.Pos, false)
		c.resolveAgent(rec.Pos)
		c.lastWork = rec.Pos
		if rec.Kind == session.Call {
			c.answeredAlone()
		}
	case session.TurnStart:
		c.alone.event = nil
		c.resolveThought(rec.Pos, c.turnOpen)
		c.cutAgent(rec.Pos)
		c.lastShown, c.hasTurns, c.turnOpen, c.turnStart = rec.Pos, true, true, rec.Pos
	case session.TurnEnd:
		c.alone.event = nil
		c.resolveThought(rec.Pos, c.turnOpen && codex.CutOff(rec))
		if codex.CutOff(rec) {
			c.cutAgent(rec.Pos)
		}
		c.resolveAgent(rec.Pos)
		c.compareLastAnswer(rec, c.run.crossed.here)
		c.lastShown, c.turnOpen = rec.Pos, false // a record that a later turn lacks was not lost before the end of this one
	}
}

// tellsOfFront says whether an answer's event is about the record in front of it, so that no item follows. The client writes
// such events behind a compaction, and at the end of a review, whose answer has its item first.
func (c *messageChecker) tellsOfFront(rec *session.Record) bool {
	if c.afterCompaction && codex.TellsCompaction(rec) {
		return true
	}
	return c.textInFront.size > 0 && codex.Repeats(rec, codex.TellsAgent) && c.textInFront == shownText(rec)
}

func (c *messageChecker) End() {
	c.promptLost()
	end := session.Pos{Line: theEnd}
	c.resolveThought(end, !c.run.opts.Live && (c.turnOpen || !c.hasTurns))
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
		c.run.Report(*f)
	}
}

// cutAgent settles an answer's event after which the session breaks off, or another turn begins although this one has not
// ended. The client writes the event first, so the item was never written. Before 0.100 nothing ends a turn, so only the end of
// the file shows this.
func (c *messageChecker) cutAgent(at session.Pos) {
	if c.answerEvent != nil && c.answerEvent.ref.Pos.Lost == 0 && (c.turnOpen || !c.hasTurns) {
		c.lostSoFar()
		c.answerEvent = nil
	}
	c.resolveAgent(at)
}

// lostSoFar reports the answer of an event whose item has not come where one client would have written it.
func (c *messageChecker) lostSoFar() {
	c.mayComeLate(c.lostAt(finding.Edit{At: c.answerEvent.ref.Pos, Op: finding.After}, c.answerEvent, "answer"))
}

// mayComeLate notes that the answer in hand is lost, until its item comes after all.
func (c *messageChecker) mayComeLate(lost *check.Claim) {
	if c.early == nil {
		c.early = map[textSum]*check.Claim{}
	}
	if len(c.early) < maxRestored {
		c.early[c.answerText] = lost
	}
}

// event takes an event that shows a prompt, an answer or a thought.
func (c *messageChecker) event(rec *session.Record) {
	if c.run.prefix.legacy() {
		return
	}
	tells, name := codex.Evidence(rec)
	if tells&codex.TellsThought == 0 {
		c.resolveThought(rec.Pos, false)
	}
	if tells&(codex.TellsUser|codex.TellsAgent|codex.TellsThought) == 0 {
		return
	}
	if rec.Mended && !rec.Torn { // events are not sent to the model
		if about := c.run.About(rec.Pos); about.Rule == normalize.LoneSurrogate || about.Rule == normalize.RawControl {
			about.Shown = true
		}
	}
	t := c.made.one()
	t.ref.Set(rec)
	t.name, t.torn, t.sum, t.from = name, rec.Torn, eventSum(rec), rec.From
	again := c.copied(codex.RecordSum(rec))
	c.echo = nil
	switch {
	case tells&codex.TellsUser != 0:
		c.promptShown(rec, t, again)
	case tells&codex.TellsAgent != 0:
		c.answerShown(rec, t, again)
	case tells&codex.TellsThought != 0:
		c.thoughtShown(rec, t, again)
	}
}

// promptShown takes an event that shows a prompt; again says that the same event has come before.
func (c *messageChecker) promptShown(rec *session.Record, t *witness, again bool) {
	text := shownText(rec)
	prompt := c.shownOfTwo(text)
	switch one, reported := c.restored[t.sum]; {
	case reported && c.matches(text):
		c.standsAgain(t.sum, one)
	case again || reported || prompt || c.matches(text) || c.whole.beginsLike(codex.ShownText(rec)):
	case c.cutPrompt.beginsLike(codex.ShownText(rec)) && shows(rec):
		c.restoreTorn(c.cutPrompt.at, t)
	default:
		c.lostPrompt(rec, t)
	}
	c.shown = shownPrompt{text, codex.SumOf(rec, codex.FieldItemID), rec.Pos}
	c.unshown, c.lastShown, c.cutPrompt, c.whole = c.unshown[:0], rec.Pos, tornPrompt{}, tornPrompt{}
}

// answerShown takes an event that shows an answer; again says that the same event has come before.
func (c *messageChecker) answerShown(rec *session.Record, t *witness, again bool) {
	c.resolveAgent(rec.Pos)
	text := shownText(rec)
	if one, reported := c.restored[t.sum]; reported {
		one.text = text // the first event may have lost a part of it at the seam
		c.echo, c.echoOf = &one, t.sum
	} else if c.stray[strayAnswer{codex.SumOf(rec, codex.FieldItemID), text}] {
		c.lastItem, c.lastText = rec.Pos, text
	} else if !again && (text.size > len(`""`) || rec.Type != "event_msg/agent_message" && shows(rec)) {
		c.answerEvent, c.answerText = t, text
	}
}

// lostPrompt reports the prompt of an event whose item has not come, if one is known to be missing.
func (c *messageChecker) lostPrompt(rec *session.Record, t *witness) {
	if rec.Pos.Lost > 0 {
		if shows(rec) {
			c.lostAt(finding.Edit{At: rec.Pos, Op: finding.Before}, t, "prompt")
		}
	} else if h := c.run.holes.Newest(c.lastShown, rec.Pos); h != nil && shows(rec) {
		c.lost(h, t, "prompt")
	} else if c.run.paginated && len(c.unshown) == 0 && c.shown.again(rec, c.lastShown) {
		c.shownTwice(rec)
	} else if !c.run.paginated && !c.run.review.open && len(c.unshown) == 0 && shows(rec) { // otherwise it shows an item that was damaged
		c.alone.shown(t, shownText(rec))
	}
}

// answeredAlone reports a prompt of which only the event is left, once the model has answered it.
func (c *messageChecker) answeredAlone() {
	if t := c.alone.answered(); t != nil {
		c.lostAt(finding.Edit{At: t.ref.Pos, Op: finding.Before}, t, "prompt")
	}
}

// maxUnshown is how many prompts are remembered until an event shows them.
const maxUnshown = 16

// matches says whether the item of a prompt with this text has come.
func (c *messageChecker) matches(text textSum) bool {
	return len(c.unshown) > 0 && text.size == 0 || slices.Contains(c.unshown, text)
}

func (c *messageChecker) message(rec *session.Record) {
	c.twice = textsOf(rec)
	switch {
	case rec.Boundary:
		c.lastWork = rec.Pos
		if rec.Begins {
			c.cutAgent(rec.Pos)
		}
		if rec.Torn || rec.Holed > 0 {
			c.cutPrompt = cutPrompt(rec)
		} else if rec.Mended && bytes.Contains(codex.FirstText(rec), cutMark) {
			c.whole = cutPrompt(rec)
		}
		text := firstText(rec)
		if len(c.unshown) < maxUnshown {
			c.unshown = append(c.unshown, text)
		}
		c.alone.item(text)
	case string(rec.Role) == "assistant":
		c.answeredAlone()
		if c.echo != nil && c.echo.text == firstText(rec) && c.echo.text.size > 0 {
			c.standsAgain(c.echoOf, *c.echo)
		}
		c.echo = nil
		if !c.twice.role {
			c.shownOfTwo(c.answerText)
		}
		text := firstText(rec)
		if c.answerEvent != nil && c.answerEvent.ref.Pos.Lost > 0 && !rec.Torn && text != c.answerText {
			c.resolveAgent(rec.Pos) // the item is another answer's
		}
		if c.answerEvent == nil || text != c.answerText {
			c.cameLate(text)
			c.strays(rec, text)
		}
		c.lastItem, c.lastText, c.textInFront = rec.Pos, text, text
		c.said.newest.put(text.hash, struct{}{})
		if rec.Mended && bytes.Contains(codex.FirstText(rec), cutMark) {
			c.lastText = textSum{} // the turn's end repeats the whole of this answer, not another one
		}
		if c.answerEvent != nil && (rec.Torn || rec.Holed > 0 && text != c.answerText) {
			c.restoreTorn(rec.Pos, c.answerEvent)
		}
		c.answerEvent = nil
		return
	case rec.Type == "response_item/reasoning" && c.eventsFirst():
		return // its answer's item is still to come
	}
	c.resolveAgent(rec.Pos)
}

// resolveAgent settles an answer's event once its item can't come any more.
func (c *messageChecker) resolveAgent(at session.Pos) {
	if c.answerEvent == nil {
		return
	}
	if c.answerEvent.ref.Pos.Lost > 0 {
		if c.answerText != c.lastText || c.lastText.size == 0 {
			c.lostAt(finding.Edit{At: c.answerEvent.ref.Pos, Op: finding.After}, c.answerEvent, "answer")
			c.lastItem, c.lastText = c.answerEvent.ref.Pos, c.answerText
		}
	} else if c.answerEvent.torn {
		c.lostAt(finding.Edit{At: c.answerEvent.ref.Pos, Op: finding.After}, c.answerEvent, "answer")
		c.lastItem, c.lastText = c.answerEvent.ref.Pos, textSum{}
	} else if h := c.run.holes.First(c.answerEvent.ref.Pos, at); h != nil {
		c.mayComeLate(c.lost(h, c.answerEvent, "answer"))
		c.lastItem = c.answerEvent.ref.Pos
		c.lastText = textSum{}
	} else if c.itemsFollow(at) {
		c.lostSoFar()
		c.lastItem, c.lastText = c.answerEvent.ref.Pos, c.answerText
	}
	c.answerEvent = nil
}

// cameLate takes the item of an answer that is not lost. If two clients write to one session, records of one may come between
// an event of the other and its item.
func (c *messageChecker) cameLate(text textSum) {
	if lost := c.early[text]; lost != nil && text.size > 0 {
		delete(c.early, text)
		lost.Refute()
	}
}

// itemsFollow says whether an answer or a thought must be lost if its item has not come by a place. No gap shows lost lines in a
// session without ordinals, or one that was numbered anew, but the client writes the item directly behind the events that show it (measured with
// 0.72.0 to 0.150.0: 64 answers and 33 thoughts without an exception). Events of a review do not count: they belong to a thread
// of their own.
func (c *messageChecker) itemsFollow(at session.Pos) bool {
	return !c.run.review.open && at.Line < theEnd && !c.eventsFirst()
}

// eventsFirst says whether the client writes all events of a response before all items of it, as those up to 0.63 do.
func (c *messageChecker) eventsFirst() bool { return codex.Before(c.run.header.Version, 0, 72) }

// compareLastAnswer compares what the end of a turn repeats as its last answer with the last item. crossed says that another turn began in
// this one: then the answer may stand farther in front, and so may those of turns that ended before.
func (c *messageChecker) compareLastAnswer(rec *session.Record, crossed bool) {
	text := codex.Field(rec, codex.FieldLastMessage)
	if c.copied(codex.RecordSum(rec)) {
		return
	}
	if crossed {
		for _, lost := range c.said.missed {
			lost.Refute()
		}
		c.said.missed = c.said.missed[:0]
	}
	last := textIn(rec, codex.FieldLastMessage)
	if len(text) < 3 || text[0] != '"' || last == c.lastText || c.lastShown.Less(c.lastItem) && c.lastText.size == 0 {
		return
	}
	said := c.said.newest.get(last.hash) != nil
	if crossed && said {
		return
	}
	from := c.lastShown
	if from.Less(c.lastItem) {
		from = c.lastItem
	}
	t := &witness{ref: finding.RefOf(rec), name: "task_complete"}
	if h := c.run.holes.Newest(from, rec.Pos); h != nil {
		c.lost(h, t, "answer")
		h.WithEvent()
	} else if c.turnOpen && c.lastItem.Less(c.lastWork) && c.turnStart.Less(c.lastWork) && !c.run.review.open {
		lost := c.lostAt(finding.Edit{At: rec.Pos, Op: finding.Before}, t, "answer")
		if said && len(c.said.missed) < maxLeft {
			c.said.missed = append(c.said.missed, lost)
		}
	}
}
