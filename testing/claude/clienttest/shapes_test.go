package clienttest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/lint"
)

// line is a record of the tree with as little as a client needs.
func line(typ, uuid, parent, message, more string) string {
	p := "null"
	if parent != "" {
		p = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"parentUuid":%s,"type":%q,"message":%s,"uuid":%q%s}`, p, typ, message, uuid, more)
}

func said(id, text string) string {
	return `{"id":"` + id + `","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"` + text + `"}],"stop_reason":"end_turn"}`
}

func asked(text string) string { return `{"role":"user","content":"` + text + `"}` }

// compacted is the mark of a compaction, b1.
func compacted(last, more string) string {
	return fmt.Sprintf(`{"parentUuid":null,"logicalParentUuid":%q,"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":9},"uuid":"b1"%s}`, last, more)
}

// TestLegalShapes: what clients write when nothing goes wrong yields no finding, not even a note.
func TestLegalShapes(t *testing.T) {
	turn := []string{line("user", "u1", "", asked("one"), ""), line("assistant", "a1", "u1", said("m1", "yes"), "")}
	at := func(s string) string { return `,"timestamp":"2026-11-20T10:` + s + `.000Z","version":"2.1.330"` }
	old := func(s string) string { return `,"timestamp":"2026-01-20T10:` + s + `.000Z","version":"2.0.29"` }
	first := func(s string) string { return `,"timestamp":"2026-01-20T10:` + s + `.000Z","version":"1.0.17"` }
	meta := first("00:30") + `,"isMeta":true`
	const (
		clear   = `<command-name>clear</command-name>`
		printed = `<local-command-stdout></local-command-stdout>`
		call    = `{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}`
		one     = `{"role":"assistant","model":"claude-opus-5-5","content":[` + call + `],"stop_reason":"tool_use"}`
		both    = `{"role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"I run it."},` + call + `],"stop_reason":"tool_use"}`
		ranTool = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}]}`
	)
	for name, lines := range map[string][]string{
		"as little as possible": turn,
		"a progress record as a link": append(turn[:2:2],
			`{"type":"progress","uuid":"p1","parentUuid":"a1","data":{}}`, line("user", "u2", "p1", asked("two"), ""), line("assistant", "a2", "u2", said("m2", "yes"), "")),
		"an unknown record of bookkeeping": append(turn[:2:2], `{"type":"something-new","sessionId":"s","x":{"uuid":1}}`),
		"a record of a newer client as a link": append(turn[:2:2],
			`{"type":"something-new","uuid":"p1","parentUuid":"a1","version":"9.0.0"}`, line("user", "u2", "p1", asked("two"), `,"version":"9.0.0"`), line("assistant", "a2", "u2", said("m2", "yes"), `,"version":"9.0.0"`)),
		"a rewind that the client notes": append(turn[:2:2],
			line("user", "u2", "a1", asked("two"), at("05:00")), line("assistant", "a2", "u2", said("m2", "no"), at("05:08")),
			line("user", "u3", "a1", asked("two, but better"), at("06:00")), `{"type":"last-prompt","leafUuid":"00000000-0000-0000-0000-000000000000","explicit":true,"sessionId":"s"}`,
			line("assistant", "a3", "u3", said("m3", "ok"), at("06:08"))),
		"cleared twice by 1.0.17": {
			line("user", "u1", "", asked("one"), first("01:00")), line("assistant", "a1", "u1", said("m1", "yes"), first("01:01")),
			line("user", "k1", "a1", asked("about commands"), meta), line("user", "k2", "k1", asked(clear), first("02:00")), line("user", "k3", "k2", asked(printed), first("02:00")),
			line("user", "k1", "", asked("about commands"), meta), line("user", "k4", "k1", asked(clear), first("03:00")), line("user", "k5", "k4", asked(printed), first("03:00")),
			line("user", "u2", "", asked("two"), first("04:00")), line("assistant", "a2", "u2", said("m2", "yes"), first("04:01")),
		},
		"a turn that ends at the user's limit": {
			line("user", "u1", "", asked("one"), at("05:00")), line("assistant", "a1", "u1", one, at("05:08")), line("user", "r1", "a1", ranTool, at("05:09")),
			`{"parentUuid":"r1","type":"attachment","attachment":{"type":"max_turns_reached","maxTurns":1,"turnCount":2},"uuid":"x1"` + at("05:09") + `}`,
		},
		"a turn that a hook has ended": {
			line("user", "u1", "", asked("one"), at("05:00")), line("assistant", "a1", "u1", one, at("05:08")), line("user", "r1", "a1", ranTool, at("05:09")),
			`{"parentUuid":"r1","type":"attachment","attachment":{"type":"hook_stopped_continuation","message":"enough"},"uuid":"x1"` + at("05:09") + `}`,
		},
		"a prompt that a hook has stopped": append(turn[:2:2],
			line("user", "u2", "a1", asked("two"), at("05:00")), line("user", "u3", "u2", asked("Operation stopped by hook: not this"), at("05:00")+`,"isMeta":true`),
			`{"parentUuid":"u3","type":"system","subtype":"informational","content":"Operation stopped by hook: not this","uuid":"x1"`+at("05:00")+`}`),
		"a command that answers by itself": append(turn[:2:2],
			line("user", "u2", "a1", asked("/code-review"), at("05:00")),
			`{"parentUuid":"u2","type":"system","subtype":"local_command","content":"<local-command-stdout>all is well</local-command-stdout>","uuid":"x1"`+at("05:01")+`}`),
		"an answer in the form that the user asked for": {
			line("user", "u1", "", asked("one"), at("05:00")), line("assistant", "a1", "u1", strings.Replace(one, `"Bash"`, `"StructuredOutput"`, 1), at("05:08")), line("user", "r1", "a1", ranTool, at("05:09")),
			`{"parentUuid":"a1","type":"attachment","attachment":{"type":"structured_output","data":{"command":"ls"}},"uuid":"x1"` + at("05:09") + `}`,
			`{"type":"last-prompt","lastPrompt":"one","leafUuid":"r1","sessionId":"s"}`,
		},
		"a rewind, and then a command run by hand": append(turn[:2:2],
			line("user", "u2", "a1", asked("<bash-input>ls</bash-input>"), at("05:00")), line("user", "u3", "u2", asked("<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>"), at("05:01")),
			line("assistant", "a2", "u3", said("m2", "no"), at("05:08")), `{"type":"last-prompt","lastPrompt":"! ls","leafUuid":"a2","sessionId":"s"}`,
			line("user", "u4", "a1", asked("<bash-input>ls -l</bash-input>"), at("06:00")), line("user", "u5", "u4", asked("<bash-stdout>y</bash-stdout><bash-stderr></bash-stderr>"), at("06:01")),
			`{"type":"last-prompt","leafUuid":"00000000-0000-0000-0000-000000000000","explicit":true,"sessionId":"s"}`,
			line("assistant", "a3", "u5", said("m3", "ok"), at("06:08")), `{"type":"last-prompt","lastPrompt":"! ls -l","leafUuid":"a3","sessionId":"s"}`),
		"a rewind to the beginning": append(turn[:2:2],
			line("user", "u3", "", asked("anew"), at("06:00")), `{"type":"last-prompt","leafUuid":"00000000-0000-0000-0000-000000000000","explicit":true,"sessionId":"s"}`,
			line("assistant", "a3", "u3", said("m3", "ok"), at("06:08"))),
		"a rewind before they were noted": append(turn[:2:2],
			line("user", "u2", "a1", asked("two"), `,"timestamp":"2026-01-20T10:05:00.000Z","version":"2.0.29"`), line("assistant", "a2", "u2", said("m2", "no"), `,"timestamp":"2026-01-20T10:05:08.000Z","version":"2.0.29"`),
			line("user", "u3", "a1", asked("two, but better"), `,"timestamp":"2026-01-20T10:06:00.000Z","version":"2.0.29"`), line("assistant", "a3", "u3", said("m3", "ok"), `,"timestamp":"2026-01-20T10:06:08.000Z","version":"2.0.29"`)),
		"a rewind in front of a compaction": append(turn[:2:2],
			line("user", "u2", "a1", asked("two"), at("05:00")), line("assistant", "a2", "u2", said("m2", "no"), at("05:08")),
			line("user", "u3", "a1", asked("two, but better"), at("06:00")), `{"type":"last-prompt","leafUuid":"00000000-0000-0000-0000-000000000000","explicit":true,"sessionId":"s"}`,
			line("assistant", "a3", "u3", said("m3", "ok"), at("06:08")), compacted("a3", at("07:00")), line("user", "s1", "b1", asked("what was said"), `,"isCompactSummary":true`+at("07:00")),
			line("user", "u4", "s1", asked("three"), at("08:00")), line("assistant", "a4", "u4", said("m4", "ok"), at("08:08"))),
		"a rewind in front of a compaction before they were noted": append(turn[:2:2],
			line("user", "u2", "a1", asked("two"), old("05:00")), line("assistant", "a2", "u2", said("m2", "no"), old("05:08")), line("user", "u3", "a1", asked("two, but better"), old("06:00")),
			line("assistant", "a3", "u3", said("m3", "ok"), old("06:08")), compacted("a3", old("07:00")), line("user", "s1", "b1", asked("what was said"), `,"isCompactSummary":true`+old("07:00")),
			line("user", "u4", "s1", asked("three"), old("08:00")), line("assistant", "a4", "u4", said("m4", "ok"), old("08:08"))),
		"a rewind to in front of a compaction": append(turn[:2:2],
			line("user", "u2", "a1", asked("two"), at("05:00")), line("assistant", "a2", "u2", said("m2", "no"), at("05:08")), compacted("a2", at("07:00")),
			line("user", "s1", "b1", asked("what was said"), `,"isCompactSummary":true`+at("07:00")), line("user", "u3", "s1", asked("three"), at("08:00")), line("assistant", "a3", "u3", said("m3", "ok"), at("08:08")),
			line("user", "u4", "a1", asked("two, but better"), at("09:00")), `{"type":"last-prompt","leafUuid":"00000000-0000-0000-0000-000000000000","explicit":true,"sessionId":"s"}`,
			line("assistant", "a4", "u4", said("m4", "ok"), at("09:08")), `{"type":"last-prompt","leafUuid":"a4","sessionId":"s"}`),
		"a rewind to in front of a compaction before they were noted": append(turn[:2:2],
			line("user", "u2", "a1", asked("two"), old("05:00")), line("assistant", "a2", "u2", said("m2", "no"), old("05:08")), compacted("a2", old("07:00")),
			line("user", "s1", "b1", asked("what was said"), `,"isCompactSummary":true`+old("07:00")), line("user", "u3", "s1", asked("three"), old("08:00")), line("assistant", "a3", "u3", said("m3", "ok"), old("08:08")),
			line("user", "u4", "a1", asked("two, but better"), old("09:00")), line("assistant", "a4", "u4", said("m4", "ok"), old("09:08"))),
		"a prompt that was taken back at once": append(turn[:2:2],
			line("user", "u2", "a1", asked("tow"), at("05:00")), line("user", "u3", "a1", asked("two"), at("05:09")), line("assistant", "a3", "u3", said("m3", "ok"), at("05:15"))),
		"an answer that was written whole, and again block by block": append(turn[:2:2],
			line("user", "u2", "a1", asked("two"), old("05:00")), line("assistant", "a2", "u2", `{"id":"m2",`+both[1:], old("05:08")), line("user", "r2", "a2", ranTool, old("05:09")), line("assistant", "a3", "r2", said("m3", "done"), old("05:10")),
			line("assistant", "b1", "u2", said("m2", "I run it."), old("06:00")), line("assistant", "b2", "b1", `{"id":"m2",`+one[1:], old("06:00")), line("user", "b3", "b2", ranTool, old("06:00")), line("assistant", "b4", "b3", said("m3", "done"), old("06:00")),
			line("user", "u3", "b4", asked("three"), old("06:01")), line("assistant", "a4", "u3", said("m4", "ok"), old("06:08"))),
		"a system record that nothing hangs on": append(turn[:2:2], `{"type":"system","subtype":"informational","uuid":"s1","parentUuid":null,"content":"hello"}`),
		"a search of the web that was interrupted": append(turn[:2:2],
			line("user", "u2", "a1", asked("two"), at("05:00")), line("assistant", "a2", "u2", said("m2", "I search."), at("05:08")),
			line("assistant", "a3", "a2", `{"id":"m2","role":"assistant","model":"claude-opus-5-5","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"go"}}]}`, at("05:09")),
			line("user", "u3", "a3", asked("[Request interrupted by user]"), at("05:15")), line("user", "u4", "u3", asked("three"), at("05:20")), line("assistant", "a4", "u4", said("m4", "ok"), at("05:25"))),
		"thinking whose text is kept back": append(turn[:1:1],
			line("assistant", "a1", "u1", `{"id":"m1","role":"assistant","model":"claude-opus-5-5","content":[{"type":"thinking","thinking":"","signature":"c2ln"}]}`, ""),
			line("assistant", "a2", "a1", said("m1", "yes"), "")),
		"ids of another maker's model": append(turn[:1:1],
			line("assistant", "a1", "u1", `{"id":"m1","role":"assistant","model":"kimi-k3","content":[{"type":"tool_use","id":"functions.Bash:0","name":"Bash","input":{}}]}`, ""),
			line("user", "r1", "a1", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions.Bash:0","content":"ok"}]}`, ""), line("assistant", "a2", "r1", said("m2", "yes"), "")),
		"summaries of other sessions in front": append([]string{`{"type":"summary","summary":"another","leafUuid":"x1"}`}, turn...),
		"an API error between": append(turn[:2:2],
			line("user", "u2", "a1", asked("two"), ""), line("assistant", "e1", "u2", `{"id":"x","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API Error: 529"}]}`, `,"isApiErrorMessage":true`),
			line("user", "u3", "e1", asked("again"), ""), line("assistant", "a3", "u3", said("m3", "ok"), "")),
		"an image by its address":          {line("user", "u1", "", `{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}},{"type":"text","text":"what is it"}]}`, ""), turn[1]},
		"another maker's file name inside": append(turn[:2:2], line("user", "u2", "a1", asked("see {\\\"parentUuid\\\":\\\"zz\\\"}"), ""), line("assistant", "a2", "u2", said("m2", "yes"), "")),
	} {
		text := []byte(strings.Join(lines, "\n") + "\n")
		for _, f := range lintText(t, text, lint.Options{}) {
			t.Errorf("%s: %s %s on %v: %s", name, f.Rule.Name, f.Impact, f.Pos, f.Message)
		}
	}
}

// TestAnswerWithoutWords: a client that resumes a session in which the model has said nothing goes on in front of that; nothing is lost.
func TestAnswerWithoutWords(t *testing.T) {
	at := func(s string) string { return `,"timestamp":"2026-11-20T10:` + s + `.000Z","version":"2.1.100"` }
	lines := []string{
		line("user", "u1", "", asked("one"), at("05:00")), line("assistant", "a1", "u1", said("m1", ""), at("05:01")),
		line("user", "k1", "u1", asked("Continue from where you left off."), `,"isMeta":true`+at("06:00")),
		line("assistant", "k2", "k1", strings.Replace(said("m2", "No response requested."), "claude-opus-5-5", "<synthetic>", 1), at("06:00")),
		line("user", "u2", "k2", asked("two"), at("06:00")), line("assistant", "a2", "u2", said("m3", "yes"), at("06:01")),
	}
	for _, f := range lintText(t, []byte(strings.Join(lines, "\n")+"\n"), lint.Options{}) {
		if f.Impact != lint.Notes {
			t.Errorf("%s %s on %v: %s", f.Rule.Name, f.Impact, f.Pos, f.Message)
		}
	}
}

// TestLostBranches: what nobody leaves who goes back is named, and all of it is sent once it is mended.
func TestLostBranches(t *testing.T) {
	at := func(version, s string) string {
		return `,"timestamp":"2026-01-20T10:` + s + `.000Z","version":"` + version + `"`
	}
	for name, lines := range map[string][]string{
		"an answer behind an older prompt": {
			line("user", "u1", "", asked("one"), at("2.1.100", "01:00")), line("assistant", "a1", "u1", said("m1", "yes"), at("2.1.100", "01:08")),
			line("user", "u2", "a1", asked("two"), at("2.1.100", "02:00")), line("assistant", "a2", "u1", said("m2", "ok"), at("2.1.100", "02:08")),
		},
		"another client's turn beside the word that a task has ended": {
			line("user", "u1", "", asked("one"), at("2.1.330", "01:00")), line("assistant", "a1", "u1", said("m1", "yes"), at("2.1.330", "01:08")),
			line("user", "r1", "a1", asked("a reminder"), `,"isMeta":true`+at("2.1.330", "02:00")), line("user", "u2", "r1", asked("<task-notification>"), at("2.1.330", "02:00")),
			line("user", "u3", "a1", asked("two"), at("2.1.330", "02:01")), line("assistant", "a2", "u2", said("m2", "it has"), at("2.1.330", "02:08")),
			`{"type":"last-prompt","leafUuid":"a2","sessionId":"s"}`, line("assistant", "a3", "u3", said("m3", "ok"), at("2.1.330", "02:09")),
		},
		"a prompt behind another that was answered": {
			line("user", "u1", "", asked("one"), at("2.0.29", "01:00")), line("assistant", "a1", "u1", said("m1", "yes"), at("2.0.29", "01:08")),
			line("user", "u2", "a1", asked("two"), at("2.0.29", "02:00")), line("assistant", "a2", "u2", said("m2", "ok"), at("2.0.29", "02:08")),
			line("user", "u3", "u1", asked("three"), at("2.0.29", "03:00")), line("assistant", "a3", "u3", said("m3", "so"), at("2.0.29", "03:08")),
		},
		"an answer whose lost prompt stood in front of another client's": {
			line("user", "u1", "", asked("one"), at("1.0.17", "01:00")), line("assistant", "a1", "u1", said("m1", "yes"), at("1.0.17", "01:08")),
			line("user", "u3", "a1", asked("three"), at("1.0.17", "02:00")), line("assistant", "a2", "u2", said("m2", "so"), at("1.0.17", "02:08")),
			line("user", "u4", "a2", asked("four"), at("1.0.17", "03:00")), line("assistant", "a3", "u3", said("m3", "ok"), at("1.0.17", "02:08")),
			line("assistant", "a4", "u4", said("m4", "yes"), at("1.0.17", "03:08")),
		},
		"another client's prompt in front of an answer, with a later time": {
			line("user", "u1", "", asked("one"), at("2.1.215", "01:00")), line("assistant", "a1", "u1", said("m1", "yes"), at("2.1.215", "01:08")),
			line("user", "u2", "a1", asked("two"), at("2.1.215", "02:00")), line("user", "u3", "a1", asked("three"), at("2.1.215", "02:40")),
			line("assistant", "a2", "u2", said("m2", "so"), at("2.1.215", "02:08")), `{"type":"last-prompt","leafUuid":"a2","sessionId":"s"}`,
			line("assistant", "a3", "u3", said("m3", "ok"), at("2.1.215", "02:48")),
		},
		"an answer without a time to another client's prompt, which is later than all that is sent": {
			line("user", "u1", "", asked("one"), at("2.1.100", "01:00")), line("assistant", "a1", "u1", said("m1", "yes"), at("2.1.100", "01:08")),
			line("user", "u3", "a1", asked("three"), at("2.1.100", "02:40")), line("assistant", "a3", "u3", said("m3", "ok"), `,"version":"2.1.100"`),
			line("user", "u2", "a1", asked("two"), at("2.1.100", "02:00")), line("assistant", "a2", "u2", said("m2", "so"), at("2.1.100", "02:08")),
		},
		"a turn begun with a rewind, while another client goes on with what that has left": {
			line("user", "u1", "", asked("one"), at("2.1.330", "01:00")), line("assistant", "a1", "u1", said("m1", "yes"), at("2.1.330", "01:08")),
			line("user", "u2", "a1", asked("two"), at("2.1.330", "02:00")), line("assistant", "a2", "u2", said("m2", "so"), at("2.1.330", "02:08")),
			line("user", "u3", "a1", asked("three"), at("2.1.330", "03:00")),
			`{"type":"last-prompt","leafUuid":"00000000-0000-0000-0000-000000000000","explicit":true,"sessionId":"s"}`,
			line("user", "u4", "a2", asked("four"), at("2.1.330", "03:02")), line("assistant", "a3", "u3", said("m3", "ok"), at("2.1.330", "03:08")),
			line("assistant", "a4", "u4", said("m4", "go"), at("2.1.330", "03:10")), `{"type":"last-prompt","leafUuid":"a4","sessionId":"s"}`,
		},
		"an answer on which an earlier one was left, in front of a rewind": {
			line("user", "u1", "", asked("one"), at("2.1.330", "01:00")), line("assistant", "a1", "u1", said("m1", "let me look"), at("2.1.330", "01:08")),
			line("assistant", "a2", "u1", said("m2", "yes"), at("2.1.330", "01:16")), line("user", "u2", "a2", asked("two"), at("2.1.330", "02:00")),
			`{"type":"last-prompt","leafUuid":"00000000-0000-0000-0000-000000000000","explicit":true,"sessionId":"s"}`,
			line("assistant", "a3", "u2", said("m3", "ok"), at("2.1.330", "02:08")),
		},
	} {
		text := []byte(strings.Join(lines, "\n") + "\n")
		if found := lintText(t, text, lint.Options{}); !slices.ContainsFunc(found, func(f lint.Finding) bool { return f.Rule.Name == "lost-branch" }) {
			t.Errorf("%s: not named: %+v", name, found)
		}
		fixed, _ := mend(t, text, lint.Options{})
		if sent, said := Sent(Lines(fixed)), strings.Count(string(text), `"message":`); len(sent) < said {
			t.Errorf("%s: of %d records %d are sent after the repair: %v", name, said, len(sent), sent)
		}
	}
}

// TestCopiedEnd: where a block of the file stands again at its end, and with it the note of an older end, the client begins
// there. That is named, and once it is mended all is sent.
func TestCopiedEnd(t *testing.T) {
	for scenario, block := range map[string]func(s Session) (from, to int){
		"bigout": func(s Session) (from, to int) { return s.find(0, isCall), s.find(0, isText) + 1 },
		"tool_error": func(s Session) (from, to int) { // the output of the first of two parallel calls, off the path
			from = s.firstOut()
			return from, from + slices.IndexFunc(s[from:], func(l []byte) bool { return get(l, "type") == "last-prompt" }) + 1
		},
	} {
		s, _ := recording(t, "2.1.330", scenario)
		from, to := block(s)
		damaged := append(slices.Clone(s), s[from:to]...)
		if len(unsent(damaged, Sent(s), damaged)) == 0 || !named(t, damaged.Bytes()) {
			t.Errorf("%s: the copied block does no harm, or is not named", scenario)
		}
		fixed, _ := mend(t, damaged.Bytes(), lint.Options{})
		if left := unsent(damaged, Sent(s), Lines(fixed)); len(left) > 0 {
			t.Errorf("%s: not sent after the repair: %v", scenario, left)
		}
	}
}

// TestEndElsewhere: where the last record of the file does not hang on the end that the client has noted, 2.1.215 and 2.1.330
// begin at that end, and send nothing of a turn that another client has played behind it. That is named and mended, whatever the
// last record is.
func TestEndElsewhere(t *testing.T) {
	at := func(s string) string { return `,"timestamp":"2026-11-20T10:` + s + `Z","version":"2.1.330"` }
	lines := []string{
		line("user", "u1", "", asked("one"), at("01:00.000")), line("assistant", "a1", "u1", said("m1", "yes"), at("01:08.000")),
		line("user", "u2", "a1", asked("two"), at("02:00.000")), line("assistant", "a2", "u2", said("m2", "so"), at("02:08.000")),
		`{"type":"last-prompt","lastPrompt":"two","leafUuid":"a2","sessionId":"s"}`,
		line("user", "u3", "a2", asked("three"), at("03:00.000")), line("assistant", "a3", "u3", said("m3", "good"), at("03:08.000")),
	}
	for name, last := range map[string]string{
		"a copy of an older record":           lines[2],
		"a prompt that hangs on another turn": line("user", "u4", "a1", asked("four"), at("04:00.000")),
		"what nothing hangs on":               `{"type":"system","subtype":"informational","uuid":"s1","parentUuid":null,"content":"hello"}`,
	} {
		text := []byte(strings.Join(append(slices.Clone(lines), last), "\n") + "\n")
		if Sent(Lines(text))["a3"] || !named(t, text) {
			t.Errorf("%s does no harm, or is not named", name)
		}
		fixed, _ := mend(t, text, lint.Options{})
		if sent := Sent(Lines(fixed)); !sent["u1"] || !sent["u2"] || !sent["u3"] || !sent["a3"] {
			t.Errorf("%s: sent after the repair: %v", name, sent)
		}
	}
}

// TestPromptToldAgain: what the client notes of a prompt at the end of its turn is not taken for the next prompt, where that is lost.
func TestPromptToldAgain(t *testing.T) {
	at := func(s string) string { return `,"timestamp":"2026-11-20T10:` + s + `.000Z","version":"2.1.330"` }
	ended := func(text string) string {
		return strings.Replace(said("m", text), `"stop_reason"`, `"stop_sequence":null,"stop_reason"`, 1)
	}
	lines := []string{
		line("user", "u1", "", asked("one"), at("01:00")), line("assistant", "a1", "u1", ended("yes"), at("01:08")),
		`{"type":"last-prompt","lastPrompt":"one","leafUuid":"a1","sessionId":"s"}`,
		line("assistant", "a2", "u2", strings.Replace(ended("so"), `"m"`, `"m2"`, 1), at("02:08")),
	}
	for last, want := range map[string]string{
		`{"type":"last-prompt","lastPrompt":"two","leafUuid":"a2","sessionId":"s"}`: `"content":"two"`,
		`{"type":"mode","mode":"normal","sessionId":"s"}`:                           "",
	} {
		fixed, rep := mend(t, []byte(strings.Join(append(slices.Clone(lines), last), "\n")+"\n"), lint.Options{})
		if n := strings.Count(string(fixed), `"content":"one"`); n != 1 || !strings.Contains(string(fixed), want) {
			t.Errorf("the first prompt stands %d times, want once, and %q: %+v", n, want, rep)
		}
	}
}

// TestLinksLost: of what the client adds behind a command two records are lost, and the command: the one between them, on which
// nothing hangs any more, is taken for a parent by its time. All that stands above it is sent again once that is mended.
func TestLinksLost(t *testing.T) {
	at := func(s string) string { return `,"timestamp":"2026-11-20T10:` + s + `Z","version":"2.1.330"` }
	added := func(uuid, parent, s string) string {
		return fmt.Sprintf(`{"type":"attachment","uuid":%q,"parentUuid":%q,"attachment":{"type":"date"}%s}`, uuid, parent, at(s))
	}
	lines := []string{
		line("user", "u1", "", asked("one"), at("01:00.000")), line("assistant", "a1", "u1", said("m1", "yes"), at("01:08.000")),
		added("x1", "lost1", "02:00.500"), added("x3", "lost2", "02:00.502"),
		line("user", "u3", "x3", asked("three"), at("03:00.000")), line("assistant", "a3", "u3", said("m3", "so"), at("03:08.000")),
	}
	text := []byte(strings.Join(lines, "\n") + "\n")
	if !named(t, text) {
		t.Error("not named")
	}
	fixed, _ := mend(t, text, lint.Options{})
	if sent := Sent(Lines(fixed)); !sent["u1"] || !sent["a1"] || !sent["u3"] || !sent["a3"] {
		t.Errorf("sent after the repair: %v", sent)
	}
}

// TestSummaryAndMoreLost: the summary of a compaction is lost with what followed it. It is written again from the next request.
func TestSummaryAndMoreLost(t *testing.T) {
	s, _ := recording(t, "2.1.330", "compact")
	i := s.find(0, func(l []byte) bool { return gjson.GetBytes(l, "isCompactSummary").Bool() })
	next := i + 1
	for get(s[next], "type") == "user" {
		next++
	}
	text := append(slices.Clone(s[:i]), s[next:]...).Bytes()
	if found := lintText(t, text, lint.Options{}); !slices.ContainsFunc(found, func(f lint.Finding) bool { return f.Rule.Name == "lost-summary" && f.Fix == lint.Recovered }) {
		t.Errorf("not named: %+v", found)
	}
}

// TestCallIDKept: of a call and its output that name different ids, the call's was changed if it is none that the API gives.
func TestCallIDKept(t *testing.T) {
	s, _ := recording(t, "2.1.330", "resumed")
	i := s.readCall()
	id := get(s[i], "message.content.0.id")
	for _, changed := range []string{strings.Replace(id, "toolu_", "toglu_", 1), id + ":"} {
		damaged := s.with(i, bytes.Replace(bytes.Clone(s[i]), []byte(id), []byte(changed), 1))
		fixed, _ := mend(t, damaged.Bytes(), lint.Options{})
		if !bytes.Equal(fixed, s.Bytes()) {
			t.Errorf("%s is not %s again", changed, id)
		}
	}
}

// TestTornEndElsewhere: the last line was cut, and is a prompt that hangs in front of the last turn. 2.0.29 notes no rewinds, so this
// may be one, but the client skips the line, and what it sends without it is sent with it, too.
func TestTornEndElsewhere(t *testing.T) {
	s, _ := recording(t, "2.0.29", "resumed")
	p, _ := branch(s[s.endOfTurn()], time.Hour, "1")
	damaged := append(s.Bytes(), p[:len(p)-40]...)
	fixed, _ := mend(t, damaged, lint.Options{})
	if left := unsent(s, Sent(s), Lines(fixed)); len(left) > 0 || !strings.Contains(string(fixed), "branch prompt") {
		t.Errorf("not sent after the repair: %v", left)
	}
}

// TestPromptToldOnce: of another client's prompt only the answer is left, and stands in front of the next prompt. The words that the
// client has noted of that are not put there a second time.
func TestPromptToldOnce(t *testing.T) {
	s, _ := recording(t, "2.1.100", "thinking")
	i := s.second()
	_, a := branch(s[s.endOfTurn()], time.Minute, "1")
	damaged := slices.Insert(slices.Clone(s), i, a)
	fixed, _ := mend(t, damaged.Bytes(), lint.Options{})
	words := get(s[i], "message.content")
	prompts := 0
	for _, l := range Lines(fixed) {
		if isPrompt(l) && get(l, "message.content") == words {
			prompts++
		}
	}
	if prompts != 1 || !Sent(Lines(fixed))[get(s[i], "uuid")] {
		t.Errorf("%q stands %d times in the repaired session, want once", words, prompts)
	}
}

// TestParentBehindMark: one of two parallel calls, off the path, names as its parent what the client added behind a later compaction.
// What follows the compaction is sent before the repair, and after it.
func TestParentBehindMark(t *testing.T) {
	s, _ := recording(t, "2.1.215", "compact")
	i, mark := s.nextCall(), mark(s)
	late := mark + slices.IndexFunc(s[mark:], func(l []byte) bool { return get(l, "type") == "attachment" })
	damaged := s.with(i, Set(s[i], "", "parentUuid", `"`+get(s[late], "uuid")+`"`))
	fixed, _ := mend(t, damaged.Bytes(), lint.Options{})
	if left := unsent(s, Sent(s), Lines(fixed)); len(left) > 0 {
		t.Errorf("not sent after the repair: %v", left)
	}
}
