package rules

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

var (
	ruleOpenTurn         = check.OpenTurn
	ruleTruncatedTurn    = texts.Rule(finding.Rule{Name: "truncated-turn", Family: "turns", Impact: finding.Notes, Fix: finding.NoFix})
	ruleFailedTurn       = texts.Rule(finding.Rule{Name: "failed-turn", Family: "turns", Impact: finding.Notes, Fix: finding.NoFix})
	ruleUnansweredPrompt = check.UnansweredPrompt
	ruleTurnMismatch     = texts.Rule(finding.Rule{Name: "turn-mismatch", Family: "turns", Impact: finding.Notes, Fix: finding.NoFix})
	ruleTwoWriters       = texts.Rule(finding.Rule{Name: "two-writers", Family: "turns", Impact: finding.Notes, Fix: finding.NoFix})
	turnRules            = []*finding.Rule{ruleOpenTurn, ruleTruncatedTurn, ruleFailedTurn, ruleUnansweredPrompt, ruleTurnMismatch, ruleTwoWriters}
)

// turn is what is known of the turn in hand.
type turn struct {
	id     string
	sum    uint64 // hash of the record that begins it
	start  finding.Ref
	stamp  []byte // time stamp of its last record, as it is in the file
	last   session.Pos
	open   bool
	starts bool // it began with an event, not just with a prompt
	prompt finding.Ref
	shown  bool // an event has shown the prompt, so it is not a text that the client added
	answer bool // the model has said or done something since the prompt
	spoke  bool // the last thing was an answer with text
	busy   bool // the last thing was a call or its output: the model's answer is due
	packed bool // the history was compacted in it
	parent bool // it is part of what a sub-agent inherits
}

// when is the time of its last record.
func (t *turn) when() string { return gjson.ParseBytes(t.stamp).String() }

// turnChecker follows the turns of a session.
type turnChecker struct {
	run     *run
	turn    turn
	restart *restartChecker
	known   recent[bool] // the newest turns that began, by their hashed ids, and whether they have ended; ends come soon after
	last    string
	// left are turns that had not ended when another one began, by their ids. If one ends after all, two clients wrote at once, each with
	// turns of its own.
	left  map[string]leftTurn
	two   bool // that is reported
	error bool // the last turn ended with an error, or was aborted: that is reported already
}

// leftTurn is where a turn began, and where another one began in it, and what seems to be wrong with that.
type leftTurn struct {
	start, other session.Pos
	open, gap    *check.Claim
}

// maxLeft is how many such turns are remembered.
const maxLeft = 256

// keptTurns is how many turns that began are remembered.
const keptTurns = 4096

func newTurnChecker(s *run) *turnChecker {
	return &turnChecker{run: s, restart: newRestartChecker(s), known: recent[bool]{limit: keptTurns}}
}

func (c *turnChecker) Record(rec *session.Record) {
	var gap *check.Claim
	if rec.Kind == session.TurnStart && c.turn.open && !c.again(rec) {
		gap = c.restart.gap(&c.turn, rec)
	}
	c.restart.record(rec)
	c.follow(rec, gap)
}

// follow takes the next record, and what is claimed if it begins a turn although the one before has not ended.
func (c *turnChecker) follow(rec *session.Record, gap *check.Claim) {
	t := &c.turn
	switch rec.Kind {
	case session.Unreadable, session.Header:
		return
	case session.TurnStart:
		c.start(rec, gap)
	case session.TurnEnd:
		c.end(rec)
		return
	case session.Compaction:
		t.packed = true
	default:
		c.progress(rec)
	}
	if t.open && !settings(rec) {
		t.last, t.stamp = rec.Pos, append(t.stamp[:0], codex.Field(rec, codex.FieldTimestamp)...)
	}
}

// settings says whether the record may come between turns, so that it does not show when one ended.
func settings(rec *session.Record) bool {
	return rec.Type == "event_msg/thread_settings_applied" || rec.Type == "event_msg/thread_goal_updated"
}

