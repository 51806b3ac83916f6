package repair

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/escape"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/lint"
)

// ReportSchema names the report's JSON form and its version, which changes when a field changes its meaning or goes.
const ReportSchema = "hist.repair/1"

// Report says what a repair did to one session, or would do.
type Report struct {
	Schema  string   `json:"schema"`
	Run     string   `json:"run,omitempty"` // id of the run's record; empty if nothing was written
	Source  string   `json:"source"`
	Target  string   `json:"target,omitempty"`
	Mode    string   `json:"mode"`
	Thread  string   `json:"thread"`           // id of the thread that the repaired session resumes as
	Resume  []string `json:"resume,omitempty"` // the command and its arguments; empty if nothing was written, or no client would resume it
	Next    []string `json:"next,omitempty"`   // the command to run now: the resume, or after a dry run the one that makes the changes
	Fix     string   `json:"fix,omitempty"`    // the weakest of all edits; empty if there are none
	Edits   []Entry  `json:"edits"`
	Totals  Totals   `json:"totals"`
	Proof   string   `json:"untouched_sha256,omitempty"` // over all untouched lines, the same in source and copy
	History History  `json:"history"`
	Left    []Left   `json:"left,omitempty"`
	Notes   []string `json:"notes,omitempty"` // what else was done beside the session
	// Bound are the lines of the session with thinking that stands behind what is changed and that may be bound to it.
	Bound []int64 `json:"bound_thinking,omitempty"`
	Aside string  `json:"set_aside,omitempty"` // file that keeps the bytes that left the session
	Sizes Sizes   `json:"-"`                   // for a page; empty unless Job.Sizes asks for it
	// Operation is what was done instead of a repair; nil for one.
	Operation *Operated `json:"operation,omitempty"`
	Forgotten bool      `json:"forgotten,omitempty"` // the run's record was removed: see Operation.Forget
}

// Renumber is the rule of an Entry about lines whose ordinals changed only because records were added or removed before them.
const Renumber = "renumber"

// History counts items of the model's history: prompts, answers, reasoning, calls and outputs.
type History struct {
	Items  int64 `json:"items"`          // how many there are, lost ones included
	Before int64 `json:"before"`         // how many the client sends of the session as it is
	After  int64 `json:"after"`          // how many it sends of the repaired session, without placeholders
	Told   int64 `json:"told,omitempty"` // how many are lost with a placeholder that tells the model so
	// Partly says that some of the history is lost of which nobody can tell how many items it was: then Items does not count it.
	Partly bool `json:"partly,omitempty"`
	// Gap says that records are missing, and nobody can tell how much of the history they held: Items counts only what is known of it.
	Gap bool `json:"gap,omitempty"`
	// Refused says that the client refuses the session because of what was left as it is: then it sends nothing of it.
	Refused bool `json:"refused,omitempty"`
}

// Entry is one edit: why, where, and what changed. Lines count from 1, and 0 is no line; offsets are bytes of the uncompressed
// text, from 0.
type Entry struct {
	Rule        string    `json:"rule"`                   // of the worst finding, or Renumber
	Impact      string    `json:"impact"`                 // of that finding
	Fix         string    `json:"fix"`                    // the weakest of all findings that the edit repairs
	FoundLine   int64     `json:"finding_line,omitempty"` // that lint names; the change may be in another
	Findings    int64     `json:"findings,omitempty"`     // of that rule that the edit repairs, if more than one
	Lost        int64     `json:"lost,omitempty"`         // items of the history that stay lost and are replaced by a stand-in
	Line        int64     `json:"line"`                   // of the change, in the session
	Offset      int64     `json:"offset"`                 // of the change, in the session
	LineAfter   int64     `json:"line_after"`             // of the change, in the copy
	OffsetAfter int64     `json:"offset_after"`           // of the change, in the copy
	Reason      string    `json:"reason"`                 // what was wrong, in words
	From        string    `json:"from,omitempty"`         // where recovered content comes from, in words
	Also        []string  `json:"also,omitempty"`         // other rules whose findings the edit repairs
	Lines       int64     `json:"lines,omitempty"`        // Renumber: how many lines, from LineAfter on
	Moved       string    `json:"moved,omitempty"`        // path of a database that was moved away
	Kept        string    `json:"kept,omitempty"`         // the file in the run's record that it is now; "" in a dry run
	Before      []Excerpt `json:"before,omitempty"`       // lines of the session; none if records were added
	After       []Excerpt `json:"after,omitempty"`        // lines of the copy; none if records were set aside
	MoreBefore  int64     `json:"more_before,omitempty"`  // how many lines of the change are not in Before
	MoreAfter   int64     `json:"more_after,omitempty"`   // how many are not in After
}

