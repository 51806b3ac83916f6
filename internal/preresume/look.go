package preresume

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// Request says which session to look at, and how.
type Request struct {
	Source  *source.Source
	Home    string       // the agent's home that the session is in, "" if in none
	Lint    lint.Options // what is known of the session besides its bytes
	Deep    bool         // read all of it, however large it is
	MaxSize int64        // bytes; a larger session is too large for the caller; 0: no limit
	Content bool         // include the last prompt's text
	Error   string       // the error of a failed resume, "" if there is none
	Args    []string     // of the client that will be run, as far as they are known
	From    string       // the file that the error was read from, "" if it is in none
	Apart   bool         // it will be resumed by a process of its own, which joins no server that has it open
}

// maxWhole is the largest session that is linted whole unless Deep asks for it, in bytes of the file: 10 MB take less than
// 20 ms on a machine of 2025.
const maxWhole = 24 << 20

// zstdRatio is how many times as long a compressed session is as its file, roughly.
const zstdRatio = 8

// Look answers a request. The error is ctx's, or what kept the session from being read.
func Look(ctx context.Context, req Request) (*Answer, error) {
	busy, busyErr := all.InUse(req.Source.Real, req.Home, req.Lint.Name.ThreadID)
	req.Lint.Live = req.Lint.Live || busy != nil
	g, err := timeline.LookAt(ctx, req.Source, timeline.LookOptions{Content: req.Content, Live: req.Lint.Live})
	if err != nil {
		return nil, err
	}
	a := about(g, req.Content)
	of := g.Agent
	if of.OnlyInPlace != nil && of.OnlyInPlace(cmp.Or(req.Lint.For[of.Name], g.Header.Version)) {
		a.dir = g.Header.CWD
	}
	if busyErr != nil {
		a.Warn("it is not known whether another process is using it: " + busyErr.Error())
	}
	if of.Home != nil && of.StaleNote != nil && busy == nil {
		a.Warn(of.StaleNote(req.Home, req.Lint.Name.ThreadID))
	}
	if of.Home != nil && of.Doubles != nil && req.Home != "" {
		a.Warn(doubled(req.Source, of.Doubles(req.Source.Path, req.Home)))
	}
	if req.Home != "" && Gone(g.CWD) {
		a.CWDMissing = true
		a.Warn(fmt.Sprintf("its directory %s does not exist any more (was it moved or renamed?%s)%s", g.CWD, a.follow(), a.elsewhere()))
	}
	if of.Home != nil && of.Apart != nil {
		req.Apart = req.Apart || of.Apart(req.Args)
	}
	req.Lint.Error = req.Error
	findings, err := a.read(ctx, req, busy)
	if err != nil {
		return nil, err
	}
	if a.Checked = "whole"; !a.Complete {
		a.Checked = "partial"
	}
	a.tell(findings, busy)
	if req.Home != "" {
		if a.Related, err = related(ctx, req.Home, g); err != nil {
			return nil, err
		}
	}
	if req.Error != "" {
		if a.Error = Explain(req.Error); a.Error == nil {
			a.Warn(UnknownError)
		}
	}
	a.Holder = holder(busy)
	a.judge(req, busy)
	a.withError(req)
	return a, nil
}

// large is how large a session is, in bytes, that may make requests which servers refuse for their size without saying so: one is known to take
// 15 MiB.
const large = 15 << 20

