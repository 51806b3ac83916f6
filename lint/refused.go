package lint

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
)

// refusal is an error of the model API that the next request will meet again.
type refusal struct {
	*api.Refusal
	on    Ref // the record of it, zero if it is not in the file
	times int
}

// refusalsOf are the errors since the last answer, the newest first, as far as they do not pass by themselves; what is asked about
// comes first.
func refusalsOf(run *check.Run) (list []refusal) {
	add := func(text string, on Ref, times int) {
		r := api.Newest(api.Explain(text))
		if r == nil || !r.Lasts() {
			return
		}
		for i := range list {
			if known := &list[i]; known.Same(r) { // the texts differ in the id of the request
				known.times += times
				if known.on.Pos.Line == 0 {
					known.on = on
				}
				return
			}
		}
		list = append(list, refusal{r, on, times})
	}
	said := run.Refusals()
	for i := len(said) - 1; i >= 0; i-- {
		add(said[i].Text, said[i].On, said[i].Times)
	}
	if asked := run.Options().Error; asked != "" {
		recorded := list
		list = nil
		add(asked, Ref{}, 0)
		for _, r := range recorded {
			add(r.Line, r.on, r.times)
		}
	}
	return list
}

// maxReread is the longest session that is read again for what an error names, in bytes of text.
const maxReread = 1 << 30

// resolve adds to the findings what the API has refused and will refuse again. The session's text is read only if there is such an
// error.
func (res *Result) resolve(ctx context.Context, a *agent.Agent, run *check.Run, text func() (io.Reader, error)) error {
	list, opts := refusalsOf(run), run.Options()
	changes := check.Changes(opts.Provider, res.Summary.Header.Provider)
	if len(list) == 0 && len(opts.DropThinking) == 0 && !changes {
		return nil
	}
	if a.ReadSent == nil {
		return nil
	}
	in, err := text()
	if err != nil || in == nil {
		return err
	}
	if c, ok := in.(io.Closer); ok {
		defer c.Close()
	}
	whole, err := source.ReadAll(io.LimitReader(in, maxReread+1), min(res.Summary.Bytes, maxReread))
	if err != nil || len(whole) > maxReread || ctx.Err() != nil {
		return cmp.Or(err, ctx.Err())
	}
	r := &resolver{res: res, agent: a, text: whole, path: opts.Path, name: opts.Name, strip: opts.StripEncrypted || check.Reseals(opts.Provider, res.Summary.Header.Provider), version: opts.For[a.Name]}
	at := agent.ReadAt{Base: opts.Name.Base, Parent: Parents(ctx, a, opts.Home, res.Summary.Header)}
	if r.sent, err = a.ReadSent(whole, at, cmp.Or(r.version, res.Summary.Header.Version)); err != nil {
		return err
	}
	for _, one := range list {
		r.resolve(one)
	}
	r.dropThinking(opts.DropThinking)
	if changes {
		r.change(opts.Provider)
	}
	slices.SortStableFunc(res.Findings, func(a, b Finding) int { return a.Pos.Compare(b.Pos) })
	return nil
}

// resolver finds the records that errors are about.
type resolver struct {
	res     *Result
	agent   *agent.Agent
	text    []byte
	path    string // of the file, "" for a stream
	name    Name   // of the file
	sent    *session.Sent
	version string // of the client that resumes the session, "" if it is the newest
	strip   bool   // what is encrypted is set aside in any case
	told    bool   // something that the API refuses has been reported
}

