package repair

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/testkit"
	"github.com/hist-cli/hist/lint"
)

// treeRecord is one record of a session of Claude Code: what a test of its cost does not tell, it has like any other.
type treeRecord struct {
	uuid, parent string // "" is none
	role         string // user, assistant, or the type of a record without a message
	content      string // JSON
	msg          string // id of the answer; "" is one of its own
	source       string // the record with the call that an output answers
	version      string // "" is 2.1.330
	more         string // members, a comma behind each
	session, cwd string // "" are those of the session
	second       int    // of the session
}

func (r treeRecord) line() string {
	parent, version := "null", r.version
	if r.parent != "" {
		parent = `"` + r.parent + `"`
	}
	if version == "" {
		version = "2.1.330"
	}
	uuid, source, message := "", "", ""
	if r.uuid != "" {
		uuid = `,"uuid":"` + r.uuid + `"`
	}
	if r.source != "" {
		source = `,"sourceToolAssistantUUID":"` + r.source + `"`
	}
	switch r.role {
	case "user":
		message = `"message":{"role":"user","content":` + r.content + `},`
	case "assistant":
		msg, stop := r.msg, "end_turn"
		if msg == "" {
			msg = "msg_" + r.uuid
		}
		if strings.Contains(r.content, "tool_use") {
			stop = "tool_use"
		}
		message = `"message":{"id":"` + msg + `","type":"message","role":"assistant","model":"claude-opus-5-5","content":` + r.content +
			`,"stop_reason":"` + stop + `","usage":{"input_tokens":9,"output_tokens":9}},`
	}
	return fmt.Sprintf(`{"parentUuid":%s,%s%s"cwd":"%s","sessionId":"%s","version":"%s","type":"%s"%s%s,"timestamp":"2026-11-20T%02d:%02d:%02d.%03dZ"}`+"\n",
		parent, r.more, message, cmp.Or(r.cwd, "/home/dev/demo"), cmp.Or(r.session, "7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11"), version, r.role, uuid, source, r.second/36_000%24, r.second/600%60, r.second/10%60, r.second%10*100)
}

// id is the id of the record at a place.
func id(i int) string {
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("11111111-1111-4111-8111-%012d", i)
}

// gone is the id of a record that is not in the file.
func gone(i int) string { return fmt.Sprintf("22222222-2222-4222-8222-%012d", i) }

func tellsCall(call string) string {
	return `[{"type":"tool_use","id":"` + call + `","name":"Bash","input":{"command":"ls"}}]`
}

func tellsOutput(call string) string {
	return `[{"type":"tool_result","tool_use_id":"` + call + `","content":"ok"}]`
}

// says is a prompt at even places and its answer at odd ones, each behind the one before.
func says(i int) treeRecord {
	r := treeRecord{uuid: id(i), parent: id(i - 1), role: "user", content: fmt.Sprintf(`"prompt %d"`, i), second: i}
	if i%2 == 1 {
		r.role, r.content = "assistant", fmt.Sprintf(`[{"type":"text","text":"answer %d"}]`, i)
	}
	return r
}

// works is a prompt, and behind it calls at odd places with their outputs at even ones.
func works(i int) treeRecord {
	r := says(i)
	switch {
	case i%2 == 1:
		r.content = tellsCall(fmt.Sprintf("toolu_%d", i))
	case i > 0:
		r.content, r.source = tellsOutput(fmt.Sprintf("toolu_%d", i-1)), id(i-1)
	}
	return r
}

// strangers is a session in which two of five records are another one's, a single chain on which all the others hang.
func strangers(n int) string {
	last := ""
	return changed(says, func(i int, r *treeRecord) {
		r.parent = last
		if i%5 > 2 {
			last, r.session, r.cwd = r.uuid, otherSession, "/home/dev/other"
		}
	})(n)
}

const otherSession = "c0ffee00-aaaa-4aaa-baaa-bbbbbbbbbbbb"

// tree writes n records; change returns a record otherwise than it would be, or nothing to leave it out.
func tree(n int, record func(i int) treeRecord, change func(i int, r *treeRecord) bool) string {
	var b strings.Builder
	for i := range n {
		if r := record(i); change == nil || change(i, &r) {
			b.WriteString(r.line())
		}
	}
	return b.String()
}

// unsigned is a block of thinking.
const unsigned = `{"type":"thinking","thinking":"hm","signature":""}`

// answersAround is a compaction of one prompt, which a quarter of all records in front of the mark answer, each with a word behind it;
// half of them follow the mark.
func answersAround(n int) string {
	q := n / 4
	return changed(says, func(i int, r *treeRecord) {
		switch {
		case i == 0:
		case i <= q:
			r.role, r.content, r.parent = "assistant", `[{"type":"text","text":"an answer"}]`, id(0)
		case i == q+1:
			r.role, r.content, r.parent = "system", "", ""
			r.more = `"subtype":"compact_boundary","compactMetadata":{"trigger":"auto"},"logicalParentUuid":"` + id(0) + `",`
		case i == q+2:
			r.role, r.content, r.more = "user", `"what was said"`, `"isCompactSummary":true,`
		case i > 3*q:
			r.role, r.content, r.parent = "assistant", `[{"type":"text","text":"a word"}]`, id(i-3*q)
		}
	})(n) + fmt.Sprintf(`{"type":"last-prompt","lastPrompt":"what","leafUuid":%q,"sessionId":"7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11"}`+"\n", id(3*q))
}

