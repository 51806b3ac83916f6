package pi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/pi"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

const fixtures = "../../../fixtures/pi"

// recording is a session that a real client wrote.
func recording(t testing.TB, version, scenario string) (name string, text []byte) {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(fixtures, version, scenario, "*.jsonl"))
	if len(paths) == 0 {
		t.Fatalf("no recording %s of %s", scenario, version)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(paths[0]), text
}

// TestUTF16: no version reads a file of UTF-16, with a mark or without one; what the client has appended to it since is kept.
func TestUTF16(t *testing.T) {
	name, text := recording(t, "1.5.2", "tree")
	wide := func(text []byte) (b []byte) {
		for _, c := range utf16.Encode([]rune(string(text))) {
			b = append(b, byte(c), byte(c>>8))
		}
		return b
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	half := len(lines) / 2
	head, tail := bytes.Join(lines[:half], nil), bytes.Join(lines[half:], nil)
	for what, damaged := range map[string][]byte{
		"unmarked": wide(text), "marked": append([]byte("\xff\xfe"), wide(text)...),
		"unmarked, then UTF-8": append(wide(head), tail...), "marked, then UTF-8": append(append([]byte("\xff\xfe"), wide(head)...), tail...),
	} {
		for _, version := range []string{"0.74.2", "1.5.2"} {
			res, err := lint.Session(context.Background(), bytes.NewReader(damaged), lint.Options{Agent: "pi", Name: lint.NameOf(name, false), For: map[string]string{"pi": version}})
			if err != nil || len(res.Findings) != 1 || res.Findings[0].Impact != lint.Blocks {
				t.Errorf("%s, for %s: %+v, %v", what, version, res.Findings, err)
			}
		}
		if out := repaired(t, name, damaged); !bytes.Equal(out, text) {
			t.Errorf("%s: repaired to\n%s", what, out)
		}
	}
}

func linted(t testing.TB, name string, text []byte) *lint.Result {
	t.Helper()
	res, err := lint.Session(context.Background(), bytes.NewReader(text), lint.Options{Agent: "pi", Name: lint.NameOf(name, false)})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func repaired(t testing.TB, name string, text []byte) []byte {
	t.Helper()
	src, err := source.Stdin(bytes.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var out bytes.Buffer
	if _, err := repair.Do(context.Background(), repair.Job{Source: src, Mode: repair.ToStream, Stream: &out, Lint: lint.Options{Agent: "pi", Name: lint.NameOf(name, false)}}); err != nil {
		t.Errorf("repair: %v", err)
		return text
	}
	return out.Bytes()
}

func sent(t testing.TB, text []byte) *session.Sent {
	t.Helper()
	s, err := pi.Agent.ReadSent(text, agent.ReadAt{}, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// kept is how many items of a healthy session are sent of another text.
func kept(healthy, of *session.Sent) int {
	if of.Refused != "" {
		return 0
	}
	return healthy.Own() - len(healthy.Missing(of))
}

// damage is one way to damage a session: its lines, the header first.
type damage struct {
	name string
	base string // the scenario; "clean"
	lost int    // how many of its items nothing brings back
	do   func(l []string) []string
}

func at(l []string, part string, nth int) int {
	for i, line := range l {
		if strings.Contains(line, part) {
			if nth--; nth < 0 {
				return i
			}
		}
	}
	panic("no line with " + part)
}

const (
	user   = `"role":"user"`
	model  = `"role":"assistant"`
	result = `"role":"toolResult"`
)

func without(part string, nth int) func([]string) []string {
	return func(l []string) []string { i := at(l, part, nth); return slices.Delete(l, i, i+1) }
}

func swap(part string, nth int, re, with string) func([]string) []string {
	return func(l []string) []string {
		i := at(l, part, nth)
		was := l[i]
		if l[i] = replaceFirst(l[i], re, with); l[i] == was {
			panic("nothing replaced by " + re)
		}
		return l
	}
}

func replaceFirst(s, re, with string) string {
	r := regexp.MustCompile(re)
	m := r.FindStringSubmatchIndex(s)
	if m == nil {
		return s
	}
	return s[:m[0]] + string(r.ExpandString(nil, with, s, m)) + s[m[1]:]
}

func id(line string) string {
	return regexp.MustCompile(`"id":"([0-9a-f]{8})"`).FindStringSubmatch(line)[1]
}

func add(at int, lines ...string) func([]string) []string {
	return func(l []string) []string {
		i := at
		if i < 0 {
			i = len(l) + 1 + at
		}
		return slices.Insert(l, i, lines...)
	}
}

func all(do ...func([]string) []string) func([]string) []string {
	return func(l []string) []string {
		for _, d := range do {
			l = d(l)
		}
		return l
	}
}

// relinked hangs what hung on a line that is gone on the line before it.
func relinked(part string, nth int) func([]string) []string {
	return func(l []string) []string {
		i := at(l, part, nth)
		gone, up := id(l[i]), id(l[i-1])
		l = slices.Delete(l, i, i+1)
		for k := range l {
			l[k] = strings.ReplaceAll(l[k], `"parentId":"`+gone+`"`, `"parentId":"`+up+`"`)
		}
		return l
	}
}

const up = `"parentId":"[0-9a-f]{8}"`

// damages are the ways in which sessions were seen to be damaged, or can be.
var damages = []damage{
	{"lost output", "clean", 1, without(result, 1)},
	{"lost output of two", "parallel", 1, without(result, 1)},
	{"lost first output of two", "parallel", 1, without(result, 0)},
	{"lost output, relinked", "clean", 1, relinked(result, 1)},
	{"lost call", "clean", 1, without(model, 1)},
	{"lost call of two", "parallel", 3, without(model, 0)},
	{"lost call, relinked", "clean", 1, relinked(model, 1)},
	{"lost pair", "clean", 2, all(without(result, 1), without(model, 1))},
	{"lost answer", "resumed", 1, without(`"stopReason":"stop"`, 0)},
	{"lost prompt", "resumed", 1, without(user, 1)},
	{"lost first prompt", "clean", 1, without(user, 0)},
	{"lost last", "clean", 1, without(`"stopReason":"stop"`, 0)},
	{"lost system", "clean", 0, without(`"role":"system"`, 0)},
	{"lost settings", "clean", 0, without("model_change", 0)},
	{"two lost", "resumed", 2, all(without(result, 1), without(user, 1))},
	{"dangling parent", "clean", 0, swap(model, 2, up, `"parentId":"00000000"`)},
	{"dangling parent of a result", "clean", 0, swap(result, 1, up, `"parentId":"00000000"`)},
	{"null parent", "resumed", 0, swap(user, 1, up, `"parentId":null`)},
	{"null parent of an answer", "clean", 0, swap(model, 2, up, `"parentId":null`)},
	{"no parent key", "clean", 0, swap(model, 2, up+",", "")},
	{"parent is a number", "clean", 0, swap(model, 2, up, `"parentId":7`)},
	{"circle", "clean", 0, func(l []string) []string {
		return swap(user, 0, up, `"parentId":"`+id(l[at(l, result, 1)])+`"`)(l)
	}},
	{"self parent", "clean", 0, func(l []string) []string {
		return swap(result, 1, up, `"parentId":"`+id(l[at(l, result, 1)])+`"`)(l)
	}},
	{"no id", "clean", 0, swap(result, 1, `"id":"[0-9a-f]{8}",`, "")},
	{"id is a number", "clean", 0, swap(result, 1, `"id":"[0-9a-f]{8}"`, `"id":12345678`)},
	{"id in capitals", "clean", 0, func(l []string) []string {
		i := at(l, result, 1)
		l[i] = strings.Replace(l[i], id(l[i]), strings.ToUpper(id(l[i])), 1)
		return l
	}},
	{"no id at the end", "clean", 0, func(l []string) []string {
		l[len(l)-1] = replaceFirst(l[len(l)-1], `"id":"[0-9a-f]{8}",`, "")
		return l
	}},
	{"line twice", "clean", 0, func(l []string) []string { i := at(l, user, 0); return slices.Insert(l, i, l[i]) }},
	{"early block again at the end", "clean", 0, func(l []string) []string { return append(l, l[4:8]...) }},
	{"all again", "clean", 0, func(l []string) []string { return append(l, l...) }},
	{"id of another", "clean", 0, func(l []string) []string {
		i := at(l, result, 2)
		l[i] = strings.Replace(l[i], id(l[i]), id(l[at(l, result, 0)]), 1)
		return l
	}},
	{"dangling leaf", "clean", 0, func(l []string) []string {
		l[len(l)-1] = replaceFirst(l[len(l)-1], up, `"parentId":"00000000"`)
		return l
	}},
	{"bookmark that dangles", "clean", 0, add(-1, `{"type":"label","id":"aaaaaaaa","parentId":"bbbbbbbb","timestamp":"2026-11-27T00:00:00.000Z","targetId":"bbbbbbbb","label":"here"}`)},
	{"name with null", "clean", 0, add(-1, `{"type":"session_info","id":"aaaaaaaa","parentId":null,"timestamp":"2026-11-27T00:00:00.000Z","name":"beds"}`)},
	{"second root at the end", "clean", 0, add(-1, `{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-11-27T00:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"what else?"}],"timestamp":1795737074120}}`)},
	{"reversed", "clean", 0, func(l []string) []string { slices.Reverse(l[1:]); return l }},
	{"all reversed", "clean", 0, func(l []string) []string { slices.Reverse(l); return l }},
	{"last moved up", "clean", 0, func(l []string) []string { n := len(l); l[n-1], l[n-2] = l[n-2], l[n-1]; return l }},
	{"block swapped", "clean", 0, func(l []string) []string {
		n := len(l)
		return append(append(append([]string{}, l[:n-4]...), l[n-2:]...), l[n-4:n-2]...)
	}},
	{"call and output swapped", "clean", 0, func(l []string) []string { i := at(l, result, 1); l[i], l[i-1] = l[i-1], l[i]; return l }},
	{"foreign in the middle", "clean", 0, add(6, `{"level":"info","msg":"x"}`)},
	{"foreign at the end", "clean", 0, add(-1, `{"level":"info","msg":"x"}`)},
	{"foreign at the end, and went on", "clean", 0, add(-1, `{"level":"info","msg":"x"}`, `{"type":"message","id":"aaaaaaaa","timestamp":"2026-11-27T00:00:00.000Z","message":{"role":"user","content":"more?","timestamp":1}}`)},
	{"codex at the end", "clean", 0, add(-1, `{"timestamp":"2026-11-27T00:00:00.000Z","type":"event_msg","payload":{"type":"token_count","info":null}}`)},
	{"unknown type with id", "clean", 0, func(l []string) []string {
		return append(l, `{"type":"note","id":"aaaaaaaa","parentId":"`+id(l[len(l)-1])+`","timestamp":"2026-11-27T00:00:00.000Z"}`)
	}},
	{"null line", "clean", 0, add(6, "null")},
	{"null at the end", "clean", 0, add(-1, "null")},
	{"number at the end", "clean", 0, add(-1, "42")},
	{"list at the end", "clean", 0, add(-1, "[]")},
	{"empty object at the end", "clean", 0, add(-1, "{}")},
	{"text in the middle", "clean", 0, add(6, `"x"`)},
	{"lost header", "clean", 0, func(l []string) []string { return l[1:] }},
	{"torn header", "clean", 0, func(l []string) []string { l[0] = l[0][:90]; return l }},
	{"garbage before", "clean", 0, add(0, "x!x")},
	{"null before", "clean", 0, add(0, "null")},
	{"header second", "clean", 0, func(l []string) []string { l[0], l[1] = l[1], l[0]; return l }},
	{"header last", "clean", 0, func(l []string) []string { return append(l[1:], l[0]) }},
	{"header glued", "clean", 0, func(l []string) []string { l[1] = l[0] + l[1]; return l[1:] }},
	{"header behind NULs", "clean", 0, func(l []string) []string { l[0] = strings.Repeat("\x00", 40) + l[0]; return l }},
	{"no version", "tree", 0, swap(`"type":"session"`, 0, `"version":3,`, "")},
	{"no version, compacted", "compact", 0, swap(`"type":"session"`, 0, `"version":3,`, "")},
	{"version is null", "clean", 0, swap(`"type":"session"`, 0, `"version":3`, `"version":null`)},
	{"header without id", "clean", 0, swap(`"type":"session"`, 0, `"id":"[^"]*",`, "")},
	{"header id is a number", "clean", 0, swap(`"type":"session"`, 0, `"id":"[^"]*"`, `"id":7`)},
	{"header id is empty", "clean", 0, swap(`"type":"session"`, 0, `"id":"[^"]*"`, `"id":""`)},
	{"header of another type", "clean", 0, swap(`"type":"session"`, 0, `"type":"session"`, `"type":"sessoin"`)},
	{"torn tail", "clean", 1, func(l []string) []string { l[len(l)-1] = l[len(l)-1][:70]; return l }},
	{"half a line", "clean", 1, func(l []string) []string { i := at(l, result, 1); l[i] = l[i][:len(l[i])/2]; return l }},
	{"half a call", "clean", 1, func(l []string) []string { i := at(l, model, 1); l[i] = l[i][:200]; return l }},
	{"torn start glued", "clean", 0, func(l []string) []string { i := at(l, result, 1); l[i] = l[i][:60] + l[i]; return l }},
	{"two glued", "clean", 0, func(l []string) []string { i := at(l, result, 1); l[i-1] += l[i]; return slices.Delete(l, i, i+1) }},
	{"three glued", "clean", 0, func(l []string) []string {
		i := at(l, result, 1)
		l[i-1] += l[i] + l[i+1]
		return slices.Delete(l, i, i+2)
	}},
	{"last two glued", "clean", 0, func(l []string) []string { n := len(l); l[n-2] += l[n-1]; return l[:n-1] }},
	{"split", "clean", 0, func(l []string) []string {
		i := at(l, result, 1)
		return slices.Replace(l, i, i+1, l[i][:100], l[i][100:])
	}},
	{"raw tab", "clean", 1, swap(user, 0, `"text":"`, "\"text\":\"\t")},
	{"NULs before a record", "clean", 0, func(l []string) []string { i := at(l, model, 1); l[i] = "\x00\x00\x00" + l[i]; return l }},
	{"NULs in a record", "clean", 0, func(l []string) []string { i := at(l, model, 1); l[i] = l[i][:100] + "\x00\x00" + l[i][100:]; return l }},
	{"NULs over a record", "clean", 1, func(l []string) []string { i := at(l, model, 1); l[i] = strings.Repeat("\x00", len(l[i])); return l }},
	{"garbage over an answer", "clean", 1, func(l []string) []string { i := at(l, model, 1); l[i] = strings.Repeat("#", len(l[i])); return l }},
	{"byte order mark", "clean", 0, func(l []string) []string { l[0] = "\ufeff" + l[0]; return l }},
	{"only carriage returns", "clean", 0, func(l []string) []string { return []string{strings.Join(l, "\r")} }},
	{"CRLF", "clean", 0, func(l []string) []string {
		for i := range l {
			l[i] += "\r"
		}
		return l
	}},
	{"NULs at the end", "clean", 0, add(-1, strings.Repeat("\x00", 100))},
	{"bad byte", "clean", 1, swap(user, 0, `valve`, "val\xffve")},
	{"half a surrogate", "clean", 1, swap(user, 0, `valve`, `val\ud83dve`)},
	{"output torn at the end", "clean", 2, func(l []string) []string { i := at(l, result, 3); l[i] = l[i][:len(l[i])-120]; return l[:i+1] }},
	{"key twice", "clean", 0, swap(user, 0, `"role":"user"`, `"role":"x","role":"user"`)},
	{"printed by jq", "parallel", 0, func(l []string) (out []string) {
		for _, line := range l {
			var b bytes.Buffer
			json.Indent(&b, []byte(line), "", "  ") //nolint:errcheck // a real client wrote it
			out = append(out, strings.Split(b.String(), "\n")...)
		}
		return out
	}},
	{"two results lost", "clean", 2, all(without(result, 2), without(result, 0))},
	{"three in a row lost", "clean", 3, func(l []string) []string { i := at(l, model, 1); return slices.Delete(l, i, i+3) }},
	{"only ends are left", "clean", 9, func(l []string) []string { return append(l[:4], l[len(l)-2:]...) }},
	{"every second line lost", "resumed", 99, func(l []string) (out []string) {
		for i, line := range l {
			if i < 4 || i%2 == 0 {
				out = append(out, line)
			}
		}
		return out
	}},
	{"header and a result lost", "clean", 1, func(l []string) []string { return without(result, 1)(l[1:]) }},
	{"glued and a lost prompt", "resumed", 1, func(l []string) []string {
		l = without(user, 1)(l)
		i := at(l, result, 0)
		l[i-1] += l[i]
		return slices.Delete(l, i, i+1)
	}},
	{"call without id and name", "parallel", 0, all(swap(model, 0, `"id":"call_b1",`, ""), swap(model, 0, `"name":"read",`, ""))},
	{"both calls without ids", "parallel", 0, all(swap(model, 0, `"id":"call_b1",`, ""), swap(model, 0, `"id":"call_b2",`, ""))},
	{"second compaction's kept is unknown", "compact_twice", 0, swap(`"type":"compaction"`, 1, `"firstKeptEntryId":"[^"]*"`, `"firstKeptEntryId":"00000000"`)},
	{"orphan", "clean", 0, func(l []string) []string {
		i := at(l, model, 1)
		l[i] = replaceFirst(l[i], up, `"parentId":"aaaaaaaa"`)
		return slices.Insert(l, i, `{"type":"message","id":"aaaaaaaa","parentId":"`+id(l[i-1])+`","timestamp":"2026-11-26T23:47:13.452Z","message":{"role":"toolResult","toolCallId":"call_zz","toolName":"read","content":[{"type":"text","text":"what?"}],"isError":false,"timestamp":1795736833452}}`)
	}},
	{"output twice", "clean", 0, func(l []string) []string {
		i := at(l, result, 1)
		twin := replaceFirst(replaceFirst(l[i], `"id":"[0-9a-f]{8}"`, `"id":"aaaaaaaa"`), up, `"parentId":"`+id(l[i])+`"`)
		l[i+1] = replaceFirst(l[i+1], up, `"parentId":"aaaaaaaa"`)
		return slices.Insert(l, i+1, twin)
	}},
	{"output behind the next call", "clean", 0, func(l []string) []string {
		i := at(l, result, 1) // call, result, call, result
		call, r, next, after := id(l[i-1]), id(l[i]), id(l[i+1]), i+2
		l[i+1] = replaceFirst(l[i+1], up, `"parentId":"`+call+`"`)
		l[i] = replaceFirst(l[i], up, `"parentId":"`+next+`"`)
		l[after] = replaceFirst(l[after], up, `"parentId":"`+r+`"`)
		l[i], l[i+1] = l[i+1], l[i]
		return l
	}},
	{"output of another call", "clean", 0, swap(result, 1, `"toolCallId":"[^"]*"`, `"toolCallId":"call_zz"`)},
	{"output without call id", "clean", 0, swap(result, 1, `"toolCallId":"[^"]*",`, "")},
	{"call id is a number", "clean", 0, swap(result, 1, `"toolCallId":"[^"]*"`, `"toolCallId":7`)},
	{"output is a text", "clean", 0, swap(result, 1, `"content":\[\{"type":"text","text":("(?:[^"\\]|\\.)*")\}\]`, `"content":$1`)},
	{"output is null", "clean", 1, swap(result, 1, `"content":\[\{"type":"text","text":("(?:[^"\\]|\\.)*")\}\]`, `"content":null`)},
	{"call without id", "clean", 0, swap(model, 1, `"id":"call_a2",`, "")},
	{"call with empty id", "clean", 0, swap(model, 1, `"id":"call_a2"`, `"id":""`)},
	{"two calls of one id", "parallel", 0, swap(model, 0, `"id":"call_b2"`, `"id":"call_b1"`)},
	{"arguments are a text", "clean", 0, swap(model, 1, `"arguments":\{"command":"([^"]*)"\}`, `"arguments":"{\"command\":\"$1\"}"`)},
	{"no arguments", "clean", 1, swap(model, 1, `,"arguments":\{"command":"([^"]*)"\}`, "")},
	{"arguments are null", "clean", 1, swap(model, 1, `"arguments":\{"command":"([^"]*)"\}`, `"arguments":null`)},
	{"call with empty name", "clean", 0, swap(model, 1, `"name":"bash"`, `"name":""`)},
	{"call without name", "clean", 0, swap(model, 1, `"name":"bash",`, "")},
	{"answer marked as failed", "clean", 0, swap(model, 1, `"stopReason":"toolUse"`, `"stopReason":"error"`)},
	{"answer marked as stopped", "parallel", 0, swap(model, 0, `"stopReason":"toolUse"`, `"stopReason":"aborted"`)},
	{"content is null", "clean", 1, swap(`"stopReason":"stop"`, 0, `"content":\[\{"type":"text","text":"[^"]*"\}\]`, `"content":null`)},
	{"no content", "clean", 1, swap(`"stopReason":"stop"`, 0, `"content":\[\{"type":"text","text":"[^"]*"\}\],`, ``)},
	{"content is a text", "clean", 0, swap(`"stopReason":"stop"`, 0, `"content":\[\{"type":"text","text":("[^"]*")\}\]`, `"content":$1`)},
	{"content is an object", "clean", 0, swap(`"stopReason":"stop"`, 0, `"content":\[(\{"type":"text","text":"[^"]*"\})\]`, `"content":$1`)},
	{"prompt is a number", "clean", 1, swap(user, 0, `"content":\[\{"type":"text","text":"[^"]*"\}\]`, `"content":5`)},
	{"wrong role", "clean", 0, swap(model, 1, `"role":"assistant"`, `"role":"model"`)},
	{"no role", "clean", 0, swap(result, 1, `"role":"toolResult",`, ``)},
	{"developer", "clean", 0, swap(user, 0, `"role":"user"`, `"role":"developer"`)},
	{"no message", "clean", 1, swap(`"stopReason":"stop"`, 0, `,"message":\{.*\}\}`, `}`)},
	{"message is null", "clean", 1, swap(`"stopReason":"stop"`, 0, `"message":\{.*\}\}`, `"message":null}`)},
	{"message is null in the middle", "clean", 1, swap(model, 1, `"message":\{.*\}\}`, `"message":null}`)},
	{"null block", "clean", 0, swap(model, 0, `"content":\[`, `"content":[null,`)},
	{"block without type", "clean", 0, swap(model, 0, `\{"type":"text",`, `{`)},
	{"text is a number", "clean", 1, swap(model, 0, `"text":"[^"]*"`, `"text":5`)},
	{"block without text", "clean", 1, swap(model, 0, `"type":"text","text":"[^"]*"`, `"type":"text"`)},
	{"no usage", "clean", 0, swap(model, 1, `"usage":\{.*?\}\},`, "")},
	{"usage is null", "clean", 0, swap(model, 1, `"usage":\{.*?\}\},`, `"usage":null,`)},
	{"tools without names", "clean", 0, swap(`"role":"system"`, 0, `"toolsAdded":\[`, `"toolsAdded":[{},`)},
	{"context edit without replacement", "clean", 0, func(l []string) []string {
		return append(l, `{"type":"context_edit","id":"aaaaaaaa","parentId":"`+id(l[len(l)-1])+`","timestamp":"2026-11-27T00:00:00.000Z","targetId":"`+id(l[len(l)-1])+`"}`)
	}},
	{"lost compaction", "compact", 1, without(`"type":"compaction"`, 0)},
	{"kept is unknown", "compact", 0, swap(`"type":"compaction"`, 0, `"firstKeptEntryId":"[^"]*"`, `"firstKeptEntryId":"00000000"`)},
	{"kept is missing", "compact", 0, swap(`"type":"compaction"`, 0, `"firstKeptEntryId":"[^"]*",`, ``)},
	{"kept is lost", "compact", 1, without(user, 1)},
	{"kept is lost, relinked", "compact", 1, relinked(user, 1)},
	{"kept is a result", "compact", 1, func(l []string) []string {
		return swap(`"type":"compaction"`, 0, `"firstKeptEntryId":"[^"]*"`, `"firstKeptEntryId":"`+id(l[at(l, result, 1)])+`"`)(l)
	}},
	{"kept is behind", "compact", 0, func(l []string) []string {
		return swap(`"type":"compaction"`, 0, `"firstKeptEntryId":"[^"]*"`, `"firstKeptEntryId":"`+id(l[at(l, user, 2)])+`"`)(l)
	}},
	{"no summary", "compact", 1, swap(`"type":"compaction"`, 0, `"summary":"(?:[^"\\]|\\.)*",`, "")},
	{"empty summary", "compact", 1, swap(`"type":"compaction"`, 0, `"summary":"(?:[^"\\]|\\.)*"`, `"summary":""`)},
	{"compaction dangles", "compact", 0, swap(`"type":"compaction"`, 0, up, `"parentId":"00000000"`)},
	{"compaction torn", "compact", 1, func(l []string) []string { i := at(l, `"type":"compaction"`, 0); l[i] = l[i][:130]; return l }},
	{"lost fork point", "tree", 1, without(model, 1)},
	{"lost branch summary", "tree", 1, without(`"type":"branch_summary"`, 0)},
	{"image without data", "image", 1, swap(user, 0, `"data":"[^"]*",`, "")},
	{"image is no image", "image", 1, swap(user, 0, `"data":"[^"]*"`, `"data":"bm8gaW1hZ2UgYXQgYWxs"`)},
	{"empty image", "image", 1, swap(user, 0, `"data":"[^"]*"`, `"data":""`)},
	{"image of another type", "image", 0, swap(user, 0, `"mimeType":"image/png"`, `"mimeType":"image/jpeg"`)},
	{"thinking without text", "thinking", 1, swap(`"type":"thinking"`, 0, `"thinking":"[^"]*",`, "")},
	{"call id that no API takes", "thinking", 2, func(l []string) []string {
		for i := range l {
			l[i] = regexp.MustCompile(`"(id|toolCallId)":"(toolu_[a-z0-9]+|call_[a-z0-9]+)"`).ReplaceAllString(l[i], `"$1":"$2!?"`)
		}
		return l
	}},
}

// TestDamage damages what real clients wrote in each of these ways. What the client then sends of the repaired session is all of it that can
// be had, the API refuses nothing of it, and a second repair changes nothing.
func TestDamage(t *testing.T) {
	could, is, was := 0, 0, 0
	for _, version := range []string{"1.5.2", "0.74.2"} {
		for _, d := range damages {
			name, text := recording(t, version, d.base)
			lines, ok := tried(strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), d.do)
			if !ok {
				if version == "1.5.2" {
					t.Errorf("%s: can't be done", d.name)
				}
				continue
			}
			healthy, bad := sent(t, text), []byte(strings.Join(lines, "\n"))
			if d.name != "torn tail" {
				bad = append(bad, '\n')
			}
			t.Run(version+"/"+d.name, func(t *testing.T) {
				before, out := sent(t, bad), repaired(t, name, bad)
				after := sent(t, out)
				can := healthy.Own() - d.lost
				could, was, is = could+can, was+min(can, kept(healthy, before)), is+min(can, kept(healthy, after))
				refused, invalid, _ := pi.Judged(out, "")
				if n := kept(healthy, after); n < can || n < kept(healthy, before) || refused != "" || invalid > 0 {
					t.Errorf("%d of %d items are sent, %d before; refused %q, %d are invalid", n, can, kept(healthy, before), refused, invalid)
					for _, f := range linted(t, name, bad).Findings {
						t.Logf("%s: %s [%s, %s, %s]", f.Pos, f.Message, f.Rule.Name, f.Impact, f.Fix)
					}
				}
				for _, f := range linted(t, name, out).Findings {
					if f.Impact > lint.Notes && f.Fix != lint.NoFix {
						t.Errorf("left: %s: %s [%s, %s]", f.Pos, f.Message, f.Rule.Name, f.Impact)
					}
				}
				if again := repaired(t, name, out); !bytes.Equal(again, out) {
					t.Error("a second repair changes it again")
				}
				if t.Failed() {
					t.Logf("repaired:\n%s", clipped(out))
				}
			})
		}
	}
	t.Logf("damaged sessions: %d of %d items before, %d after", was, could, is)
}

// TestImpacts: what a damage does is what the client makes of the lines as they stand.
func TestImpacts(t *testing.T) {
	for _, c := range []struct {
		version, base string
		damage
		want lint.Impact
	}{
		{"1.5.2", "clean", damage{name: "a bit of the key message", do: swap(user, 0, `"message":`, `"messaoe":`)}, lint.Blocks},
		{"1.5.2", "clean", damage{name: "a bit of the key usage", do: swap(`"stopReason":"stop"`, 0, `"content":`, `"contenu":`)}, lint.Loses},
		{"1.5.2", "clean", damage{name: "a bit of a call's key", do: swap(model, 0, `"arguments":`, `"argumenus":`)}, lint.Rejects},
		{"1.5.2", "clean", damage{name: "a bit of the time", do: swap(user, 0, `"timestamp":"`, `"timestamq":"`)}, lint.Shows},
		{"1.5.2", "clean", damage{name: "the start of the header, glued to the next record", do: func(l []string) []string { l[1] = l[0][:50] + l[1]; return l[1:] }}, lint.Blocks},
		{"1.5.2", "clean", damage{name: "two settings glued", do: func(l []string) []string { l[1] += l[2]; return slices.Delete(l, 2, 3) }}, lint.Shows},
		{"1.5.2", "clean", damage{name: "the start of a record, glued to a copy of the next", do: func(l []string) []string { i := at(l, user, 0); l[i] = l[i][:45] + l[i+1]; return l }}, lint.Loses},
		{"1.5.2", "clean", damage{name: "the end of the last record alone", do: func(l []string) []string { n := len(l) - 1; l[n] = l[n][len(l[n])-150:]; return l }}, lint.Loses},
		{"1.5.2", "compact_twice", damage{name: "an early prompt again at the end", do: func(l []string) []string { return append(l, l[at(l, user, 3)]) }}, lint.Loses},
		{"0.74.2", "compact", damage{name: "the first two records changed places", do: func(l []string) []string { l[1], l[2] = l[2], l[1]; return l }}, lint.Notes},
	} {
		name, text := recording(t, c.version, c.base)
		bad := []byte(strings.Join(c.do(strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")), "\n") + "\n")
		worst := lint.Notes
		for _, f := range linted(t, name, bad).Findings {
			worst = max(worst, f.Impact)
		}
		if worst != c.want {
			t.Errorf("%s: %s, want %s", c.name, worst, c.want)
		}
		if refused, invalid, _ := pi.Judged(repaired(t, name, bad), ""); refused != "" || invalid > 0 {
			t.Errorf("%s: repaired to what is refused: %q, %d", c.name, refused, invalid)
		}
	}
}

func tried(lines []string, do func([]string) []string) (out []string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return do(lines), true
}

func clipped(text []byte) string {
	var b strings.Builder
	for i, line := range strings.Split(string(text), "\n") {
		fmt.Fprintf(&b, "%d: %.170s\n", i+1, line)
	}
	return b.String()
}
