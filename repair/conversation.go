package repair

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"regexp"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/lint"
)

// A repair proves the conversation, not only the bytes: what the client sends of the copy must hold all that it sends of the session,
// less what a change takes out by name. A rule whose changes lose more is left out; if that does not help, nothing is published.

// maxRead is up to how many bytes of a session are read for what its client sends. Of a larger one nothing is said. It is held in memory,
// and then its copy.
const maxRead = 128 << 20

// aloneInMemory is from how many bytes on the session leaves memory before its copy comes.
const aloneInMemory = 16 << 20

// maxTried is of how many rules it is tried whether a session, mended without one, loses something, to learn which of them loses something.
const maxTried = 32

// readings are what the client sends of the session and of its copy; nil where that is not known.
type readings struct {
	before, after *session.Sent
	unread        string // why nothing is known, in a clause
}

// saidLost is how the copy tells the model that something of an item is not there any more.
var saidLost = regexp.MustCompile(`\[hist: [^\]]*(lost|taken out|can't be read)`)

// incomplete says whether the copy tells the model of more items than told that something of them is lost.
func (r *readings) incomplete(told int64) bool {
	known := map[[16]byte]bool{}
	for i := range r.before.Items {
		known[r.before.Items[i].Sum] = true
	}
	n := int64(0)
	for i := range r.after.Items {
		if item := &r.after.Items[i]; !known[item.Sum] && item.Content != nil {
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
	known := map[[16]byte]bool{}
	for i := range w.read.before.Items {
		known[w.read.before.Items[i].Sum] = true
	}
	lines := w.lines()
	stretches := map[int64]bool{} // by their first lines in the session
	for i := range w.read.after.Items {
		if item := &w.read.after.Items[i]; item.Made == "" && !known[item.Sum] && !lines.isCopied(item.Pos.Line) {
			from, _, _, _ := lines.gap(item.Pos.Line)
			stretches[from] = true
		}
	}
	return func(line int64) bool {
		return w.passes != nil && len(stretches) > 0 || !lines.holds(line) && stretches[lines.behind(line)]
	}
}

// lines says which lines of the copy are the session's.
func (w *job) lines() lineMap {
	if w.passes != nil {
		return w.passes.lines
	}
	return w.rw.lines
}

// withoutText makes what is sent let go of the text that it was read of, which would else stay in memory as a whole. Of the content stays
// only what tells the model that something of it is lost.
func withoutText(sent *session.Sent) {
	sent.Settings = nil
	for i := range sent.Items {
		item := &sent.Items[i]
		item.ID, item.CallID, item.Tool, item.Role = "", "", "", strings.Clone(item.Role)
		if content := item.Content; bytes.Contains(content, []byte("[hist: ")) {
			item.Content = bytes.Clone(saidLost.Find(content))
		} else {
			item.Content = nil
		}
	}
}

// copies is how many items of the session are sent of the copy once less, and say what it still sends: second copies of records.
func (r *readings) copies() (n int64) {
	sent := map[[16]byte]bool{}
	for i := range r.after.Items {
		sent[r.after.Items[i].Sum] = true
	}
	for _, i := range r.before.Missing(r.after) {
		if sent[r.before.Items[i].Sum] {
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
	own := func(s *session.Sent) (items []*session.Item) {
		for i := range s.Items {
			if s.Items[i].Made == "" {
				items = append(items, &s.Items[i])
			}
		}
		return items
	}
	before, after := own(r.before), own(r.after)
	same := 0
	for same < min(len(before), len(after)) && before[same].Sum == after[same].Sum {
		same++
	}
	left := map[[16]byte]int{}
	for _, item := range after[same:] {
		if item.Bound {
			left[item.Sum]++
		}
	}
	for _, item := range before[same:] {
		if left[item.Sum]--; left[item.Sum] >= 0 && !slices.Contains(list, item.Pos.Line) {
			list = append(list, item.Pos.Line)
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
	answer := func(item session.Item) bool {
		return item.Made == "" && item.Role != "user" && item.Role != "developer"
	}
	return r.before.Own() == 0 && r.after.Own() > 0 && !slices.ContainsFunc(r.after.Items, answer)
}

// lostError is the ErrVerify of a copy of which less is sent.
type lostError struct {
	lost []session.Item // items of the session that the copy does not send, although no change is about them
}

func (e *lostError) Error() string {
	return fmt.Sprintf("%v: what stands on line %d is sent of the session as it is, and would not be sent of the copy (%s in all); repairing one rule at a time, with --output and --rule, may help",
		ErrVerify, e.lost[0].Pos.Line, inWords(len(e.lost)))
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
	switch {
	case w.read.before != nil || w.read.unread != "":
		return nil
	case w.found.Summary.Bytes > maxRead:
		w.read.unread = fmt.Sprintf("the session is larger than %d MiB", maxRead>>20)
		return nil
	}
	text, err := w.text(ctx)
	if err != nil {
		return err
	}
	w.read.before, err = w.readSent(ctx, text, w.Lint.Name.Base)
	switch {
	case err != nil:
	case w.read.before == nil:
		w.read.unread = "it is not known what its client sends"
	default:
		withoutText(w.read.before)
	}
	if w.found.Summary.Bytes > aloneInMemory {
		runtime.GC()
	}
	return err
}

// proveRepair compares what is sent of a copy with what is sent of the session.
func (w *job) proveRepair(ctx context.Context, text []byte) error {
	if err := w.weighed(text); err != nil {
		return err
	}
	if err := w.readBefore(ctx); err != nil || w.read.unread != "" {
		return err
	}
	after, err := w.readSent(ctx, text, w.copyOptions().Name.Base)
	if err != nil {
		return err
	}
	withoutText(after)
	if w.read.after = after; w.Lint.Branch != "" { // the user wants another part of it to be sent
		return nil
	}
	lines := w.lines()
	lost, err := w.lost(ctx, after, text, lines)
	if len(lost) > 0 && err == nil {
		err = &lostError{lost}
	}
	return err
}

// lost are the items of the session that are not sent of a copy, although their lines are in it as they were. Not lost is a second copy of
// what was taken out, nor what the compaction that the copy begins with has summed up.
func (w *job) lost(ctx context.Context, after *session.Sent, text []byte, lines lineMap) (lost []session.Item, err error) {
	before := w.read.before
	changed := map[[16]byte]int{}
	for i := range before.Items {
		if item := &before.Items[i]; item.Made == "" && !lines.holds(item.Pos.Line) {
			changed[item.Sum]++
		}
	}
	if steered(before, after, lines) {
		return nil, nil
	}
	own := *before
	if before.Refused != "" { // what it inherits may be what is wrong with it
		own.Items = before.Items[before.Inherited:]
	}
	base := int64(0)
	if after.Compacted.Line > 0 {
		base = lines.session(after.Compacted.Line)
	}
	for _, i := range own.Missing(after) {
		switch item := &own.Items[i]; {
		case changed[item.Sum] > 0:
			changed[item.Sum]--
		case item.Pos.Line < base:
		default:
			lost = append(lost, *item)
		}
	}
	if len(lost) > 0 && base > 0 {
		return w.notSummedUp(ctx, lost, text, after.Compacted.Line)
	}
	if len(lost) > 0 {
		return w.notInFront(ctx, lost, after, text, lines)
	}
	return lost, nil
}

// root is how a record of Claude Code says that nothing stands above it.
var root = regexp.MustCompile(`"parentUuid"\s*:\s*null`)

// notInFront are those of some items that do not stand in front of the record with which what is sent of the copy begins, if that record says
// by itself that nothing stands above it, and the client could not read it in the session: they were sent only because it could not.
func (w *job) notInFront(ctx context.Context, items []session.Item, sent *session.Sent, text []byte, lines lineMap) ([]session.Item, error) {
	first := slices.IndexFunc(sent.Items, func(item session.Item) bool { return item.Made == "" })
	if first < sent.Inherited || lines.isCopied(sent.Items[first].Pos.Line) {
		return items, nil
	}
	line := sent.Items[first].Pos.Line
	from, n, copied, nCopied := lines.gap(line)
	if slices.ContainsFunc(w.read.before.Items, func(item session.Item) bool { return item.Pos.Line >= from && item.Pos.Line-from < n }) {
		return items, nil
	}
	was, err := w.text(ctx)
	if err != nil || !root.Match(linesIn(text, line, 1)) {
		return items, err
	}
	now := len(root.FindAllIndex(linesIn(text, copied, nCopied), -1))
	if now > len(root.FindAllIndex(linesIn(was, from, n), -1)) { // the repair says so, and not the record
		return items, nil
	}
	return slices.DeleteFunc(items, func(item session.Item) bool { return item.Pos.Line < from }), nil
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

// gap are the lines of session and copy around a line of the copy that are not the same on both sides.
func (m lineMap) gap(line int64) (from, n, copied, nCopied int64) {
	from, copied, n, nCopied = 1, 1, math.MaxInt64, math.MaxInt64
	i := sort.Search(len(m), func(i int) bool { return m[i].copied > line })
	if i > 0 {
		from, copied = m[i-1].from+m[i-1].n, m[i-1].copied+m[i-1].n
	}
	if i < len(m) {
		n, nCopied = m[i].from-from, m[i].copied-copied
	}
	return from, n, copied, nCopied
}

// notSummedUp are those of some items that the client does not send of a copy as it was in front of the compaction on a line: what is said
// again behind that, or stands there a second time, is told apart from what was summed up by its place alone.
func (w *job) notSummedUp(ctx context.Context, items []session.Item, text []byte, line int64) ([]session.Item, error) {
	front := 0
	for range line - 1 {
		front += bytes.IndexByte(text[front:], '\n') + 1
	}
	summed, err := w.readSent(ctx, text[:front], w.Lint.Name.Base)
	if err != nil {
		return nil, err
	}
	times := map[[16]byte]int{}
	for i := range summed.Items {
		times[summed.Items[i].Sum]++
	}
	return slices.DeleteFunc(items, func(item session.Item) bool {
		times[item.Sum]--
		return times[item.Sum] >= 0
	}), nil
}

// steered says whether the copy says by itself that another part is sent: turns are taken back that were to be, or another end is named, of which
// no less is sent.
func steered(before, after *session.Sent, lines lineMap) bool {
	changed := slices.ContainsFunc(before.Steers, func(at session.Pos) bool { return !lines.holds(at.Line) }) ||
		slices.ContainsFunc(after.Steers, func(at session.Pos) bool { return !lines.isCopied(at.Line) })
	return changed && (len(after.Steers) > len(before.Steers) || after.Own() >= before.Own())
}

// behind is the first line of the stretch, between lines that the copy has as they are, that a line of the session is in.
func (m lineMap) behind(line int64) int64 {
	i := sort.Search(len(m), func(i int) bool { return m[i].from > line })
	if i == 0 {
		return 1
	}
	return m[i-1].from + m[i-1].n
}

// holds says whether a line of the session is in the copy, the same except perhaps for its ordinal.
func (m lineMap) holds(line int64) bool {
	i := sort.Search(len(m), func(i int) bool { return m[i].from > line })
	return i > 0 && line < m[i-1].from+m[i-1].n
}

// isCopied says the same of a line of the copy.
func (m lineMap) isCopied(line int64) bool {
	i := sort.Search(len(m), func(i int) bool { return m[i].copied > line })
	return i > 0 && line < m[i-1].copied+m[i-1].n
}

// leaveOut finds the rule whose changes lose what e names, or the rules that do together, and leaves them out of the choice from now on. ok
// is false if there are none.
func (w *job) leaveOut(ctx context.Context, e *lostError) (ok bool, err error) {
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
	after, err := w.readSent(ctx, text.Bytes(), w.Lint.Name.Base)
	if err != nil {
		return false, err
	}
	lost, err := w.lost(ctx, after, text.Bytes(), rw.lines)
	return len(lost) == 0, err
}

// leave leaves rules out, and says why.
func (w *job) leave(e *lostError, rules ...string) {
	w.Choice = w.Choice.without(rules)
	format := "%s is left as it is: if it were mended here, %s would no longer be sent, the first on line %d"
	if len(rules) > 1 {
		format = "%s are left as they are: if they were mended here, %s would no longer be sent, the first on line %d"
	}
	w.notes = append(w.notes, fmt.Sprintf(format, strings.Join(rules, " and "), inWords(len(e.lost)), e.lost[0].Pos.Line))
}

// without is a choice that leaves some more rules out.
func (c Choice) without(rules []string) Choice {
	c.except = append(slices.Clone(c.except), rules...)
	return c
}

// ruleNames are the rules of findings, each once, the one with the fewest findings first.
func ruleNames(findings []lint.Finding) (names []string) {
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
