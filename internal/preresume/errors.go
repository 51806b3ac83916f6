package preresume

import "github.com/hist-cli/hist/internal/agent/all"

// ErrorHint is what the error of a failed resume means.
type ErrorHint struct {
	Words   string  `json:"words"` // that tell it
	Rule    string  `json:"rule,omitempty"`
	Meaning string  `json:"meaning"`
	Same    string  `json:"same_thread"` // now, later, after_repair, after_upgrade, no
	Verdict Verdict `json:"verdict"`
}

// Explain finds what an error's text means to the first agent that knows it; nil if none does.
func Explain(text string) *ErrorHint {
	for _, a := range all.Agents {
		if m := a.Explain(text); m != nil {
			return &ErrorHint{m.Words, m.Rule, m.Text, m.Same, m.Verdict}
		}
	}
	return nil
}
