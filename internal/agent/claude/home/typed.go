package home

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/jsonl"
)

var typedLists agent.PromptLists

// Typed are the prompts that were typed in the sessions of a home, the oldest first. Of a long list the end is read, where the newest are.
func Typed(home string) map[string][]agent.Prompt {
	return typedLists.Of(filepath.Join(home, PromptsFile), func(list *os.File, size int64) map[string][]agent.Prompt {
		if size > agent.MaxSibling {
			if _, err := list.Seek(-agent.MaxSibling, io.SeekEnd); err != nil {
				return nil
			}
		}
		of := map[string][]agent.Prompt{}
		LinesOf(list, func(line jsonl.Line, record func() bool) bool {
			v := gjson.GetManyBytes(line.Raw, "sessionId", "display", "timestamp", "pastedContents")
			if id, words := v[0].String(), v[1].String(); id != "" && words != "" && record() {
				of[id] = append(of[id], agent.Prompt{Words: words, When: time.UnixMilli(v[2].Int()).UTC(), Pasted: pastedOf(v[3])})
			}
			return true
		})
		for _, typed := range of {
			slices.SortStableFunc(typed, func(a, b agent.Prompt) int { return a.When.Compare(b.When) })
		}
		return of
	})
}

// pastedOf is what was pasted into a prompt, "" if nothing was.
func pastedOf(v gjson.Result) string {
	if len(v.Raw) <= len("{}") {
		return ""
	}
	return strings.Clone(v.Raw)
}

// pastedMark stands in a typed prompt for a long text that was pasted, by its number. The client sends the text in its place, which the
// list has beside the prompt, or which lies in a file that is named for its hash (2.1.332, and seen in sessions of many versions).
var pastedMark = regexp.MustCompile(`\[(?:Pasted text #(\d+)(?: \+\d+ lines)?|\.\.\.Truncated text #(\d+) \+\d+ lines\.\.\.)\]`)

// Sent is what the client sent of a typed prompt of a home. A pasted text that is gone leaves its mark.
func Sent(home string, p agent.Prompt) string {
	if p.Pasted == "" {
		return p.Words
	}
	return pastedMark.ReplaceAllStringFunc(p.Words, func(mark string) string {
		of := pastedMark.FindStringSubmatch(mark)
		pasted := gjson.Get(p.Pasted, of[1]+of[2])
		text := pasted.Get("content")
		if hash := pasted.Get("contentHash").String(); text.Type != gjson.String && hash != "" && filepath.Base(hash) == hash {
			if kept, err := ReadSmall(filepath.Join(home, "paste-cache", hash+".txt")); err == nil {
				return string(kept)
			}
		}
		if text.Type != gjson.String {
			return mark
		}
		return text.String()
	})
}
