package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// A repair proves the conversation, not only the bytes: what the client sends of the copy must hold all that it sends of the session,
// less what a change takes out by name. A rule whose changes lose more is left out; if that does not help, nothing is published.

// maxRead is up to how many bytes of memory a session may take that is read for what its client sends: its text, and what is known of each
// of its records meanwhile, which takes recordSize. Of a larger one nothing is said. First the session is held in memory, and then its copy.
const (
	maxRead    = 192 << 20
	recordSize = 400
)

// aloneInMemory is from how many bytes on the session leaves memory before its copy comes.
const aloneInMemory = 16 << 20

// maxTried is of how many rules it is tried whether a session, mended without one, loses something, to learn which of them loses something.
const maxTried = 32

// readings are what the client sends of the session and of its copy; nil where that is not known.
type readings struct {
	before, after *reading
	unread        bool // nothing is known
}

// reading is a session.Sent without its words, in a sixth of the memory: a session may hold hundreds of thousands of items.
type reading struct {
	refused   bool
	inherited int // how many of the first items are another session's
	items     []sentItem
	steers    []session.Pos
	compacted int64 // the line of the compaction that the history begins with, 0 if there is none
}

// sentItem is what is kept of a session.Item.
type sentItem struct {
	sum    [16]byte
	line   int64
	made   bool // by the client
	bound  bool
	answer bool // it is nobody's who asks
	told   bool // it tells the model that something of it is lost
}

func (r *reading) see(item *session.Item) {
	r.items = append(r.items, sentItem{
		sum: item.Sum, line: item.Pos.Line, made: item.Made != "", bound: item.Bound, answer: item.Role != "user" && item.Role != "developer",
		told: bytes.Contains(item.Content, []byte("[hist: ")) && saidLost.Match(item.Content),
	})
}

// own is how many items the session holds itself.
func (r *reading) own() (n int) {
	for i := range r.items {
		if !r.items[i].made {
			n++
		}
	}
	return n
}

// missing are the items, by index, that another reading has not, or has less often, without those that the client makes up.
func (r *reading) missing(other *reading) (indexes []int) {
	left := map[[16]byte]int{}
	for i := range other.items {
		if item := &other.items[i]; !item.made {
			left[item.sum]++
		}
	}
	for i := range r.items {
		if item := &r.items[i]; !item.made {
			if left[item.sum]--; left[item.sum] < 0 {
				indexes = append(indexes, i)
			}
		}
	}
	return indexes
}

// sums are the hashes of all items.
func (r *reading) sums() map[[16]byte]bool {
	known := make(map[[16]byte]bool, len(r.items))
	for i := range r.items {
		known[r.items[i].sum] = true
	}
	return known
}

// saidLost is how the copy tells the model that something of an item is not there any more.
var saidLost = regexp.MustCompile(`\[hist: [^\]]*(lost|taken out|can't be read)`)

// incomplete says whether the copy tells the model of more items than told that something of them is lost.
func (r *readings) incomplete(told int64) bool {
	known := r.before.sums()
	n := int64(0)
	for i := range r.after.items {
		if item := &r.after.items[i]; !known[item.sum] && item.told {
			n++
		}
	}
	return n > told
}

// renewed tells of a line of the session whether the client sends something of the copy that stands in its place and that it did not send
// before: there, a placeholder may say less than the session said. If it is not known what is sent, that may be so of any line; so it may,
// after several passes, if it is so of one, because a finding may name a line of the text in between.
func (w *job) renewed() func(line int64) bool {
	if w.read.after == nil {
		return func(int64) bool { return true }
	}
	known := w.read.before.sums()
	lines := w.made.pieces
	stretches := map[int64]bool{} // by their first lines in the session
	for i := range w.read.after.items {
		if item := &w.read.after.items[i]; !item.made && !known[item.sum] && !lines.isCopied(item.line) {
			from, _, _, _ := lines.gap(item.line)
			stretches[from] = true
		}
	}
	return func(line int64) bool {
		return w.passes != nil && len(stretches) > 0 || !lines.holds(line) && stretches[lines.behind(line)]
	}
}

