package cmd

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

func doctorCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "say in one screen what is wrong with your agents' homes, worst first, and what to do",
		Description: "Lints all sessions of the agents' homes: a line for each damaged one, with what its client will do and the\ncommand that mends it. Then what else stands in the way, and what is fine.",
		Flags: []cli.Flag{
			agentFlag(),
			&cli.IntFlag{Name: "limit", Value: doctorLines, Usage: "name at most this `NUMBER` of damaged sessions; 0 names all"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object; it has no titles"},
			noTitlesFlag(),
			&cli.BoolFlag{Name: "no-cache", Usage: "neither use nor update the cache of hist lint"},
			colorFlag(),
		},
		Action: e.doctor,
	}
}

// doctorLines is how many damaged sessions are named unless --limit says otherwise: they and the rest fit on a screen.
const doctorLines = 12

func (e *env) doctor(c *cli.Context) error {
	if c.Args().Present() {
		return usage("doctor looks at the agents' homes and takes no sessions; hist lint %s looks at that one", format.Command(operandOf(c.Args().First())))
	}
	if n := c.Int("limit"); n < 0 {
		return usage("--limit is %d; it takes a number of sessions", n)
	}
	st, err := styled(c, e.out)
	if err != nil {
		return err
	}
	c.Context = walk.Remember(c.Context)
	conf, err := loadConfig(c)
	if err != nil {
		return err
	}
	l := &lintRun{env: e, c: c, kept: inspect.KeptOfMany(), threshold: lint.Loses, by: clients{}, shard: walk.WholeShard, filter: &filter{config: conf}}
	if l.every, err = targets(c.Context, nil, c.String("agent")); err != nil {
		return err
	}
	l.targets = l.every
	d := &doctor{ctx: c.Context, titles: newTitles(c, conf), st: st, limit: c.Int("limit"), perAgent: map[string]int64{}, files: map[string]int{}, wrote: written{}, due: map[string]int64{}, worksIn: map[string][]string{}}
	l.printers = []lintPrinter{d}
	if err := l.run(); err != nil {
		return err
	}
	d.around(l.every)
	if c.Bool("json") {
		err = format.Write(e.out, d.json())
	} else {
		err = d.write(e.out, widthOf(e.out))
	}
	switch {
	case err != nil:
		return fmt.Errorf("writing the answer: %w", err)
	case l.unread:
		return exit(ExitIO)
	case l.failed:
		return exit(ExitFindings)
	}
	return nil
}

// doctor collects what is to be said of the homes. It is the printer of a lint.
type doctor struct {
	ctx       context.Context
	titles    *titles
	st        *styles
	limit     int
	patients  []*patient
	beside    []*lint.Finding // about what a client keeps beside its sessions
	obstacles []obstacle
	wrote     written             // by agent, what its sessions ask of a client
	due       map[string]int64    // by home, how many sessions its client may delete
	worksIn   map[string][]string // by directory, the sessions that name it
	files     map[string]int      // by the id in a file's name: how many files have it
	sound     int64
	mended    int64 // damaged ones that have a repaired copy
	bytes     int64
	unread    int64
	perAgent  map[string]int64
}

// damagedSession is the documented form of a damaged session.
type damagedSession struct {
	Agent    string   `json:"agent"`
	Thread   string   `json:"thread_id,omitempty"`
	Path     string   `json:"path"`
	CWD      string   `json:"cwd,omitempty"`
	Impact   string   `json:"impact"`
	Rule     string   `json:"rule"` // of a worst finding
	Findings int64    `json:"findings"`
	Repaired string   `json:"repaired_as,omitempty"` // the thread that is its repaired copy
	Next     []string `json:"next"`                  // a command, word by word
}

// patient is a damaged session, and what is known of it besides.
type patient struct {
	damagedSession
	home    string
	worst   lint.Impact
	fixable bool
	option  string           // the option that a repair needs
	shared  bool             // another file has the same id, which then names neither
	looked  *timeline.Glance // nil if it can't be read
}

