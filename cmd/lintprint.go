package cmd

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// lintPrinter shows findings, session by session.
type lintPrinter interface {
	session(r linted) error
	end() error
}

// textPrinter is for people: with a grouping session by session, else one line a finding.
type textPrinter struct {
	w        *bufio.Writer
	st       *styles
	group    *grouping // nil: one line per finding
	same     []string  // flags and operands with which a repair takes the same sessions
	listed   bool      // no command line names the same sessions: they come from a list, or are a shard
	notes    bool
	content  bool
	verbose  bool
	sessions int64
	unread   int64 // sessions and folders that could not be read, or not to their end
	damaged  int64 // sessions with more than notes
	mendable int64 // findings that are more than notes and have a fix
	optional int64 // findings that have a fix only with an option
	options  []string
	counts   impactCounts
	ignored  int64
	lowered  int64
	known    int64
	rule     string // that of a worst finding, for the hint on how to have it explained
	worst    lint.Impact
	sick     impactCounts // damaged sessions by their worst impact
	shared   shared
}

func (p *textPrinter) session(r linted) error {
	if r.err != nil && !r.beside {
		p.unread++ // the reason has been printed
	}
	if r.result == nil {
		return nil
	}
	if !r.beside && (r.result.Summary.Partial == nil || len(r.result.Findings) > 0) {
		p.sessions++
	}
	p.ignored += r.ignored
	p.lowered += r.lowered
	p.known += r.known
	headed, stuck := false, r.result.Summary.TooLong || r.result.Summary.Partial != nil
	worst := lint.Notes
	said := map[saying]int64{} // how often each thing is said, -1 once it has been printed for all
	for i := range r.result.Findings {
		said[sayingOf(&r.result.Findings[i])]++
	}
	for _, f := range worstFirst(r.result.Findings) {
		p.counts[f.Impact]++
		worst = max(worst, f.Impact)
		if f.Impact != lint.Notes {
			if p.rule == "" || f.Impact > p.worst {
				p.rule, p.worst = f.Rule.Name, f.Impact
			}
			if !stuck {
				p.canMend(f)
			}
		} else if !p.notes {
			continue
		}
		if f.Beside != "" && !r.beside {
			p.shared.add(f)
			continue
		}
		if n := said[sayingOf(f)]; n < 0 {
			continue
		} else if n > mostAlike && !p.verbose && !p.content {
			said[sayingOf(f)] = -1
			first := *f
			first.Count, f = n, &first
		}
		if p.group != nil && !headed {
			p.group.head(p, &r)
			headed = true
		}
		p.finding(r, f)
	}
	if worst != lint.Notes && !r.beside {
		p.damaged++
		p.sick[worst]++
	}
	return p.w.Flush()
}

// saying is what is said of a line, wherever it stands; mostAlike is how many times the same is printed. --verbose prints all.
type saying struct {
	rule    *lint.Rule
	impact  lint.Impact
	message string
}

const mostAlike = 3

// sayingOf is what a finding says; one that stands for several says that alone.
func sayingOf(f *lint.Finding) saying {
	if f.Count > 1 {
		return saying{message: fmt.Sprint(f.Pos)}
	}
	return saying{f.Rule, f.Impact, f.Message}
}

// worstFirst are findings by their impact, and those of one impact as they stand in the session.
func worstFirst(found []lint.Finding) []*lint.Finding {
	list := make([]*lint.Finding, len(found))
	for i := range found {
		list[i] = &found[i]
	}
	slices.SortStableFunc(list, func(a, b *lint.Finding) int { return cmp.Compare(b.Impact, a.Impact) })
	return list
}

// impactCounts are numbers of findings, by their impact.
type impactCounts [5]int64

// damage is how many of them are more than notes.
func (n *impactCounts) damage() int64 {
	return n[lint.Blocks] + n[lint.Loses] + n[lint.Rejects] + n[lint.Shows]
}

// worstOf is the worst impact among findings, that of notes if there are none.
func worstOf(found []lint.Finding) lint.Impact {
	worst := lint.Notes
	for i := range found {
		worst = max(worst, found[i].Impact)
	}
	return worst
}

// canMend counts a finding of a session that can be repaired at all.
func (p *textPrinter) canMend(f *lint.Finding) {
	switch {
	case f.Fix != lint.NoFix:
		p.mendable++
	case f.Option != "":
		p.optional++
		if !slices.Contains(p.options, f.Option) {
			p.options = append(p.options, f.Option)
		}
	}
}