func (c *turnChecker) progress(rec *session.Record) {
	t := &c.turn
	switch {
	case rec.Boundary:
		c.leftAlone(rec)
		t.prompt, t.answer, t.spoke, t.busy = finding.RefOf(rec), false, false, false
		t.shown = false
		c.error = false
	case rec.Kind == session.Evidence:
		t.shown = t.shown || codex.Repeats(rec, codex.TellsUser)
	case rec.Kind == session.Call || rec.Kind == session.Output:
		t.answer, t.spoke, t.busy = true, false, true
	case rec.Answer:
		t.answer, t.spoke, t.busy = true, true, false
	}
}

// leftAlone reports a prompt that another prompt follows with nothing in between. Clients before 0.100 write nothing at the end
// of a turn, so there is no other sign of a request that failed, or of a client that died.
func (c *turnChecker) leftAlone(rec *session.Record) {
	t := &c.turn
	if !c.run.TurnsWritten() && t.prompt.Pos.Line > 0 && t.shown && !t.answer && !t.packed && !c.error && !c.run.history.RolledBack(t.prompt.Pos) {
		f := ruleUnansweredPrompt.At(t.prompt, "response_item/message", fmt.Sprintf("this prompt got no answer: the next one, on line %d, follows it", rec.Pos.Line))
		f.On = t.prompt
		c.run.Report(f)
	}
	t.packed = t.packed && c.run.TurnsWritten()
}

// again says whether a record begins the turn in hand a second time: then a block is doubled, and the turn goes on.
func (c *turnChecker) again(rec *session.Record) bool {
	return c.turn.open && codex.RecordSum(rec) == c.turn.sum
}

func (c *turnChecker) start(rec *session.Record, gap *check.Claim) {
	id := string(rec.TurnID)
	if c.again(rec) {
		return
	}
	if t := &c.turn; t.open {
		open := c.openTurn()
		if c.left == nil {
			c.left = map[string]leftTurn{}
		}
		if t.id != "" && len(c.left) < maxLeft {
			c.left[t.id] = leftTurn{t.start.Pos, rec.Pos, open, gap}
		}
	}
	prompt, answer, busy := c.turn.prompt, c.turn.answer, c.turn.busy
	c.turn = turn{id: id, sum: codex.RecordSum(rec), start: finding.RefOf(rec), open: true, starts: true, prompt: prompt, answer: answer, busy: busy, parent: c.run.prefix.here}
	c.error = false
	if key := codex.Sum(rec.TurnID); id != "" && c.known.get(key) == nil {
		c.known.put(key, false)
	}
}

func (c *turnChecker) end(rec *session.Record) {
	if rec.Torn { // it is not sent to the model
		c.run.About(rec.Pos).Shown = true
	}
	t := &c.turn
	id := t.id // mostly, and then it needs no memory
	if id != string(rec.TurnID) {
		id = string(rec.TurnID)
	}
	ended := c.known.get(codex.Sum(rec.TurnID))
	known := ended != nil
	if known && *ended && t.open && id != t.id {
		c.run.Report(ruleTurnMismatch.Of(rec, "a second end of the same turn"))
		return // in a doubled block, it ends no other turn
	}
	if known {
		*ended = true
	}
	if left, ok := c.left[id]; ok && id != t.id {
		delete(c.left, id)
		c.twoWriters(rec, left)
		return
	}
	switch {
	case !c.run.TurnsWritten(), id == "" && t.open:
		// before 0.100 nothing begins a turn; an end without an id belongs to the open one
	case id == c.last && id != "" && !t.open:
		c.run.Report(ruleTurnMismatch.Of(rec, "a second end of the same turn"))
	case t.open && id != t.id && older(id, t.id):
		// a review: its turn has another one in it, and only of that is the beginning written
	case !known && !c.run.holes.Any(): // otherwise its start may have been on a line that holds no record
		c.run.Report(ruleTurnMismatch.Of(rec, "the end of a turn that did not begin here"))
	}
	c.last = id
	c.failed(rec)
	if t.open && (id == "" || id == t.id || !known) {
		t.open = false
	} else if t.open {
		c.openTurn()
		t.open = false
	}
}

