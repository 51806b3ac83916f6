package home

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/jsonl"
)

// The limits of the list of typed prompts, in bytes: of the file, and of a line in it.
const (
	maxPromptsFile = 64 << 20
	maxPromptLine  = 1 << 20
)

var typedLists agent.PromptLists

// Typed reads what was typed in the threads of a home; nothing if there is no list, or it is too long.
func Typed(home string) map[string][]agent.Prompt {
	return typedLists.Of(filepath.Join(home, PromptsFile), func(list *os.File, size int64) map[string][]agent.Prompt {
		if size > maxPromptsFile {
			return nil
		}
		text, err := io.ReadAll(io.LimitReader(list, maxPromptsFile))
		if err != nil {
			return nil
		}
		of := map[string][]agent.Prompt{}
		for line := range bytes.Lines(text) {
			if !jsonl.Valid(line[:min(len(line), maxPromptLine)]) {
				continue
			}
			v := gjson.GetManyBytes(line, "session_id", "ts", "text")
			if v[0].Type == gjson.String && v[1].Type == gjson.Number && v[2].Type == gjson.String {
				of[v[0].Str] = append(of[v[0].Str], agent.Prompt{Words: v[2].Str, When: time.Unix(v[1].Int(), 0).UTC()})
			}
		}
		return of
	})
}
