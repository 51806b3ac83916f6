package evidence

import (
	"bytes"
	"path/filepath"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/home"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/jsonl"
)

const (
	maxHead = 64 << 10 // bytes of a file in which its beginning is looked for
	maxKin  = 8        // files of one conversation that are searched
	maxRoot = 1 << 16  // files and folders
)

// roots are the ids of the records with which the conversations of files begin, and kin the files of folders by these ids: a session and its
// forks share one.
var (
	roots = disk.Recall[string]{Limit: maxRoot}
	kin   = disk.Recall[map[string][]string]{Limit: maxRoot}
)

// sharing are the files of a folder whose conversation begins with a record, as that of the one that asks does; the list is shared.
func sharing(dir, asking, root string) []string {
	return kin.Of(dir, func() (map[string][]string, int) {
		of, head, all := map[string][]string{}, make([]byte, maxHead), home.SessionsIn(dir)
		for _, path := range all {
			id := root
			if path != asking { // which need not be read again
				id = roots.Of(path, func() (string, int) { return rootOf(path, head), 1 })
			}
			if id != "" {
				of[id] = append(of[id], path)
			}
		}
		return of, len(all)
	})[root]
}

// rootOf is the id of the record with which a file's conversation begins; "" if it is not in its head, which is read into a buffer.
func rootOf(path string, head []byte) string {
	file, err := disk.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	n, _ := file.Read(head)
	for line := range bytes.Lines(head[:n]) {
		if bytes.Contains(line, []byte(`"parentUuid":null`)) && !bytes.Contains(line, []byte(`"isSidechain":true`)) {
			return gjson.GetBytes(line, "uuid").String()
		}
	}
	return ""
}

// Kin returns records with calls that the session lacks, each with one, from another file whose conversation begins with the same
// record. lacks says whether the session lacks a call of an answer. source describes where they were.
func (f *Folder) Kin(root string, lacks func(answer, call string) bool) (lines [][]byte, source string) {
	var others []string
	for _, dir := range append([]string{filepath.Dir(f.path)}, f.folders()...) {
		all := sharing(dir, f.path, root)
		others = append(others, all[:min(len(all), maxKin+1)]...)
	}
	others = slices.DeleteFunc(others, func(path string) bool { return path == f.path })
	for _, path := range others[:min(len(others), maxKin)] {
		home.EachLine(path, func(l jsonl.Line, record func() bool) bool {
			if !bytes.Contains(l.Raw, []byte(`"tool_use"`)) || bytes.Contains(l.Raw, HistMark) || !record() {
				return true
			}
			answer := gjson.GetBytes(l.Raw, "message.id").String()
			blocks := gjson.GetBytes(l.Raw, "message.content").Array()
			if len(blocks) == 1 && blocks[0].Get("type").String() == "tool_use" && lacks(answer, blocks[0].Get("id").String()) {
				lines = append(lines, bytes.Clone(l.Raw))
			}
			return len(lines) < maxLookups
		})
		if len(lines) > 0 { // of an answer that is whole here nothing can come to light there
			f.asked()
			return lines, "the same answer in " + filepath.Base(path)
		}
	}
	return nil, ""
}

// Begun returns the first prompt of a sub-agent that has inherited the beginning of the conversation, and words that say where it
// was. holds says whether the session holds an answer near its beginning, by the message's id: a
// file that began with a part of the conversation has answers of it behind the prompt; one that began with a task of its own has not.
func (f *Folder) Begun(holds func(answer string) bool) (words, source string) {
	f.asked()
	for _, path := range f.parts() {
		first, inherits, left := gjson.Result{}, false, maxLookups
		home.EachLine(path, func(l jsonl.Line, record func() bool) bool {
			switch v := gjson.ParseBytes(l.Raw); {
			case !record() || bytes.Contains(l.Raw, HistMark):
			case !first.Exists():
				first = gjson.Parse(v.Raw)
			default:
				answer := v.Get("message.id").String()
				inherits = answer != "" && holds(answer)
			}
			left--
			return left > 0 && !inherits && first.Get("type").String() == "user" && first.Get("parentUuid").Type == gjson.Null
		})
		if words := format.PlainText(first.Get("message.content")); inherits && words != "" {
			return words, "the sub-agent's own file, " + filepath.Base(path)
		}
	}
	return "", ""
}