// Left is a finding that was not repaired.
type Left struct {
	Rule   string `json:"rule"`
	Impact string `json:"impact"`
	Fix    string `json:"fix"`              // what a repair could do if it were allowed to
	Line   int64  `json:"line"`             // in the session, from 1; 0 for the file as a whole
	Reason string `json:"reason"`           // what is wrong, in words
	Option string `json:"option,omitempty"` // of hist repair without which it is not repaired
}

// MarshalJSON writes an excerpt without the words of the conversation.
func (e Excerpt) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Size int    `json:"bytes"`
		Text string `json:"outline"`
	}{e.Size, Redact(e.Text)})
}

// left are the findings that were not mended: those that the repair was told to leave, and damage that shows only in the copy
// because other damage had hidden it.
func (w *job) left() []*lint.Finding {
	rest := slices.DeleteFunc(slices.Clone(w.plan.Rest), w.ofPlace)
	if w.copied == nil || w.made == nil || w.passes != nil { // several passes have looked at what they left
		return rest
	}
	known := map[*lint.Rule]int{}
	for _, f := range w.plan.Rest {
		if f.Impact != lint.Notes {
			known[f.Rule]++
		}
	}
	list := slices.DeleteFunc(rest, w.vanished)
	for _, f := range w.copied.Findings {
		if f.Impact == lint.Notes || f.Rename != "" || w.ofPlace(&f) {
			continue
		}
		if known[f.Rule]--; known[f.Rule] < 0 {
			f.Pos.Line = w.made.pieces.session(f.Pos.Line)
			list = append(list, &f)
		}
	}
	sortFindings(list)
	return list
}

// ofPlace says whether a finding is only about where the session lies, and the copy lies where the client looks.
func (w *job) ofPlace(f *lint.Finding) bool {
	return f.Rule.Home && f.Impact == lint.Blocks && f.Fix == lint.NoFix && w.effectiveMode() == NewThread && !w.plan.Empty() && w.strayed() != ""
}

// vanished says whether damage for which there is no repair is gone because other damage was repaired: lint of the copy finds nothing
// by that rule. What a home tells of a session is not looked for in its copy.
func (w *job) vanished(f *lint.Finding) bool {
	return f.Fix == lint.NoFix && f.Option == "" && f.Impact != lint.Notes && !f.Rule.Home &&
		!slices.ContainsFunc(w.copied.Findings, func(left lint.Finding) bool { return left.Rule == f.Rule })
}

// report puts together what was done. run is nil if nothing was recorded.
func (w *job) report(run *runs.Run) *Report {
	rep := &Report{Schema: ReportSchema, Source: w.Source.Path, Mode: w.Mode.String(), Thread: w.thread, Edits: []Entry{}, Notes: w.notes, Operation: w.operated(), Sizes: w.sizes}
	if run != nil {
		rep.Run, rep.Target = run.Manifest.Run, w.target
		rep.Resume = w.resume()
		if n := len(run.Manifest.Files); n > 0 && run.Manifest.Files[n-1].SetAside != "" && w.made != nil && w.made.Totals.SetAside > 0 {
			rep.Aside = filepath.Join(run.Path(), run.Manifest.Files[n-1].SetAside)
		}
	}
	renamed := false
	for _, f := range w.left() {
		if w.movesAway(f) {
			continue
		}
		renamed = renamed || f.Rename != ""
		rep.Left = append(rep.Left, Left{f.Rule.Name, f.Impact.String(), f.Fix.String(), f.Pos.Line, f.Message, f.Option})
	}
	if rep.Refused() {
		rep.Resume = nil
	}
	if rep.Next = rep.Resume; renamed { // only a copy gets another name
		rep.Next = []string{"hist", "repair", rep.Source}
	}
	lineless, fix := w.linelessEdits()
	rep.Edits = append(rep.Edits, lineless...)
	if rep.History = w.history(); rep.Refused() {
		rep.History.Refused, rep.History.Before, rep.History.After, rep.History.Told = true, 0, 0, 0
	}
	if rep.Bound = w.read.bound(); len(rep.Bound) > 0 {
		rep.Notes = append(rep.Notes, boundNote(rep.Bound))
	}
	if w.made == nil {
		rep.Totals = Totals{Read: w.found.Summary.Records, Untouched: w.found.Summary.Records}
		return rep
	}
	rep.Totals, rep.Proof = w.made.Totals, w.made.Proof
	for i := range w.made.Changes {
		if c := &w.made.Changes[i]; len(c.By) > 0 {
			rep.Edits = append(rep.Edits, c.entry())
		}
	}
	rep.Fix = weakestOf(w.made.Changes, fix)
	if lines := w.made.renumbered; lines.count > 0 {
		rep.Edits = append(rep.Edits, Entry{
			Rule: Renumber, Impact: lint.Notes.String(), Fix: lint.Exact.String(), LineAfter: lines.first, Lines: lines.count,
			Reason: fmt.Sprintf("the ordinals from line %d to line %d of the copy (%d) follow the records added and removed", lines.first, lines.last, lines.count),
		})
	}
	return rep
}

