package timeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// Lost finds, among the sessions of a home, threads that were abandoned for a new one without their context: the prompt
// that had gone wrong was asked again in an empty thread. A new thread with another prompt is a new task and does not
// count, nor does a copy that the client itself has gone on in. The sessions must have been read with LookOptions.Content;
// HashPrompt may have been called on them. The findings are about the abandoned threads, by path.
func Lost(ctx context.Context, list []*Glance) map[string][]lint.Finding {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *Glance) int {
		return cmp.Or(cmp.Compare(a.Header.CWD, b.Header.CWD), cmp.Compare(a.Header.Source, b.Header.Source), a.Created.Compare(b.Created))
	})
	rule := check.ContextLost
	found := map[string][]lint.Finding{}
	for from, to := 0, 0; from < len(list); from = to {
		for to = from + 1; to < len(list) && sameWork(list[from], list[to]); to++ {
		}
		replaced(list[from:to], func(lost, fresh *Glance) {
			if !Replaced(lost, fresh) || !asks(ctx, fresh, lost.Turn.Prompt.Text) || goesOn(lost, fresh) {
				return
			}
			message := fmt.Sprintf("the last turn of thread %s went wrong (%s), and thread %s was begun soon after in the same directory, without its context", lost.Thread, lost.Turn.State, fresh.Thread)
			if command := lost.Agent.Resume(lost.Thread); command != nil {
				message += ": " + strings.Join(command, " ") + " brings it back"
			}
			found[lost.Path] = append(found[lost.Path], lint.Finding{Rule: rule, Impact: rule.Impact, Fix: rule.Fix, Message: message})
		})
	}
	return found
}

// asks says whether a session begins with a prompt, of which the hash may be given.
func asks(ctx context.Context, s *Glance, prompt string) bool {
	first := s.First
	if src, err := source.Open(s.Path); first == "" && err == nil {
		if text, size, done, err := open(ctx, src); err == nil {
			defer done()
			again := *s
			if again.readFirstPrompt(ctx, text, size) == nil {
				first = again.First
			}
		}
	}
	return first != "" && (first == prompt || hashed(first) == prompt)
}

// goesOn says whether fresh begins with the answer that lost begins with: a client that copies a session into a new file when it
// resumes it (Claude Code 1.0.17, measured) keeps the ids of the answers, though neither those of the records nor their times.
func goesOn(lost, fresh *Glance) bool {
	id := firstAnswer(lost)
	return id != "" && id == firstAnswer(fresh)
}

// firstAnswer is the id of the first answer in the head of a session's file, "" if there is none.
func firstAnswer(s *Glance) string {
	src, err := source.Open(s.Path)
	if err != nil {
		return ""
	}
	r, err := src.Reader(context.Background())
	if err != nil {
		return ""
	}
	defer r.Close()
	records := normalize.New(io.LimitReader(r, maxPromptHead), normalize.Options{Decoder: s.Agent.Decoder, Live: true})
	defer records.Close()
	for {
		rec, err := records.Next()
		if err != nil {
			return ""
		}
		if rec.Answer && len(rec.ID) > 0 {
			return string(rec.ID)
		}
	}
}

// sameWork says whether a thread may be begun in the place of another one.
func sameWork(a, b *Glance) bool {
	return a.Header.CWD == b.Header.CWD && a.Header.Source == b.Header.Source
}

// replaced calls do for each of some threads, in the order in which they began, with the newest one that had ended by then:
// older ones were replaced by that. It does not look at pairs, for thousands of threads may have run at the same time.
func replaced(threads []*Glance, do func(lost, fresh *Glance)) {
	over := make([]int, len(threads)+1) // by the index of the first thread that began after it: 1 + that of the newest thread that is over
	for i, t := range threads {
		next := sort.Search(len(threads), func(k int) bool { return !t.Turn.Last.After(threads[k].Created) })
		next = max(next, i+1)
		over[next] = max(over[next], i+1)
	}
	newest := 0
	for i, fresh := range threads {
		if newest = max(newest, over[i]); newest > 0 {
			do(threads[newest-1], fresh)
		}
	}
}

// HashPrompt replaces the last prompt by its hash, so that what Lost compares can be stored without a word of the conversation.
func (s *Glance) HashPrompt() {
	if text := &s.Turn.Prompt.Text; *text != "" {
		*text = hashed(*text)
	}
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:16])
}