// resolve reports the records that one error is about, or the error itself if it names none. If nothing that is sent has the fault any
// more, it has been mended since, and there is nothing to report.
func (r *resolver) resolve(one refusal) {
	if known := r.knownByRule(one); known >= 0 {
		if places, _ := api.Locate(one.Refusal, r.sent); one.Mend == "encrypted" && len(one.IDs) > 0 && len(places) == 1 && !r.strip {
			r.res.Findings[known].Message += fmt.Sprintf("; the error names the item on line %d", r.sent.Items[places[0].Item].Pos.Line)
		}
		r.told = true
		return
	}
	if one.Mend == "empty" { // what the error names in particular, a rule of its own knows
		return
	}
	places, named := api.Locate(one.Refusal, r.sent)
	if one.Mend == "nul" {
		mended := false
		if places, mended = api.NULs(r.sent); mended {
			return
		}
		if len(places) == 0 { // then nothing is known of the cause
			unsaid := *one.Refusal
			unsaid.Mend, one.Refusal = "unsaid", &unsaid
		}
	}
	switch one.Mend {
	case "shorten", "weight":
		if again := r.agent.TriesAgain; len(places) == 0 && again != nil && again(r.version, one.Mend, one.Row) {
			r.unsaid(one)
			return
		}
		if len(places) == 0 {
			r.report(r.unplaced(one))
			return
		}
	case "unsaid", "silent", "cut":
		if places = api.Large(r.sent); len(places) == 0 && one.Mend == "silent" && one.times != 1 {
			places = api.Unanswered(r.sent, "document", "image", "tool reference")
		}
		if len(places) == 0 {
			r.unsaid(one)
			return
		}
	case "settings", "provider", "blind":
		if !r.persisted(one) {
			r.unsaid(one)
		}
		return
	}
	if r.strip {
		places = slices.DeleteFunc(places, func(p api.Place) bool {
			return api.Sealed(r.sent.Items[p.Item].Content)
		})
	}
	if one.on.Pos.Line > 0 && (one.Mend == "image" || one.Mend == "document" || one.Mend == "silent") { // what was sent only after it was not refused
		places = slices.DeleteFunc(places, func(p api.Place) bool { return r.sent.Items[p.Item].Pos.Line > one.on.Pos.Line })
	}
	moved := !slices.ContainsFunc(places, func(p api.Place) bool { return p.Item == named })
	if one.Mend == "bound" {
		r.bound(one, places, named, moved)
		return
	}
	for _, p := range places[:min(len(places), maxPlaces)] {
		f := r.placed(one, p, named, moved)
		if f.Fix == NoFix && f.Option == "" && r.mended(f.Pos) {
			r.told = true // by the rule that mends the record
			continue
		}
		r.report(f)
	}
}

// bound reports thinking that is bound to what stood in front of it: all of it from a place on, since none may stay behind what goes.
func (r *resolver) bound(one refusal, places []api.Place, named int, moved bool) {
	var whole Finding
	for i, p := range places {
		f := r.placed(one, p, named, moved)
		if i == 0 {
			whole = f
			continue
		}
		whole.Edits = append(whole.Edits, f.Edits...)
		whole.Unseen += f.Unseen
	}
	if len(places) == 0 {
		return
	}
	if again := r.agent.TriesAgain; again != nil && one.times < 3 && again(r.version, one.Mend, one.Row) {
		whole.Impact = Notes
		whole.Message = "an API refuses requests: " + strings.TrimPrefix(whole.Message, refusesAll) + "; the client takes the thinking out and tries again by itself"
	}
	r.report(whole)
}

// dropThinking takes out thinking that a user does not want to keep behind what is mended.
func (r *resolver) dropThinking(lines []int64) {
	var whole Finding
	for i := range r.sent.Items {
		it := &r.sent.Items[i]
		if it.Kind != session.ReasoningItem || !slices.Contains(lines, it.Pos.Line) {
			continue
		}
		f := r.about(i, "thinking behind what is mended: the API may refuse it")
		r.mend(&f, i, api.Fault{Mend: "thinking"})
		if whole.Rule == nil {
			whole = f
			continue
		}
		whole.Edits = append(whole.Edits, f.Edits...)
		whole.Unseen += f.Unseen
	}
	if whole.Rule != nil {
		r.report(whole)
	}
}

// agentTools are the tools that are offered because of session.AgentsSetting.
var agentTools = []string{"spawn_agent", "send_message", "followup_task", "wait_agent", "interrupt_agent", "list_agents"}