// copies is how many items of the session are sent of the copy once less, and say what it still sends: second copies of records.
func (r *readings) copies() (n int64) {
	sent := r.after.sums()
	for _, i := range r.before.missing(r.after) {
		if sent[r.before.items[i].sum] {
			n++
		}
	}
	return n
}

// bound are the lines of the session whose thinking is bound to what stood in front of it, and stands behind the first item that is
// not sent of the copy as it is of the session: the API may refuse it.
func (r *readings) bound() (list []int64) {
	if r.before == nil || r.after == nil {
		return nil
	}
	own := func(r *reading) []sentItem {
		return slices.DeleteFunc(slices.Clone(r.items), func(item sentItem) bool { return item.made })
	}
	before, after := own(r.before), own(r.after)
	same := 0
	for same < min(len(before), len(after)) && before[same].sum == after[same].sum {
		same++
	}
	left := map[[16]byte]int{}
	for _, item := range after[same:] {
		if item.bound {
			left[item.sum]++
		}
	}
	for _, item := range before[same:] {
		if left[item.sum]--; left[item.sum] >= 0 && !slices.Contains(list, item.line) {
			list = append(list, item.line)
		}
	}
	return list
}

// boundNote tells of thinking on some lines of the session.
func boundNote(list []int64) string {
	const most = 8
	var lines []string
	for _, line := range list[:min(len(list), most)] {
		lines = append(lines, fmt.Sprint(line))
	}
	where := "line " + strings.Join(lines, ", ")
	if len(list) > 1 {
		where = "lines " + strings.Join(lines, ", ")
	}
	if n := len(list) - most; n > 0 {
		where += fmt.Sprintf(" and %d more", n)
	}
	return "thinking that may be bound to what stood in front of it comes behind a change (" + where + "): the API may refuse it. " +
		"Claude Code from 2.1.330 on then tries again without thinking by itself; for any other client: hist repair --drop-thinking"
}

// answerless says whether nothing was sent of the session, and no answer is among what the repair has found of it.
func (r *readings) answerless() bool {
	answer := func(item sentItem) bool { return !item.made && item.answer }
	return r.before.own() == 0 && r.after.own() > 0 && !slices.ContainsFunc(r.after.items, answer)
}

// lostError is the ErrVerify of a copy of which less is sent.
type lostError struct {
	lost []sentItem // items of the session that the copy does not send, although no change is about them
}

func (e *lostError) Error() string {
	return fmt.Sprintf("%v: what stands on line %d is sent of the session as it is, and would not be sent of the copy (%s in all); repairing one rule at a time, with --output and --rule, may help",
		ErrVerify, e.lost[0].line, inWords(len(e.lost)))
}

func (e *lostError) Unwrap() error { return ErrVerify }

func inWords(n int) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

// readBefore reads what the client sends of the session, once.
func (w *job) readBefore(ctx context.Context) error {
	if w.read.before != nil || w.read.unread || w.unreadable(&w.found.Summary) {
		return nil
	}
	text, err := w.text(ctx)
	if err != nil {
		return err
	}
	w.read.before, err = w.readBriefly(ctx, text, w.Lint.Name.Base)
	w.read.unread = err == nil && w.read.before == nil
	makeRoom(&w.found.Summary)
	return err
}

// makeRoom collects what was in use for a large session before what is to be read next comes.
func makeRoom(s *lint.Summary) {
	if s.Bytes > aloneInMemory {
		runtime.GC()
	}
}

// unreadable says of the session, or its copy, whether it is too large to be read; then nothing will be known of either.
func (w *job) unreadable(s *lint.Summary) bool {
	if s.Bytes+recordSize*s.Records > maxRead {
		w.read.before, w.read.unread = nil, true
	}
	return w.read.unread
}

// readBriefly is readSent without the words.
func (w *job) readBriefly(ctx context.Context, text []byte, base string) (*reading, error) {
	if w.agent.ReadSent == nil {
		return nil, nil
	}
	r, at := &reading{}, w.readAt(ctx, base)
	at.Each = r.see
	sent, err := source.Promptly(ctx, func() (*session.Sent, error) { return w.agent.ReadSent(text, at, w.Lint.For[w.agent.Name]) })
	if err != nil {
		return nil, err
	}
	for i := range sent.Items {
		r.see(&sent.Items[i])
	}
	r.refused, r.inherited, r.steers, r.compacted = sent.Refused != "", sent.Inherited, sent.Steers, sent.Compacted.Line
	return r, nil
}