func (d *doctor) session(r linted) error {
	if r.err != nil && !r.beside {
		d.unread++
	}
	if r.result == nil {
		return nil
	}
	p := &patient{home: r.target.home, damagedSession: damagedSession{Agent: r.result.Summary.Agent, Path: r.target.path, Repaired: r.repaired}}
	for i := range r.result.Findings {
		f := &r.result.Findings[i]
		switch {
		case f.Impact == lint.Notes && r.beside && f.Rule.Family == "store": // of no session, but of what the home keeps of all
			d.addBeside(f)
			continue
		case f.Impact == lint.Notes:
			continue
		case r.beside || f.Beside != "":
			d.addBeside(f)
			continue
		}
		p.Findings += max(1, f.Count)
		p.fixable = p.fixable || f.Fix != lint.NoFix
		p.option = cmp.Or(p.option, f.Option)
		if p.Rule == "" || f.Impact > p.worst {
			p.worst, p.Rule = f.Impact, f.Rule.Name
		}
	}
	if r.beside {
		return nil
	}
	d.perAgent[p.Agent]++
	d.wrote.add(r.result.Summary, r.target.path)
	if dir := r.result.Summary.Header.CWD; r.target.home != "" && dir != "" && r.repaired == "" { // nobody goes on with one that has a copy
		d.worksIn[dir] = append(d.worksIn[dir], r.target.path)
	}
	if a := all.Named(p.Agent); a != nil && a.Home != nil && a.Due != nil && a.Due(r.target.path) != "" {
		d.due[r.target.home]++
	}
	d.files[idOf(r.target.path)]++
	if r.src != nil && r.src.Info != nil {
		d.bytes += r.src.Info.Size()
	}
	switch {
	case p.Findings > 0:
		d.patients = append(d.patients, p)
	case r.repaired != "":
		d.mended++
	case r.err == nil: // it was read to its end
		d.sound++
	}
	return nil
}

// addBeside keeps one finding of each kind about the same thing beside the sessions.
func (d *doctor) addBeside(f *lint.Finding) {
	if !slices.ContainsFunc(d.beside, func(k *lint.Finding) bool { return k.Rule == f.Rule && k.Beside == f.Beside && k.Message == f.Message }) {
		own := *f // not all that was found with it
		d.beside = append(d.beside, &own)
	}
}

// end orders the damaged sessions, the worst and then the newest first, and reads who they are.
func (d *doctor) end() error {
	for _, p := range d.patients {
		p.shared = d.files[idOf(p.Path)] > 1
		if p.looked, _ = timeline.Look(d.ctx, p.Path, timeline.LookOptions{Content: true}); p.looked != nil { // else the file's name is shown
			p.Thread, p.CWD = p.looked.Thread, p.looked.CWD
		}
	}
	slices.SortStableFunc(d.patients, func(a, b *patient) int {
		return cmp.Or(cmp.Compare(b.worst, a.worst), b.changed().Compare(a.changed()))
	})
	return d.ctx.Err()
}

func (p *patient) changed() time.Time {
	if p.looked == nil {
		return time.Time{}
	}
	return p.looked.Modified
}

// id is what a command takes for the session.
func (p *patient) id() string {
	if p.looked == nil || p.home == "" || p.shared {
		return operandOf(p.Path)
	}
	return nameOf(p.Thread, p.Path)
}

// next is the command that mends the session, or says more about it.
func (p *patient) next() []string {
	switch {
	case p.Repaired != "":
		return []string{"hist", "resume", p.Repaired}
	case p.fixable:
		return []string{"hist", "repair", p.id()}
	case p.option != "":
		return []string{"hist", "repair", p.option, p.id()}
	}
	return []string{"hist", "lint", "-v", p.id()}
}

// form is the patient's documented form.
func (p *patient) form() damagedSession {
	s := p.damagedSession
	s.Impact, s.Next = p.worst.String(), p.next()
	return s
}

// does is what becomes of a session with such damage, and of several, in a few words.
var does = map[lint.Impact]struct{ one, many string }{
	lint.Blocks: {"does not resume", "do not resume"}, lint.Loses: {"resumes without a part of it", "resume without a part of them"},
	lint.Rejects: {"resumes, then each request fails", "resume, then each request fails"}, lint.Shows: {"is displayed wrongly", "are displayed wrongly"},
}

