package preresume

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// tally counts the findings that decide about a verdict.
type tally struct {
	fixable int    // have a fix
	blocked int    // keep the client from resuming, and have no fix
	refused int    // the API refuses it, and there is no fix
	option  string // of hist repair, with which a copy can be made of what the API refuses; "" if there is none
	copied  int    // only a copy fixes it, because the client does not see the file
	renamed int    // only a copy under another name fixes it, which is the one that the file's records have
	empty   string // why there is no conversation to resume, though nothing was lost; "" if there is one
}

// any says whether something is wrong that keeps the session from being resumed whole.
func (t *tally) any() bool {
	return t.fixable+t.blocked+t.refused+t.copied+t.renamed > 0 || t.empty != ""
}

// busy answers that somebody has the session open. Where that is a server which a client joins, it says how to make it let go:
// nothing can be repaired before, and a client that joins it goes on without what is damaged.
func (a *Answer) busy(by *disk.Busy) {
	reason := by.Reason
	if by.Free != nil {
		free := format.Command(by.Free...)
		if a.tally.any() {
			reason += "; and it is damaged, so that a resume goes on without a part of it (" + a.damage() + "): " +
				format.Command("hist", "resume", "--wait", "2m", a.Thread) + " repairs it once it is free, which is at once after " + free
		} else {
			reason += "; the client joins it for a resume at a terminal (without --no-daemon), but refuses any other until it lets go, about a minute after its last client has left, or at once with " + free
		}
		a.Before = by.Free
	}
	a.say(InUse, RetryLater, true, reason)
}

func (a *Answer) count(found []lint.Finding) {
	for i := range found {
		switch f := &found[i]; {
		case f.Rule.Empty && f.Impact == lint.Notes: // the client has left it so, but can't resume it
			a.tally.empty = f.Message
		case f.Impact == lint.Notes, f.Impact == lint.Shows: // the model still gets the whole history
		case f.Rename != "" && (f.Rule.Home || !a.session.Agent.ReadName(filepath.Base(a.Path)).Canonical):
			a.tally.copied++
		case f.Rename != "":
			a.tally.renamed++
		case f.Fix != lint.NoFix:
			a.tally.fixable++
		case f.Impact == lint.Blocks:
			a.tally.blocked++
		case f.Impact == lint.Rejects:
			a.tally.refused++
			a.tally.option = cmp.Or(a.tally.option, f.Option)
		}
	}
}

// judge sets the verdict. What is certain to prevent a resume comes before what the error of a failed resume suggests.
func (a *Answer) judge(req Request, busy *disk.Busy) {
	g := a.session
	switch {
	case busy != nil && (busy.Free == nil || req.Apart || a.tally.any()):
		a.busy(busy)
	case req.MaxSize > 0 && g.Size > req.MaxSize:
		a.say(TooLarge, SeeFindings, false, fmt.Sprintf("the session has %d bytes, more than the %d that were allowed", g.Size, req.MaxSize))
	case a.tally.blocked > 0 && a.blockedFromOutside():
		a.say(Incompatible, SeeFindings, true, a.first("blocks"))
	case a.tally.blocked > 0:
		a.say(Corrupt, SeeFindings, false, a.first("blocks"))
	case a.tally.empty != "":
		a.say(Corrupt, SeeFindings, false, a.tally.empty)
	case a.tally.renamed > 0:
		a.Before, a.Resume = []string{"hist", "repair", a.Path}, nil
		a.say(Incompatible, SeeFindings, true, a.first("blocks")+"; the copy is another thread")
	case a.tally.copied > 0:
		a.Before, a.Resume = []string{"hist", "repair", a.Path}, nil
		a.say(Repairable, RepairThenResume, false, a.first("blocks")+"; only a copy can be resumed, which is a thread of its own")
	case a.tally.fixable > 0:
		a.say(Repairable, RepairThenResume, true, a.damage())
	case a.tally.refused > 0 && a.tally.option != "":
		a.Before, a.Resume = []string{"hist", "repair", a.tally.option, a.Path}, nil
		a.say(Incompatible, SeeFindings, false, a.first("rejects"))
	case a.tally.refused > 0:
		a.say(Incompatible, SeeFindings, false, a.first("rejects"))
	case g.Header.NotResumed != "":
		a.Resume = nil
		a.say(Incompatible, SeeFindings, false, g.Header.NotResumed)
	case g.Header.ResumedBy != "":
		a.say(Incompatible, SeeFindings, false, "it is the thread of a sub-agent, which the client resumes only through its parent: resume thread "+g.Header.ResumedBy)
	case g.Agent.Part != nil && g.Agent.Part(a.Path):
		a.Resume = nil
		a.say(Incompatible, SeeFindings, false, "it is a sub-agent's part of a session, which the client resumes only as a whole")
	case g.Size == 0: // a client may have begun it a moment ago, which is no damage, but finds nothing in it
		a.say(Corrupt, SeeFindings, true, g.Fault)
	case g.Archived:
		a.unarchive()
	case tooOld(req, g) != "":
		a.say(ClientTooOld, Upgrade, true, tooOld(req, g))
	case a.Error != nil && a.Error.Verdict != Resumable && a.Error.Verdict != Repairable && !a.mended():
		a.say(a.Error.Verdict, actions[a.Error.Verdict], a.Error.Same != agent.Never, a.said())
	default:
		a.say(Resumable, Resume, true, a.fine())
	}
	if busy != nil && a.Verdict != InUse {
		a.Warn(busy.Reason + ": a resume at a terminal goes on there, any other is refused until it lets go (" + format.Command(busy.Free...) + ")")
	}
}

