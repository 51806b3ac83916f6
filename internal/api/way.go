package api

import (
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent"
)

// Way is what helps against a kind of refusal.
type Way struct {
	Same    string        // when the same thread can be tried again: agent.Now, …
	Verdict agent.Verdict // on the session
	// Step is the next step in words, with SESSION for the session's id or file, and TEXT for the error.
	Step string
}

const (
	stepRepair = "hist explain --error TEXT SESSION names the record that is refused; hist repair --in-place --error TEXT SESSION mends it"
	stepUnsaid = "hist lint SESSION looks for what the API is known to refuse; if it finds nothing: hist cut SESSION goes back to before the first turn that was refused"
)

// ways are what helps, by Refusal.Mend. What is not listed is mended by a repair.
var ways = map[string]Way{
	"encrypted": {agent.Never, agent.Incompatible, "go back to the account or provider that the session was made with, or: hist repair --strip-encrypted SESSION makes a copy without what is encrypted"},
	"item-type": {agent.AfterRepair, agent.Incompatible, "go back to the provider that the session was made with, or: hist repair --strip-encrypted SESSION makes a copy that holds only what every provider reads"},
	"shorten":   {agent.Never, agent.Incompatible, "resume it and send /compact as the only prompt; if that is refused, too: hist slim SESSION takes out what is large, hist cut SESSION goes back to an earlier turn"},
	"bound":     {agent.AfterRepair, agent.Repairable, "the newest client takes the thinking out and tries again by itself: resume it with that one; for any other: hist cut SESSION makes a copy that ends before the change"},
	"cut":       {agent.Never, agent.Incompatible, "go back to before the turn that is refused: hist show SESSION lists the turns, hist cut SESSION makes a copy that ends before one of them"},
	"unsaid":    {agent.Never, agent.Incompatible, stepUnsaid},
	"silent":    {agent.Never, agent.Incompatible, stepUnsaid},
	"nul":       {agent.AfterRepair, agent.Repairable, stepRepair + "; if it finds nothing: hist cut SESSION goes back to before the first turn that was refused"},
	"settings":  {agent.AfterUpgrade, agent.Incompatible, "change what the error names in the client's configuration, or take a newer client; nothing in the session's history is to be repaired"},
	"model":     {agent.Later, agent.Resumable, "resume the session with a model that the account offers (--model)"},
	"provider":  {agent.Never, agent.Incompatible, "resume the session with the provider that it was made with; nothing in the file is damaged"},
	"gateway":   {agent.AfterUpgrade, agent.Incompatible, "resume the session with another provider or gateway, or with a newer version of this one; nothing in the file is to be repaired"},
	"effort":    {agent.AfterUpgrade, agent.Resumable, "resume the session with an effort that the model takes (codex resume with -c model_reasoning_effort=NAME)"},
	"prompt":    {agent.Now, agent.Resumable, "send the prompt in parts, or put it into a file that the prompt names"},
	"client":    {agent.Now, agent.Resumable, "resume the session again, with a newer client if the error comes back: it must send the whole history"},
	"account":   {agent.Later, agent.Resumable, "sign in again, or settle the account; the session is not at fault"},
	"limit":     {agent.Later, agent.Resumable, "try the same session again when the limit is lifted; the session is not at fault"},
	"later":     {agent.Later, agent.Resumable, "try the same session again later"},
	"now":       {agent.Now, agent.Resumable, "try the same session again"},
	"broken":    {agent.Now, agent.Resumable, "try the same session again; if it fails each time while new sessions work, its requests may be too large for a server on their way: hist slim --level marked SESSION takes out old images and long outputs"},
	"weight":    {agent.Never, agent.Incompatible, "hist slim --level marked SESSION makes a copy in which a note stands in place of all images but the newest"},
	"pictures":  {agent.Never, agent.Incompatible, "hist slim --level marked --keep-images 0 SESSION makes a copy in which a note stands in place of each image"},
	"blind":     {agent.Never, agent.Incompatible, "resume the session with a model that reads images (--model), or: hist slim --level marked --keep-images 0 SESSION makes a copy in which a note stands in place of each image"},
	"namespace": {agent.AfterRepair, agent.Repairable, stepRepair + "; if it finds nothing, a gateway leaves the namespace out on the way: take a newer one, or another"},
	"images":    {agent.AfterRepair, agent.Repairable, "hist repair --in-place --error TEXT SESSION takes out the images that are refused; hist slim SESSION takes out old ones"},
	"compact":   {agent.Later, agent.Resumable, "try the same session again, with the newest client if the error comes back; if that fails, too: hist slim SESSION or hist cut SESSION makes a copy that needs no compaction yet"},
	"last":      {agent.Now, agent.Resumable, "resume the session with a new prompt, with the newest client if the error comes back; if it still does: hist cut SESSION goes back to before the first turn that was refused"},
}

// Way is what helps against the refusal.
func (r *Refusal) Way() Way {
	if w, ok := ways[r.Mend]; ok {
		return w
	}
	return Way{agent.AfterRepair, agent.Repairable, stepRepair}
}

// Otherwise is what helps where no repair of what is refused is known.
func (r *Refusal) Otherwise() Way {
	switch w := r.Way(); {
	case w.Verdict != agent.Repairable:
		return w
	case r.Mend == "image" || r.Mend == "images" || r.Mend == "image-type":
		return ways["pictures"]
	}
	return ways["cut"]
}

// Lasts says whether the next request will be refused as well: nothing that passes by itself.
func (r *Refusal) Lasts() bool { return r.Way().Verdict != agent.Resumable }

// Depends says whether it depends on something outside of the session, or on what the error does not say, that the next request is taken.
func (r *Refusal) Depends() bool {
	return slices.Contains([]string{"settings", "provider", "gateway", "blind", "model", "effort", "account", "unsaid", "silent", "cut"}, r.Mend)
}

// Next is the next step, for a session given by its id or file; "" if none is known.
func (w Way) Next(session string) string {
	if session == "" {
		return w.Step
	}
	return strings.ReplaceAll(w.Step, "SESSION", session)
}
