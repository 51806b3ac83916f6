package clienttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// report is damage as users have reported it in public, and the nearest file with which nothing is wrong.
type report struct {
	rules   []string // of which each must be found, and none else but notes
	damaged []string
	healthy []string
}

func partly(id, block, stop string) string {
	return `{"id":"` + id + `","role":"assistant","model":"claude-opus-5-5","content":[` + block + `],"stop_reason":"` + stop + `"}`
}

func called(id string) string {
	return `{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"ls"}}`
}

func answered(id, words string) string {
	return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":` + words + `}]}`
}

// reports are the classes of reports, by what the API or the client says.
func reports() map[string]report {
	u1, u2 := line("user", "u1", "", asked("hi"), ""), line("user", "u2", "a1", asked("go on"), "")
	a1, a2 := line("assistant", "a1", "u1", said("m1", "yes"), ""), line("assistant", "a2", "u2", said("m2", "ok"), "")
	older := line("assistant", "a1", "u1", said("m1", "yes"), `,"version":"2.1.100"`)
	c1 := line("assistant", "c1", "u1", partly("m1", called("toolu_1"), "tool_use"), "")
	c2 := line("assistant", "c2", "c1", partly("m1", called("toolu_2"), "tool_use"), "")
	r1, r2 := line("user", "r1", "c1", answered("toolu_1", `"one"`), `,"sourceToolAssistantUUID":"c1"`), line("user", "r2", "c2", answered("toolu_2", `"two"`), `,"sourceToolAssistantUUID":"c2"`)
	end := func(on string) string { return line("assistant", "e1", on, said("m9", "done"), "") }
	think := func(words, signature string) []string {
		t := line("assistant", "t1", "u1", partly("m1", `{"type":"thinking","thinking":"`+words+`"`+signature+`}`, "end_turn"), "")
		return []string{u1, t, line("assistant", "a1", "t1", said("m1", "yes"), ""), u2, a2}
	}
	torn := strings.Replace(line("user", "u2", "a1", asked("half of a li"), ""), `ne"}`, "", 1)
	cut := torn[:strings.Index(torn, "half of a li")+len("half of a li")]
	failed := line("assistant", "s1", "a2", `{"id":"8a0c7c0e-7c0a-4c7e-8e0a-1c7e8e0a1c7e","role":"assistant","model":"<synthetic>","stop_sequence":"","content":[{"type":"text","text":"No response requested."}]}`, `,"isApiErrorMessage":true`)
	snapshot := func(id string) string {
		return `{"type":"file-history-snapshot","messageId":"` + id + `","snapshot":{"messageId":"` + id + `","trackedFileBackups":{}},"isSnapshotUpdate":false}`
	}
	picture := func(data string) string {
		shown := `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}]`
		return line("user", "r1", "c1", answered("toolu_1", shown), `,"toolUseResult":{"type":"image","file":{"base64":"`+data+`","type":"image/png"}}`)
	}
	const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="
	const (
		advice   = `{"type":"server_tool_use","id":"srvtoolu_1","name":"advisor","input":{}}`
		search   = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"go"}}`
		searched = `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`
		advised  = `{"type":"advisor_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"advisor_result","text":"do it"}}`
	)
	part := func(id, on, block string) string {
		return line("assistant", id, on, partly("m1", block, "end_turn"), "")
	}
	text := `{"type":"text","text":"so"}`
	shortened := compacted("a1", "")
	summary := line("user", "s1", "b1", asked("summary"), `,"isCompactSummary":true`)
	next := line("user", "u2", "s1", asked("go on"), "")
	hook := `{"parentUuid":"a1","type":"system","subtype":"stop_hook_summary","content":"x","uuid":"h1"}`
	again := strings.NewReplacer(`"b1"`, `"b2"`, `"s1"`, `"s2"`, `"u2"`, `"u3"`, `"a2"`, `"a3"`, `"m2"`, `"m3"`, `"a1"`, `"h1"`)
	blank := func(l string) string {
		return strings.NewReplacer(`"hi"`, `""`, `"go on"`, `""`, `"yes"`, `""`, `"ok"`, `""`).Replace(l)
	}
	return map[string]report{
		"unexpected tool_use_id found in advisor_tool_result blocks: the call is gone":      {[]string{"bad-block"}, []string{u1, part("t1", "u1", text), part("a1", "t1", advised), u2, a2}, []string{u1, part("t1", "u1", advice), part("a1", "t1", advised), u2, a2}},
		"the output of a search is gone":                                                    {[]string{"lost-result"}, []string{u1, part("t1", "u1", search), part("a1", "t1", text), u2, a2}, []string{u1, part("t1", "u1", search), part("t2", "t1", searched), part("a1", "t2", text), u2, a2}},
		"a compaction that failed has emptied all that was said":                            {[]string{"empty-text"}, []string{blank(u1), blank(a1), blank(u2), blank(a2)}, []string{u1, a1, u2, a2}},
		"the summary of a compaction was never written":                                     {[]string{"lost-summary"}, []string{u1, a1, shortened, next, a2}, []string{u1, a1, shortened, summary, next, a2}},
		"the first prompt after a compaction and a resume names a record that never was":    {[]string{"broken-parent"}, []string{u1, a1, shortened, summary, next, a2, line("user", "u3", "gone", asked("on"), ""), line("assistant", "a3", "u3", said("m3", "fine"), "")}, []string{u1, a1, shortened, summary, next, a2, line("user", "u3", "a2", asked("on"), ""), line("assistant", "a3", "u3", said("m3", "fine"), "")}},
		"a second compaction in one process writes the history anew, and a hook's word":     {nil, []string{u1, a1, shortened, summary, next, a2, u1, a1, hook, again.Replace(shortened), again.Replace(summary), again.Replace(next), again.Replace(a2)}, []string{u1, a1, shortened, summary, next, a2, again.Replace(shortened), again.Replace(summary), again.Replace(next), again.Replace(a2)}},
		"zeros behind a record, and as the last line, after a power loss":                   {nil, []string{u1, a1 + strings.Repeat("\x00", 9000), u2, a2, strings.Repeat("\x00", 140_000)}, []string{u1, a1, u2, a2}},
		"the same, by a version that drops the line":                                        {[]string{"nul-bytes"}, []string{u1, older + strings.Repeat("\x00", 9000), u2, a2, strings.Repeat("\x00", 140_000)}, []string{u1, older, u2, a2}},
		"Expected ':' before value: a torn record of bookkeeping, and the next glued to it": {[]string{"glued-records"}, []string{u1, a1, `{"type":"pr-link","sessionId":"s","prNu` + u2, a2}, []string{u1, a1, `{"type":"pr-link","sessionId":"s","prNumber":1}`, u2, a2}},
		"a torn snapshot": {[]string{"bad-json"}, []string{u1, a1, snapshot("u2")[:60], u2, a2}, []string{u1, a1, snapshot("u2"), u2, a2}},
		"a torn attachment, on which the answer hung":                                              {[]string{"bad-json", "broken-parent"}, []string{u1, a1, u2, `{"parentUuid":"u2","isSidechain":false,"attachment":{"type":"queued_command","prompt":"x`, line("assistant", "a2", "x9", said("m2", "ok"), "")}, []string{u1, a1, u2, `{"parentUuid":"u2","isSidechain":false,"attachment":{"type":"queued_command","prompt":"x"},"type":"attachment","uuid":"x9"}`, line("assistant", "a2", "x9", said("m2", "ok"), "")}},
		"two machines' files of a session were merged, and a turn is there under other ids":        {nil, nil, []string{u1, a1, u2, a2, strings.Replace(u2, `"u2"`, `"v2"`, 1), strings.NewReplacer(`"u2"`, `"v2"`, `"uuid":"a2"`, `"uuid":"b2"`).Replace(a2)}},
		"each thinking block must contain thinking, or its signature is invalid":                   {[]string{"bad-thinking"}, think("hm", `,"signature":""`), think("", `,"signature":"Ev8="`)},
		"ids were found without tool_result blocks: the second of two outputs is missing":          {[]string{"lost-result"}, []string{u1, c1, c2, r1, end("r1")}, []string{u1, c1, c2, r2, r1, end("r1")}},
		"ids were found without tool_result blocks: the user spoke first":                          {[]string{"lost-result"}, []string{u1, c1, line("user", "u2", "c1", asked("continue"), ""), a2}, []string{u1, c1, r1, end("r1"), line("user", "u2", "e1", asked("continue"), ""), a2}},
		"unexpected tool_use_id: the call is gone":                                                 {[]string{"lost-call"}, []string{u1, r1, end("r1")}, []string{u1, c1, r1, end("r1")}},
		"tool_use ids must be unique: a call was written twice":                                    {[]string{"duplicate-call-id"}, []string{u1, c1, strings.Replace(strings.Replace(c1, `"c1"`, `"c2"`, 1), `"u1"`, `"c1"`, 1), line("user", "r1", "c2", answered("toolu_1", `"one"`), ""), end("r1")}, []string{u1, c1, r1, end("r1")}},
		"text content blocks must be non-empty":                                                    {[]string{"empty-text"}, []string{u1, a1, line("user", "u2", "a1", asked(""), ""), a2}, []string{u1, a1, u2, a2}},
		"text content blocks must contain non-whitespace text":                                     {[]string{"empty-text"}, []string{u1, a1, line("user", "u2", "a1", asked(`\n\n`), ""), a2}, []string{u1, a1, line("user", "u2", "a1", asked(`\n\ngo on`), ""), a2}},
		"no low surrogate in string":                                                               {[]string{"lone-surrogate"}, []string{u1, line("assistant", "a1", "u1", said("m1", `cut \ud83d`), `,"version":"2.1.100"`), u2, a2}, []string{u1, line("assistant", "a1", "u1", said("m1", `whole \ud83d\ude00 \u0000`), `,"version":"2.1.100"`), u2, a2}},
		"could not process image":                                                                  {[]string{"bad-picture"}, []string{u1, c1, picture("iVBOR"), end("r1")}, []string{u1, c1, picture(pixel), end("r1")}},
		"only the last part is resumed: a parent that was never written":                           {[]string{"broken-parent"}, []string{u1, a1, line("user", "u2", "gone", asked("go on"), ""), a2}, []string{u1, a1, u2, a2}},
		"the id in diagnostics must start with msg_: the client's own word about an error is last": {nil, nil, []string{u1, a1, u2, a2, failed}},
		"a snapshot has the id of an answer":                                                       {nil, nil, []string{u1, snapshot("a1"), a1, snapshot("u2"), u2, a2}},
		"a compaction names a record of another file as the last in front of it":                   {nil, nil, []string{compacted("elsewhere", ""), line("user", "u1", "b1", asked("summary"), `,"isCompactSummary":true`), a1, u2, a2}},
		"a title or a pull request stands first":                                                   {nil, nil, []string{`{"type":"pr-link","sessionId":"s","prNumber":12}`, u1, a1, u2, a2}},
		"a compaction has written all records again":                                               {nil, []string{u1, a1, u1, a1, u2, a2}, []string{u1, a1, u2, a2}},
		"a torn record, and the next glued to it":                                                  {[]string{"glued-records"}, []string{u1, a1, cut + a2}, []string{u1, a1, u2, a2}},
		"a newline is missing":                                                                     {[]string{"glued-records"}, []string{u1, a1 + u2, a2}, []string{u1, a1, u2, a2}},
		"zeros in front of a record":                                                               {[]string{"nul-bytes"}, []string{u1, a1, strings.Repeat("\x00", 300) + u2, a2}, []string{u1, a1, u2, a2}},
	}
}

// TestReports: what was reported is named, and a repair leaves nothing to find; what only looks like it has no fault.
func TestReports(t *testing.T) {
	text := func(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
	for name, r := range reports() {
		for _, f := range lintText(t, text(r.healthy), lint.Options{}) {
			t.Errorf("%s: healthy, but %s %s on %v: %s", name, f.Rule.Name, f.Impact, f.Pos, f.Message)
		}
		if r.damaged == nil {
			continue
		}
		var found []string
		for _, f := range lintText(t, text(r.damaged), lint.Options{}) {
			if f.Impact != lint.Notes && !slices.Contains(found, f.Rule.Name) {
				found = append(found, f.Rule.Name)
			}
		}
		if !slices.Equal(found, r.rules) {
			t.Errorf("%s: found %v, want %v", name, found, r.rules)
		}
		fixed, _ := mend(t, text(r.damaged), lint.Options{})
		for _, f := range lintText(t, fixed, lint.Options{}) {
			if f.Impact != lint.Notes {
				t.Errorf("%s: repaired, but %s on %v: %s", name, f.Rule.Name, f.Pos, f.Message)
			}
		}
	}
}