// withError says on what it depends that the next prompt is not refused as the last one was, what a repair must be told of the error, and takes back what the error alone says is to be done where nothing of the
// session has that fault.
func (a *Answer) withError(req Request) {
	last := api.Newest(api.Explain(a.session.Turn.Error))
	switch {
	case !a.OK() || a.Error != nil || last == nil:
	case last.Depends():
		a.Warn("the last turn was refused: " + last.Meaning + "; " + last.Way().Next(a.operand(req.Home)))
	case last.Lasts() && a.Complete && a.mendsItself(req, last):
		a.Warn("the last turn was refused: " + last.Meaning + "; the client sees to that by itself at the next prompt, unless it is told not to. If it comes back: " + last.Otherwise().Next(a.operand(req.Home)))
	case last.Lasts() && a.Complete:
		a.Warn("the last turn was refused: " + last.Meaning + "; nothing that the client sends has that fault: it was mended since, or only the API can see it. If it comes back: " + last.Otherwise().Next(a.operand(req.Home)))
	default:
		a.tooLarge(last, req.Home)
	}
	if a.Error == nil {
		return
	}
	if of := a.session.Agent; a.Error.Verdict == NotFound && a.Verdict == NotFound && a.Complete && a.Thread != "" && a.CWD != "" && of.Home != nil {
		a.Error.Step = format.Command(a.Resume...) + ", with the home that the file lies in"
		if of.FolderFor != nil {
			a.Error.Step = format.Command(a.Resume...) + ", run in " + a.CWD + " with the home that the file lies in"
			if a.CWDMissing {
				a.Error.Step = strings.TrimPrefix(a.follow(), " then ") + " lays it where the client looks when it runs there"
			}
		}
	}
	a.tooLarge(a.Error.refusal, req.Home)
	if a.Error.refusal == nil && a.Error.Verdict == Repairable && a.OK() && a.Complete && !a.found(a.Error.Rule) {
		a.Error.Verdict = Resumable
		a.Error.Step = "resume the session: hist finds this fault nowhere in it, so it was mended since, or the error is about another one; hist lint without a name looks at all"
	}
	if a.Error.refusal == nil || a.Error.Verdict != Repairable {
		return
	}
	asked := a.Error.refusal
	switch recorded := last != nil && last.Same(asked); {
	case a.Verdict == Repairable && !recorded && req.From != "":
		a.with = []string{"--error-file", req.From}
	case a.Verdict == Repairable && !recorded:
		a.with = []string{"--error", asked.Line}
	case a.OK() && a.Complete && strings.Contains(a.Error.Step, "--in-place"):
		a.Error.Step = "hist finds this fault in nothing that the client sends: it was mended since, the client leaves it out, the error is about another session, or only the API can see it"
	}
}

// found says whether a rule has found something.
func (a *Answer) found(rule string) bool {
	return slices.ContainsFunc(a.Findings, func(f Damage) bool { return f.Rule == rule })
}

// tooLarge says of a large session that an error which passes by itself may come from its size; r is nil if there is no such error.
func (a *Answer) tooLarge(r *api.Refusal, home string) {
	if r != nil && (r.Mend == "now" || r.Mend == "broken") && a.Size > large {
		a.Warn(fmt.Sprintf("the session has %d MiB: if that comes back each time, its requests may be too large for a server on their way; hist slim --level marked %s takes out old pictures and long outputs", a.Size>>20, a.operand(home)))
	}
}

// Warn adds a warning to those of the answer; "" adds none.
func (a *Answer) Warn(text string) {
	if text != "" {
		a.Warning = strings.TrimPrefix(a.Warning+"; "+text, "; ")
	}
}

// doubled says that there are other files with the session's id, and which has more; "" if there are none.
func doubled(src *source.Source, others []string) string {
	if len(others) == 0 {
		return ""
	}
	info, err := os.Stat(others[0])
	if err != nil {
		return ""
	}
	more := "as many bytes as this one"
	switch n := info.Size() - src.Size(); {
	case n > 0:
		more = fmt.Sprintf("%d bytes more than this one", n)
	case n < 0:
		more = fmt.Sprintf("%d bytes less than this one", -n)
	}
	text := fmt.Sprintf("another file has the same id, and %s: %s", more, others[0])
	if len(others) > 1 {
		text += fmt.Sprintf(", and %d more", len(others)-1)
	}
	return text + "; which of them the client takes depends on its version, on its list of sessions and on the directory in which it runs"
}

