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

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
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
	if r := api.Newest(api.Explain(run.Options().Error)); r != nil && r.Lasts() {
		list = append(list, refusal{r, Ref{}, 1})
	}
	said := run.Refusals()
	for i := len(said) - 1; i >= 0; i-- {
		if r := api.Newest(api.Explain(said[i].Text)); r != nil && r.Lasts() {
			list = append(list, refusal{r, said[i].On, said[i].Times})
		}
	}
	return list
}

// maxReread is the longest session that is read again for what an error names, in bytes of text.
const maxReread = 1 << 30

// resolve adds to the findings what the API has refused and will refuse again. The session's text is read only if there is such an
// error.
func (res *Result) resolve(ctx context.Context, a agent.Agent, run *check.Run, text func() (io.Reader, error)) error {
	list := refusalsOf(run)
	if len(list) == 0 {
		return nil
	}
	sending, ok := a.(agent.Reader)
	if !ok {
		return nil
	}
	in, err := text()
	if err != nil || in == nil {
		return err
	}
	if c, ok := in.(io.Closer); ok {
		defer c.Close()
	}
	whole, err := source.ReadAll(io.LimitReader(in, maxReread+1))
	if err != nil || len(whole) > maxReread || ctx.Err() != nil {
		return cmp.Or(err, ctx.Err())
	}
	opts := run.Options()
	sent, err := sending.ReadSent(whole, agent.ReadAt{Base: opts.Name.Base}, cmp.Or(opts.For[a.Name()], res.Summary.Header.Version))
	if err != nil {
		return err
	}
	r := &resolver{res: res, agent: a, text: whole, sent: sent, strip: opts.StripEncrypted}
	for _, one := range list {
		r.resolve(one)
	}
	slices.SortStableFunc(res.Findings, func(a, b Finding) int { return a.Pos.Compare(b.Pos) })
	return nil
}

// resolver finds the records that errors are about.
type resolver struct {
	res   *Result
	agent agent.Agent
	text  []byte
	sent  *session.Sent
	strip bool // what is encrypted is set aside in any case
	told  bool // something that the API refuses has been reported
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
	switch one.Mend {
	case "shorten":
		if len(places) == 0 {
			r.report(r.unplaced(one))
			return
		}
	case "unsaid", "cut":
		if places = api.Large(r.sent); len(places) == 0 {
			r.unsaid(one)
			return
		}
	case "settings", "provider":
		r.unsaid(one)
		return
	}
	if r.strip {
		places = slices.DeleteFunc(places, func(p api.Place) bool {
			return api.Sealed(r.sent.Items[p.Item].Content)
		})
	}
	moved := !slices.ContainsFunc(places, func(p api.Place) bool { return p.Item == named })
	for _, p := range places[:min(len(places), maxPlaces)] {
		r.report(r.placed(one, p, named, moved))
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
	ruled, ok := r.agent.(agent.Ruled)
	if !ok {
		return -1
	}
	name := ruled.RuleFor(one.API, one.Mend)
	return slices.IndexFunc(r.res.Findings, func(f Finding) bool {
		return name != "" && f.Rule.Name == name && (f.Impact != Notes || f.Fix != NoFix)
	})
}

func (r *resolver) report(f Finding) {
	r.told = true
	same := func(o Finding) bool {
		return o.Pos == f.Pos && (o.Rule == f.Rule && o.Message == f.Message || len(f.Edits) > 0 && len(o.Edits) > 0 && o.Impact >= Rejects)
	}
	if !slices.ContainsFunc(r.res.Findings, same) {
		r.res.Findings = append(r.res.Findings, f)
	}
}

// unplaced is the finding about an error that leads to no record.
func (r *resolver) unplaced(one refusal) Finding {
	f := Finding{
		Rule: check.Refused, Impact: Rejects, Fix: NoFix, Pos: one.on.Pos, Offset: one.on.Offset, On: one.on,
		Message: "the API refuses every request: " + one.Meaning + often(one.times) + "; " + one.Way().Next(r.session()),
	}
	if f.Pos.Line == 0 {
		f.Pos.Line = 1
	}
	return f
}

// session is what the session is called in a command.
func (r *resolver) session() string { return r.res.Summary.Header.ID }

func often(times int) string {
	if times < 2 {
		return ""
	}
	return fmt.Sprintf(" (it has said so %d times)", times)
}

// placed is the finding about a record that an error leads to. moved says that the item at the place which the error names has no fault.
func (r *resolver) placed(one refusal, p api.Place, named int, moved bool) Finding {
	it := &r.sent.Items[p.Item]
	f := Finding{Rule: check.Refused, Impact: Rejects, Fix: NoFix, Pos: it.Pos, IDs: strings.TrimSpace(it.ID + " " + it.CallID)}
	start, end := r.line(it.Pos.Line)
	f.Offset = int64(start)
	f.On = Ref{Pos: it.Pos, Offset: int64(start), Size: int64(min(end+1, len(r.text)) - start)}
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
	f.Message = "the API refuses every request: " + one.Meaning + place + ": " + p.Fault.What + often(one.times) + from
	r.mend(&f, it, p.Fault)
	if f.Fix == NoFix && f.Option == "" {
		f.Message += "; " + one.Way().Next(r.session())
	}
	return f
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
func (r *resolver) mend(f *Finding, it *session.Item, fault api.Fault) {
	if fault.Mend == "encrypted" || fault.Mend == "item-type" && api.Sealed(it.Content) {
		f.Option = "--strip-encrypted"
		f.Message += "; hist repair " + f.Option + " makes a copy without what is encrypted"
		return
	}
	m, ok := api.Mend(it.Content, it.Role, fault)
	at := r.offset(it)
	if !ok || at < 0 {
		return
	}
	start, _ := r.line(it.Pos.Line)
	own := !strings.Contains(it.Path, ".") // the record has nothing else in it
	switch {
	case !m.Drop:
		for i := range m.Cuts {
			m.Cuts[i].Start += at - start
			m.Cuts[i].End += at - start
		}
		f.Edits = []Edit{{At: it.Pos, Op: finding.Splice, Cuts: m.Cuts}}
	case own:
		f.Edits = []Edit{{At: it.Pos, Op: finding.Remove}}
	case it.Path == "message.content": // a text and no list of blocks
		return
	default:
		f.Edits = []Edit{{At: it.Pos, Op: finding.Splice, Cuts: []Cut{{Start: at - start, End: at - start + len(it.Content), Element: true}}}}
	}
	switch {
	case m.Drop:
		f.Fix, f.Unseen = SetAside, 1
	case m.Loses:
		f.Fix, f.Lost = StandIn, 1
	default:
		f.Fix = Exact
	}
}

// offset is where an item's content stands in the text, -1 if it is not a part of it.
func (r *resolver) offset(it *session.Item) int {
	if len(it.Content) == 0 || len(r.text) == 0 {
		return -1
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(it.Content))) - uintptr(unsafe.Pointer(unsafe.SliceData(r.text)))
	if at >= uintptr(len(r.text)) {
		return -1
	}
	return int(at)
}
