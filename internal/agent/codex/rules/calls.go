package rules

import (
	"bytes"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// openCall is a call that has no output yet.
type openCall struct {
	ref      finding.Ref
	idAt     jsonl.Span // of its call_id
	torn     bool       // its line was cut, maybe in its call_id
	parent   bool       // it is part of what a sub-agent inherits
	family   session.Family
	tool     codex.Tool
	stamp    string
	sum      uint64
	item     uint64 // hash of the item's id, 0 if it has none
	turn     int64
	begun    uint64 // hash of its time
	place    int    // its place in the group of calls that were made together
	group    *callGroup
	evidence *evidence
	script   *script // the script that it runs or waits for, nil if none
	noted    bool    // its script wrote a note, which the client takes for the output if that is missing
	process  string  // the command that it waits for, "" if it waits for none
}

// earlyOutput is an output whose call has not been seen.
type earlyOutput struct {
	ref    finding.Ref
	kind   string
	family session.Family
	callID string
	idAt   jsonl.Span
	sum    uint64
	group  *callGroup  // the calls that were being answered when it came, nil if none were
	before session.Pos // the first of them that had no output then
	holed  int         // NULs that stood in it
	apart  bool        // only its place suggests that its call was one of them
	call   *openCall   // the call, if it came later
	stamp  string
	next   string // time stamp of the record behind it

	swapped bool // call and output have changed places
	rebuilt bool // its call can be restored
	script  bool // it is the output of a script: of its call, only the text is not known
	note    bool // it is only a note of a script
	ran     []witness
	several bool // other scripts may have run a part of what it ran
}

// swap says whether call and output have changed places: then both times fit where the other stands. prev is the
// time stamp of the record in front of the call.
func (o *earlyOutput) swap(prev string, call *openCall) bool {
	return o.ref.Pos.Line+1 < call.ref.Pos.Line && call.stamp <= o.next && prev <= o.stamp && call.stamp <= o.stamp
}

// callChecker pairs tool calls and outputs.
type callChecker struct {
	run *run
	openCalls
	answeredCalls
	earlyOutputs
	turnInHand
	args argumentChecker
	runs scripts
	long background
	torn []*tornCall
	lost []lostCall
	made madeForCalls
}

// madeForCalls makes what is kept of each call until its output has come.
type madeForCalls struct {
	calls    batch[openCall]
	groups   batch[callGroup]
	evidence batch[evidence]
	texts    textBatch
}

// openCalls are the calls without an output so far.
type openCalls struct {
	open  map[callKey]*openCall
	asked map[uint64]*openCall  // by what they ask for
	cut   map[callKey]*openCall // calls that were open when a compaction came: their outputs may follow it
	group *callGroup            // the calls that were made together last
}

// answeredCalls remembers calls that have their outputs: all that is known of the newest, and two hashes of those before them.
type answeredCalls struct {
	done      recent[answered] // the newest, by their callKeys
	old       recent[uint64]   // those before them
	past      map[callKey]bool // calls that a compaction holds
	namesakes []namesake
	served    bool // an output has come since the newest of the answer's calls
}

// earlyOutputs are outputs, and other signs of calls, that came before or without their call.
type earlyOutputs struct {
	early  map[callKey]*earlyOutput
	loose  map[callKey]*evidence // by call_id alone
	late   []*earlyOutput        // outputs that stand in front of their call
	notes  []*earlyOutput        // notes of scripts whose call has not been seen
	newest *earlyOutput          // until the record behind it has been seen
	// firstIDs are the ids of calls and outputs that have two.
	firstIDs map[session.Pos]doubledID
}

// turnInHand is the checker's place in the session.
type turnInHand struct {
	turn  int64
	begun session.Pos // where it began, or where the history was compacted in it
	ended bool
	// compacted says that the history has been compacted: calls from before are forgotten, but their scripts may still write
	// notes.
	compacted bool
	packed    session.Pos // the newest compaction
	prev      []byte      // time stamp of the record before the one in hand, as it stands there
	back      session.Pos // where the time last went back, as it does where a block begins again
	shell     string      // the tool with which the session runs commands
}

func newCallChecker(s *run) *callChecker {
	return &callChecker{
		run:       s,
		openCalls: openCalls{open: map[callKey]*openCall{}, asked: map[uint64]*openCall{}, cut: map[callKey]*openCall{}},
		answeredCalls: answeredCalls{
			done: recent[answered]{limit: newAnswered}, old: recent[uint64]{limit: oldAnswered}, past: map[callKey]bool{},
		},
		earlyOutputs: earlyOutputs{early: map[callKey]*earlyOutput{}, loose: map[callKey]*evidence{}},
		args:         newArgumentChecker(s),
	}
}

func (c *callChecker) Record(rec *session.Record) {
	if rec.Kind == session.Unreadable {
		c.run.limited.holes++ // it may have been a call without a call_id
		c.tornCall(rec)
		return
	}
	if c.newest != nil {
		c.newest.next = codex.Stamp(rec)
		c.newest = nil
	}
	if rec.Answer || rec.Kind == session.Call {
		c.args.sampled()
	}
	if at := codex.Field(rec, codex.FieldTimestamp); len(at) > 0 && bytes.Compare(at, c.prev) < 0 {
		c.back = rec.Pos
	}
	c.pair(rec)
	c.runs.apart = c.runs.apart || !codex.Nested(rec) && !codex.IsSearch(rec) && codex.ShowsSearch(rec) == "" // searches do not count: the provider makes them while a script runs
	c.prev = append(c.prev[:0], codex.Field(rec, codex.FieldTimestamp)...)
}

// pair pairs a record with what has come before.
func (c *callChecker) pair(rec *session.Record) {
	switch rec.Kind {
	case session.Call:
		c.call(rec)
	case session.Output:
		c.output(rec)
	case session.Evidence:
		if !c.run.prefix.legacy() {
			c.evidence(rec)
		}
	case session.Other, session.Context:
		c.sampled(rec)
	case session.Message:
		if !c.withoutID(rec) {
			c.endAnswer(rec.Pos)
		}
	case session.TurnStart:
		c.endAnswer(rec.Pos)
		c.settleLost(rec.Pos)
		c.runs.forget()
		c.begun = rec.Pos
		c.turn++
		c.ended = false
	case session.TurnEnd:
		c.endAnswer(rec.Pos)
		c.settleLost(rec.Pos)
		c.ended = true
	case session.Compaction:
		c.compaction(rec)
	}
}

func (c *callChecker) call(rec *session.Record) {
	c.args.check(rec)
	if c.served {
		c.settleNamesakes()
	}
	key := c.key(rec.Family, rec.CallID)
	sum := says(rec, codex.FieldName, codex.FieldArguments, codex.FieldInput)
	stamp := codex.Text(rec, codex.FieldTimestamp)
	if first := c.open[key]; first != nil && first.sum != sum && first.stamp != "" && first.stamp == string(stamp) && first.ref.Pos.Less(c.back) {
		c.callAtSeam(first, rec)
	}
	item := itemSum(rec)
	if first := c.asked[sum]; first != nil && first.item == item && item != 0 && first.stamp == string(stamp) {
		c.callAtSeam(first, rec) // that is, through its call_id
	}
	if earlier, ok := c.twin(key); ok {
		c.duplicateCall(rec, key, earlier == sum)
		return
	}
	if first := c.asked[sum]; first != nil && first.group != c.group && len(codex.Field(rec, codex.FieldName)) > 0 {
		c.run.Report(ruleReplayedCall.Of(rec, fmt.Sprintf("the same call was made on line %d and left without an output: it may have run twice", first.ref.Pos.Line)))
	}
	if c.group == nil || c.group.sampled || c.group.answered() {
		c.closeGroup(rec.Pos)
		c.group = c.made.groups.one().begin()
	}
	c.group.calls = append(c.group.calls, rec.Pos)
	c.group.outputs = append(c.group.outputs, session.Pos{})
	open := c.made.calls.one()
	open.ref.Set(rec)
	open.parent = c.run.prefix.here
	open.idAt, open.torn, open.family, open.tool = rec.Spans[codex.FieldCallID], rec.Torn, rec.Family, codex.CallWithID(rec, c.made.texts.of(rec.CallID))
	open.stamp, open.sum, open.item, open.turn, open.begun = c.made.texts.of(stamp), sum, item, c.turn, codex.SumOf(rec, codex.FieldTimestamp)
	c.firstID(rec)
	open.group, open.place = c.group, len(c.group.outputs)-1
	open.script = c.runs.begin(rec, open)
	c.long.begin(rec, open)
	if rec.Family == session.Function && shellTools[open.tool.Name] {
		c.shell = open.tool.Name
	}
	if out, ok := c.early[key]; ok {
		c.run.limited.disown(key)
		if open.script != nil { // what the script ran is in front of it, too
			c.runs.loose = nil
			c.lostScript(rec.Pos)
			c.runs.drop(open.script)
		}
		delete(c.early, key)
		out.call = open
		c.late = append(c.late, out)
		out.swapped = out.swap(gjson.ParseBytes(c.prev).String(), open)
		c.keep(key, answered{call: sum, output: out.sum, at: out.ref.Pos})
		return
	}
	c.open[key] = open
	c.asked[sum] = open
}

var shellTools = map[string]bool{"shell": true, "exec_command": true, "shell_command": true, "container.exec": true, "local_shell": true}

// twin looks for an earlier call with the same call_id and returns the hash of what it says.
func (c *callChecker) twin(key callKey) (uint64, bool) {
	if o, ok := c.open[key]; ok {
		return o.sum, true
	}
	a, ok := c.answered(key)
	return a.call, ok
}

func (c *callChecker) output(rec *session.Record) {
	c.args.checkOutput(rec)
	c.args.answered(rec)
	key := c.key(rec.Family, rec.CallID)
	if rec.Note {
		c.note(key, rec)
		return
	}
	c.served = true
	sum := says(rec, codex.FieldOutput)
	if open, ok := c.open[key]; ok {
		c.answer(key, open, rec, sum)
		return
	}
	if earlier, ok := c.answered(key); ok {
		if !c.ownOutput(key, earlier, rec, sum) {
			c.duplicateOutput(key, earlier, rec, sum)
		}
		return
	}
	if _, cut := c.cut[key]; cut || c.past[key] {
		delete(c.cut, key)
		return
	}
	for family := session.Function; family <= session.Search; family++ {
		other := c.key(family, rec.CallID)
		if open, ok := c.open[other]; ok && family != rec.Family {
			c.kindMismatch(open, rec)
			c.answer(other, open, rec, sum)
			return
		}
	}
	if _, twice := c.early[key]; twice {
		c.duplicateOutput(key, answered{output: c.early[key].sum, at: c.early[key].ref.Pos}, rec, sum)
		return
	}
	c.run.limited.owns(key, rec)
	early := &earlyOutput{ref: finding.RefOf(rec), stamp: codex.Stamp(rec), kind: string(codex.Text(rec, codex.FieldPayloadType)), family: rec.Family, callID: string(rec.CallID), idAt: rec.Spans[codex.FieldCallID], sum: sum, holed: rec.Holed}
	if early.script = codex.ScriptOutput(rec); early.script {
		early.ran, early.several = c.runs.claim(rec)
		c.lostScript(rec.Pos)
		c.runs.alone(early, rec)
	}
	if c.group != nil && !c.group.over {
		early.group, early.before, early.apart = c.group, c.group.unanswered(), c.group.counted
	}
	c.firstID(rec)
	c.early[key] = early
	c.newest = early
}

// answer closes an open call by the output in rec.
func (c *callChecker) answer(key callKey, open *openCall, rec *session.Record, sum uint64) {
	delete(c.open, key)
	if c.asked[open.sum] == open {
		delete(c.asked, open.sum)
	}
	if rec.Torn {
		c.restoreScript(open, rec)
	}
	c.runs.answered(open, rec)
	c.long.answered(open)
	if open.group.end == (session.Pos{}) {
		open.group.answer(open.place, rec.Pos)
	}
	a := answered{call: open.sum, output: sum, at: rec.Pos, torn: rec.Torn, written: c.written(rec), begun: open.begun}
	if ev := open.evidence; ev != nil {
		a.proof, a.length = ev.proof, ev.length
		a.proven = c.proves(rec, ev.proof, ev.length)
		if (rec.Torn || rec.Holed > 0 && ev.length > 0 && !a.proven) && ev.tells&codex.TellsOutput != 0 {
			c.restoreTorn(open, rec)
		}
	}
	c.keep(key, a)
	open.leave()
}

// leave lets go of what a call that is not open any more leads to, because another one of its batch may keep it.
func (o *openCall) leave() { o.script, o.evidence, o.group = nil, nil, nil }

// compaction forgets all calls from before it, except for those that its replacement history keeps: they may yet be answered.
func (c *callChecker) compaction(rec *session.Record) {
	c.endAnswer(rec.Pos)
	c.settleLost(rec.Pos)
	c.compacted, c.packed, c.begun = true, rec.Pos, rec.Pos
	kept := gjson.ParseBytes(codex.Field(rec, codex.FieldReplacement))
	outputs := map[string]bool{} // the outputs that the history keeps, by call_id
	if len(c.open) > 0 {
		kept.ForEach(func(_, item gjson.Result) bool {
			if codex.HoldsOutput(item) {
				outputs[item.Get("call_id").String()] = true
			}
			return true
		})
	}
	for key, open := range c.open {
		if open.evidence == nil && outputs[open.tool.CallID] {
			open.evidence = &evidence{
				witness: witness{ref: finding.RefOf(rec), name: "compacted history"}, tells: codex.TellsOutput, kept: true,
			}
		}
		c.cut[key] = open
	}
	clear(c.open)
	clear(c.long.waiting)
	c.finish()
	c.done.clear()
	c.old.clear()
	kept.ForEach(func(_, item gjson.Result) bool {
		if id := item.Get("call_id").String(); id != "" {
			for family := session.Function; family <= session.Search; family++ {
				c.past[c.key(family, []byte(id))] = true
			}
		}
		return true
	})
}

func (c *callChecker) End() {
	c.endAnswer(session.Pos{Line: 1 << 62})
	c.settleLost(session.Pos{Line: 1 << 62})
	for key, open := range c.cut {
		if !c.past[key] || open.evidence != nil {
			c.open[key] = open
		}
	}
	c.args.end()
	c.finish()
}

// finish reports what is still unpaired, in the order of the file.
func (c *callChecker) finish() {
	c.run.limited.settleOwned(func(key callKey) { delete(c.early, key) })
	c.damagedIDs()
	for _, open := range check.InOrder(c.open, func(o *openCall) session.Pos { return o.ref.Pos }) {
		if c.run.opts.Live && open.turn == c.turn && !c.ended {
			continue
		}
		c.withoutOutput(open)
	}
	for _, out := range c.late {
		c.outputBeforeCall(out.call, out)
	}
	c.late = c.late[:0]
	for _, out := range check.InOrder(c.early, func(o *earlyOutput) session.Pos { return o.ref.Pos }) {
		c.withoutCall(out)
	}
	c.looseNotes()
	c.tornAlone()
	clear(c.open)
	clear(c.early)
	clear(c.loose)
	clear(c.asked)
	c.torn = c.torn[:0]
}

// Settle gives a finding about a call its final impact, which depends on what came after it.
func (c *callChecker) Settle(f *finding.Finding) { c.args.settle(f) }
