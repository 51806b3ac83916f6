package preresume

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/timeline"
)

// Schema is the version of the Answer's JSON; it changes when a field changes its meaning or is removed.
const Schema = "hist.pre-resume/1"

// Verdict says in one word whether a session can be resumed.
type Verdict = agent.Verdict

// The verdicts.
const (
	Resumable    = agent.Resumable
	Repairable   = agent.Repairable
	Incompatible = agent.Incompatible
	InUse        = agent.InUse
	NotFound     = agent.NotFound
	TooLarge     = agent.TooLarge
	Corrupt      = agent.Corrupt
	ClientTooOld = agent.ClientTooOld
)

// Action is what to do next.
type Action string

// The actions.
const (
	Resume           Action = "resume"
	RepairThenResume Action = "repair_then_resume"
	UnarchiveFirst   Action = "unarchive_then_resume"
	RetryLater       Action = "retry_later"
	Upgrade          Action = "upgrade_client"
	SeeFindings      Action = "see_findings" // a person has to decide
	Locate           Action = "locate"       // look for the file elsewhere
)

// Answer is what to know before a resume. docs/pre-resume.schema.json is the schema of its JSON.
type Answer struct {
	Schema      string     `json:"schema"`
	Verdict     Verdict    `json:"verdict"`
	Reason      string     `json:"reason"` // the verdict in words
	Warning     string     `json:"warning,omitempty"`
	Holder      *Holder    `json:"holder,omitempty"`
	SameThread  bool       `json:"retry_same_thread"`
	Next        Action     `json:"next_action"`
	Agent       string     `json:"agent"`
	Thread      string     `json:"thread_id,omitempty"`
	Path        string     `json:"path,omitempty"`
	CWD         string     `json:"cwd,omitempty"`
	CWDMissing  bool       `json:"cwd_missing,omitempty"` // there is no such directory any more
	Source      string     `json:"source,omitempty"`
	Model       string     `json:"model,omitempty"`
	Provider    string     `json:"provider,omitempty"`
	Version     string     `json:"cli_version,omitempty"`
	Mode        string     `json:"history_mode,omitempty"`
	Size        int64      `json:"size"`
	Turn        *Turn      `json:"last_turn,omitempty"`
	Prompt      *Prompt    `json:"prompt,omitempty"`
	Counts      Counts     `json:"counts"`
	Findings    []Damage   `json:"findings"`
	Unknown     []Call     `json:"side_effects_unknown"`
	Related     []Related  `json:"related"`
	Replaceable *Lost      `json:"replaceable,omitempty"`
	Error       *ErrorHint `json:"error,omitempty"`
	Before      []string   `json:"before_resume,omitempty"` // a command to run first
	Resume      []string   `json:"resume,omitempty"`
	Command     []string   `json:"next,omitempty"` // to run now; none if there is only to wait, or a person has to act
	Repaired    bool       `json:"repaired"`
	Run         string     `json:"run,omitempty"` // the repair's run id, for hist undo
	Complete    bool       `json:"complete"`
	Checked     string     `json:"checked"` // whole, partial
	NotRead     string     `json:"not_read,omitempty"`
	RepairError string     `json:"repair_error,omitempty"` // why a repair that was asked for was not made

	session *timeline.Glance
	dir     string
	with    []string
	tally   tally
}

// Turn is the last turn.
type Turn struct {
	State      string `json:"state"`
	Began      string `json:"began,omitempty"`
	Last       string `json:"last_record,omitempty"`
	ErrorClass string `json:"error_class,omitempty"`
	ErrorCode  string `json:"error_code,omitempty"` // the client's own name for the error
	Error      string `json:"error,omitempty"`
}

// Prompt is the last thing that was asked.
type Prompt struct {
	Present  bool   `json:"present"`
	Answered bool   `json:"answered"`
	Chars    int    `json:"chars"`
	Text     string `json:"text,omitempty"` // only if it was asked for
}

// Counts is how many findings there are, by impact.
type Counts struct {
	Blocks  int `json:"blocks"`
	Loses   int `json:"loses"`
	Rejects int `json:"rejects"`
	Shows   int `json:"shows"`
	Notes   int `json:"notes"`
}

