package repair

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// TestMutants damages sessions of each agent at random, and wants every law of each. With -mutants N it repairs so many, from -seed on.
func TestMutants(t *testing.T) {
	t.Parallel()
	for _, s := range stocks(t) {
		t.Run(s.agent, func(t *testing.T) { eachMutant(t, s, 4000, func(m mutant) error { return laws(t, m) }) })
	}
}

// broken says which law of repair does not hold.
type broken struct {
	law, detail string
}

func (b *broken) Error() string { return b.law + ": " + b.detail }

// failsCheck is the law that a copy passes its own check.
const failsCheck = "the copy fails its check"

// repaired is a mutant, and what a repair has made of it.
type repaired struct {
	mutant
	out, aside    []byte // the copy, and what has left the session
	rep           *Report
	before, after *lint.Result // of the session and of the copy
}

// repairKept repairs a session to a stream, as `hist repair --output -` does, and keeps what leaves it.
func repairKept(text []byte, opts lint.Options, choice Choice) (out, aside []byte, rep *Report, err error) {
	src, err := source.Stdin(bytes.NewReader(text), "")
	if err != nil {
		return nil, nil, nil, err
	}
	defer src.Close()
	var stream, left bytes.Buffer
	rep, err = Do(context.Background(), Job{Source: src, Lint: opts, Choice: choice, Mode: ToStream, Stream: &stream, aside: &left})
	return stream.Bytes(), left.Bytes(), rep, err
}

func repairAs(text []byte, opts lint.Options, choice Choice) ([]byte, *Report, error) {
	out, _, rep, err := repairKept(text, opts, choice)
	return out, rep, err
}

// laws repairs a mutant, and tries what holds for every repair: it is not refused, a second one changes nothing, each byte is kept, the
// report tells what was changed and what is left, no less is sent, and a client makes up no more than of the sound session.
func laws(t testing.TB, m mutant) (err error) {
	r := repaired{mutant: m}
	if r.out, r.aside, r.rep, err = repairKept(m.text, m.opts, m.choice); err != nil {
		return err
	}
	told := m.opts // what lies behind damage that the repair leaves is no more to be told of than to be mended
	told.Mend = r.chosen().Allows
	if r.before, err = lint.Session(t.Context(), bytes.NewReader(m.text), told); err != nil {
		return err
	}
	if slices.Contains(r.rep.Notes, leavesAll) && bytes.Equal(r.out, m.text) {
		return nil
	}
	if r.after, err = lint.Session(t.Context(), bytes.NewReader(r.out), told); err != nil {
		return err
	}
	for _, law := range []func(testing.TB) error{r.ended, r.toldEnd, r.toldChanges, r.kept, r.sent, r.madeUpNoMore} {
		if err := law(t); err != nil {
			return err
		}
	}
	return nil
}

// ended: nothing that can be mended is left, a second repair changes nothing, nor does one with nothing to mend.
func (r *repaired) ended(testing.TB) error {
	again, second, err := repairAs(r.out, r.opts, r.choice)
	if err != nil || !bytes.Equal(r.out, again) || len(second.Edits) > 0 {
		return &broken{"a second repair changes the copy", fmt.Sprint(err)}
	}
	for _, f := range choose(r.after.Findings, r.chosen()).Mend {
		if f.Rename == "" {
			return &broken{"something fixable is left", f.Rule.Name + " on " + f.Pos.String() + ": " + f.Message}
		}
	}
	if mendable(r.before, r.choice) == nil && !bytes.Equal(r.text, r.out) {
		return &broken{law: "a session with nothing to mend is changed"}
	}
	return nil
}

// mendable is a finding that a repair in the same place would mend, nil if there is none.
func mendable(res *lint.Result, choice Choice) *lint.Finding {
	return fixable(choose(res.Findings, choice))
}

// toldEnd: what damage lint sees in the copy is what the report says is left.
func (r *repaired) toldEnd(testing.TB) error {
	left := map[string]int{}
	for _, l := range r.rep.Left {
		left[l.Rule]++
	}
	for _, f := range r.after.Findings {
		if left[f.Rule.Name]--; f.Impact != lint.Notes && left[f.Rule.Name] < 0 {
			return &broken{"the report does not tell what is left", f.Rule.Name + " on " + f.Pos.String() + ": " + f.Message}
		}
	}
	return nil
}

// toldChanges: no more lines are new than the report tells of.
func (r *repaired) toldChanges(testing.TB) error {
	if r.before.Summary.Encoding != normalize.UTF8 {
		return nil
	}
	was := map[string]int{}
	for l := range bytes.SplitSeq(r.text, newline) {
		was[unnumbered(l)]++
	}
	fresh := int64(0)
	for l := range bytes.SplitSeq(r.out, newline) {
		if key := unnumbered(l); was[key] > 0 {
			was[key]--
		} else if len(l) > 0 {
			fresh++
		}
	}
	if fresh > r.rep.Totals.Edited+r.rep.Totals.Added {
		return &broken{"lines changed that the report does not tell of", fmt.Sprintf("%d lines, %+v", fresh, r.rep.Totals)}
	}
	return nil
}

// unnumbered is a line without its ordinal, which some have twice.
func unnumbered(l []byte) string {
	for {
		i := bytes.Index(l, []byte(`"ordinal":`))
		j := bytes.IndexByte(l[max(i, 0):], ',')
		if i < 0 || i >= 60 || j < 0 {
			return string(l)
		}
		l = slices.Concat(l[:i], l[i+j+1:])
	}
}

