package glance

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/hist-cli/hist/lint"
)

// Lost finds, among the sessions of a home, threads that were abandoned for a new one without their context: the prompt
// that had gone wrong was asked again in an empty thread. A new thread with another prompt is a new task and does not
// count. The sessions must have been read with Options.Content; HashPrompts may have been called on all of them. The findings are
// about the abandoned threads, by path.
func Lost(list []*Session) map[string][]lint.Finding {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *Session) int {
		return cmp.Or(cmp.Compare(a.Header.CWD, b.Header.CWD), cmp.Compare(a.Header.Source, b.Header.Source), a.Created.Compare(b.Created))
	})
	rule := lint.FindRule("context-lost")
	found := map[string][]lint.Finding{}
	for i, fresh := range list {
		// Only the newest thread that ended before fresh began counts: older ones were replaced by that.
		for j := i - 1; j >= 0 && list[j].Header.CWD == fresh.Header.CWD && list[j].Header.Source == fresh.Header.Source; j-- {
			lost := list[j]
			if lost.Turn.Last.After(fresh.Created) {
				continue
			}
			if Replaced(lost, fresh) && fresh.First != "" && fresh.First == lost.Turn.Prompt.Text {
				message := fmt.Sprintf("the last turn of thread %s went wrong (%s), and thread %s was begun soon after in the same directory, without its context", lost.Thread, lost.Turn.State, fresh.Thread)
				if command := lost.Agent.Resume(lost.Thread); command != nil {
					message += ": " + strings.Join(command, " ") + " brings it back"
				}
				found[lost.Path] = append(found[lost.Path], lint.Finding{Rule: rule, Impact: rule.Impact, Fix: rule.Fix, Message: message})
			}
			break
		}
	}
	return found
}

// HashPrompts replaces the prompts by their hashes, so that what Lost compares can be stored without a word of the conversation.
func (s *Session) HashPrompts() {
	for _, text := range []*string{&s.First, &s.Turn.Prompt.Text} {
		if *text != "" {
			sum := sha256.Sum256([]byte(*text))
			*text = string(sum[:16])
		}
	}
}