func (d *doctor) write(to io.Writer, width int) error {
	w := bufio.NewWriter(to)
	total := d.sound + d.mended + int64(len(d.patients))
	line := func(format string, args ...any) { fmt.Fprintln(w, folded(fmt.Sprintf(format, args...), width, 4)) }
	switch {
	case total == 0, d.mended == total && d.unread == 0:
	case len(d.patients) == 0:
		text := count(d.sound, "session", "sessions") + ": no damage was found"
		if d.unread > 0 {
			text += fmt.Sprintf("; %d could not be read", d.unread)
		}
		line("%s", text)
	default:
		line("%d of %s %s damaged:", len(d.patients), count(total, "session", "sessions"), inNumber(len(d.patients), "is", "are"))
	}
	if d.mended > 0 {
		line("%s a repaired copy, which is the one to resume: hist list names it", count(d.mended, "damaged session has", "damaged sessions have"))
	}
	shown := d.patients
	if d.limit > 0 && len(shown) > d.limit {
		shown = shown[:d.limit]
	}
	for _, p := range shown {
		d.patient(w, p, width)
	}
	if more := len(d.patients) - len(shown); more > 0 {
		line("  and %d more: hist doctor --limit 0, or hist lint", more)
	}
	if len(d.beside)+len(d.obstacles) > 0 {
		fmt.Fprintln(w, "\nin the way:")
	}
	for _, f := range d.beside {
		line("  %s (hist explain %s)", oneLine(format.Words(f.Message, f.Count)), f.Rule.Name)
	}
	for _, o := range d.obstacles {
		if o.next == nil {
			line("  %s", oneLine(o.says))
			continue
		}
		line("  %s:", oneLine(o.says))
		fmt.Fprintln(w, "    "+format.Command(o.next...))
	}
	if d.sound > 0 {
		var of []string
		for _, name := range slices.Sorted(maps.Keys(d.perAgent)) {
			of = append(of, fmt.Sprintf("%s %d", name, d.perAgent[name]))
		}
		fmt.Fprintln(w)
		line("fine: %s (all: %s, %s)", count(d.sound, "session", "sessions"), strings.Join(of, ", "), bytesOf(d.bytes))
	}
	if len(d.patients) > 0 {
		last := fmt.Sprintf("\nhist explain %s says what is wrong with the first", d.patients[0].Rule)
		if slices.ContainsFunc(d.patients, func(p *patient) bool { return p.fixable || p.option != "" }) {
			last += "; a repair is a copy, and leaves the original alone"
		}
		line("%s", last)
	}
	return w.Flush()
}

// patient prints one damaged session: who it is and what its client will do, and below the command.
func (d *doctor) patient(w io.Writer, p *patient, width int) {
	head, where := oneLine(p.Path), ""
	if s := p.looked; s != nil {
		head = strings.TrimRight(shortOf(s.Thread, s.Path)+"  "+clip(d.titles.of(d.ctx, s, p.home), maxName), " ")
		if len(d.perAgent) > 1 {
			where = ", " + p.Agent
		}
		if s.CWD != "" {
			where += ", " + tilde(s.CWD)
		}
		where += ", " + ago(time.Since(s.Modified))
	}
	what := fmt.Sprintf("%s: %s (%s)", p.worst, does[p.worst].one, count(p.Findings, "finding", "findings"))
	if p.Repaired != "" {
		what += "; it has a repaired copy"
	}
	fmt.Fprintln(w, folded("  "+head+where, width, 4))
	text := folded("    "+what, width, 6)
	fmt.Fprintln(w, strings.Replace(text, p.worst.String(), d.st.impact[p.worst].Sprint(p.worst.String()), 1))
	fmt.Fprintln(w, "    "+format.Command(p.next()...))
}

// doctorAnswer is the documented form of the answer.
type doctorAnswer struct {
	Schema   string           `json:"schema"`
	Sessions int64            `json:"sessions"`
	Sound    int64            `json:"sound"`
	Repaired int64            `json:"repaired,omitempty"` // damaged, but with a repaired copy
	Unread   int64            `json:"unread"`
	Bytes    int64            `json:"bytes"`
	Damaged  []damagedSession `json:"damaged"`
	InTheWay []string         `json:"in_the_way"`
}

func (d *doctor) json() doctorAnswer {
	a := doctorAnswer{
		Schema: "hist.doctor/1", Sessions: d.sound + d.mended + int64(len(d.patients)), Sound: d.sound, Repaired: d.mended, Unread: d.unread, Bytes: d.bytes,
		Damaged: mapped(d.patients, (*patient).form), InTheWay: []string{},
	}
	for _, f := range d.beside {
		a.InTheWay = append(a.InTheWay, format.Words(f.Message, f.Count))
	}
	for _, o := range d.obstacles {
		a.InTheWay = append(a.InTheWay, o.String())
	}
	return a
}
