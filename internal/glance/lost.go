package glance

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/hist-cli/hist/lint"
)

// Lost finds, among the sessions of a home, threads that were begun in the place of another without its context: the
// prompt that had gone wrong was asked again in an empty thread. A new task, with words of its own, is none. The
// sessions were looked at with their content, and may all have been marked. The findings are those of the threads that
// were left, by path.
func Lost(list []*Session) map[string][]lint.Finding {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *Session) int {
		return cmp.Or(cmp.Compare(a.Header.CWD, b.Header.CWD), cmp.Compare(a.Header.Source, b.Header.Source), a.Created.Compare(b.Created))
	})
	rule := lint.FindRule("context-lost")
	found := map[string][]lint.Finding{}
	for i, fresh := range list {
		// The newest one that was going on before, if any: older ones were replaced by that.
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

// Mark puts marks in the place of the prompts, which say of two whether they are the same: what Lost compares can then be
// kept without a word of the conversation.
func (s *Session) Mark() {
	for _, text := range []*string{&s.First, &s.Turn.Prompt.Text} {
		if *text != "" {
			sum := sha256.Sum256([]byte(*text))
			*text = string(sum[:16])
		}
	}
}