// persisted says whether what is refused is a tool that is offered because a setting in the session says so, and reports that setting.
func (r *resolver) persisted(one refusal) bool {
	if len(one.IDs) == 0 || !slices.Contains(agentTools, one.IDs[0][strings.LastIndexByte(one.IDs[0], '.')+1:]) {
		return false
	}
	f, known := Finding{}, false
	for _, s := range r.sent.Settings {
		known = known || s.Name == session.AgentsSetting
		if s.Name != session.AgentsSetting || string(s.Value) != `"v2"` {
			continue
		}
		if f.Rule == nil {
			f = r.at(s.Pos, fmt.Sprintf("%s%s: it is offered because the session says %s %s%s; without it, no agents work beside this one", refusesAll, one.Meaning, s.Name, s.Value, often(one.times)))
		}
		f.Fix, f.Edits = Exact, append(f.Edits, r.splice(s.Pos, s.Value, Cut{End: len(s.Value), New: []byte(`"disabled"`)}))
	}
	if f.Rule != nil {
		r.report(f)
	}
	return known // if it says anything else, it has been mended since
}

// change reports what another provider does not know of the session that is to go on with it.
func (r *resolver) change(to string) {
	provider, name := check.Asked(to)
	for _, s := range r.sent.Settings {
		if quoted := jsonl.AppendQuote(nil, name); name != "" && s.Name == session.ProviderSetting && !bytes.Equal(s.Value, quoted) {
			f := r.at(s.Pos, fmt.Sprintf("the session names the provider %s: it is to go on with %s", s.Value, quoted))
			f.Impact, f.Fix, f.Edits = Blocks, Exact, []Edit{r.splice(s.Pos, s.Value, Cut{End: len(s.Value), New: quoted})}
			r.report(f)
		}
	}
	for i := r.sent.Inherited; i < len(r.sent.Items); i++ {
		it := &r.sent.Items[i]
		if r.within(it.Content) < 0 || r.strip && api.Sealed(it.Content) {
			continue
		}
		faults := api.Foreign(it.Content, provider.Name, it.Block >= 0)
		if it.Other && it.Kind == session.ReasoningItem && provider.Name == "anthropic" {
			faults = []api.Fault{{What: "it is thinking of another maker's model", Mend: "item"}}
		}
		if len(faults) == 0 {
			continue
		}
		kind := gjson.GetBytes(it.Content, "type").String()
		if tell := slices.IndexFunc(faults, func(f api.Fault) bool { return f.Mend == "tell" }); tell >= 0 {
			if faults = faults[tell : tell+1]; faults[0].Path == "type" {
				faults[0].What = "it knows no " + kind + ", which becomes text"
			}
		}
		f := r.about(i, "")
		for _, fault := range faults {
			f.Message = fmt.Sprintf("the provider %s would refuse it: %s", provider.Name, fault.What)
			r.mend(&f, i, fault)
		}
		r.report(f)
	}
}

// maxPlaces is how many records one error is reported for.
const maxPlaces = 100

// unsaid reports an error that names nothing of the session, if it has come three times: what is not known to last is not damage.
func (r *resolver) unsaid(one refusal) {
	if one.times >= 3 && !r.told {
		r.report(r.unplaced(one))
	}
}

// knownByRule is the index of a finding of the rule that finds what the API refuses, -1 if there is none: then that is what is reported.
func (r *resolver) knownByRule(one refusal) int {
	if r.agent.RuleFor == nil {
		return -1
	}
	name := r.agent.RuleFor(one.API, one.Mend)
	return slices.IndexFunc(r.res.Findings, func(f Finding) bool {
		return name != "" && f.Rule.Name == name && (f.Impact != Notes || f.Fix != NoFix)
	})
}

// mended says whether a rule mends a record that the API refuses.
func (r *resolver) mended(at session.Pos) bool {
	return slices.ContainsFunc(r.res.Findings, func(f Finding) bool {
		changes := f.Pos == at || slices.ContainsFunc(f.Edits, func(e Edit) bool { return e.At == at })
		return changes && f.Impact == Rejects && f.Fix != NoFix
	})
}

// report adds a finding, unless what it changes is changed already.
func (r *resolver) report(f Finding) {
	r.told = true
	for i := range r.res.Findings {
		switch o := &r.res.Findings[i]; {
		case o.Pos != f.Pos:
		case o.Rule == f.Rule && o.Message == f.Message, len(f.Edits) > 0 && o.Impact >= Rejects && o.Changes(f.Edits[0]):
			return
		case o.Rule == f.Rule && len(f.Edits) > 0 && o.Changes(f.Edits[0]): // a note of what an API may refuse
			*o = f
			return
		}
	}
	r.res.Findings = append(r.res.Findings, f)
}

