package preresume

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/api"
)

// ErrorHint is what the error of a failed resume means.
type ErrorHint struct {
	Words   string  `json:"words"` // the part of the text by which it was recognised
	Rule    string  `json:"rule,omitempty"`
	Meaning string  `json:"meaning"`
	Same    string  `json:"same_thread"` // now, later, after_repair, after_upgrade, no
	Verdict Verdict `json:"verdict"`
	// Step is the next step, with SESSION for the session's id or file.
	Step string `json:"next_step"`
	// Others are the meanings of other errors in the text.
	Others []string `json:"others,omitempty"`

	refusal *api.Refusal // if an API refused
}

// UnknownError is said of an error that Explain does not know.
const UnknownError = "the error is not known to hist, and says nothing about the session"

// Explain returns what an error's text means; nil if nobody recognises it. What a client says of itself comes before what an API says:
// of a log with both, it is what keeps the session from being resumed.
func Explain(text string) *ErrorHint {
	for _, a := range all.Agents {
		if m := a.Explain(text); m != nil {
			return &ErrorHint{Words: m.Words, Rule: m.Rule, Meaning: m.Text, Same: m.Same, Verdict: m.Verdict, Step: m.Step}
		}
	}
	found := api.Explain(text)
	r := api.Newest(found)
	if r == nil {
		return nil
	}
	hint := hintOf(r, "")
	for i := range found {
		if o := &found[i]; o.Row != r.Row {
			hint.Others = append(hint.Others, o.Meaning)
		}
	}
	return hint
}

// hintOf is what a refusal means in a session of the named agent; "" is whichever speaks to that API.
func hintOf(r *api.Refusal, agentName string) *ErrorHint {
	way := r.Way()
	h := &ErrorHint{Words: r.Words, Meaning: r.Meaning + detail(r), Same: way.Same, Verdict: way.Verdict, Step: way.Step, refusal: r}
	for _, a := range all.Agents {
		if a.RuleFor != nil && (agentName == "" || a.Name == agentName) {
			h.Rule = cmp.Or(h.Rule, a.RuleFor(r.API, r.Mend))
		}
	}
	return h
}

// Next is the next step, for a session given by its id or file; "" if none is known.
func (h *ErrorHint) Next(session string) string { return api.Way{Step: h.Step}.Next(session) }

// OfAPI says whether the error is an API's. That knows no sessions: what looks like the id of one may be an item's, or the request's.
func (h *ErrorHint) OfAPI() bool { return h.refusal != nil }

// sessionID is how the ids of sessions look.
var sessionID = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)

// SessionIn is the id of a session that an error's text names, "" if it names none, or several.
func SessionIn(text string) string {
	ids := sessionID.FindAllString(strings.ToLower(text), -1)
	if slices.Sort(ids); len(slices.Compact(ids)) != 1 {
		return ""
	}
	return ids[0]
}

// detail is what a text says beyond its meaning: the field, the ids.
func detail(r *api.Refusal) string {
	var parts []string
	if r.Field != "" {
		parts = append(parts, "field "+r.Field)
	}
	if len(r.IDs) > 0 {
		parts = append(parts, strings.Join(r.IDs, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}
