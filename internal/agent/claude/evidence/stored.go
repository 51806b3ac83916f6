package evidence

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/jsonl"
)

// stored finds the output of a call among the files of their own that the client writes for large outputs: by the call's id, or
// else the only file that no record names, if only one call has no output.
func (f *Folder) stored(callID string) (text, source string) {
	dir := f.kept("tool-results")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > maxFiles {
		return "", ""
	}
	for _, e := range entries {
		if strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())) == callID {
			return cutOutput(filepath.Join(dir, e.Name()))
		}
	}
	if f.calls == nil {
		f.calls, f.named = map[string]bool{}, map[string]bool{}
		for _, e := range entries {
			if e.Type().IsRegular() {
				f.named[e.Name()] = false
			}
		}
		f.readCalls()
	}
	if len(f.calls) != 1 || !f.calls[callID] {
		return "", ""
	}
	left := ""
	for name, told := range f.named {
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

// readCalls collects the ids of the session's calls without an output, and which of the output files a record names.
func (f *Folder) readCalls() {
	f.eachOwn(func(l jsonl.Line, record func() bool) bool {
		for name := range f.named {
			f.named[name] = f.named[name] || bytes.Contains(l.Raw, []byte(name))
		}
		if !record() {
			return true
		}
		gjson.GetBytes(l.Raw, "message.content").ForEach(func(_, b gjson.Result) bool {
			switch b.Get("type").String() {
			case "tool_use":
				f.calls[b.Get("id").String()] = true
			case "tool_result":
				delete(f.calls, b.Get("tool_use_id").String())
			}
			return true
		})
		return true
	})
}

// cutOutput is the beginning of an output that has a file of its own.
func cutOutput(path string) (text, source string) {
	file, err := disk.Open(path)
	if err != nil {
		return "", ""
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, MaxOutput+1))
	text = string(raw[:min(len(raw), MaxOutput)])
	for cut := 0; len(raw) > MaxOutput && cut < utf8.UTFMax && !utf8.ValidString(text); cut++ { // a character may be cut
		text = text[:len(text)-1]
	}
	if err != nil || len(raw) == 0 || !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 { // the client writes no such text
		return "", ""
	}
	if len(raw) > MaxOutput {
		text += "\n[hist: cut here; all of it stands in " + path + "]"
	}
	return text, "the output's own file, tool-results/" + filepath.Base(path)
}
