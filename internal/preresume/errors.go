package preresume

import "github.com/hist-cli/hist/internal/agent/all"

// ErrorHint is what the error of a failed resume means.
type ErrorHint struct {
	Words   string  `json:"words"` // the part of the text by which it was recognised
	Rule    string  `json:"rule,omitempty"`
	Meaning string  `json:"meaning"`
	Same    string  `json:"same_thread"` // now, later, after_repair, after_upgrade, no
	Verdict Verdict `json:"verdict"`
}

// Explain returns what an error's text means, by the first agent that recognises it; nil if none does.
func Explain(text string) *ErrorHint {
	for _, a := range all.Agents {
		if m := a.Explain(text); m != nil {
			return &ErrorHint{m.Words, m.Rule, m.Text, m.Same, m.Verdict}
		}
	}
	return nil
}
