package timeline

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// Options say how to read a session, and what the entries are to hold.
type Options struct {
	Agent    *agent.Agent   // the agent that wrote the session; nil: decided by its first bytes
	Findings []lint.Finding // of this session, in the order of their places, as lint.Session returns them
	Content  bool           // fill Text, Asked and Got
	Live     bool           // the session is being written now
	// Sent is what the client sends of the session; nil: not known.
	Sent *session.Sent
	// asked says that only the contents of prompts are wanted: answers and calls have entries, but without their texts,
	// arguments, outputs and outcomes. Decoding those is most of the work.
	asked bool
}

// Read reads the session in r and calls emit for each entry, which emit may keep. The error is emit's, ctx's or the
// reader's; everything before the error has been emitted.
func Read(ctx context.Context, r io.Reader, opts Options, emit func(*Entry) error) error {
	if opts.Agent == nil {
		var head []byte
		var err error
		head, r = normalize.Head(r)
		if opts.Agent, err = all.Of("", head); err != nil {
			return err
		}
	}
	t := &teller{opts: opts, agent: opts.Agent, words: opts.Agent.Words, emit: emit, history: historyOf(opts.Sent)}
	framer := normalize.New(r, normalize.Options{Decoder: opts.Agent.Decoder, Live: opts.Live})
	defer framer.Close()
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		rec, err := framer.Next()
		framer.Faults() // discarded: they are among the findings
		switch {
		case errors.Is(err, io.EOF):
			t.finish()
			return t.flush()
		case errors.Is(err, source.ErrCorrupt): // there is no more of it
			t.finish()
			return errors.Join(t.flush(), err)
		case err != nil: // what is open may end in the part that was not read
			t.queue = slices.DeleteFunc(t.queue, func(e *Entry) bool { return e.open })
			return errors.Join(t.flush(), err)
		}
		if !t.again(rec) {
			t.record(rec)
		}
		t.found(rec.Pos)
		if err := t.flush(); err != nil {
			return err
		}
	}
}

// teller turns records into entries. An entry waits in the queue until all entries before it are settled.
type teller struct {
	opts    Options
	agent   *agent.Agent
	words   agent.Words
	emit    func(*Entry) error
	history history
	queue   []*Entry
	calls   session.OpenCalls[*Entry] // calls that have no output yet, of this turn and of those that another one began in
	left    map[string]*Entry         // the ends of turns that another one began in, by their ids: they may still be told
	turn    turn
	turns   int
	placed  session.Pos     // the record that was last asked for its working directory and model
	read    map[uint64]bool // the sums of the records so far, of a session whose records have ids

	cwd, model string // from the newest context
}

// turn is the current turn.
type turn struct {
	id       string
	running  bool
	implicit bool // no events mark its beginning and end: it begins with its prompt
	start    *Entry
	last     *Entry // its newest entry
	calls    int
	active   bool // the model said or did something
	answered bool // the last thing that the model did was to answer in words
}

// again says whether a record of a tree was there before, byte for byte. It is the same one then: clients append records again when they
// compact a second time.
func (t *teller) again(rec *session.Record) bool {
	if !t.agent.Branched || rec.Kind == session.Other {
		return false
	}
	if t.read == nil {
		t.read = map[uint64]bool{}
	}
	key := maphash.Bytes(seed, rec.Raw)
	was := t.read[key]
	t.read[key] = true
	return was
}

var seed = maphash.MakeSeed()

func (t *teller) record(rec *session.Record) {
	if t.agent.Parts == nil {
		t.part(rec)
		return
	}
	for _, part := range t.agent.Parts(rec) {
		t.part(&part)
	}
}

