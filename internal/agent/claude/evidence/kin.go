package evidence

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/home"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/jsonl"
)

// kin are the files of a folder by the id of the record with which the conversation begins: a session and its forks share it. One folder
// is kept, because a walk lints the files of a folder one after the other.
type kin struct {
	sync.Mutex
	dir     string
	changed time.Time
	of      map[string][]string
	head    []byte // of the file that is looked at
	asking  string // the file for which the folder was read: it is not among them until another one asks
}

var lastFolder, farFolder kin // a session's own, and another in which it began

const (
	maxHead = 64 << 10 // bytes of a file in which its beginning is looked for
	maxKin  = 8        // files of one conversation that are searched
)

// sharing are the files of a folder whose conversation begins with a record; the one at path, which asks, may be missing.
func (k *kin) sharing(dir, path, root string) []string {
	info, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	k.Lock()
	defer k.Unlock()
	if k.dir != dir || !k.changed.Equal(info.ModTime()) {
		k.dir, k.changed, k.of, k.asking = dir, info.ModTime(), map[string][]string{}, path
		for _, other := range home.SessionsIn(dir) {
			if other != path {
				k.add(other)
			}
		}
	}
	if k.asking != "" && k.asking != path {
		k.add(k.asking)
		k.asking = ""
	}
	return slices.Clone(k.of[root]) // another session's question may change the list
}

func (k *kin) add(path string) {
	if id := k.rootOf(path); id != "" {
		at, _ := slices.BinarySearch(k.of[id], path)
		k.of[id] = slices.Insert(k.of[id], at, path)
	}
}

// rootOf is the id of the record with which a file's conversation begins; "" if it is not in its head.
func (k *kin) rootOf(path string) string {
	file, err := disk.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	if k.head == nil {
		k.head = make([]byte, maxHead)
	}
	n, _ := file.Read(k.head)
	for line := range bytes.Lines(k.head[:n]) {
		if bytes.Contains(line, []byte(`"parentUuid":null`)) && !bytes.Contains(line, []byte(`"isSidechain":true`)) {
			return gjson.GetBytes(line, "uuid").String()
		}
	}
	return ""
}

// Kin returns records with calls that the session lacks, each with one, from another file whose conversation begins with the same
// record. lacks says whether the session lacks a call of an answer. source describes where they were.
func (f *Folder) Kin(root string, lacks func(answer, call string) bool) (lines [][]byte, source string) {
	others := slices.DeleteFunc(lastFolder.sharing(filepath.Dir(f.path), f.path, root), func(path string) bool { return path == f.path })
	for _, dir := range f.folders() {
		others = append(others, farFolder.sharing(dir, "", root)...)
	}
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
