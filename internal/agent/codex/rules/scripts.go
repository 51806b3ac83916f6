package rules

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// script is a script of code mode: one call runs it, and others may wait for it.
type script struct {
	text string    // "" if it is too long to be kept
	ran  []witness // what it has run since its newest output, oldest first
	call *openCall
	last int64 // the ordinal of the newest of these, or of the call if there is none
	// several says that other scripts may have run a part of this.
	several bool
}

// scripts follows the scripts of the current turn.
type scripts struct {
	open    []*script          // scripts that an open call runs or waits for, in the order of these calls
	running map[string]*script // scripts whose last output says that they still run, by id
	loose   []witness          // results of scripts of which no call has been seen
	doubt   []witness          // results since the newest output that are counted to a script although its text does not hold them
	before  []witness          // earlier results without a call, of the same script or of others
	parts   int                // how many scripts these may have been, at most
	began   int64              // the ordinal of the first result without a call
	number  int64              // the ordinal of the newest result without a call
	apart   bool               // another record has come after that
	over    overScript         // the newest script that has its output
}

// overScript is a script that has its output. Directly behind that, the client may still write the event of something that the
// script ran (measured with 0.150.0: one of 500 scripts).
type overScript struct {
	text   string       // "" if its call is missing
	early  *earlyOutput // the output, if its call is missing
	output []byte       // the text of the output
	number int64        // ordinal of the output, or of the newest such event
	ended  bool         // there is one
}

// alone takes the output of a script whose call is missing.
func (s *scripts) alone(early *earlyOutput, rec *session.Record) {
	if said := codex.Field(rec, codex.FieldOutput); len(said) <= maxScriptText {
		s.over = overScript{early: early, output: bytes.Clone(said), number: rec.Ordinal.Value, ended: rec.Ordinal.State == session.GoodOrdinal}
	}
}

// late says whether an event shows something that a script ran whose output is directly in front of it.
func (s *scripts) late(rec *session.Record, t *witness) bool {
	o := &s.over
	if !o.ended || rec.Ordinal.State != session.GoodOrdinal || rec.Ordinal.Value != o.number+1 || len(s.open) > 0 {
		return false
	}
	switch {
	case o.early != nil && codex.TellsResult(o.output, rec.Raw):
		if len(o.early.ran) < maxRan {
			o.early.ran = append(o.early.ran, *t)
		}
	case o.text == "" || codex.Runs(o.text, rec) != codex.Same:
		return false
	}
	o.number++
	return true
}

// Limits of what is kept.
const (
	maxScripts    = 64       // in a turn
	maxScriptText = 64 << 10 // bytes of one script's text
	maxRan        = 256      // results of one script
)

// begin returns the script that a call runs or waits for, nil if it does neither.
func (s *scripts) begin(rec *session.Record, open *openCall) *script {
	if len(s.open) >= maxScripts {
		return nil
	}
	var one *script
	switch id := codex.Awaited(rec); {
	case codex.IsScript(open.tool):
		one = &script{}
		if text := codex.Literal(rec, codex.FieldInput); len(text) <= maxScriptText {
			one.text = string(codex.Text(rec, codex.FieldInput))
		}
	case id != "" && s.running[id] != nil:
		one = s.running[id]
	default:
		return nil
	}
	one.call, one.last = open, rec.Ordinal.Value
	s.open = append(s.open, one)
	return one
}

// answered takes the output of a script's call, which says whether the script is over or still runs.
func (s *scripts) answered(open *openCall, rec *session.Record) {
	one := open.script
	if one == nil || one.call != open {
		return
	}
	one.call, one.ran, s.doubt = nil, nil, nil
	s.drop(one)
	s.over = overScript{text: one.text, number: rec.Ordinal.Value, ended: rec.Ordinal.State == session.GoodOrdinal}
	if id := codex.StillRunning(rec); id != "" && len(s.running) < maxScripts {
		if s.running == nil {
			s.running = map[string]*script{}
		}
		s.running[id] = one
	}
}

// drop removes a script from those that are open.
func (s *scripts) drop(one *script) {
	if i := slices.Index(s.open, one); i >= 0 {
		s.open = slices.Delete(s.open, i, i+1)
	}
}

