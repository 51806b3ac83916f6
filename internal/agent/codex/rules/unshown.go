package rules

import (
	"bytes"
	"hash/maphash"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

var ruleLostEvent = texts.Rule(finding.Rule{Name: "lost-event", Family: "calls", Impact: finding.Shows, Fix: finding.Exact})

// unshownChecker looks for answers and thoughts without an event, in sessions without ordinals, where lost records leave no
// other trace. The client writes the event directly in front of the item. (Measured with 0.72.0 to 0.150.0: true of all 1100
// answers and 250 thoughts, except for answers of reviews and compactions, answers to other agents, and plans.)
type unshownChecker struct {
	run   *run
	seed  maphash.Seed
	known bool // the client that began the session is known to write the events
	prev  standing
	shown bool // some answer or thought has had its event, so this session's client does write them
	// texts are hashes of the newest texts that events have shown. If two clients write to a session, records of one may come
	// between an event and its item of the other.
	texts recent[struct{}]
	found *finding.Finding   // a finding about an item without an event, until it is known that the item is not a compaction's summary
	early []*finding.Finding // such findings from before the first item that has its event
	// thought says that an event has shown a thought whose item has not come yet. After a stream was cut, the count of
	// tokens may be between the two.
	thought bool
}

// standing is what came directly before a record.
type standing uint8

// The possible standings.
const (
	anywhere    standing = iota
	behindEvent          // an event that shows an answer or a thought
	behindOther          // a prompt, an output or a count of tokens, which never come between an event and its item
)

// maxEarly is how many such findings are kept before the first item that has its event.
const maxEarly = 64

// maxShownTexts is how many texts are remembered.
const maxShownTexts = 1 << 14

func newUnshownChecker(s *run) *unshownChecker {
	return &unshownChecker{run: s, seed: maphash.MakeSeed(), texts: recent[struct{}]{limit: maxShownTexts}}
}

func (c *unshownChecker) Record(rec *session.Record) {
	c.settle(rec)
	prev := c.prev
	c.prev = anywhere
	if rec.Kind == session.Header {
		c.known = c.known || codex.WritesEvents(rec)
	}
	if !c.known || c.run.paginated || rec.Kind == session.Unreadable || rec.Mended || c.run.prefix.here {
		return
	}
	tells, _ := codex.Evidence(rec)
	thought := rec.Type == "response_item/reasoning"
	switch {
	case tells&(codex.TellsAgent|codex.TellsThought) != 0:
		c.prev = behindEvent
		c.thought = c.thought || tells&codex.TellsThought != 0
		c.remember(codex.ShownWords(rec))
	case tells&codex.TellsUser != 0, rec.Kind == session.Output, rec.Type == "event_msg/token_count":
		c.prev = behindOther
	case rec.Answer && string(rec.Role) == "assistant", thought:
		if prev == behindEvent {
			c.shown = true
			c.tellEarly()
		}
		if prev == behindOther && !c.run.review.open && !codex.OfSubagent(c.run.header) {
			c.alone(rec, thought)
		}
		c.thought = c.thought && !thought
	}
}

// Lost takes an event that is restored from elsewhere.
func (c *unshownChecker) Lost(rec *session.Record) {
	if tells, _ := codex.Evidence(rec); tells&(codex.TellsAgent|codex.TellsThought) != 0 {
		c.thought = c.thought || tells&codex.TellsThought != 0
		c.remember(codex.ShownWords(rec))
	}
}

func (c *unshownChecker) remember(text []byte) {
	if len(text) > 0 {
		c.texts.put(maphash.Bytes(c.seed, text), struct{}{})
	}
}

// alone keeps a finding about an item if no event shows any part of it.
func (c *unshownChecker) alone(rec *session.Record, thought bool) {
	if thought && c.thought || !codex.IsShown(rec) {
		return
	}
	for _, text := range codex.WordsOf(rec) {
		if c.texts.get(maphash.String(c.seed, text)) != nil || codex.NoEvent(text) {
			return
		}
	}
	events := codex.EventsOf(rec)
	if len(events) == 0 {
		return
	}
	f := ruleLostEvent.Of(rec, "no event shows this, though the client writes one before it: records are missing here")
	for _, event := range events {
		f.Edits = append(f.Edits, finding.Edit{At: rec.Pos, Op: finding.Before, New: finding.Content{Literal: bytes.Clone(event)}})
	}
	c.found = &f
}

// settle reports the kept item once it is known that it is not the summary of a compaction, which would come next.
func (c *unshownChecker) settle(rec *session.Record) {
	if c.found == nil || rec.Type == "event_msg/token_count" || rec.Kind == session.Context || rec.Kind == session.Other {
		return
	}
	switch {
	case rec.Kind == session.Compaction:
	case c.shown:
		c.run.Report(*c.found)
	case len(c.early) < maxEarly:
		c.early = append(c.early, c.found)
	}
	c.found = nil
}

func (c *unshownChecker) tellEarly() {
	for _, f := range c.early {
		c.run.Report(*f)
	}
	c.early = nil
}

func (c *unshownChecker) End() {}
