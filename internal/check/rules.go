package check

import "github.com/hist-cli/hist/internal/finding"

// The rules about calls and turns that any agent may have. Their texts tell what Codex does with the damage.
var (
	CallWithoutOutput = &finding.Rule{
		Name: "call-without-output", Family: "calls", Impact: finding.Loses, Fix: finding.Recovered,
		Title: "a tool call without its output",
		Text: `The client tells the model "aborted", although the tool may have finished: the agent believes a finished command failed, and runs it again. ` +
			`Repair looks for the output in the events that carry it too, and puts it in the place where the client would have written it. Only if nothing is left ` +
			`it writes a stand-in that says so: outcome unknown, check before repeating.`,
	}
	OutputWithoutCall = &finding.Rule{
		Name: "output-without-call", Family: "calls", Impact: finding.Loses, Fix: finding.Recovered,
		Title: "an output whose call is gone",
		Text: `The client drops the output ("Orphan function call output for call id"), and the model has never heard of either. Repair rebuilds the call from an event that names its command ` +
			`or arguments. If there is none the output is set aside, or with --keep-orphans kept as a note to the model.`,
	}
	DuplicateOutput = &finding.Rule{
		Name: "duplicate-output", Family: "calls", Impact: finding.Rejects, Fix: finding.SetAside,
		Title: "two outputs for one call",
		Text:  `The client sends both, which the model API may refuse. Repair keeps the one that an event of the same call confirms, else the first, and sets the other aside.`,
	}
	DuplicateCall = &finding.Rule{
		Name: "duplicate-call", Family: "calls", Impact: finding.Rejects, Fix: finding.SetAside,
		Title: "two calls with one call_id",
		Text:  `The client sends both, which the model API may refuse. It happens when a cut stream is tried again. Repair keeps the first and sets the other aside.`,
	}
	OpenTurn = &finding.Rule{
		Name: "open-turn", Family: "turns", Impact: finding.Shows, Fix: finding.Exact, Always: true,
		Title: "a turn that neither completed nor was aborted",
		Text: `A killed client leaves its turn open. Codex shows a paginated session as still working on it; the model is sent the same history either way. In a legacy session nothing hangs on it, and it is only noted. ` +
			`Repair closes it behind its last record with the turn_aborted record that the client itself writes for an interrupted turn.`,
	}
	UnansweredPrompt = &finding.Rule{
		Name: "unanswered-prompt", Family: "turns", Impact: finding.Notes, Fix: finding.NoFix,
		Title: "the last prompt got no answer",
		Text:  `Nothing the model said or did follows the last prompt. It is in the history and will be sent with the next one.`,
	}
)