// ran takes an event that shows something a script ran, and finds the script: the open one whose text holds it, else the first
// open one (scripts run one after the other), else the only one that runs without a call. If that script's text does not hold
// it, it may also belong to a script whose call is lost; once that one's output comes, it is counted to that.
func (s *scripts) ran(rec *session.Record, t *witness) {
	var owner *script
	for _, one := range s.open {
		if one.text == "" {
			continue
		}
		like := codex.Runs(one.text, rec)
		if like == codex.Same || like == codex.Alike && (rec.Pos.Lost == 0 || len(one.ran) == 0 || one.isNext(rec)) {
			owner = one
			break
		}
	}
	doubtful := false
	switch {
	case owner != nil:
	case len(s.open) > 0 && (rec.Pos.Lost == 0 || s.open[0].isNext(rec)):
		owner, doubtful = s.open[0], rec.Pos.Lost == 0
	case s.unattended(rec) != nil:
		owner = s.unattended(rec)
	case len(s.running) == 1 && rec.Pos.Lost == 0:
		for _, owner = range s.running {
		}
		doubtful = true
	case len(s.loose) < maxRan:
		if len(s.before)+len(s.loose) == 0 {
			s.began = rec.Ordinal.Value
		}
		s.loose = append(s.loose, *t)
	}
	if doubtful && owner.text != "" && len(s.doubt) < maxRan && codex.Runs(owner.text, rec) == codex.Unlike {
		s.doubt = append(s.doubt, *t)
	}
	if owner != nil && len(owner.ran) < maxRan {
		owner.ran, owner.last = append(owner.ran, *t), rec.Ordinal.Value
	}
}

// unattended is a script that surely ran this although no call waits for it; nil if there is none.
func (s *scripts) unattended(rec *session.Record) *script {
	for _, one := range s.running {
		if one.text != "" && codex.Runs(one.text, rec) == codex.Same {
			return one
		}
	}
	return nil
}

// isNext says whether a result is the script's next, judged by its ordinal: between two results the client writes nothing, and
// between the call and the first result only a count of tokens.
func (s *script) isNext(rec *session.Record) bool {
	return rec.Ordinal.Value == s.last+1 || len(s.ran) == 0 && rec.Ordinal.Value == s.last+2
}

// goesOn says whether a result that only the client's database holds goes into the same call as those before it. Between the
// results of one script, the client writes nothing but the count of tokens. If more is lost between two results, that may have
// been an output and the next script's call, or an output "running" and the call that waited for it. In that case both results
// go into one call, which says that this is not known. Even if there were two scripts, that invents nothing, whereas splitting
// one script into two calls would.
func (s *scripts) goesOn(rec *session.Record) bool {
	n, had, size := rec.Ordinal.Value, len(s.before)+len(s.loose), len(rec.Raw)
	if had == 0 || n > s.number && n <= s.number+2 {
		return true
	}
	for _, list := range [][]witness{s.before, s.loose} {
		for i := range list {
			size += len(list[i].ref.Text)
			if list[i].ref.Pos.Lost == 0 {
				return false
			}
		}
	}
	if s.apart || n <= s.number || size > maxTogether || had >= maxRan {
		return false
	}
	s.before, s.loose, s.parts = append(s.before, s.loose...), nil, s.parts+1
	return true
}

// maxTogether is how many bytes of events go into one output. Clients cut a longer one to 48 000 (measured with 0.155.1 and
// 0.169.0).
const maxTogether = 40_000

// forget is called at the end of a turn. Scripts that still run are kept: a call of the next turn may wait for them.
func (s *scripts) forget() {
	s.open, s.loose, s.doubt, s.before, s.parts, s.over = nil, nil, nil, nil, 0, overScript{}
}

// claim returns what ran in front of the output of a script whose call is missing. several says that other scripts may have run
// a part of it, namely results from before more lost records that the output shows, too.
func (s *scripts) claim(output *session.Record) (ran []witness, several bool) {
	ran = s.loose
	if len(ran) > 0 && len(s.before) > 0 && s.toldBy(output) {
		ran, several = append(s.before, ran...), true
		s.before, s.parts = nil, 0
	}
	if len(ran) == 0 {
		ran = s.doubt
		if len(s.open) > 0 { // the results were counted to the first open script
			one := s.open[0]
			one.ran = slices.DeleteFunc(one.ran, func(t witness) bool {
				return slices.ContainsFunc(ran, func(claimed witness) bool { return claimed.ref.Pos == t.ref.Pos })
			})
		}
	}
	s.loose, s.doubt = nil, nil
	return ran, several
}

// toldBy says whether an output shows what each of the results from before more lost records returned.
func (s *scripts) toldBy(output *session.Record) bool {
	return !slices.ContainsFunc(s.before, func(t witness) bool {
		return !codex.TellsResult(codex.Field(output, codex.FieldOutput), []byte(t.ref.Text))
	})
}