// part takes a record, or what one of several items of it says.
func (t *teller) part(rec *session.Record) {
	switch rec.Kind {
	case session.TurnStart:
		t.leaveTurn()
		t.startTurn(rec)
	case session.TurnEnd:
		t.found(rec.Pos) // findings about the end belong to the turn
		t.turnEnd(rec)
	case session.Call:
		t.call(rec)
	case session.Output:
		t.output(rec)
	case session.Evidence:
		for _, e := range t.calls.Told(rec) {
			if !t.opts.asked {
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

// add queues an entry of the current turn.
func (t *teller) add(rec *session.Record, kind Kind) *Entry {
	e := &Entry{Kind: kind, Pos: rec.Pos, Offset: rec.Offset, Time: t.words.Time(rec)}
	if t.turn.running {
		e.Turn, t.turn.last = t.turns, e
	}
	t.queue = append(t.queue, e)
	if len(t.queue) > maxHeld {
		t.giveUp()
	}
	return e
}

// maxHeld is how many entries wait for an output, or for the end of a turn that another one began in.
const maxHeld = 4096

// leaveTurn is where a turn begins in another one: the client died there, or a second client writes to the same session, and the
// turn's outputs and its end still come.
func (t *teller) leaveTurn() {
	id := t.turn.id
	e := t.endTurn(nil, Open)
	if e == nil || id == "" {
		return
	}
	if t.left == nil {
		t.left = map[string]*Entry{}
	}
	e.open, t.left[id] = true, e
}

// startTurn begins a turn. Only now are the open calls before it given up, because an output may come after its turn's end.
func (t *teller) startTurn(rec *session.Record) {
	if len(t.left) == 0 {
		t.giveUp()
	}
	t.turns++
	t.turn = turn{id: string(rec.TurnID), running: true, implicit: rec.Kind != session.TurnStart}
	t.turn.start = t.add(rec, TurnStart)
}

// turnEnd ends the turn as the client's record says.
func (t *teller) turnEnd(rec *session.Record) {
	state, detail := Completed, ""
	end := t.words.Ending(rec)
	switch {
	case end.Aborted:
		state, detail = Interrupted, end.Reason
	case end.Error != "":
		state, detail = Failed, end.Error
	}
	e := t.left[string(rec.TurnID)]
	if id := string(rec.TurnID); e != nil && id != t.turn.id {
		delete(t.left, id)
		e.open, e.State, e.Pos, e.Offset, e.Time = false, state, rec.Pos, rec.Offset, t.words.Time(rec)
	} else if e = t.endTurn(rec, state); e == nil {
		return
	}
	e.Detail, e.Error = detail, shorten(end.Message)
	if end.Took > 0 {
		e.Took = end.Took
	}
}

// endTurn ends the current turn, if there is one: at rec or, if that is nil, at the turn's last entry.
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

// message adds a prompt, an answer, or a call that the provider runs.
func (t *teller) message(rec *session.Record) {
	kind := Answer
	switch {
	case rec.Boundary:
		kind = Prompt
		if rec.Begins { // no record says where its turn begins
			t.endTurn(nil, t.implicitState())
			t.startTurn(rec)
		}
	case t.words.Calls(rec):
		e := t.add(rec, Call) // the provider runs it, so that no output will come
		e.Tool, e.CallID, e.Answered = clip(t.words.Tool(rec)), clip(string(rec.CallID)), true
		t.turn.calls++
		t.turn.active, t.turn.answered = true, false
		return
	case !rec.Answer:
		t.thought(rec)
		return
	default:
		t.settings(rec)
	}
	e := t.add(rec, kind)
	if kind == Prompt || !t.opts.asked {
		text, images := t.words.Message(rec)
		e.Chars, e.Images = utf8.RuneCountInString(text), images
		if t.opts.Content {
			e.Text = text
		}
	}
	t.turn.answered = kind == Answer
	t.turn.active = t.turn.active || t.turn.answered
}

// thought adds what the model thought, if that can be read.
func (t *teller) thought(rec *session.Record) {
	if t.agent.Thought == nil || t.opts.asked {
		return
	}
	text := t.agent.Thought(rec)
	if text == "" {
		return
	}
	e := t.add(rec, Thought)
	if e.Chars = utf8.RuneCountInString(text); t.opts.Content {
		e.Text = text
	}
}

// implicitState is how a turn ended whose end no event marks.
func (t *teller) implicitState() TurnState {
	switch {
	case t.turn.answered:
		return Completed
	case t.turn.active:
		return Open
	}
	return Unanswered
}

// settings adds an entry if the working directory or the model has changed, but none before a model is named.
func (t *teller) settings(rec *session.Record) {
	if t.placed == rec.Pos {
		return // another part of the same record
	}
	t.placed = rec.Pos
	cwd, model := t.words.Place(rec)
	cwd, model = cmp.Or(cwd, t.cwd), cmp.Or(model, t.model) // what a record does not say stays as it was
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

// found queues the findings up to a position.
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

// finish ends what is still open at the end of the session.
func (t *teller) finish() {
	t.found(session.Pos{Line: 1<<63 - 1})
	state := Open
	switch {
	case t.opts.Live && t.turn.running:
		state = Running
		for _, e := range t.calls.All() {
			e.Outcome.State = session.Running
		}
	case t.turn.implicit:
		state = t.implicitState()
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
		e.Unsent = t.history.lacks(e)
		if err := t.emit(e); err != nil {
			return err
		}
	}
	clear(t.queue[:done])
	t.queue = t.queue[done:]
	return nil
}
