package mend

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/session"
)

// queue are the prompts that wait for the end of a turn, as far as the file is read. A client notes when it adds one, begins a turn with the
// one that has waited longest, or takes one out, by its words (2.1.332,
// measured) or without them: to send it along with an output, or because the user wants it back. What is sent along is noted, too, in front of
// that or behind it.
type queue struct {
	waiting []int    // places among the echoes; wordless for a prompt whose words are not recorded
	begun   int      // so many have left it for a turn, and stand nowhere yet
	along   int      // how many more were taken out than were sent along; less than 0 if what was noted is lost
	unknown int      // how many were taken out of which it is not known yet which they were,
	among   int      // and how many of those that wait may be meant
	sent    []string // the words of those that were sent along, and not yet taken out
}

const (
	wordless = -1
	maxQueue = 512 // so many may wait
)

// queueOperation takes what a client notes of its queue.
func (c *Checker) queueOperation(rec *session.Record, of string) {
	q, words := &c.queue, format.Decoded(rec, format.FieldPlainContent)
	switch string(format.Text(rec, format.FieldOperation)) {
	case "enqueue":
		place := wordless
		if words != "" && !evidence.AboutTask(words) {
			place = len(c.echoes)
			c.echoes = append(format.Doubled(c.echoes), evidence.Echo{Told: words, Source: "the queue-operation record of this file", At: rec.Pos, When: format.MillisOf(format.Text(rec, format.FieldTimestamp)), Session: of, Waits: true})
			if len(c.nodes) == 0 {
				c.beside.Session.Take(rec, format.FieldSession)
			}
		}
		if q.waiting = append(q.waiting, place); len(q.waiting) > maxQueue {
			c.outOfQueue(0)
		}
	case "dequeue":
		c.settleQueue()
		q.begun++
		if e := c.outOfQueue(0); e != nil {
			e.Left = rec.Pos.Line
		}
	default:
		q.along++
		if words == "" && c.unqueueSent() || words != "" && c.unqueue(words) {
			return
		}
		q.unknown, q.among = q.unknown+1, len(q.waiting)
	}
}

// unqueueSent takes the first prompt out of the queue that was sent along and still stands there, and says whether there was one.
func (c *Checker) unqueueSent() bool {
	for i, words := range c.queue.sent {
		if c.unqueue(words) {
			c.queue.sent = slices.Delete(c.queue.sent, i, i+1)
			return true
		}
	}
	return false
}

// unqueue takes the prompt with these words out of the queue, and says whether it was there.
func (c *Checker) unqueue(words string) bool {
	at := slices.IndexFunc(c.queue.waiting, func(i int) bool { return i != wordless && c.echoes[i].Told == words })
	if at >= 0 {
		c.outOfQueue(at).Unqueued = true
	}
	return at >= 0
}

// settleQueue takes out all that may have been taken out, if it is not known which were.
func (c *Checker) settleQueue() {
	for c.queue.unknown > 0 && c.queue.among > 0 {
		if e := c.outOfQueue(0); e != nil {
			e.Unqueued = true
		}
	}
	c.queue.unknown, c.queue.sent = 0, nil
}

// outOfQueue takes a prompt out of the queue, and returns its echo; nil if there is none.
func (c *Checker) outOfQueue(at int) *evidence.Echo {
	if at < 0 || at >= len(c.queue.waiting) {
		return nil
	}
	if at < c.queue.among {
		c.queue.among--
	}
	place := c.queue.waiting[at]
	c.queue.waiting = slices.Delete(c.queue.waiting, at, at+1)
	if place == wordless {
		return nil
	}
	c.echoes[place].Waits = false
	return &c.echoes[place]
}

// queueBehind empties the queue where a prompt was asked that has not been in it: no other waited any more, or what was noted is lost.
func (c *Checker) queueBehind(n *node, rec *session.Record) {
	q := &c.queue
	switch {
	case n.Side || n.AsksNothing || n.Meta || n.Summary:
	case n.Role == content.RoleLink && n.Attachment == "queued_command":
		q.along--
		words := gjson.GetBytes(rec.Raw, "attachment.prompt")
		if words.IsArray() {
			words = words.Get(`#(type=="text").text`)
		}
		if q.unknown > 0 && c.unqueue(words.Str) {
			q.unknown--
		} else if len(q.sent) < maxQueue {
			q.sent = append(q.sent, words.Str)
		}
	case n.IsPrompt() && q.begun > 0:
		q.begun--
	case n.IsPrompt():
		c.emptyQueue()
	}
}

func (c *Checker) emptyQueue() {
	c.settleQueue()
	for len(c.queue.waiting) > 0 {
		c.outOfQueue(0)
	}
}
