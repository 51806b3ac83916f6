package rules

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// lostText is a message or a thought that was reported as lost.
type lostText struct {
	text    textSum
	thought bool
	claim   *check.Claim
	torn    session.Pos // without a claim: it is in the file here, but cut off, and is replaced by the whole one
}

// maxRestored is how many are remembered.
const maxRestored = 256

// lostAt reports a message that was lost without leaving a hole.
func (c *messageChecker) lostAt(edit finding.Edit, t *witness, what string) *check.Claim {
	edit.New = finding.Content{From: &t.ref, Recipe: codex.MessageRecipe{}}
	return c.claim(t, t.lost("the "+what+" that this event shows is missing from what the model is sent").With(edit), what)
}

func (c *messageChecker) lost(h *check.Hole, t *witness, what string) *check.Claim {
	f := ruleLostMessage.At(finding.Ref{Pos: h.At, Offset: h.Offset}, "", fmt.Sprintf("the %s that the event on line %d shows is missing from what the model is sent", what, t.ref.Pos.Line))
	f.Source, f.Hole = t.source(), true
	return c.claim(t, f.With(h.Insert(finding.Content{From: &t.ref, Recipe: codex.MessageRecipe{}})), what)
}

// claim reports a message as lost if it does not come until the end.
func (c *messageChecker) claim(t *witness, f finding.Finding, what string) *check.Claim {
	if what == "prompt" {
		c.run.history.LostPrompt(f.Pos)
	}
	claim := c.run.Claim(f)
	c.remember(t, lostText{text: c.answerText, claim: claim})
	return claim
}

// lost is a finding about what the event alone still shows.
func (t *witness) lost(message string) finding.Finding {
	f := ruleLostMessage.At(t.ref, "", message)
	f.Source, f.On = t.source(), t.ref
	return f
}

// eventSum is a hash that identifies an event: the time and the id of what it shows; without an id, its time and the beginning
// of a long text; or else its bytes. At the seam of a doubled block, an event ends differently than its copy, but is the same
// event.
func eventSum(rec *session.Record) uint64 {
	switch text := codex.ShownText(rec); {
	case len(codex.Text(rec, codex.FieldTimestamp)) == 0:
		return codex.RecordSum(rec)
	case len(codex.Text(rec, codex.FieldItemID)) > 0:
		return says(rec, codex.FieldTimestamp, codex.FieldItemType, codex.FieldItemID)
	case len(text) > ownHead:
		return says(rec, codex.FieldTimestamp)<<32 | codex.Sum(text[:ownHead])>>32
	}
	return codex.RecordSum(rec)
}

// ownHead is how many bytes two texts with the same time must have in common at the start to be the same.
const ownHead = 64

// remember notes what was reported as lost.
func (c *messageChecker) remember(t *witness, one lostText) {
	if t.sum == 0 || len(c.restored) >= maxRestored {
		return
	}
	if c.restored == nil {
		c.restored = map[uint64]lostText{}
	}
	c.restored[t.sum] = one
}

// standsAgain says that a message is not lost: it was doubled with what is around it, and its second copy is whole.
func (c *messageChecker) standsAgain(sum uint64, one lostText) {
	delete(c.restored, sum)
	if one.claim != nil {
		one.claim.Refute()
		return
	}
	c.run.About(one.torn).Mend = check.Mend{Fix: finding.SetAside, Edits: []finding.Edit{{At: one.torn, Op: finding.Remove}}}
}

// restoreTorn replaces a message that was cut inside its text by the whole one that its event shows.
func (c *messageChecker) restoreTorn(at session.Pos, from *witness) {
	c.remember(from, lostText{text: c.answerText, torn: at})
	c.run.About(at).Mend = check.Mend{Fix: finding.Recovered, Source: from.source(), Edits: inPlaceOf(at, finding.Content{From: &from.ref, Recipe: codex.MessageRecipe{}})}
}

// strayAnswer is an answer's item, by the hash of its id.
type strayAnswer struct {
	id   uint64
	text textSum
}

// strays notes an answer's item that comes without its event. The client writes the event first, but a disk that exchanges blocks
// may leave the item in front of it, on a damaged line, which can't be moved: the answer is not lost, and must not be sent twice.
func (c *messageChecker) strays(rec *session.Record, text textSum) {
	if len(rec.ID) == 0 || text.size == 0 || len(c.stray) >= maxRestored {
		return
	}
	if c.stray == nil {
		c.stray = map[strayAnswer]bool{}
	}
	c.stray[strayAnswer{codex.SumOf(rec, codex.FieldID), text}] = true
}

// tornPrompt is the item of a prompt that was cut off inside its text, or has a hole in it.
type tornPrompt struct {
	at    session.Pos
	head  []byte // how its text begins, quote included
	holed int    // how many NULs were taken out of it; if any, that is all that is left of it
}

// maxHead is how many bytes of a text are compared to recognise it.
const maxHead = 4 << 10

func cutPrompt(rec *session.Record) tornPrompt {
	text := codex.FirstText(rec)
	if end := bytes.Index(text, cutMark); end >= 0 {
		text = text[:end]
	}
	p := tornPrompt{at: rec.Pos, head: bytes.Clone(text[:min(len(text), maxHead)])}
	if len(text) <= maxHead {
		p.holed = rec.Holed
	}
	return p
}

// cutMark is the beginning of normalize.CutMark as it is written in a file.
var cutMark = []byte(strings.TrimSuffix(strings.TrimPrefix(string(quoted(normalize.CutMark)), `"`), `"`))

// beginsLike says whether a text begins like the item's, of which nothing but the quote may be left; or whether it fills the hole.
func (p tornPrompt) beginsLike(text []byte) bool {
	if p.holed > 0 {
		return p.at.Line > 0 && normalize.Fills(string(text), string(p.head), p.holed)
	}
	return p.at.Line > 0 && len(p.head) > 0 && bytes.HasPrefix(text, p.head)
}

// shows says whether an event holds anything that a message can be made of: its words may have been damaged.
func shows(rec *session.Record) bool {
	_, err := codex.MessageFrom(rec.Raw)
	return err == nil
}