// linelessEdits are the entries for mends that change no line: of the text's encoding, of the file's name, and of the client's
// view. fix is the weakest of the encoding's.
func (w *job) linelessEdits() (list []Entry, fix lint.Fix) {
	for _, f := range w.plan.Mend {
		ofStream := isOfStream(f.Rule) && w.made != nil && !w.made.changedBy(f.Rule)
		if ofStream {
			fix = max(fix, f.Fix)
		}
		if ofStream || f.Reproject || f.Rename != "" {
			list = append(list, Entry{Rule: f.Rule.Name, Impact: f.Impact.String(), Fix: f.Fix.String(), Reason: f.Message, From: f.Source, FoundLine: f.Pos.Line})
		}
	}
	return list, fix
}

// isOfStream says whether mending a rule's finding may change no line, because it is about the text as a whole: its
// compression, its encoding, or what follows the last line.
func isOfStream(rule *lint.Rule) bool {
	return rule == normalize.CorruptZst || rule == normalize.BOM || rule == normalize.NoFinalNewline
}

// changedBy says whether a change was made by a finding of the rule.
func (o *output) changedBy(rule *lint.Rule) bool {
	return slices.ContainsFunc(o.Changes, func(c change) bool {
		return slices.ContainsFunc(c.By, func(f *lint.Finding) bool { return f.Rule == rule })
	})
}

// resume is the command that resumes the session or its copy; nil if its client takes no such id, or finds nothing in it.
func (w *job) resume() []string {
	if w.part() || slices.Contains(w.notes, leavesAll) || w.found.Summary.Header.NotResumed != "" && w.thread == w.found.Summary.Header.ID {
		return nil
	}
	if of := w.found.Summary.Header; of.ResumedBy != "" && w.thread == of.ID {
		return w.agent.Resume(of.ResumedBy)
	}
	return w.agent.Resume(w.thread)
}

// maxSources bounds how many sources of one change are named.
const maxSources = 4

// from names where the content of a change comes from: the main finding's source, and other files that gave a part of it.
func (c *change) from(main *lint.Finding) string {
	if main.Source == "" {
		return ""
	}
	sources := []string{main.Source}
	for _, f := range c.By {
		if f.Rule.Home && f.Source != "" && !slices.Contains(sources, f.Source) && len(sources) < maxSources {
			sources = append(sources, f.Source)
		}
	}
	return strings.Join(sources, ", ")
}

// entry reports a change, with the worst impact and the weakest fix of all its findings; the rule is that of the worst.
func (c *change) entry() Entry {
	main := c.By[0]
	for _, f := range c.By {
		if f.Impact > main.Impact || f.Impact == main.Impact && main.Source == "" && f.Source != "" {
			main = f
		}
	}
	e := Entry{
		Rule: main.Rule.Name, Impact: main.Impact.String(), Fix: weakest(c.By).String(), Reason: main.Message, From: c.from(main),
		Line: c.Line, Offset: c.Offset, LineAfter: c.AfterLine, OffsetAfter: c.AfterAt, Before: c.Before.Shown, After: c.After.Shown,
		MoreBefore: c.Before.More, MoreAfter: c.After.More, FoundLine: c.lines[main],
	}
	if n := c.Before.More + c.After.More; n > 0 {
		e.Reason += fmt.Sprintf("; %d more lines of this change are not shown", n)
	}
	for _, f := range c.By {
		if f.Fix == lint.StandIn {
			e.Lost += f.Lost
		}
		if f.Rule == main.Rule {
			e.Findings++
		}
		if f != main && f.Rule != main.Rule && !slices.Contains(e.Also, f.Rule.Name) {
			e.Also = append(e.Also, f.Rule.Name)
		}
	}
	if e.Findings == 1 {
		e.Findings = 0
	}
	return e
}

// weakest is the fix, of some findings, that promises least.
func weakest(by []*lint.Finding) lint.Fix {
	fix := lint.NoFix
	for _, f := range by {
		fix = max(fix, f.Fix)
	}
	return fix
}

// weakestOf is the weakest fix of all changes and of what is mended beside them, by name; "" if nothing is.
func weakestOf(changes []change, fix lint.Fix) string {
	for i := range changes {
		fix = max(fix, weakest(changes[i].By))
	}
	if fix == lint.NoFix {
		return ""
	}
	return fix.String()
}

