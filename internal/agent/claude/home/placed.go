package home

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/jsonl"
)

// byDirectory are the list of prompts, by which the client offers those of a directory again, and its settings, which hold a member for each
// project.
func byDirectory(home string, moved func(string) (string, bool), threads []string) []agent.Placed {
	list := []agent.Placed{{Path: filepath.Join(home, PromptsFile), Text: func(data []byte) []byte { return movedPrompts(data, moved, threads) }}}
	if len(threads) > 0 {
		return list
	}
	settings := filepath.Join(home, settingsFile)
	if _, err := os.Stat(settings); err != nil { // beside the home, unless $CLAUDE_CONFIG_DIR says where that is
		settings = filepath.Join(filepath.Dir(home), settingsFile)
	}
	return append(list, agent.Placed{Path: settings, Text: func(data []byte) []byte { return movedProjects(data, moved) }})
}

// settingsFile holds the client's settings.
const settingsFile = ".claude.json"

func movedPrompts(data []byte, moved func(string) (string, bool), threads []string) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(data) {
		project := gjson.GetBytes(line, "project")
		now, ok := moved(project.String())
		if ok && project.Index > 0 && jsonl.Valid(line) && (len(threads) == 0 || slices.Contains(threads, gjson.GetBytes(line, "sessionId").String())) {
			line = append(jsonl.AppendQuote(slices.Clone(line[:project.Index]), now), line[project.Index+len(project.Raw):]...)
		}
		out.Write(line)
	}
	return out.Bytes()
}

// movedProjects names the projects' members as they are now. Where there is one of that name already, both stay as they are.
func movedProjects(data []byte, moved func(string) (string, bool)) []byte {
	projects := gjson.GetBytes(data, "projects")
	if !jsonl.Valid(data) || !projects.IsObject() || projects.Index == 0 {
		return data
	}
	names := projects.Map()
	out, from := []byte(nil), 0
	projects.ForEach(func(key, _ gjson.Result) bool {
		now, ok := moved(key.String())
		if _, taken := names[now]; !ok || taken {
			return true
		}
		out = jsonl.AppendQuote(append(out, data[from:key.Index]...), now)
		from = key.Index + len(key.Raw)
		return true
	})
	return append(out, data[from:]...)
}
