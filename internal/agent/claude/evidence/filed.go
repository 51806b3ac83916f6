package evidence

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/home"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/walk"
)

// maxAgent is how many bytes of a sub-agent's file are read.
const maxAgent = 4 << 20

// mayBeDeleted says whether the client deletes files that it wrote at a given time.
func (f *Folder) mayBeDeleted(written time.Time) bool {
	return home.TooOld(written, home.Retention(f.home()))
}

// OutputFault says what is wrong with the file of an output, given its path as the session names it, its length if that is known,
// how it begins, and when it was written; "" if nothing is, or if that can't be told.
func (f *Folder) OutputFault(path string, size int64, starts string, written time.Time) string {
	path = strings.ReplaceAll(path, `\`, "/")
	base := path[strings.LastIndexByte(path, '/')+1:]
	within := strings.Split(path, "/")
	if len(within) < 3 || !format.IsID(within[len(within)-3]) {
		return ""
	}
	dir := filepath.Join(filepath.Dir(f.path), within[len(within)-3], "tool-results")
	if !disk.IsDir(dir) {
		return "" // the session was copied without what lies beside it
	}
	name := "the output's own file, tool-results/" + base + ", "
	file, err := disk.Open(filepath.Join(dir, base))
	if err != nil {
		if f.mayBeDeleted(written) {
			return ""
		}
		return name + "is not there: no more of the output is left than the session shows"
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(file, maxAgent))
	switch {
	case err != nil:
		return ""
	case size > 0 && info.Size() != size && !isLength(text, info.Size(), size):
		return name + fmt.Sprintf("is damaged: it has %d bytes, of %d", info.Size(), size)
	case bytes.IndexByte(text, 0) >= 0 && strings.IndexByte(starts, 0) < 0:
		return name + "is damaged: it holds NUL bytes"
	case !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte(strings.TrimLeft(starts, " \t\r\n"))):
		return name + "is damaged: it does not begin as the session shows"
	}
	return ""
}

// isLength says whether a length that the session tells may be that of a file, of which text is the beginning: a length may count
// characters as JavaScript does, not bytes.
func isLength(text []byte, size, told int64) bool {
	if int64(len(text)) < size {
		return told < size && len(text) > utf16Length(text)
	}
	return utf8.Valid(text) && int64(utf16Length(text)) == told
}

func utf16Length(text []byte) (units int) {
	for _, r := range string(text) {
		units += utf16.RuneLen(r)
	}
	return units
}

// AgentFault says what is wrong with the file of a sub-agent, given what it answered and when; "" if nothing is, or if that can't be
// told.
func (f *Folder) AgentFault(id, answer string, written time.Time) string {
	name := "agent-" + id + format.Extension
	if filepath.Base(name) != name {
		return ""
	}
	own := f.kept("subagents")
	path := filepath.Join(own, name)
	if !home.Exists(path) {
		if !disk.IsDir(own) || f.agentElsewhere(name) || f.mayBeDeleted(written) {
			return ""
		}
		return "the sub-agent's own file, subagents/" + name + ", is not there: nothing but its answer is left"
	}
	bad, said := int64(0), false
	home.EachLine(path, func(l jsonl.Line, record func() bool) bool {
		switch {
		case record():
			said = said || slices.ContainsFunc(gjson.GetBytes(l.Raw, "message.content.#.text").Array(), func(t gjson.Result) bool { return t.String() == answer })
		case len(bytes.TrimSpace(l.Raw)) > 0:
			bad = l.Number
		}
		return bad == 0 && l.Offset < maxAgent
	})
	switch {
	case bad == 0 && !said && lastAnswer(path) == "": // a sub-agent may go on after its answer
		return "the sub-agent's own file, subagents/" + name + ", is damaged: it does not end with the sub-agent's answer"
	case bad == 0:
		return ""
	}
	return fmt.Sprintf("the sub-agent's own file, subagents/%s, is damaged from line %d on: hist repairs it like a session", name, bad)
}

// agentElsewhere says whether a sub-agent's file lies in the folder of another session, of which this one may be a fork, or where older
// clients write it.
func (f *Folder) agentElsewhere(name string) bool {
	project := filepath.Dir(f.path)
	found, _ := filepath.Glob(filepath.Join(walk.Literal(project), "*", "subagents", walk.Literal(name)))
	return len(found) > 0 || home.Exists(filepath.Join(project, name))
}