// compactions are n compactions that lack their summaries, one behind each answer.
func compactions(n int) string {
	return changed(says, func(i int, r *treeRecord) {
		if i%3 == 2 {
			r.role, r.content, r.parent = "system", "", ""
			r.more = `"subtype":"compact_boundary","compactMetadata":{"trigger":"auto"},"logicalParentUuid":"` + id(i-1) + `",`
		} else {
			r.role, r.content = "user", fmt.Sprintf(`"prompt %d"`, i)
			if i%3 == 1 {
				r.role, r.content = "assistant", fmt.Sprintf(`[{"type":"text","text":"answer %d"}]`, i)
			}
		}
	})(n)
}

func below(i, n int) string {
	if i >= n {
		return ""
	}
	return id(i)
}

// callsThenOutputs are calls, each behind the one before, and then the outputs of those that call tells.
func callsThenOutputs(call func(i, n int) int) func(n int) string {
	return func(n int) string {
		return changed(works, func(i int, r *treeRecord) {
			switch {
			case i > n/2:
				r.role, r.content, r.source = "user", tellsOutput(fmt.Sprintf("toolu_%d", call(i, n))), id(call(i, n))
			case i > 0:
				r.role, r.content = "assistant", tellsCall(fmt.Sprintf("toolu_%d", i))
			}
		})(n)
	}
}

// oneAnswer is an answer of one record with n calls, the record with their outputs, if they have an id, and a prompt.
func oneAnswer(call, output string) func(n int) string {
	blocks := func(n int, block func(string) string, id string) string {
		var list []string
		for k := range n {
			list = append(list, strings.Trim(block(strings.Replace(id, "%d", fmt.Sprint(k), 1)), "[]"))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	return func(n int) string {
		return tree(4, says, func(i int, r *treeRecord) bool {
			switch {
			case i == 1:
				r.content = blocks(n, tellsCall, call)
			case i == 2 && output != "":
				r.content, r.source = blocks(n, tellsOutput, output), id(1)
			}
			return true
		})
	}
}

// jumps gives each second answer of a session of 2.1.2 a time that is ahead of all that follow.
func jumps(i int, r *treeRecord) {
	if r.version = "2.1.2"; i%4 == 1 {
		r.second += 10_000
	}
}

// changed are records that are otherwise than they would be.
func changed(record func(i int) treeRecord, change func(i int, r *treeRecord)) func(n int) string {
	return func(n int) string {
		return tree(n, record, func(i int, r *treeRecord) bool {
			change(i, r)
			return true
		})
	}
}

// changedOf is changed, where it matters how many records there are.
func changedOf(record func(i int) treeRecord, change func(i, n int, r *treeRecord)) func(n int) string {
	return func(n int) string {
		return changed(record, func(i int, r *treeRecord) { change(i, n, r) })(n)
	}
}

// TestManyLeftBehind: more calls of branches that were left than findings are listed do not keep the last one from being answered.
func TestManyLeftBehind(t *testing.T) {
	const n = 1<<14 + 10
	text := tree(n, func(i int) treeRecord {
		r := treeRecord{uuid: id(i), parent: id(0), role: "assistant", content: tellsCall(fmt.Sprintf("toolu_%d", i)), second: i, version: "2.1.2"}
		if i == 0 {
			r.parent, r.role, r.content = "", "user", `"list the files"`
		}
		return r
	}, nil)
	out, rep, err := repairAs([]byte(text), lint.Options{Agent: "claude"}, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), fmt.Sprintf(`"tool_use_id":"toolu_%d"`, n-1)) || slices.ContainsFunc(rep.Left, func(l Left) bool { return l.Impact != "notes" }) {
		t.Errorf("not answered; left: %v", rep.Left[len(rep.Left)-1])
	}
}

// TestMoreThanListed: of more lost results than findings are listed, the figures count those that were mended, and say that there are more.
func TestMoreThanListed(t *testing.T) {
	if !*testkit.Long {
		t.Skip("repairs an answer of 16,400 calls")
	}
	const listed, n = 1 << 14, 1<<14 + 16
	text := tree(n+2, func(i int) treeRecord {
		r := treeRecord{uuid: id(i), parent: id(i - 1), role: "assistant", msg: "msg_1", content: tellsCall(fmt.Sprintf("toolu_%d", i)), second: i}
		if i == 0 || i == n+1 {
			r.role, r.content = "user", `"list the files"`
		}
		return r
	}, nil)
	_, rep, err := repairAs([]byte(text), lint.Options{Agent: "claude"}, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if h := rep.History; h.After != listed+2 || h.Told != listed || !h.Partly {
		t.Errorf("figures of %d lost results: %+v", n, h)
	}
}