// proveRepair compares what is sent of a copy with what is sent of the session.
func (w *job) proveRepair(ctx context.Context, text []byte) error {
	if err := w.weighed(text); err != nil {
		return err
	}
	after, err := w.readBriefly(ctx, text, w.copyOptions().Name.Base)
	if err != nil {
		return err
	}
	if w.read.after = after; w.Lint.Branch != "" { // the user wants another part of it to be sent
		return nil
	}
	lines := w.made.pieces
	lost, err := w.lost(ctx, after, text, lines)
	if len(lost) > 0 && err == nil {
		err = &lostError{lost}
	}
	return err
}

// lost are the items of the session that are not sent of a copy, although their lines are in it as they were. Not lost is a second copy of
// what was taken out, nor what the compaction that the copy begins with has summed up.
func (w *job) lost(ctx context.Context, after *reading, text []byte, lines pieces) (lost []sentItem, err error) {
	before := w.read.before
	changed := map[[16]byte]int{}
	for i := range before.items {
		if item := &before.items[i]; !item.made && !lines.holds(item.line) {
			changed[item.sum]++
		}
	}
	if steered(before, after, lines) {
		return nil, nil
	}
	own := *before
	if before.refused { // what it inherits may be what is wrong with it
		own.items = before.items[before.inherited:]
	}
	base := int64(0)
	if after.compacted > 0 {
		base = lines.session(after.compacted)
	}
	for _, i := range own.missing(after) {
		switch item := &own.items[i]; {
		case changed[item.sum] > 0:
			changed[item.sum]--
		case item.line < base:
		default:
			lost = append(lost, *item)
		}
	}
	if len(lost) > 0 && base > 0 {
		return w.notSummedUp(ctx, lost, text, after.compacted)
	}
	if len(lost) > 0 {
		return w.notInFront(ctx, lost, after, text, lines)
	}
	return lost, nil
}

// notInFront are those of some items that do not stand in front of the record with which what is sent of the copy begins, if that record says
// by itself that nothing stands above it, and the client could not read it in the session: they were sent only because it could not.
func (w *job) notInFront(ctx context.Context, items []sentItem, sent *reading, text []byte, lines pieces) ([]sentItem, error) {
	first, roots := slices.IndexFunc(sent.items, func(item sentItem) bool { return !item.made }), w.agent.Roots
	if roots == nil || first < sent.inherited || lines.isCopied(sent.items[first].line) {
		return items, nil
	}
	line := sent.items[first].line
	from, n, copied, nCopied := lines.gap(line)
	if slices.ContainsFunc(w.read.before.items, func(item sentItem) bool { return item.line >= from && item.line-from < n }) {
		return items, nil
	}
	was, err := w.text(ctx)
	if err != nil || roots(linesIn(text, line, 1)) == 0 {
		return items, err
	}
	if roots(linesIn(text, copied, nCopied)) > roots(linesIn(was, from, n)) { // the repair says so, and not the record
		return items, nil
	}
	return slices.DeleteFunc(items, func(item sentItem) bool { return item.line < from }), nil
}

// linesIn are n lines of a text, from a line on.
func linesIn(text []byte, line, n int64) []byte {
	for ; line > 1 && len(text) > 0; line-- {
		text = behindLine(text)
	}
	rest := text
	for ; n > 0 && len(rest) > 0; n-- {
		rest = behindLine(rest)
	}
	return text[:len(text)-len(rest)]
}

// behindLine is a text without its first line.
func behindLine(text []byte) []byte {
	_, rest, _ := bytes.Cut(text, newline)
	return rest
}

// notSummedUp are those of some items that the client does not send of a copy as it was in front of the compaction on a line: what is said
// again behind that, or stands there a second time, is told apart from what was summed up by its place alone.
func (w *job) notSummedUp(ctx context.Context, items []sentItem, text []byte, line int64) ([]sentItem, error) {
	front := 0
	for range line - 1 {
		front += bytes.IndexByte(text[front:], '\n') + 1
	}
	summed, err := w.readBriefly(ctx, text[:front], w.Lint.Name.Base)
	if err != nil {
		return nil, err
	}
	times := map[[16]byte]int{}
	for i := range summed.items {
		times[summed.items[i].sum]++
	}
	return slices.DeleteFunc(items, func(item sentItem) bool {
		times[item.sum]--
		return times[item.sum] >= 0
	}), nil
}

