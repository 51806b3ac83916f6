package agent

// Meaning is what the error of a failed resume means.
type Meaning struct {
	Words   string  // that tell it
	Rule    string  // about the damage behind it, "" if there is none
	Text    string  // in plain words
	Same    string  // when the same thread can be tried again: Now, Later, …
	Verdict Verdict // on the session
}

// When the same thread can be tried again.
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
	Incompatible Verdict = "incompatible"   // it needs a step that nobody takes without being asked
	InUse        Verdict = "in_use"         // somebody uses it now
	NotFound     Verdict = "not_found"      // there is no such session
	TooLarge     Verdict = "too_large"      // larger than the caller takes
	Corrupt      Verdict = "corrupt"        // the client refuses it, and nothing mends that
	ClientTooOld Verdict = "client_too_old" // a newer client reads it
)