// said is what the error says, or what it comes from where it says that there is no such session, and there is one without damage.
func (a *Answer) said() string {
	switch {
	case a.Error.Verdict != NotFound || !a.Complete:
		return "the error says: " + a.Error.Meaning
	case a.CWDMissing:
		return "the client did not find it, but the file is there and readable: its directory " + a.CWD + " is gone, or the client was started elsewhere, with another home, or does not look into that folder"
	}
	return "the client did not find it, but the file is there and readable: it was started elsewhere, with another home, or does not look into that folder"
}

// mended says whether what the error names is not in the session any more: then it says nothing about the next resume.
func (a *Answer) mended() bool {
	r := a.Error.refusal
	return a.Complete && r != nil && (r.Mend == "encrypted" || r.Mend == "item-type")
}

// actions are what to do next when the verdict comes from the error alone.
var actions = map[Verdict]Action{InUse: RetryLater, NotFound: Locate, ClientTooOld: Upgrade, Corrupt: SeeFindings, Incompatible: SeeFindings}

func (a *Answer) say(v Verdict, next Action, same bool, reason string) {
	a.Verdict, a.Next, a.SameThread, a.Reason = v, next, same, reason
}

// blockedFromOutside says whether everything that blocks is beside the session, in its home, and the session itself is
// intact.
func (a *Answer) blockedFromOutside() bool {
	for _, f := range a.Findings {
		if rule := lint.FindRule(f.Rule); f.Impact == lint.Blocks.String() && (rule == nil || !rule.Home) {
			return false
		}
	}
	return true
}

func (a *Answer) first(impact string) string {
	for _, f := range a.Findings {
		if f.Impact == impact {
			return f.Message
		}
	}
	return "see the findings"
}

func (a *Answer) damage() string {
	var parts []string
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{a.Counts.Blocks, "that keeps the client from resuming", "that keep the client from resuming"},
		{a.Counts.Loses, "that loses history", "that lose history"},
		{a.Counts.Rejects, "that the model API refuses", "that the model API refuses"},
		{a.Counts.Shows, "that affects only the display", "that affect only the display"},
	} {
		switch {
		case c.n == 1:
			parts = append(parts, "1 "+c.one)
		case c.n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.many))
		}
	}
	return "findings: " + strings.Join(parts, ", ")
}

// fine describes a healthy session's last turn.
func (a *Answer) fine() string {
	text := map[timeline.TurnState]string{
		timeline.NoTurn: "nothing has been asked yet", timeline.Completed: "the last turn was answered", timeline.Interrupted: "the last turn was interrupted",
		timeline.Open: "the last turn never ended", timeline.Running: "a turn is running", timeline.Unanswered: "the last prompt got no answer", timeline.Failed: "the last turn failed",
	}[a.session.Turn.State]
	if a.session.Turn.State == timeline.NoTurn && !a.session.Complete {
		text = "nothing was asked in the part of it that was read"
	}
	if a.session.Turn.State == timeline.Completed && a.Prompt.Present && !a.Prompt.Answered {
		text = "the last turn completed, but without an answer in words"
	}
	switch a.session.Turn.Class {
	case "", session.Unknown:
	case session.Transient:
		text += " with a temporary error"
	default:
		text += " (" + string(a.session.Turn.Class) + ")"
	}
	for _, f := range a.Findings {
		if rule := lint.FindRule(f.Rule); f.Impact == lint.Loses.String() && rule != nil && rule.Home {
			return text + "; but " + f.Message
		}
	}
	if a.Counts.Loses > 0 {
		text += "; some history is lost, and nothing brings it back"
	}
	return text
}

// unarchive answers that the session must be taken out of the archive first.
func (a *Answer) unarchive() {
	why := "it is in the archive"
	if of := a.session.Agent; of.Home != nil && of.Archive != nil {
		a.Before, why = of.Archive.Unarchive(a.Thread)
	}
	a.say(Incompatible, UnarchiveFirst, true, why)
}

// tooOld says why the client that was named can't read the session, "" if it can.
func tooOld(req Request, g *timeline.Glance) string {
	if g.Agent.TooOld == nil {
		return ""
	}
	return g.Agent.TooOld(req.Lint.For[g.Agent.Name], g.Header, req.Source.Compressed)
}