// Gone says whether a directory of this system does not exist. Of one in another system's form, as C:\\work is on Linux, that is
// not known.
func Gone(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// follow is the command by which the session follows its project to another directory, "" if its thread has no id.
func (a *Answer) follow() string {
	if a.Thread == "" {
		return ""
	}
	return " then " + format.Command("hist", "move", "--to", "DIRECTORY", a.Thread)
}

// operand is what names the session in a command: its id leads to its file only in a home, and under a name that the client looks for.
func (a *Answer) operand(home string) string {
	if home != "" && a.Thread != "" && a.session.Agent.ReadName(filepath.Base(a.Path)).Canonical {
		return a.Thread
	}
	return format.Command(a.Path)
}

// elsewhere is how a session whose directory is gone goes on in another one.
func (a *Answer) elsewhere() string {
	in := a.session.Agent.ResumeIn
	switch {
	case a.session.Header.NotResumed != "":
		return ""
	case a.dir != "":
		return ": this version of the client finds the session only from there; " + format.Command("mkdir", "-p", a.dir) + " makes the directory again"
	case in != nil && a.Thread != "":
		return "; to go on in another directory: " + format.Command(in(cmp.Or(a.session.Header.ResumedBy, a.Thread), "DIRECTORY")...)
	}
	return "; it can be resumed from another directory"
}

// about makes an answer of what the session's head and tail say.
func about(g *timeline.Glance, content bool) *Answer {
	h := g.Header
	a := &Answer{
		Schema: Schema, Agent: g.Agent.Name, Thread: g.Thread, Path: g.Path, CWD: g.CWD, Source: h.Source, Model: g.Model, Provider: h.Provider, Version: h.Version, Mode: h.Mode, Size: g.Size,
		Turn:     &Turn{State: string(g.Turn.State), Began: stamp(g.Turn.Began), Last: stamp(g.Turn.Last), ErrorClass: string(g.Turn.Class), ErrorCode: g.Turn.Code, Error: withoutSecrets(g.Turn.Error)},
		Prompt:   &Prompt{Present: g.Turn.Prompt.Present, Answered: g.Turn.Prompt.Answered, Chars: g.Turn.Prompt.Chars},
		Findings: []Damage{}, Unknown: []Call{}, Related: []Related{}, session: g,
	}
	if content {
		a.Prompt.Text = withoutSecrets(g.Turn.Prompt.Text)
	}
	for _, c := range g.Turn.Unknown {
		a.Unknown = append(a.Unknown, Call(c))
	}
	if a.Thread != "" {
		a.Resume = g.Resume()
	}
	return a
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// secret matches what looks like a key or a password: a key of OpenAI's form, a bearer token, a password in a URL.
var secret = regexp.MustCompile(`\bsk-[A-Za-z0-9_*-]{6,}|(?i:bearer )[A-Za-z0-9._~+/=-]{8,}|://[^/\s:@]+:[^/\s@]+@`)

func withoutSecrets(text string) string { return secret.ReplaceAllString(text, "(secret)") }

// read lints the session: whole if it is small or Deep asks for it, and the time suffices; else head and tail.
func (a *Answer) read(ctx context.Context, req Request, busy *disk.Busy) ([]lint.Finding, error) {
	size := req.Source.Size()
	if req.Source.Compressed {
		size *= zstdRatio
	}
	if size <= maxWhole || req.Deep || a.refused() {
		found, err := whole(ctx, req, busy)
		if !errors.Is(err, context.DeadlineExceeded) {
			if beside, ok := errors.AsType[*inspect.BesideError](err); ok { // the session itself was read, and the answer is about that
				a.NotRead, err = "what the client keeps beside the session: "+beside.Err.Error(), nil
			}
			a.Complete = err == nil && a.NotRead == ""
			return found, err
		}
		a.NotRead = "the time ran out before the session was read; "
	}
	found, from, err := ends(req.Source, a.session, req.Lint.Live)
	if from > 0 {
		a.NotRead += fmt.Sprintf("the part between the first line and byte %d; --deep reads it", from)
	}
	return found, err
}

// mendsItself says whether the client takes out or sums up by itself what was refused, before it sends the rest again.
func (a *Answer) mendsItself(req Request, last *api.Refusal) bool {
	of := a.session.Agent
	return of.TriesAgain != nil && of.TriesAgain(req.Lint.For[of.Name], last.Mend, last.Row)
}

// refused says whether the last turn ended with an error that the next one will meet again, unless it has been mended since: what
// it is about may be anywhere in the session.
func (a *Answer) refused() bool {
	r := api.Newest(api.Explain(a.session.Turn.Error))
	return r != nil && r.Lasts()
}

// whole lints all of the session, and compares it with the rest of its home. If the error is a BesideError, the findings
// are those of the session alone.
func whole(ctx context.Context, req Request, busy *disk.Busy) ([]lint.Finding, error) {
	opts := req.Lint
	opts.Home = req.Home
	res, err := inspect.LintUsed(ctx, req.Source, opts, busy)
	if res == nil {
		return nil, err
	}
	if p := res.Summary.Partial; p != nil {
		return nil, fmt.Errorf("%s: %w", req.Source.Path, p)
	}
	return res.Findings, err
}

// tailBytes is how much of the end of a large session is checked for broken lines.
const tailBytes = 256 << 10

// ends checks only the beginning and the last lines: whether it tells which session this is, and whether they are broken in
// themselves. from is the offset at which the tail begins; the numbers of its lines are not known.
func ends(src *source.Source, g *timeline.Glance, live bool) (found []lint.Finding, from int64, err error) {
	if rule := g.FaultRule; rule != nil {
		found = append(found, lint.Finding{Rule: rule, Impact: rule.Impact, Fix: rule.Fix, Message: "at the beginning of the file: " + g.Fault})
	}
	if src.Compressed {
		return found, 1, nil
	}
	in, err := src.Reader(context.Background())
	if err != nil {
		return nil, 0, err
	}
	defer in.Close()
	from = max(0, src.Size()-tailBytes)
	tail := make([]byte, src.Size()-from)
	if _, err := in.(io.ReaderAt).ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	if from > 0 {
		i := int64(bytes.IndexByte(tail, '\n') + 1)
		tail, from = tail[i:], from+i
	}
	f := normalize.New(bytes.NewReader(tail), normalize.Options{Decoder: g.Agent.Decoder, Live: live})
	defer f.Close()
	for err == nil {
		_, err = f.Next()
		for _, fault := range f.Faults() {
			fault.Pos.Line, fault.Offset = 0, fault.Offset+from
			found = append(found, fault)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	return found, from, nil
}

// maxFindings is how many findings an answer lists.
const maxFindings = 20

// tell adds the findings to the answer: notes are counted, the others also listed. That somebody has the session open is said by
// the verdict.
func (a *Answer) tell(found []lint.Finding, busy *disk.Busy) {
	for i := range found {
		f := &found[i]
		switch f.Impact {
		case lint.Notes:
			a.Counts.Notes++
			if (f.Rule.Home || f.Rule.ByName) && (busy == nil || f.Message != busy.Reason) {
				a.Warn(f.Message)
			}
			continue
		case lint.Blocks:
			a.Counts.Blocks++
		case lint.Loses:
			a.Counts.Loses++
		case lint.Rejects:
			a.Counts.Rejects++
		case lint.Shows:
			a.Counts.Shows++
		}
		if len(a.Findings) < maxFindings {
			message := f.Message
			if f.Beside != "" { // it is said of all sessions
				message = api.Way{Step: message}.Next(a.Thread)
			}
			a.Findings = append(a.Findings, Damage{f.Rule.Name, f.Impact.String(), f.Fix.String(), f.Pos.Line, f.Offset, message})
		}
	}
	a.count(found)
}