func (p *textPrinter) finding(r linted, f *lint.Finding) {
	rule := "[" + p.st.impact[f.Impact].Sprint(f.Rule.Name) + "]"
	message := oneLine(format.Words(f.Message, f.Count))
	if p.group != nil {
		// Fold before adding colour, whose bytes take no room on the screen.
		text := folded("  "+f.Impact.String()+": "+atLine(f.Pos.Line)+message+" ["+f.Rule.Name+"]", p.group.width, 4)
		text = strings.TrimSuffix(text, "["+f.Rule.Name+"]") + rule
		fmt.Fprintln(p.w, strings.Replace(text, f.Impact.String(), p.st.impact[f.Impact].Sprint(f.Impact.String()), 1))
	} else {
		at := oneLine(apartFromCommands(r.target.path)) + ":"
		if f.Pos.Line > 0 { // otherwise it is about the file as a whole
			at += fmt.Sprintf("%d:", f.Pos.Line)
		}
		fmt.Fprintf(p.w, "%s %s: %s %s\n", p.st.path.Sprint(at), p.st.impact[f.Impact].Sprint(f.Impact.String()), message, rule)
	}
	if p.verbose {
		fmt.Fprintln(p.w, "    "+p.st.dim.Sprint(oneLine(details(f))))
	}
	if p.content && f.Pos.Line > 0 {
		if text, mark := window(r.src, f.Offset); text != "" {
			fmt.Fprintf(p.w, "    %s%s%s\n", text[:mark], p.st.marked.Sprint(text[mark:min(mark+1, len(text))]), text[min(mark+1, len(text)):])
		}
	}
}

// details are what --verbose adds to a finding.
func details(f *lint.Finding) string {
	var parts []string
	if f.Pos.Line > 0 {
		parts = append(parts, fmt.Sprintf("byte %d", f.Offset))
	}
	if f.Record != "" {
		parts = append(parts, f.Record)
	}
	text := strings.Join(parts, ", ")
	if text != "" {
		text += "; "
	}
	text += "fix: " + f.Fix.String()
	if f.Source != "" {
		text += " from " + f.Source
	}
	if f.Why != "" {
		text += "; " + f.Why
	}
	return text
}

// apartFromCommands changes a path that a CI server would take for a command, because it begins with "::".
func apartFromCommands(path string) string {
	if strings.HasPrefix(path, "::") {
		return "./" + path
	}
	return path
}

// windowBytes is how much is shown on each side of a finding.
const windowBytes = 30

// window quotes the bytes around an offset, with nothing in them that a terminal obeys, and returns where in the quoted text
// the offset is.
func window(src *source.Source, offset int64) (text string, mark int) {
	if src == nil || src.Real == "" {
		return "", 0
	}
	from := max(0, offset-windowBytes)
	for n := int64(2 * windowBytes); n > 0; n /= 2 {
		raw, err := src.Extract(context.Background(), []source.Ref{{Offset: from, Length: offset - from + n}})
		if err != nil {
			continue // the file ends before that
		}
		head := strconv.QuoteToASCII(string(raw[0][:offset-from]))
		tail := strconv.QuoteToASCII(string(raw[0][offset-from:]))
		return head[1:len(head)-1] + tail[1:len(tail)-1], len(head) - 2
	}
	return "", 0
}

func (p *textPrinter) end() error {
	if p.sessions == 0 {
		return p.w.Flush() // the reason has been printed
	}
	p.tellShared()
	found := p.counts.damage()
	line := count(p.sessions, "session", "sessions") + ": no damage was found"
	if found > 0 {
		line = p.damage(found)
	}
	if p.unread > 0 {
		line += fmt.Sprintf("; %d could not be read, or not all of it", p.unread)
	}
	if n := p.counts[lint.Notes]; n > 0 {
		line += ", " + count(n, "note", "notes")
		if !p.notes {
			line += " (shown with --notes)"
		}
	}
	for _, more := range []struct {
		n   int64
		how string
	}{{p.ignored, "ignored by the config"}, {p.lowered, "downgraded by the config"}, {p.known, "known by the baseline"}} {
		if more.n > 0 {
			line += fmt.Sprintf(", %d %s", more.n, more.how)
		}
	}
	if p.group != nil {
		line = folded(line, p.group.width, 2)
	}
	fmt.Fprintln(p.w, line)
	if p.group != nil && found > 0 {
		p.next()
	}
	return p.w.Flush()
}

