package claude

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/regular"
	"github.com/hist-cli/hist/internal/session"
)

// The client keeps large outputs, and the conversations of sub-agents, in files of their own (2.1.2 to 2.1.330, measured). The session
// shows how an output begins and how long it is, so damage to its file can be told.

// filed is an output or a sub-agent's conversation in a file of its own.
type filed struct {
	of     *node
	output string // the path of an output's file, as the record names it; "" for a sub-agent's
	agent  string // the sub-agent's id
	size   int64  // of the output in bytes; 0 if the record does not say
	starts string // how it begins
}

// Limits of what is checked beside a session.
const (
	maxFiled  = 64       // files
	maxStarts = 16 << 10 // bytes of an output's beginning that are compared
	maxAgent  = 4 << 20  // bytes of a sub-agent's file that are read
)

var persistedStart = []byte(`"<persisted-output>`)

// persisted is how the client tells the model where an output is.
var persisted = regexp.MustCompile(`^<persisted-output>\nOutput too large \([^)]*\)\. Full output saved to: ([^\n]+)\n`)

// noteFiled keeps what a record tells of a file beside the session.
func (c *Checker) noteFiled(rec *session.Record, n *node) {
	result := field(rec, fieldToolResult)
	if c.opts.Beside == nil || n.role != roleResult || n.side || len(result) == 0 || result[0] != '{' || len(c.filed) == maxFiled {
		return
	}
	if content := field(rec, fieldBlockContent); bytes.HasPrefix(content, persistedStart) {
		words, _ := jsonl.Unquote(content)
		if m := persisted.FindStringSubmatch(words); m != nil {
			told := gjson.GetManyBytes(result, "persistedOutputSize", "stdout")
			c.filed = append(c.filed, filed{of: n, output: m[1], size: told[0].Int(), starts: told[1].String()[:wholeRunes(told[1].String(), maxStarts)]})
		}
		return
	}
	if len(result) < maxTold && bytes.Contains(result, []byte(`"agentId":"`)) && gjson.GetBytes(result, "status").String() == "completed" {
		c.filed = append(c.filed, filed{of: n, agent: gjson.GetBytes(result, "agentId").String()})
	}
}

// wholeRunes is how many bytes of a text, up to a number, are whole characters.
func wholeRunes(s string, most int) int {
	if len(s) <= most {
		return len(s)
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return most
}

// damagedFiles reports files beside the session that are missing or damaged. No conversation depends on them: the model only finds
// less when it looks into an output, or the user into what a sub-agent did.
func (c *Checker) damagedFiles() {
	if c.opts.Live || c.opts.Beside == nil {
		return
	}
	for _, f := range c.filed {
		fault := ""
		if f.output != "" {
			fault = c.opts.Beside.OutputFault(f.output, f.size, f.starts)
		} else {
			fault = c.opts.Beside.AgentFault(f.agent)
		}
		if fault != "" {
			c.add(&draft{about: f.of, always: true, Finding: finding.Finding{Rule: ruleDamagedFile, Impact: finding.Notes, Message: fault}})
		}
	}
}

// OutputFault compares an output's file with what the session tells of it.
func (f *folder) OutputFault(path string, size int64, starts string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	base := path[strings.LastIndexByte(path, '/')+1:]
	within := strings.Split(path, "/")
	if len(within) < 3 || !IsID(within[len(within)-3]) {
		return ""
	}
	dir := filepath.Join(filepath.Dir(f.path), within[len(within)-3], "tool-results")
	if !isDir(dir) {
		return "" // the session was copied without what lies beside it
	}
	name := "the output's own file, tool-results/" + base + ", "
	file, err := regular.Open(filepath.Join(dir, base))
	if err != nil {
		return name + "is not there: no more of the output is left than the session shows"
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	if size > 0 && info.Size() != size {
		return name + fmt.Sprintf("is damaged: it has %s bytes, of %s", strconv.FormatInt(info.Size(), 10), strconv.FormatInt(size, 10))
	}
	text, err := io.ReadAll(io.LimitReader(file, maxAgent))
	switch {
	case err != nil:
		return ""
	case bytes.IndexByte(text, 0) >= 0 && strings.IndexByte(starts, 0) < 0:
		return name + "is damaged: it holds NUL bytes"
	case !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte(strings.TrimLeft(starts, " \t\r\n"))):
		return name + "is damaged: it does not begin as the session shows"
	}
	return ""
}

// AgentFault looks for the file of a sub-agent, and for lines in it that are no records.
func (f *folder) AgentFault(id string) string {
	name := "agent-" + id + extension
	if filepath.Base(name) != name {
		return ""
	}
	own := filepath.Join(strings.TrimSuffix(f.path, extension), "subagents")
	path := filepath.Join(own, name)
	if !exists(path) {
		if !isDir(own) || f.agentElsewhere(name) {
			return ""
		}
		return "the sub-agent's own file, subagents/" + name + ", is not there: nothing but its answer is left"
	}
	bad := int64(0)
	eachLine(path, func(l jsonl.Line, record func() bool) bool {
		if !record() && len(bytes.TrimSpace(l.Raw)) > 0 {
			bad = l.Number
		}
		return bad == 0 && l.Offset < maxAgent
	})
	switch {
	case bad == 0 && lastAnswer(path) == "":
		return "the sub-agent's own file, subagents/" + name + ", is damaged: it does not end with the sub-agent's answer"
	case bad == 0:
		return ""
	}
	return fmt.Sprintf("the sub-agent's own file, subagents/%s, is damaged from line %d on: hist repairs it like a session", name, bad)
}

// agentElsewhere says whether a sub-agent's file lies in the folder of another session, of which this one may be a fork, or where older
// clients write it.
func (f *folder) agentElsewhere(name string) bool {
	project := filepath.Dir(f.path)
	found, _ := filepath.Glob(filepath.Join(escapeGlob(project), "*", "subagents", escapeGlob(name)))
	return len(found) > 0 || exists(filepath.Join(project, name))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