// kept: each byte of the session is in the copy, or set aside under its line and place, or told as exactly re-encoded.
func (r *repaired) kept(testing.TB) error {
	if r.before.Summary.Encoding != normalize.UTF8 {
		return nil
	}
	return allKept(r.text, r.out, r.aside)
}

// sent: of a session of Claude Code no damage is left that its client sees, and if it sends less of it than before, nothing is missing that it
// sent of the sound one, too: what a compaction sums up again, or what only a damaged root or end let it send, is not lost. A repair that was
// asked to leave something owes less, none makes a conversation of a file that holds none, and damage stays that lint says can't be mended, or
// the repair says would take something from the conversation.
func (r *repaired) sent(t testing.TB) error {
	before, after := r.before, r.after
	if after.Summary.Agent != "claude" || len(r.choice.Only)+len(r.choice.Rules) > 0 || slices.ContainsFunc(after.Findings, none) {
		return nil
	}
	for _, f := range after.Findings {
		beyond := func(b lint.Finding) bool { return b.Rule == f.Rule && b.Fix == lint.NoFix && f.Fix == lint.NoFix }
		// What a mend made readable may be damage that nothing mends: the report tells of it.
		told := func(l Left) bool { return l.Rule == f.Rule.Name && f.Fix == lint.NoFix }
		if f.Impact != lint.Notes && !slices.ContainsFunc(before.Findings, beyond) && !slices.ContainsFunc(r.rep.Left, told) && !leftOut(r.rep, f.Rule.Name) {
			return &broken{"damage is left", f.Rule.Name + " on " + f.Pos.String() + ": " + f.Message}
		}
	}
	if after.Summary.Seen >= before.Summary.Seen || slices.ContainsFunc(before.Findings, takesOut) {
		return nil
	}
	was, is := requestOf(t, r.text), requestOf(t, r.out)
	lost, whole := was.Missing(is), requestOf(t, mendedWhole(t, r.mutant))
	for _, i := range whole.Missing(is) {
		if slices.ContainsFunc(lost, func(j int) bool { return was.Items[j].Sum == whole.Items[i].Sum }) {
			return &broken{"the client sends less", fmt.Sprintf("%s was sent before, and of the session that was damaged, but is not any more", whole.Items[i].Content)}
		}
	}
	return nil
}

// madeUpNoMore: what the client makes up of a copy of Codex's, an output "aborted" of a call that has none, it makes up of the session that was
// damaged, too: what damage let it make up, findings told and the repair mended.
func (r *repaired) madeUpNoMore(t testing.TB) error {
	if r.after.Summary.Agent != "codex" || len(r.opts.For) > 0 || len(r.choice.Only)+len(r.choice.Rules) > 0 {
		return nil // an older client may not read what a newer one wrote, and a repair that was asked to leave something tells less
	}
	sound := madeUp(t, r.whole)
	for call := range madeUp(t, r.out) {
		if !sound[call] {
			return &broken{"the client makes up an output", "of call " + call}
		}
	}
	return nil
}

// madeUp are the calls of a session of Codex's for which the newest client makes up an output.
func madeUp(t testing.TB, text []byte) map[string]bool {
	t.Helper()
	sent, err := all.Named("codex").ReadSent(text, agent.ReadAt{}, "")
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]bool{}
	for i := range sent.Items {
		if it := &sent.Items[i]; it.Made != "" && it.Kind == session.OutputItem {
			calls[it.CallID] = true
		}
	}
	return calls
}

// chosen is the choice of the repair without the rules that it tells it leaves out.
func (r *repaired) chosen() Choice { return r.choice.without(leaves(r.rep)) }

// requestOf is what the newest client sends of a session.
func requestOf(t testing.TB, text []byte) *session.Sent {
	t.Helper()
	sent, err := all.Named("claude").ReadSent(text, agent.ReadAt{}, "")
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

// leftOut says whether a repair has told that it leaves a rule out, because mending it would take something from the conversation.
func leftOut(rep *Report, rule string) bool { return slices.Contains(leaves(rep), rule) }

// leaves are the rules of which a repair has told that, among other words.
func leaves(rep *Report) (rules []string) {
	for _, note := range rep.Notes {
		if words, _, ok := strings.Cut(note, " left as "); ok {
			rules = append(rules, strings.Fields(words)...)
		}
	}
	return rules
}

// mendedWhole is the session that was damaged, mended if it was damaged before. Less may be sent of it than of the damaged one: what the client
// leaves out on purpose it sends where it can't tell any more.
func mendedWhole(t testing.TB, m mutant) []byte {
	t.Helper()
	out, _, err := repairAs(m.whole, m.opts, m.choice)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// none says whether nothing of a conversation is in the file.
func none(f lint.Finding) bool {
	return slices.Contains([]string{"no-conversation", "empty-file", "torn-tail", "bad-json"}, f.Rule.Name)
}

// takesOut says whether a mend takes out of the history what a client sends: what the API refuses, what stands there twice,
// or all that was compacted, as where the mark of a compaction is read again, or the client begins behind it again.
func takesOut(f lint.Finding) bool {
	behindMark := f.Rule.Name == "wrong-leaf" && strings.Contains(f.Message, "before a compaction")
	return behindMark || f.Fix == lint.SetAside || f.Rule.Family == "compaction" || f.Rule.Name == "empty-text" || f.Rule.Name == "duplicate-call-id" ||
		f.Rule.Name == "missing-uuid" && f.Record == "system"
}
