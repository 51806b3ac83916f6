package agent

import "strings"

// Meaning is what the error with which a resume failed means.
type Meaning struct {
	Words   string  // by which the error was recognized
	Rule    string  // of the damage that causes the error, "" if none does
	Text    string  // in plain words
	Same    string  // when to try the same thread again: Now, Later, …
	Verdict Verdict // on the session
	Step    string  // what to do next, with SESSION for the session's id or file
}

// When to try the same thread again.
const (
	Now          = "now"
	Later        = "later"
	AfterRepair  = "after_repair"
	AfterUpgrade = "after_upgrade"
	Never        = "no"
)

// Verdict says in a word whether a session can be resumed.
type Verdict string

// The verdicts.
const (
	Resumable    Verdict = "resumable"      // resume it
	Repairable   Verdict = "repairable"     // repair it, then resume it
	Incompatible Verdict = "incompatible"   // it needs a step that only the user can decide on
	InUse        Verdict = "in_use"         // somebody uses it now
	NotFound     Verdict = "not_found"      // there is no such session
	TooLarge     Verdict = "too_large"      // larger than the caller accepts
	Corrupt      Verdict = "corrupt"        // the client refuses it, and no repair helps
	ClientTooOld Verdict = "client_too_old" // only a newer client reads it
)

// ofTheSystem is what any client says where the system does not let it read or write.
var ofTheSystem = []struct {
	words []string
	Meaning
}{
	{[]string{"being used by another process"}, Meaning{
		Text: "another program holds a file so that nobody else may open it: a client, an editor, a virus scanner or a synchroniser", Same: Later, Verdict: InUse,
		Step: "end that program, then resume the session again",
	}},
	{[]string{"no space left on device", "database or disk is full", "disk quota exceeded", "edquot", "enospc"}, Meaning{
		Text: "there is no room left where the client writes", Same: Later, Verdict: Resumable,
		Step: "make room on the disk or raise the quota, then: hist lint SESSION says whether the end of the session was written whole",
	}},
	{[]string{"eacces", "permission denied (os error 13)", "eperm", "operation not permitted (os error 1)", "access is denied. (os error 5)"}, Meaning{
		Text: "the client may not read or write one of its files", Same: Never, Verdict: Incompatible,
		Step: "hist doctor names the files and folders that belong to somebody else or are shut, with the command that gives them back",
	}},
	{[]string{"javascript heap out of memory", "rangeerror: invalid string length", "cannot create a string longer than"}, Meaning{
		Text: "the client has run out of memory, or of what one text may hold: it reads sessions whole, and reports are of files of several hundred megabytes and more, of other sessions of the same directory, too", Same: Never, Verdict: Incompatible,
		Step: "hist list -v lists the sessions with their sizes; hist slim SESSION makes a smaller copy",
	}},
	{[]string{"emfile: too many", "too many open files"}, Meaning{
		Text: "the client may open no more files", Same: Later, Verdict: Resumable, Step: "end other programs, or raise the limit (ulimit -n), then resume the session again",
	}},
	{[]string{"erofs", "read-only file system"}, Meaning{
		Text: "the client's files lie where nothing can be written", Same: Later, Verdict: Resumable,
		Step: "mount that file system for writing, or move the client's home to another one; then: hist lint SESSION says whether the end of the session was written whole",
	}},
}

// MeaningOf is the first of the meanings whose words a text holds, in any letters; nil if there is none. What the system said is the cause of
// what a client makes of it. " … " stands between words of which all must be there, " | " between those of which one must.
func MeaningOf(text string, known []Meaning) *Meaning {
	text = strings.ToLower(text)
	for _, m := range ofTheSystem {
		for _, words := range m.words {
			if strings.Contains(text, words) {
				m.Words = words
				return &m.Meaning
			}
		}
	}
	for _, m := range known {
		for one := range strings.SplitSeq(m.Words, " | ") {
			all := true
			for words := range strings.SplitSeq(one, " … ") {
				all = all && strings.Contains(text, words)
			}
			if all {
				m.Words = one
				return &m
			}
		}
	}
	return nil
}