// Damage is a finding about the session that is more than a note.
type Damage struct {
	Rule    string `json:"rule"`
	Impact  string `json:"impact"`
	Fix     string `json:"fix"`
	Line    int64  `json:"line"`   // from 1; 0 if it is about the file as a whole, or the line is not known
	Offset  int64  `json:"offset"` // bytes, in the uncompressed file
	Message string `json:"message"`
}

// Call is a tool call that ran, or may have run, and left no output.
type Call struct {
	ID   string `json:"call_id"`
	Tool string `json:"tool"`
}

// Related is a thread that is related to this one.
type Related struct {
	Relation string   `json:"relation"` // fork_of, continues, replaced_by, replaces
	Thread   string   `json:"thread_id"`
	Path     string   `json:"path,omitempty"`
	Resume   []string `json:"resume,omitempty"`
}

// Lost is a thread whose last turn went wrong, so that a new thread in its directory would replace it.
type Lost struct {
	Thread string   `json:"thread_id"`
	Path   string   `json:"path"`
	State  string   `json:"state"` // the state of its last turn
	Last   string   `json:"last_record,omitempty"`
	Resume []string `json:"resume,omitempty"`
}

// Dir is the only directory from which the client finds the session, "" if it finds it from any.
func (a *Answer) Dir() string { return a.dir }

// With are the options of hist repair without which it does not mend what was found.
func (a *Answer) With() []string { return a.with }

// OK says whether the session can be resumed now.
func (a *Answer) OK() bool { return a.Verdict == Resumable }

// Damaged says whether a repair has something to do.
func (a *Answer) Damaged() bool { return a.Verdict == Repairable }

// Missing is the answer when no such session was found.
func Missing(why error) *Answer {
	a := newAnswer(NotFound, Locate, why.Error())
	if errors.Is(why, fs.ErrPermission) { // it may be where nobody was let in
		a.Verdict, a.Next, a.Reason = Incompatible, SeeFindings, "you may not read everything: "+why.Error()
		return a
	}
	a.Complete, a.Checked = true, "whole"
	return a
}

// Unreadable is the answer when a session's file can't be read, or no agent that hist knows wrote it.
func Unreadable(path string, why error) *Answer {
	a := newAnswer(Corrupt, SeeFindings, "it could not be read: "+why.Error())
	if errors.Is(why, agent.ErrUnclaimed) {
		a.Verdict, a.Agent, a.Reason = Incompatible, "", why.Error()
	}
	if errors.Is(why, fs.ErrPermission) { // which tells nothing of its bytes
		a.Verdict, a.Reason = Incompatible, "you may not read it, so that nothing is known of it: "+why.Error()
	}
	if errors.Is(why, source.ErrNotRegular) { // no client has written that
		a.Verdict = Incompatible
	}
	a.Path = path
	return a
}

// TimedOut is the answer when the time ran out before anything was known: it does not keep anyone from resuming.
func TimedOut(path string) *Answer {
	a := newAnswer(Resumable, Resume, "the time ran out before the session was read")
	a.Path, a.SameThread, a.NotRead = path, true, "all of it"
	return a
}

func newAnswer(v Verdict, next Action, reason string) *Answer {
	return &Answer{
		Schema: Schema, Verdict: v, Checked: "partial", Reason: reason, Next: next, Agent: all.Agents[0].Name, Findings: []Damage{}, Unknown: []Call{}, Related: []Related{},
	}
}

// Holder is the process that has a session open, for a caller that must tell an orphan of its own from a client in
// somebody's terminal. What is not known is empty.
type Holder struct {
	PID     int    `json:"pid,omitempty"`
	Command string `json:"command,omitempty"` // the program and its subcommand, without its other arguments
	Started string `json:"started,omitempty"`
	Lock    string `json:"lock,omitempty"` // the lock file that it holds
}

func holder(busy *disk.Busy) *Holder {
	if busy == nil || busy.PID == 0 && busy.Lock == "" {
		return nil
	}
	h := &Holder{PID: busy.PID, Lock: busy.Lock}
	if busy.PID != 0 {
		_, begun, _ := disk.ProcessStarted(busy.PID)
		h.Command, h.Started = commandOf(busy.PID), stamp(begun)
	}
	return h
}

// commandOf returns what a process runs; "" if that is not known.
func commandOf(pid int) string {
	args := disk.ProcessArgs(pid)
	if args == nil {
		return ""
	}
	command := filepath.Base(args[0])
	for _, a := range args[1:] {
		if all.Subcommand(a) {
			return command + " " + a
		}
	}
	return command
}
