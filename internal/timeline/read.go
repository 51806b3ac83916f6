package timeline

import (
	"cmp"
	"context"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/lint"
)

// Options say what to tell beside what happened.
type Options struct {
	Agent    agent.Agent    // that wrote the session; nil: its first bytes are to tell
	Findings []lint.Finding // of this session, in the order of their places, as lint.Session returns them
	Content  bool           // fill Text, Asked and Got
	Live     bool           // somebody writes the session now
	// Asked is enough: of answers, and of what calls were given, brought and came to, nothing is told but that there were some.
	// To decode all that is most of the work.
	Asked bool
}

// Read tells the session in r, an entry a call of emit; the entry is emit's to keep. The errors are emit's, ctx's and
// what the reading met; all that came before an error has been told.
func Read(ctx context.Context, r io.Reader, opts Options, emit func(*Entry) error) error {
	if opts.Agent == nil {
		var head []byte
		var err error
		head, r = normalize.Head(r)
		if opts.Agent, err = all.Of("", head); err != nil {
			return err
		}
	}
	t := &teller{opts: opts, words: opts.Agent.Words(), emit: emit}
	framer := normalize.New(r, normalize.Options{Decoder: opts.Agent.Decoder(), Live: opts.Live})
	defer framer.Close()
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		rec, err := framer.Next()
		framer.Faults() // lint has told them
		if err != nil {
			t.finish()
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return errors.Join(t.flush(), err)
		}
		t.record(rec)
		t.found(rec.Pos)
		if err := t.flush(); err != nil {
			return err
		}
	}
}

// teller turns records into entries. An entry waits in the queue until all entries before it are settled.
type teller struct {
	opts  Options
	words agent.Words
	emit  func(*Entry) error
	queue []*Entry
	calls session.OpenCalls[*Entry] // of this turn
	turn  turn
	turns int

	cwd, model string // as of the newest context
}

// turn is the turn in hand.
type turn struct {
	id      string
	running bool
	quiet   bool // nothing but its prompt says that it began, and nothing that it ended
	start   *Entry
	last    *Entry // the newest entry of it
	calls   int
	spoke   bool // the model said or did something
	words   bool // the last thing was an answer in words
}

func (t *teller) record(rec *session.Record) {
	switch rec.Kind {
	case session.TurnStart:
		t.endTurn(nil, Open)
		t.startTurn(rec)
	case session.TurnEnd:
		t.found(rec.Pos) // what is wrong with the end belongs to the turn
		t.turnEnd(rec)
	case session.Call:
		t.call(rec)
	case session.Output:
		t.output(rec)
	case session.Evidence:
		for _, e := range t.calls.Told(rec) {
			if !t.opts.Asked {
				e.Outcome = e.Outcome.Or(t.words.Outcome(rec))
			}
		}
		t.nested(rec)
	case session.Message:
		t.message(rec)
	case session.Context:
		t.settings(rec)
	case session.Compaction:
		t.add(rec, Compaction)
	case session.Rollback:
		t.add(rec, Rollback).Calls = t.words.TurnsBack(rec)
	}
}

// add queues an entry of the turn in hand.
func (t *teller) add(rec *session.Record, kind Kind) *Entry {
	e := &Entry{Kind: kind, Pos: rec.Pos, Offset: rec.Offset, Time: t.words.Time(rec)}
	if t.turn.running {
		e.Turn, t.turn.last = t.turns, e
	}
	t.queue = append(t.queue, e)
	return e
}

// startTurn begins a turn. Only now the calls before it stay without an output: one may come behind the turn's end.
func (t *teller) startTurn(rec *session.Record) {
	t.giveUp()
	t.turns++
	t.turn = turn{id: string(rec.TurnID), running: true, quiet: rec.Kind != session.TurnStart}
	t.turn.start = t.add(rec, TurnStart)
}

// turnEnd takes over how the client says that the turn ended.
func (t *teller) turnEnd(rec *session.Record) {
	state, detail := Completed, ""
	end := t.words.Ending(rec)
	switch {
	case end.Aborted:
		state, detail = Interrupted, end.Reason
	case end.Error != "":
		state, detail = Failed, end.Error
	}
	if e := t.endTurn(rec, state); e != nil {
		e.Detail, e.Error = detail, shorten(end.Message)
		if end.Took > 0 {
			e.Took = end.Took
		}
	}
}

