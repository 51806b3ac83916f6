package mend

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/session"
)

// queue are the prompts that wait for the end of a turn, as far as the file is read. A client notes when it adds one, begins a turn with the
// one that has waited longest, or takes one out, by its words (2.1.332,
// measured) or without them: to send it along with an output, or because the user wants it back.
type queue struct {
	waiting []int // places among the echoes; wordless for a prompt whose words are not recorded
	begun   int   // so many have left it for a turn, and stand nowhere yet
	along   int   // how many more were taken out by their words than were sent along; less than 0 if what was noted is lost
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
		q.begun++
		c.outOfQueue(0)
	default:
		q.along++
		at := slices.IndexFunc(q.waiting, func(i int) bool { return i != wordless && c.echoes[i].Told == words })
		if at >= 0 {
			c.outOfQueue(at).Unqueued = true
			return
		}
		for range q.waiting { // most versions before 2.1.332 note no words: any of them may be meant
			if e := c.outOfQueue(0); e != nil {
				e.Unqueued = true
			}
		}
	}
}

// outOfQueue takes a prompt out of the queue, and returns its echo; nil if there is none.
func (c *Checker) outOfQueue(at int) *evidence.Echo {
	if at < 0 || at >= len(c.queue.waiting) {
		return nil
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
func (c *Checker) queueBehind(n *node) {
	q := &c.queue
	switch {
	case n.Side || n.AsksNothing || n.Meta || n.Summary:
	case n.Role == content.RoleLink && n.Attachment == "queued_command":
		q.along--
	case n.IsPrompt() && q.begun > 0:
		q.begun--
	case n.IsPrompt():
		c.emptyQueue()
	}
}

func (c *Checker) emptyQueue() {
	for len(c.queue.waiting) > 0 {
		c.outOfQueue(0)
	}
}