// damage says in words how much is damaged, and how much of it can be repaired.
func (p *textPrinter) damage(found int64) string {
	line := "1 session is damaged"
	switch {
	case p.damaged == 0: // only things beside sessions are damaged
		line = count(p.sessions, "session", "sessions")
	case p.sessions > 1:
		line = fmt.Sprintf("%d of %d sessions %s damaged", p.damaged, p.sessions, inNumber(p.damaged, "is", "are"))
	}
	line += ": " + p.happens()
	if p.optional == 0 {
		return line + repairable(p.mendable, found)
	}
	with := " with " + strings.Join(p.options, " or ")
	if p.mendable == 0 {
		return line + repairable(p.optional, found) + with
	}
	return line + fmt.Sprintf("%d of %d findings can be repaired, %d more%s", p.mendable, found, p.optional, with)
}

// happens says what clients do with the damaged sessions, "" if none is damaged.
func (p *textPrinter) happens() string {
	var parts []string
	for _, of := range slices.Backward(lint.Impacts) {
		switch n := p.sick[of]; {
		case n == 0 || does[of].one == "":
		case p.damaged == 1:
			return "it " + does[of].one + "; "
		default:
			parts = append(parts, count(n, does[of].one, does[of].many))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + "; "
}

// repairable says in words how many of the findings can be repaired.
func repairable(some, all int64) string {
	switch {
	case some == all && all == 1:
		return "1 finding, which can be repaired"
	case some == all:
		return fmt.Sprintf("%d findings, all of which can be repaired", all)
	case all == 1:
		return "1 finding, which can't be repaired"
	case some == 0:
		return fmt.Sprintf("%d findings, none of which can be repaired", all)
	}
	return fmt.Sprintf("%d of %d findings can be repaired", some, all)
}

// longestHint is how many columns the words beside a command take, with what stands before and between.
const longestHint = len("    shows what a repair would change")

func (p *textPrinter) next() {
	var lines [][2]string
	if p.mendable > 0 && p.damaged > 0 && !p.listed {
		lines = append(
			lines,
			[2]string{format.Command(append([]string{"hist", "repair", "-n"}, p.same...)...), "shows what a repair would change"},
			[2]string{format.Command(append([]string{"hist", "repair"}, p.same...)...), inNumber(p.damaged, "makes a copy that resumes", "makes copies that resume")},
		)
	}
	if p.rule != "" {
		lines = append(lines, [2]string{"hist explain " + p.rule, "says what that means"})
	}
	widest := 0
	for _, l := range lines {
		widest = max(widest, len(l[0]))
	}
	for _, l := range lines {
		if p.group.width > 0 && widest+longestHint > p.group.width {
			fmt.Fprintf(p.w, "  %s\n    %s\n", l[0], p.st.dim.Sprint(l[1]))
			continue
		}
		fmt.Fprintf(p.w, "  %-*s  %s\n", widest, l[0], p.st.dim.Sprint(l[1]))
	}
}

// grouping is how findings are shown session by session, on a terminal.
type grouping struct {
	ctx    context.Context
	width  int // in columns; 0: lines are not folded
	titles *titles
	began  bool
}

// head prints whose findings follow: the session's id and title, then its directory and age; for a session in no home, its
// file.
func (g *grouping) head(p *textPrinter, r *linted) {
	if g.began {
		fmt.Fprintln(p.w)
	}
	g.began = true
	s, err := timeline.Look(g.ctx, r.target.path, timeline.LookOptions{Content: true})
	if r.beside || r.target.path == "-" || err != nil {
		fmt.Fprintln(p.w, p.st.path.Sprint(oneLine(apartFromCommands(r.target.path))))
		return
	}
	id := shortOf(s.Thread, s.Path)
	title := g.titles.of(g.ctx, s, r.target.home)
	if g.width > 0 {
		title = clip(title, g.width-len(id)-2)
	}
	fmt.Fprintln(p.w, strings.TrimRight(p.st.path.Sprint(id)+"  "+title, " "))
	where := []string{tilde(s.CWD), ago(time.Since(s.Modified))}
	if r.target.home == "" || p.verbose {
		where = append(where, oneLine(r.target.path))
	}
	fmt.Fprintln(p.w, "  "+p.st.dim.Sprint(strings.TrimLeft(strings.Join(where, ", "), ", ")))
}

func ago(d time.Duration) string {
	for _, u := range []struct {
		unit      time.Duration
		one, many string
	}{{24 * time.Hour, "day", "days"}, {time.Hour, "hour", "hours"}, {time.Minute, "minute", "minutes"}} {
		if d >= u.unit {
			return count(int64(d/u.unit), u.one, u.many) + " ago"
		}
	}
	return "just now"
}

// repairOfSame is the repair command for the same sessions, judged in the same way, as a lint.
func repairOfSame(c *cli.Context) []string {
	var words []string
	if c.Bool("last") {
		words = append(words, "--last")
	}
	flags := []string{"agent", "provider"}
	for _, name := range all.Names() {
		flags = append(flags, "for-"+name)
	}
	for _, flag := range flags {
		if c.IsSet(flag) {
			words = append(words, "--"+flag, c.String(flag))
		}
	}
	for _, o := range c.Args().Slice() {
		words = append(words, operandOf(o))
	}
	return words
}

// operandOf is a path or an id to paste as an operand: a path that begins like a flag can't be taken for one.
func operandOf(s string) string {
	if strings.HasPrefix(s, "-") && s != "-" {
		return "./" + s
	}
	return s
}

// shared are findings that many sessions have because of one file beside them, in the order in which they came. In text each is
// printed once: a home of a thousand sessions would otherwise print it a thousand times.
type shared []*lint.Finding

// add counts a finding. The one that is printed gets the worst impact of all.
func (s *shared) add(f *lint.Finding) {
	for _, known := range *s {
		if known.Beside == f.Beside && known.Rule == f.Rule && known.Message == f.Message {
			known.Count++
			known.Impact = max(known.Impact, f.Impact)
			return
		}
	}
	first := *f
	first.Count = 1
	*s = append(*s, &first)
}

// tellShared prints them with the files that they are about.
func (p *textPrinter) tellShared() {
	for _, f := range p.shared {
		of := linted{target: target{path: f.Beside}, beside: true}
		told := *f
		told.Message += fmt.Sprintf(" (concerns %s)", count(f.Count, "session", "sessions"))
		told.Count = 0
		if p.group != nil {
			p.group.head(p, &of)
		}
		p.finding(of, &told)
	}
}

// statsPrinter counts findings instead of naming them: by rule, by the version of the client, and by month.
type statsPrinter struct {
	ctx      context.Context
	w        *bufio.Writer
	notes    bool
	rules    map[string]int64
	versions map[string]*tally
	months   map[string]*tally
}

// tally is how many sessions there are, and how many of them are damaged.
type tally struct{ sessions, damaged int64 }

func (p *statsPrinter) session(r linted) error {
	if r.result == nil {
		return nil // the reason has been printed
	}
	damaged := false
	for i := range r.result.Findings {
		f := &r.result.Findings[i]
		if f.Impact != lint.Notes || p.notes {
			p.rules[f.Rule.Name] += max(1, f.Count)
		}
		damaged = damaged || f.Impact != lint.Notes
	}
	if r.beside {
		return nil
	}
	count := func(in map[string]*tally, key string) {
		if in[key] == nil {
			in[key] = &tally{}
		}
		in[key].sessions++
		if damaged {
			in[key].damaged++
		}
	}
	count(p.versions, cmp.Or(oneLine(r.result.Summary.Header.Version), "unknown"))
	count(p.months, p.month(r.target.path))
	return nil
}

// month is the month in which a session was begun, by its name or else its first record.
func (p *statsPrinter) month(path string) string {
	const form = "2006-01"
	if name := lint.NameOf(path, false); len(name.Time) >= len(form) {
		return name.Time[:len(form)]
	}
	if path != "-" {
		if s, err := timeline.Look(p.ctx, path, timeline.LookOptions{}); err == nil && !s.Created.IsZero() {
			return s.Created.UTC().Format(form)
		}
	}
	return "unknown"
}

func (p *statsPrinter) end() error {
	t := tabwriter.NewWriter(p.w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "RULE\tIMPACT\tFINDINGS")
	byCount := func(a, b string) int { return cmp.Or(cmp.Compare(p.rules[b], p.rules[a]), cmp.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(p.rules), byCount) {
		fmt.Fprintf(t, "%s\t%s\t%d\n", name, lint.FindRule(name).Impact, p.rules[name])
	}
	for _, table := range []struct {
		head string
		rows map[string]*tally
	}{{"CLIENT", p.versions}, {"MONTH", p.months}} {
		fmt.Fprintf(t, "\n%s\tSESSIONS\tDAMAGED\n", table.head)
		for _, key := range slices.Sorted(maps.Keys(table.rows)) {
			fmt.Fprintf(t, "%s\t%d\t%d\n", key, table.rows[key].sessions, table.rows[key].damaged)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return p.w.Flush()
}