// steered says whether the copy says by itself that another part is sent: turns are taken back that were to be, or another end is named, of which
// no less is sent.
func steered(before, after *reading, lines pieces) bool {
	changed := slices.ContainsFunc(before.steers, func(at session.Pos) bool { return !lines.holds(at.Line) }) ||
		slices.ContainsFunc(after.steers, func(at session.Pos) bool { return !lines.isCopied(at.Line) })
	return changed && (len(after.steers) > len(before.steers) || after.own() >= before.own())
}

// leaveOut leaves those rules out of the choice from now on because of which a repair has failed; ok is false if there are none.
func (w *job) leaveOut(ctx context.Context, failed error) (ok bool, err error) {
	if lost := new(lostError); errors.As(failed, &lost) {
		return w.leaveLosing(ctx, lost)
	}
	left := new(unsettledError)
	if ok = errors.As(failed, &left) && w.op == nil; ok {
		rule := left.left.Rule.Name
		w.Choice = w.Choice.without([]string{rule})
		w.notes = append(w.notes, fmt.Sprintf("%s is left as it is: mended again and again, the session had still some of it after %d passes", rule, maxPasses))
	}
	return ok, nil
}

// leaveLosing finds the rule whose changes lose what e names, or the rules that do together, and leaves them out.
func (w *job) leaveLosing(ctx context.Context, e *lostError) (ok bool, err error) {
	names := ruleNames(choose(w.found.Findings, w.Choice).Mend)
	names = names[:min(len(names), maxTried)]
	for _, rule := range names {
		ok, err := w.keepsWithout(ctx, rule)
		if err != nil {
			return false, err
		}
		if ok {
			w.leave(e, rule)
			return true, nil
		}
	}
	for n := 2; n <= len(names); n++ {
		ok, err := w.keepsWithout(ctx, names[:n]...)
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		out := slices.Clone(names[:n])
		for _, rule := range names[:n-1] { // perhaps it has no part in it
			fewer := slices.DeleteFunc(slices.Clone(out), func(name string) bool { return name == rule })
			ok, err := w.keepsWithout(ctx, fewer...)
			if err != nil {
				return false, err
			}
			if ok {
				out = fewer
			}
		}
		w.leave(e, out...)
		return true, nil
	}
	return false, nil
}

// keepsWithout says whether a copy that is mended without some rules sends all of the session.
func (w *job) keepsWithout(ctx context.Context, rules ...string) (bool, error) {
	rw := pass{w.Source, w.found, choose(w.found.Findings, w.Choice.without(rules))}.rewrite(w, nil)
	var text bytes.Buffer
	if err := rw.Run(ctx, &text); err != nil {
		return false, err
	}
	after, err := w.readBriefly(ctx, text.Bytes(), w.Lint.Name.Base)
	if err != nil {
		return false, err
	}
	lost, err := w.lost(ctx, after, text.Bytes(), rw.pieces)
	return len(lost) == 0, err
}

// leave leaves rules out, and says why.
func (w *job) leave(e *lostError, rules ...string) {
	w.Choice = w.Choice.without(rules)
	format := "%s is left as it is: if it were mended here, %s would no longer be sent, the first on line %d"
	if len(rules) > 1 {
		format = "%s are left as they are: if they were mended here, %s would no longer be sent, the first on line %d"
	}
	w.notes = append(w.notes, fmt.Sprintf(format, strings.Join(rules, " and "), inWords(len(e.lost)), e.lost[0].line))
}

// without is a choice that leaves some more rules out.
func (c Choice) without(rules []string) Choice {
	c.except = append(slices.Clone(c.except), rules...)
	return c
}

// ruleNames are the rules of findings, each once, the one with the fewest findings first.
func ruleNames(findings []*lint.Finding) (names []string) {
	count := map[string]int{}
	for i := range findings {
		name := findings[i].Rule.Name
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return count[a] - count[b] })
	return names
}