// unplaced is the finding about an error that leads to no record.
func (r *resolver) unplaced(one refusal) Finding {
	f := Finding{
		Rule: check.Refused, Impact: Rejects, Fix: NoFix, Pos: one.on.Pos, Offset: one.on.Offset, On: one.on,
		Message: refusesAll + one.Meaning + often(one.times) + "; " + one.Way().Next(r.session()),
	}
	if f.Pos.Line == 0 {
		f.Pos.Line = 1
	}
	return f
}

// session is what the session is called in a command: its id leads to a file only where the client looks for it.
func (r *resolver) session() string {
	if r.path != "" && !(r.name.InHome && r.name.Canonical) {
		return format.Command(r.path)
	}
	return r.res.Summary.Header.ID
}

const refusesAll = "the API refuses every request: "

func often(times int) string {
	if times < 2 {
		return ""
	}
	return fmt.Sprintf(" (it has said so %d times)", times)
}

// placed is the finding about a record that an error leads to. moved says that the item at the place which the error names has no fault.
func (r *resolver) placed(one refusal, p api.Place, named int, moved bool) Finding {
	if p.Item < r.sent.Inherited {
		f := r.unplaced(one)
		parent := r.res.Summary.Header.BaseThread
		f.Message = refusesAll + one.Meaning + fmt.Sprintf(": %s, on line %d of the session %s, which this one goes on from", p.Fault.What, r.sent.Items[p.Item].Pos.Line, parent) +
			often(one.times) + "; hist repair --in-place " + parent + " mends it there"
		return f
	}
	f := r.about(p.Item, "")
	place := ""
	if one.Message >= 0 {
		place = " (" + placeOf(one.Refusal) + ")"
		if named >= 0 && moved {
			place = fmt.Sprintf(" (%s, which is line %d now, where nothing is wrong)", placeOf(one.Refusal), r.sent.Items[named].Pos.Line)
		}
	}
	from := ""
	if one.on.Pos.Line > 0 {
		from = fmt.Sprintf("; the client recorded that on line %d", one.on.Pos.Line)
	}
	f.Message = refusesAll + one.Meaning + place + ": " + p.Fault.What + often(one.times) + from
	r.mend(&f, p.Item, p.Fault)
	if p.Fault.Mend == "tell" && r.sent.Items[p.Item].CallID != "" { // nothing would answer the call, or be answered
		for _, other := range r.pair(p.Item) {
			if m, ok := api.Told(r.sent.Items[other].Content, r.sent.Items[other].Role); ok && other != p.Item {
				r.edit(&f, other, m)
			}
		}
	}
	if f.Fix == NoFix && f.Option == "" {
		f.Message += "; " + one.Otherwise().Next(r.session())
	}
	return f
}

// about is a finding about an item, without a fix.
func (r *resolver) about(i int, message string) Finding {
	it := &r.sent.Items[i]
	f := r.at(it.Pos, message)
	f.IDs = strings.TrimSpace(it.ID + " " + it.CallID)
	return f
}

// at is a finding about a record, without a fix.
func (r *resolver) at(pos session.Pos, message string) Finding {
	start, end := r.line(pos.Line)
	return Finding{
		Rule: check.Refused, Impact: Rejects, Fix: NoFix, Pos: pos, Message: message, Offset: int64(start),
		On: Ref{Pos: pos, Offset: int64(start), Size: int64(min(end+1, len(r.text)) - start)},
	}
}

// placeOf is a place as the API's errors write it.
func placeOf(r *api.Refusal) string {
	switch {
	case r.Map != 'B' && r.Block < 0:
		return fmt.Sprintf("input[%d]", r.Message)
	case r.Block < 0:
		return fmt.Sprintf("messages.%d", r.Message)
	case r.Inner < 0:
		return fmt.Sprintf("messages.%d.content.%d", r.Message, r.Block)
	}
	return fmt.Sprintf("messages.%d.content.%d.content.%d", r.Message, r.Block, r.Inner)
}