// placeScript inserts a call that says what is known of a script, in front of the script's output and everything that it ran.
func (c *callChecker) placeScript(out *earlyOutput) finding.Edit {
	id, at := out.callID, out.ref.Pos
	content := finding.Content{Literal: codex.ScriptFrom(id, out.kind, out.stamp, out.several, nil)}
	if len(out.ran) > 0 {
		if first := out.ran[0].ref.Pos; first.Less(at) {
			at = first
		}
		literal := content.Literal
		content = joinResults(out.ran, codex.ScriptRecipe{CallID: id, OutputType: out.kind, Stamp: out.stamp, Several: out.several})
		content.Literal = literal
	}
	if h := c.holeBefore(at); h != nil && at.Lost == 0 {
		return h.Insert(content)
	}
	return finding.Edit{At: at, Op: finding.Before, New: content}
}

// joinResults is a record made from the events of what a script ran.
func joinResults(ran []witness, recipe finding.Recipe) finding.Content {
	content := finding.Content{From: &ran[0].ref, Recipe: recipe}
	for _, t := range ran[1:] {
		content.More = append(content.More, t.ref)
	}
	return content
}

// source says, for the report, where the script's results come from.
func (s *script) source() string {
	if len(s.ran) == 1 || s.ran[len(s.ran)-1].ref.Pos.Lost > 0 {
		return s.ran[0].source()
	}
	var lines []string
	for _, t := range s.ran[:min(len(s.ran), maxSourceLines)] {
		lines = append(lines, fmt.Sprint(t.ref.Pos.Line))
	}
	if len(s.ran) > maxSourceLines {
		lines = append(lines, "…")
	}
	return "the events of what the script ran, on lines " + strings.Join(lines, ", ")
}

// maxSourceLines is how many lines source names.
const maxSourceLines = 8

// output makes the output of the script's call from what it ran.
func (s *script) output(open *openCall) finding.Content {
	return joinResults(s.ran, codex.ScriptOutputRecipe{Tool: open.tool, Stamp: open.stamp, Several: s.several})
}

// maxOwn is up to how many bytes a cut output is completed.
const maxOwn = 256 << 10

// restoreScript completes a script's output that was cut inside its text, with what the events show of the rest.
func (c *callChecker) restoreScript(open *openCall, rec *session.Record) {
	s := open.script
	own := codex.Field(rec, codex.FieldOutput)
	if s == nil || s.call != open || len(s.ran) == 0 || len(own) > maxOwn {
		return
	}
	content := joinResults(s.ran, codex.CutOutputRecipe{Tool: open.tool, Stamp: codex.Stamp(rec), Own: string(own)})
	c.run.About(rec.Pos).Mend = check.Mend{Source: s.source(), Edits: inPlaceOf(rec.Pos, content)}
}

// newest is the last event that shows something of the call's output, nil if there is none.
func (o *openCall) newest() *witness {
	switch {
	case o.evidence != nil:
		return &o.evidence.witness
	case o.script != nil && o.script.call == o && len(o.script.ran) > 0:
		return &o.script.ran[len(o.script.ran)-1]
	}
	return nil
}

// note takes a script's note. A note answers no call, and stays in the session as long as its call does.
func (c *callChecker) note(key callKey, rec *session.Record) {
	if open, ok := c.open[key]; ok {
		open.noted = true
		return
	}
	if _, ok := c.answered(key); ok || c.compacted || c.cut[key] != nil || c.past[key] || len(c.notes) >= maxNotes {
		return
	}
	c.notes = append(c.notes, &earlyOutput{
		ref: finding.RefOf(rec), stamp: codex.Stamp(rec), kind: string(codex.Text(rec, codex.FieldPayloadType)), family: rec.Family, callID: string(rec.CallID),
	})
}

// maxNotes is how many notes without a call are kept until it is known whether their calls are restored.
const maxNotes = 1 << 12

// looseNotes reports the notes whose call is missing and is not restored. A note proves that a script ran, so placeholders for
// its call and output are inserted in front of the first note of each script.
func (c *callChecker) looseNotes() {
	seen := map[callKey]bool{}
	for _, n := range c.notes {
		key := c.key(n.family, []byte(n.callID))
		_, answered := c.answered(key)
		if out := c.early[key]; answered || out != nil && out.rebuilt || seen[key] {
			continue
		}
		seen[key] = true
		n.script, n.note = true, true
		c.withoutCall(n)
	}
	c.notes = c.notes[:0]
}