// twoWriters takes the end of a turn in which another one began: neither was cut off there.
func (c *turnChecker) twoWriters(rec *session.Record, left leftTurn) {
	left.open.Refute()
	left.gap.Refute()
	if !c.two {
		c.run.Report(ruleTwoWriters.Of(rec, fmt.Sprintf("the turn that began on line %d ends here, and another one began in it on line %d: two clients wrote to this session at once, each of them without what the other one said", left.start.Line, left.other.Line)))
	}
	c.two = true
}

// older says whether an id was made before another one. Both must be UUIDs that begin with their time.
func older(id, other string) bool {
	x, err := uuid.Parse(id)
	y, errOther := uuid.Parse(other)
	return err == nil && errOther == nil && x.Version() == 7 && y.Version() == 7 && bytes.Compare(x[:], y[:]) < 0
}

func (c *turnChecker) failed(rec *session.Record) {
	t := &c.turn
	if strings.HasSuffix(rec.Type, "turn_aborted") {
		c.error = true
		return
	}
	class := codex.ErrorClass(rec)
	switch {
	case class != "":
		c.run.Report(ruleFailedTurn.Of(rec, fmt.Sprintf("the turn ended with an error (%s)%s", check.Clip([]byte(class), 60), whatNow(class, codex.ErrorMessage(rec)))))
		c.error = true
	case t.starts && t.start.Pos.Less(t.prompt.Pos) && !t.packed && !t.spoke && nullOrAbsent(codex.Field(rec, codex.FieldLastMessage)) && codex.Before(c.run.header.Version, 0, 145):
		c.run.Report(ruleFailedTurn.Of(rec, "the turn ended without any answer: in this version that is how a failed request looks; resume this same thread"))
		c.error = true
	}
}

func nullOrAbsent(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }

// whatNow is what the user should do after an error of this class and with these words.
func whatNow(class, words string) string {
	if r := api.Newest(api.Explain(words)); class == "context_window_exceeded" || r != nil && r.Mend == "shorten" {
		return ": the request is longer than the model takes; compact it once, or hand over to a new thread"
	}
	switch codex.Classify(class, words) {
	case session.Transient:
		return ", which is temporary: resume this same thread"
	case session.BadRequest:
		return ": the request was refused, and would be refused again as it is"
	case session.Limit:
		return ": resume this same thread when the limit allows it"
	case session.Auth:
		return ": log in, then resume this same thread"
	}
	return ": resume this same thread"
}

func (c *turnChecker) openTurn() *check.Claim {
	t := &c.turn
	if t.parent {
		return nil // the parent's turn was running when the sub-agent was made
	}
	// The model is sent the same with or without the turn's end (measured): this is about what the client shows.
	f := ruleOpenTurn.At(t.start, "event_msg/task_started", "the turn that begins here neither completed nor was aborted")
	if f.On, f.IDs = t.start, t.id; c.run.paginated {
		f.Message += ": Codex shows it as still running"
	}
	return c.run.Claim(f.With(finding.Edit{At: t.last, Op: finding.After, Tail: true, New: finding.Content{Literal: codex.NewTurnAborted(t.id, t.when())}}))
}

func (c *turnChecker) End() {
	t := &c.turn
	if c.run.opts.Live {
		return
	}
	if t.open {
		c.openTurn()
	}
	if t.prompt.Pos.Line == 0 || c.error || c.run.TurnsWritten() && !t.open && t.spoke {
		return
	}
	f := finding.Finding{Pos: t.prompt.Pos, Offset: t.prompt.Offset, Record: "response_item/message", On: t.prompt, IDs: t.id}
	switch {
	case !t.answer:
		f.Rule, f.Message = ruleUnansweredPrompt, "the last prompt got no answer"
	case t.busy:
		f.Rule, f.Message = ruleTruncatedTurn, "the last turn stopped between a tool call and the model's next answer"
	case t.open:
		f.Rule, f.Message = ruleTruncatedTurn, "the last turn stopped in the middle of an answer"
	default:
		return
	}
	c.run.Report(f)
}