// endTurn ends the turn in hand, if there is one: at a record, or where its last entry stands.
func (t *teller) endTurn(rec *session.Record, state TurnState) *Entry {
	if !t.turn.running {
		return nil
	}
	last := t.turn.last
	e := &Entry{Kind: TurnEnd, Pos: last.Pos, Offset: last.Offset, Time: last.Time, Turn: t.turns, State: state, Calls: t.turn.calls}
	if rec != nil {
		e.Pos, e.Offset, e.Time = rec.Pos, rec.Offset, t.words.Time(rec)
	}
	if from := t.turn.start.Time; state != Open && state != Running && !from.IsZero() && !e.Time.IsZero() {
		e.Took = max(0, e.Time.Sub(from))
	}
	t.queue = append(t.queue, e)
	t.turn = turn{}
	return e
}

// message tells of a prompt or an answer.
func (t *teller) message(rec *session.Record) {
	kind := Answer
	switch {
	case rec.Boundary:
		kind = Prompt
		if rec.Begins { // no record says where its turn begins
			t.endTurn(nil, t.quietState())
			t.startTurn(rec)
		}
	case t.words.Calls(rec):
		e := t.add(rec, Call) // the provider runs it: no output comes
		e.Tool, e.CallID, e.Answered = clip(t.words.Tool(rec)), clip(string(rec.CallID)), true
		t.turn.calls++
		t.turn.spoke, t.turn.words = true, false
		return
	case !rec.Answer:
		return
	default:
		t.settings(rec)
	}
	e := t.add(rec, kind)
	if kind == Prompt || !t.opts.Asked {
		text, images := t.words.Message(rec)
		e.Chars, e.Images = utf8.RuneCountInString(text), images
		if t.opts.Content {
			e.Text = text
		}
	}
	t.turn.words = kind == Answer
	t.turn.spoke = t.turn.spoke || t.turn.words
}

// quietState is how a turn ended that no event ends.
func (t *teller) quietState() TurnState {
	switch {
	case t.turn.words:
		return Completed
	case t.turn.spoke:
		return Open
	}
	return Unanswered
}

// settings tells where and with which model turns run, if that is new. Until a model is named it waits for that.
func (t *teller) settings(rec *session.Record) {
	cwd, model := t.words.Place(rec)
	cwd, model = cmp.Or(cwd, t.cwd), cmp.Or(model, t.model) // what a record leaves unsaid stays
	if cwd == t.cwd && model == t.model {
		return
	}
	t.cwd, t.model = cwd, model
	if model == "" {
		return
	}
	e := t.add(rec, Settings)
	e.CWD, e.Model = cut(cwd, maxShown), clip(model)
}

// found queues the findings up to a place.
func (t *teller) found(at session.Pos) {
	for len(t.opts.Findings) > 0 && !at.Less(t.opts.Findings[0].Pos) {
		f := &t.opts.Findings[0]
		t.opts.Findings = t.opts.Findings[1:]
		e := &Entry{Kind: Finding, Pos: f.Pos, Offset: f.Offset, Finding: f}
		if t.turn.running {
			e.Turn = t.turns
		}
		t.queue = append(t.queue, e)
	}
}

// finish settles what is still open at the end of the session.
func (t *teller) finish() {
	t.found(session.Pos{Line: 1<<63 - 1})
	state := Open
	switch {
	case t.opts.Live && t.turn.running:
		state = Running
		for _, e := range t.calls.All() {
			e.Outcome.State = session.Running
		}
	case t.turn.quiet:
		state = t.quietState()
	}
	t.endTurn(nil, state)
	t.giveUp()
}

// flush emits the entries in front of the first call that is still open.
func (t *teller) flush() error {
	done := 0
	for _, e := range t.queue {
		if e.open {
			break
		}
		done++
		if err := t.emit(e); err != nil {
			return err
		}
	}
	clear(t.queue[:done])
	t.queue = t.queue[done:]
	return nil
}
