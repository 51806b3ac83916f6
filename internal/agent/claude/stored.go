package claude

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/regular"
)

// stored finds the output of a call among those that the client has put into files of their own because they were large: by
// the call's id, else the one that no record names, if there is one such file and one call without output.
func (f *folder) stored(callID string) (text, source string) {
	dir := filepath.Join(strings.TrimSuffix(f.path, extension), "tool-results")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > maxFiles {
		return "", ""
	}
	named := map[string]bool{}
	for _, e := range entries {
		if strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())) == callID {
			return cutOutput(filepath.Join(dir, e.Name()))
		}
		if e.Type().IsRegular() {
			named[e.Name()] = false
		}
	}
	if open := f.openCalls(named); len(open) != 1 || !open[callID] {
		return "", ""
	}
	left := ""
	for name, told := range named {
		if !told && left != "" {
			return "", ""
		}
		if !told {
			left = name
		}
	}
	if left == "" {
		return "", ""
	}
	return cutOutput(filepath.Join(dir, left))
}

// openCalls are the ids of the session's calls without output. It marks the names that stand in a record.
func (f *folder) openCalls(named map[string]bool) map[string]bool {
	open := map[string]bool{}
	f.eachOwn(func(l jsonl.Line, record func() bool) bool {
		for name := range named {
			named[name] = named[name] || bytes.Contains(l.Raw, []byte(name))
		}
		if !record() {
			return true
		}
		gjson.GetBytes(l.Raw, "message.content").ForEach(func(_, b gjson.Result) bool {
			switch b.Get("type").String() {
			case "tool_use":
				open[b.Get("id").String()] = true
			case "tool_result":
				delete(open, b.Get("tool_use_id").String())
			}
			return true
		})
		return true
	})
	return open
}

// cutOutput is the beginning of an output in a file of its own.
func cutOutput(path string) (text, source string) {
	file, err := regular.Open(path)
	if err != nil {
		return "", ""
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxOutput+1))
	if err != nil || len(raw) == 0 {
		return "", ""
	}
	text = strings.ToValidUTF8(string(raw[:min(len(raw), maxOutput)]), "")
	if len(raw) > maxOutput {
		text += "\n[hist: cut here; all of it stands in " + path + "]"
	}
	return text, "the output's own file, tool-results/" + filepath.Base(path)
}