// history counts what the client sends before the repair and after it, by what is read of the session and of its copy. A lost item
// counts among those that there should be.
func (w *job) history() History {
	before := w.found.Summary
	if w.copied == nil {
		return History{Items: before.Items + before.Lost, Before: before.Seen, After: before.Seen, Partly: w.partly(0)}
	}
	var placeholders, gone int64
	for _, f := range w.plan.Mend {
		switch {
		case f.More: // it counts what was not mended with the others
		case f.Fix == lint.StandIn:
			placeholders += f.Lost
		case f.Fix == lint.SetAside:
			gone += f.Lost
		}
	}
	after := w.copied.Summary
	if blocks := func(f *lint.Finding) bool { return f.Impact == lint.Blocks }; w.plan.Rename != "" && !slices.ContainsFunc(w.plan.Rest, blocks) {
		after.Seen = after.Items // the copy was linted under a name with which the client would not read it, but it gets the right name
	}
	if w.read.after != nil {
		part := w.part()                                                    // its client reads it in the session that it is a part of
		renamed := w.plan.Rename != "" && after.Seen == after.Items || part // the name that the copy gets is no reason to refuse it
		before.Seen, after.Seen = max(0, sentOf(w.read.before, part)-w.read.copies()), sentOf(w.read.after, renamed)
		after.Items = max(after.Seen, sentOf(w.read.after, true))
	}
	h := History{
		Before: before.Seen, After: max(0, after.Seen-placeholders), Told: placeholders, Partly: w.partly(placeholders),
		Gap: slices.ContainsFunc(w.plan.Mend, func(f *lint.Finding) bool { return f.Gap && f.Impact >= lint.Loses }),
	}
	// If the client could not read a compaction, it sent more before than it should.
	h.Items = max(after.Items+gone+after.Lost, h.Before, h.After)
	return h
}

// sentOf is how many items of the session are sent, none if it is refused and that counts.
func sentOf(r *reading, anyway bool) int64 {
	if r.refused && !anyway {
		return 0
	}
	return int64(r.own())
}

// partly says whether something of the history is lost that is not counted: a line that holds nothing readable is taken out, only a part
// of something could be kept, or damage is left. told items are counted.
func (w *job) partly(told int64) bool {
	renewed, read := w.renewed(), w.read.after != nil
	rebuilt := slices.IndexFunc(w.plan.Mend, func(f *lint.Finding) bool { // a header, which holds nothing of the history
		return f.Impact == lint.Blocks && (f.Fix == lint.Recovered || f.Fix == lint.StandIn)
	})
	less := func(f *lint.Finding) bool {
		switch {
		case f.Impact < lint.Loses || f.Void:
		case f.More:
			return f.Fix == lint.StandIn || f.Fix == lint.SetAside
		case f.Lost > 0 || f.Unseen > 0:
		case f.Fix == lint.StandIn:
			return renewed(f.Pos.Line)
		case f.Fix == lint.SetAside: // what is not sent any more of a record is known if it could be read
			return f.Impact != lint.Rejects && (f.Framing || !read) && (rebuilt < 0 || f.Pos.Line != w.plan.Mend[rebuilt].Pos.Line)
		}
		return false
	}
	counted := w.copied != nil || w.found.Summary.Lost > 0 // what a fork has lost of its parent's is counted once it is its own
	leaves := func(f *lint.Finding) bool { return f.Impact == lint.Loses && (f.Lost == 0 || !counted) }
	damage := func(f *lint.Finding) bool { return f.Impact > lint.Notes }
	return slices.ContainsFunc(w.plan.Mend, less) || slices.ContainsFunc(w.left(), leaves) || read && (w.read.incomplete(told) || w.read.answerless() && slices.ContainsFunc(w.plan.Mend, damage))
}

// Unrepaired says whether something more than a note is left.
func (r *Report) Unrepaired() bool {
	return slices.ContainsFunc(r.Left, func(l Left) bool { return l.Impact != lint.Notes.String() })
}

// Refused says whether something is left because of which the client refuses to resume the session.
func (r *Report) Refused() bool {
	return slices.ContainsFunc(r.Left, func(l Left) bool { return l.Impact == lint.Blocks.String() })
}

// keep writes the report into the run's record, for programs and for a browser.
func (r *Report) keep(run *runs.Run, name string) error {
	data, err := r.JSON()
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := HTML(&page, []*Report{r}, PageOptions{}); err != nil {
		return err
	}
	return errors.Join(run.WriteReport(name, ".report.html", page.Bytes()), run.WriteReport(name, ".report.json", data))
}

// JSON is the report in its documented form, without words of the conversation.
func (r *Report) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(escape.JSON(&b))
	enc.SetIndent("", "  ")
	err := enc.Encode(r)
	return b.Bytes(), err
}
