package rules

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

// script is what is known of a script in code mode: a call runs it, and others may wait for it.
type script struct {
	text string    // "" if it is too long to be kept
	ran  []witness // what it ran since the newest output of it, oldest first
	call *openCall
	last int64 // ordinal of the newest of these, or of the call
	// several says that others may have run a part of it.
	several bool
}

// scripts follows the scripts of the turn in hand.
type scripts struct {
	open    []*script          // those that an open call runs or waits for, in the order of their calls
	running map[string]*script // those that were answered "running", by their id
	loose   []witness          // what a script ran whose call has not been seen
	before  []witness          // what ran in front of that, by the same script or by others
	parts   int                // in so many of them at most
	number  int64              // of the newest of these
	apart   bool               // something else has been seen behind it
}

// What is kept: so many scripts of a turn, so many bytes of each, so many results.
const (
	maxScripts    = 64
	maxScriptText = 64 << 10
	maxRan        = 256
)

// begin is the script that a call runs or waits for, nil if it does neither.
func (s *scripts) begin(rec *session.Record, open *openCall) *script {
	if len(s.open) >= maxScripts {
		return nil
	}
	var one *script
	switch id := codex.Awaited(rec); {
	case codex.IsScript(open.tool):
		one = &script{}
		if text := codex.Literal(rec, codex.FieldInput); len(text) <= maxScriptText {
			one.text = codex.Script(rec)
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

// answered takes over what the output of a script's call says: that it is over, or goes on.
func (s *scripts) answered(open *openCall, rec *session.Record) {
	one := open.script
	if one == nil || one.call != open {
		return
	}
	one.call, one.ran = nil, nil
	s.drop(one)
	if id := codex.StillRunning(rec); id != "" && len(s.running) < maxScripts {
		if s.running == nil {
			s.running = map[string]*script{}
		}
		s.running[id] = one
	}
}

// drop takes a script from those that are open.
func (s *scripts) drop(one *script) {
	for i := range s.open {
		if s.open[i] == one {
			s.open = append(s.open[:i], s.open[i+1:]...)
			return
		}
	}
}

// ran notes the event of what a script ran: the one that holds it, else the first that is open (scripts run one after
// the other), else the only one that runs unattended.
func (s *scripts) ran(rec *session.Record, t *witness) {
	var owner *script
	for _, one := range s.open {
		if one.text == "" {
			continue
		}
		like := codex.Runs(one.text, rec)
		if like == codex.Same || like == codex.Alike && (rec.Pos.Lost == 0 || len(one.ran) == 0 || one.next(rec)) {
			owner = one
			break
		}
	}
	switch {
	case owner != nil:
	case len(s.open) > 0 && (rec.Pos.Lost == 0 || s.open[0].next(rec)):
		owner = s.open[0]
	case s.unattended(rec) != nil:
		owner = s.unattended(rec)
	case len(s.running) == 1 && rec.Pos.Lost == 0:
		for _, owner = range s.running {
		}
	case len(s.loose) < maxRan:
		s.loose = append(s.loose, *t)
	}
	if owner != nil && len(owner.ran) < maxRan {
		owner.ran, owner.last = append(owner.ran, *t), rec.Ordinal.Value
	}
}

// unattended is the script that runs without a call that waits for it, and that a result is surely of; nil if none is.
func (s *scripts) unattended(rec *session.Record) *script {
	for _, one := range s.running {
		if one.text != "" && codex.Runs(one.text, rec) == codex.Same {
			return one
		}
	}
	return nil
}

// next says whether a result follows the script's newest: between them nothing else is written, and behind the call only
// what its tokens were.
func (s *script) next(rec *session.Record) bool {
	return rec.Ordinal.Value == s.last+1 || len(s.ran) == 0 && rec.Ordinal.Value == s.last+2
}

// next says whether a result that only the client's database holds goes on what those before it have begun. One script
// writes no more between its results than what its tokens were. Where more is lost, that may have been an output and the
// next script's call, or one "running" and the call that waited for it: then they are told together, and that nobody knows,
// for two scripts in one call are no invention, and one script in two calls is.
func (s *scripts) next(rec *session.Record) bool {
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

// maxTogether is how many bytes of events are told in one output: of a longer one clients send 48 000 (measured with 0.155.1
// and 0.169.0).
const maxTogether = 40_000

// forget ends the story of the scripts of a turn. What still runs may be waited for in the next.
func (s *scripts) forget() { s.open, s.loose, s.before, s.parts = nil, nil, nil, 0 }

// placeScript puts a call in front of a script's output, and of what the script ran, that says what is known of it.
func (c *callChecker) placeScript(out *earlyOutput) Edit {
	id, at := out.callID, out.ref.Pos
	content := Content{Literal: codex.ScriptFrom(id, out.kind, out.stamp, false, nil)}
	if len(out.ran) > 0 {
		at = out.ran[0].ref.Pos
		content.From = &out.ran[0].ref
		for _, t := range out.ran[1:] {
			content.More = append(content.More, t.ref)
		}
		stamp, kind := out.stamp, out.kind
		content.Join = func(records [][]byte) ([]byte, error) { return codex.ScriptFrom(id, kind, stamp, false, records), nil }
	}
	if h := c.holeBefore(at); h != nil && at.Lost == 0 {
		return h.Insert(content)
	}
	return Edit{At: at, Op: Before, New: content}
}

// source names what tells of the script's results.
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

// maxSourceLines is how many lines a source names.
const maxSourceLines = 8

// output makes the output of the script's call out of what it ran.
func (s *script) output(content *Content, open *openCall) {
	tool, stamp, several := open.tool, open.stamp, s.several
	content.From = &s.ran[0].ref
	for _, t := range s.ran[1:] {
		content.More = append(content.More, t.ref)
	}
	content.Join = func(records [][]byte) ([]byte, error) { return codex.NestedOutput(tool, stamp, several, records) }
}

// maxOwn is how many bytes of an output that was cut are kept to be completed.
const maxOwn = 256 << 10

// restoreScript adds to a script's output that was cut inside its text what the events tell of the rest.
func (c *callChecker) restoreScript(open *openCall, rec *session.Record) {
	s := open.script
	own := codex.Field(rec, codex.FieldOutput)
	if s == nil || s.call != open || len(s.ran) == 0 || len(own) > maxOwn {
		return
	}
	content := Content{From: &s.ran[0].ref}
	for _, t := range s.ran[1:] {
		content.More = append(content.More, t.ref)
	}
	tool, stamp, own := open.tool, codex.Stamp(rec), bytes.Clone(own)
	content.Join = func(records [][]byte) ([]byte, error) { return codex.CutOutput(tool, stamp, own, records) }
	source := s.source()
	c.run.AmendFraming(rec.Pos.Line, func(f *Finding) {
		f.Source = source
		f.Edits = append(f.Edits, Edit{At: rec.Pos, Op: Remove, Moved: true}, Edit{At: rec.Pos, Op: Before, New: content})
	})
}

// newest is the last event that tells of the call's output, nil if none does.
func (o *openCall) newest() *witness {
	switch {
	case o.evidence != nil:
		return &o.evidence.witness
	case o.script != nil && o.script.call == o && len(o.script.ran) > 0:
		return &o.script.ran[len(o.script.ran)-1]
	}
	return nil
}

// note takes a note of a script's: it answers nothing, and stays as long as its call does.
func (c *callChecker) note(key callKey, rec *session.Record) {
	if open, ok := c.open[key]; ok {
		open.noted = true
		return
	}
	if _, ok := c.answered(key); ok || c.compacted || c.cut[key] != nil || c.past[key] || len(c.notes) >= maxNotes {
		return
	}
	c.notes = append(c.notes, &earlyOutput{
		ref: refOf(rec), stamp: codex.Stamp(rec), kind: string(codex.Text(rec, codex.FieldPayloadType)), family: rec.Family, callID: string(rec.CallID),
	})
}

// maxNotes is how many notes without a call are kept until it is known what becomes of their calls.
const maxNotes = 1 << 12

// looseNotes reports the notes whose call is nowhere, and can't be had back. A note is said by its script, so that a call
// and an output are put in front of the first of each, which say what is known of them: nothing but that they were there.
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
