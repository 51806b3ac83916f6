package agent

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