// line is where a line of the text begins and ends, without its newline.
func (r *resolver) line(no int64) (start, end int) {
	for ; no > 1; no-- {
		i := bytes.IndexByte(r.text[start:], '\n')
		if i < 0 {
			return len(r.text), len(r.text)
		}
		start += i + 1
	}
	if i := bytes.IndexByte(r.text[start:], '\n'); i >= 0 {
		return start, start + i
	}
	return start, len(r.text)
}

// mend adds the edits that take an item's fault away, if there are any.
func (r *resolver) mend(f *Finding, i int, fault api.Fault) {
	it := &r.sent.Items[i]
	switch {
	case fault.Mend == "encrypted" || fault.Mend == "item-type" && api.Sealed(it.Content):
		f.Option = "--strip-encrypted"
		f.Message += "; hist repair " + f.Option + " makes a copy without what is encrypted"
		return
	case fault.Mend == "pair" && it.CallID != "":
		r.rename(f, i)
		return
	}
	m, ok := api.Mend(it.Content, it.Role, fault)
	if ok && m.Drop && it.CallID != "" && fault.Mend != "tell" { // of a call and its output neither can stay alone
		for _, other := range r.pair(i) {
			ok = ok && r.edit(f, other, m)
		}
	} else {
		ok = ok && r.edit(f, i, m)
	}
	switch {
	case !ok:
		f.Edits = nil
	case m.Drop:
		f.Fix, f.Unseen = SetAside, int64(len(f.Edits))
	case fault.Mend == "tell" && fault.Path == "type": // what can be read of it stays
		f.Fix = SetAside
	case m.Loses:
		f.Fix, f.Lost = StandIn, 1
	default:
		f.Fix = Exact
	}
}

// pair are the items of the session that have the id of a call, among them the one given.
func (r *resolver) pair(i int) (list []int) {
	for j := range r.sent.Items {
		if it := &r.sent.Items[j]; it.CallID == r.sent.Items[i].CallID && it.Path != "" {
			list = append(list, j)
		}
	}
	return list
}

// rename gives a call and its output another id.
func (r *resolver) rename(f *Finding, i int) {
	old := r.sent.Items[i].CallID
	id := api.FreshID(r.sent.Items[r.pair(i)[0]].Content, old)
	for _, j := range r.pair(i) {
		if !r.edit(f, j, api.Renamed(r.sent.Items[j].Content, old, id)) {
			f.Edits = nil
			return
		}
	}
	f.Fix = Exact
}

// edit adds the edit that mends one item; false if there is none.
func (r *resolver) edit(f *Finding, i int, m api.Mending) bool {
	it := &r.sent.Items[i]
	at := r.within(it.Content)
	if at < 0 {
		return false
	}
	start, _ := r.line(it.Pos.Line)
	e := Edit{At: it.Pos, Op: finding.Splice}
	switch own := !strings.Contains(it.Path, "."); { // the record has nothing else in it
	case m.Drop && own:
		e.Op = finding.Remove
	case m.Drop && it.Path == "message.content": // a text and no list of blocks
		return false
	case m.Drop:
		e.Cuts = []Cut{{Start: at - start, End: at - start + len(it.Content), Element: true}}
	default:
		e = r.splice(it.Pos, it.Content, m.Cuts...)
	}
	f.Edits = append(f.Edits, e)
	return true
}

// splice makes cuts in a part of a record, whose bytes are the text's.
func (r *resolver) splice(pos session.Pos, part []byte, cuts ...Cut) Edit {
	start, _ := r.line(pos.Line)
	at := r.within(part) - start
	e := Edit{At: pos, Op: finding.Splice}
	for _, cut := range cuts {
		cut.Start, cut.End = cut.Start+at, cut.End+at
		e.Cuts = append(e.Cuts, cut)
	}
	return e
}

// within is where bytes of the text stand in it, -1 if they are not a part of it.
func (r *resolver) within(part []byte) int {
	if len(part) == 0 || len(r.text) == 0 {
		return -1
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(part))) - uintptr(unsafe.Pointer(unsafe.SliceData(r.text)))
	if at >= uintptr(len(r.text)) {
		return -1
	}
	return int(at)
}
