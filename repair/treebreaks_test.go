package repair

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"os"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/lint"
)

// treeBreaks are the ways in which any lines are damaged, and those in which the records of Claude Code are.
var treeBreaks = append(slices.Clip(lineBreaks), []way{
	{"parent gone", member(func(*rand.Rand, [][]byte) string { return quoted(lostID) }, "parentUuid")},
	{"parent null", member(func(*rand.Rand, [][]byte) string { return "null" }, "parentUuid")},
	{"no parent", without("parentUuid")},
	{"another parent", member(anyOf("uuid"), "parentUuid")},
	{"its own parent", func(_ *rand.Rand, l [][]byte, i int) [][]byte {
		l[i] = set(l[i], "parentUuid", gjson.GetBytes(l[i], "uuid").Raw)
		return l
	}},
	{"a circle", func(rng *rand.Rand, l [][]byte, i int) [][]byte {
		id := gjson.GetBytes(l[i], "uuid").Raw
		j := rng.Intn(i + 1)
		l[j] = set(l[j], "parentUuid", id)
		return l
	}},
	{"another id", member(anyOf("uuid"), "uuid")},
	{"a new id", member(func(*rand.Rand, [][]byte) string { return quoted(lostID) }, "uuid")},
	{"id as number", member(func(*rand.Rand, [][]byte) string { return "7" }, "uuid")},
	{"no id", without("uuid")},
	{"no message", without("message")},
	{"no type", without("type")},
	{"no time", without("timestamp")},
	{"another time", member(anyOf("timestamp"), "timestamp")},
	{"unknown type", member(func(*rand.Rand, [][]byte) string { return `"unheard-of"` }, "type")},
	{"another type", member(anyOf("type"), "type")},
	{"wrong role", member(func(rng *rand.Rand, _ [][]byte) string {
		return []string{`"user"`, `"assistant"`, `"system"`, `7`}[rng.Intn(4)]
	}, "message.role")},
	{"no role", without("message.role")},
	{"another answer", member(anyOf("message.id"), "message.id")},
	{"no answer id", without("message.id")},
	{"another message", member(anyOf("message"), "message")},
	{"another content", member(anyOf("message.content"), "message.content")},
	{"no content", without("message.content")},
	{"content as text", member(func(*rand.Rand, [][]byte) string { return `"words"` }, "message.content")},
	{"content as it may be", member(func(rng *rand.Rand, _ [][]byte) string {
		return []string{"null", `""`, "[]", "[null]", "7", "{}", `[{"type":"text","text":""}]`, `[{"type":"text"}]`, `["x"]`}[rng.Intn(9)]
	}, "message.content")},
	{"a call gone", member(func(*rand.Rand, [][]byte) string { return quoted("toolu_gone") }, "message.content.0.id", "message.content.0.tool_use_id")},
	{"another call", member(anyOf("message.content.0.id"), "message.content.0.id", "message.content.0.tool_use_id")},
	{"no call", without("message.content.0.id", "message.content.0.tool_use_id")},
	{"no input", without("message.content.0.input")},
	{"no name", without("message.content.0.name")},
	{"no result", without("toolUseResult")},
	{"no source", without("sourceToolAssistantUUID")},
	{"another source", member(anyOf("uuid"), "sourceToolAssistantUUID")},
	{"sidechain", member(func(*rand.Rand, [][]byte) string { return "true" }, "isSidechain")},
	{"no metadata", without("compactMetadata")},
	{"no summary", without("isCompactSummary")},
	{"a summary", member(func(*rand.Rand, [][]byte) string { return "true" }, "isCompactSummary")},
	{"another subtype", member(func(*rand.Rand, [][]byte) string { return `"compact_boundary"` }, "subtype")},
	{"another logical parent", member(anyOf("uuid"), "logicalParentUuid")},
	{"another leaf", member(anyOf("uuid"), "leafUuid")},
	{"a leaf gone", member(func(*rand.Rand, [][]byte) string { return quoted(lostID) }, "leafUuid")},
	{"a rewind", member(func(*rand.Rand, [][]byte) string { return "true" }, "explicit")},
	{"records of one kind", func(_ *rand.Rand, l [][]byte, i int) [][]byte {
		typ := gjson.GetBytes(l[i], "type").Raw
		return slices.DeleteFunc(l, func(line []byte) bool { return typ != "" && gjson.GetBytes(line, "type").Raw == typ })
	}},
	{"some records", func(rng *rand.Rand, l [][]byte, i int) [][]byte {
		return slices.Delete(l, i, min(len(l), i+1+rng.Intn(8)))
	}},
	{"backwards", func(rng *rand.Rand, l [][]byte, i int) [][]byte {
		slices.Reverse(l[i:min(len(l), i+2+rng.Intn(8))])
		return l
	}},
	{"all twice", func(_ *rand.Rand, l [][]byte, i int) [][]byte { return append(l, slices.Clone(l[i:])...) }},
}...)

// lostID is the id of a record that is in no file.
const lostID = "33333333-3333-4333-8333-000000000001"

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// set gives the member at a path another JSON value; a line without it stays as it is.
func set(line []byte, path, value string) []byte {
	v := gjson.GetBytes(line, path)
	if !gjson.ValidBytes(line) || v.Index == 0 || value == "" {
		return line
	}
	return slices.Concat(line[:v.Index], []byte(value), line[v.Index+len(v.Raw):])
}

// member gives the first of some members that a line has another value. Of lines without it the next one that has it is taken.
func member(value func(*rand.Rand, [][]byte) string, paths ...string) func(*rand.Rand, [][]byte, int) [][]byte {
	return atMember(paths, func(rng *rand.Rand, l [][]byte, line []byte, path string) []byte {
		return set(line, path, value(rng, l))
	})
}

// without takes the first of some members that a line has out.
func without(paths ...string) func(*rand.Rand, [][]byte, int) [][]byte {
	return atMember(paths, func(_ *rand.Rand, _ [][]byte, line []byte, path string) []byte {
		parent, key := "", path
		if i := bytes.LastIndexByte([]byte(path), '.'); i >= 0 {
			parent, key = path[:i], path[i+1:]
		}
		return session.Splice(line, session.DropMember(line, parent, key))
	})
}

func atMember(paths []string, do func(rng *rand.Rand, l [][]byte, line []byte, path string) []byte) func(*rand.Rand, [][]byte, int) [][]byte {
	return func(rng *rand.Rand, l [][]byte, i int) [][]byte {
		for k := range l {
			at := (i + k) % len(l)
			for _, path := range paths {
				if gjson.ValidBytes(l[at]) && gjson.GetBytes(l[at], path).Index > 0 {
					l[at] = do(rng, l, l[at], path)
					return l
				}
			}
		}
		return l
	}
}

// anyOf is the member of some record that has it.
func anyOf(path string) func(*rand.Rand, [][]byte) string {
	return func(rng *rand.Rand, l [][]byte) string {
		from := rng.Intn(len(l))
		for k := range l {
			if v := gjson.GetBytes(l[(from+k)%len(l)], path); v.Index > 0 {
				return v.Raw
			}
		}
		return ""
	}
}

// TestWrittenAnewIsDamaged: a conversation that was written anew can hang together with the one before it, and lack a record.
func TestWrittenAnewIsDamaged(t *testing.T) {
	text, err := os.ReadFile("../fixtures/claude/healthy/written-anew/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, newline)
	lines[1] = set(lines[1], "parentUuid", gjson.GetBytes(lines[6], "uuid").Raw) // an answer hangs on the copy of its prompt,
	lines[4] = set(lines[4], "uuid", quoted(lostID))                             // and what hung on this one on nothing
	out, _, err := repairText(bytes.Join(lines, nil), "", Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if again, _, err := repairText(out, "", Choice{}); err != nil || !bytes.Equal(again, out) {
		t.Errorf("a second repair changes the copy (%v)", err)
	}
}

// TestNothingAboveAnUnreadLink: a record that hung on one which no client reads, with nothing above, is the first.
func TestNothingAboveAnUnreadLink(t *testing.T) {
	text, err := os.ReadFile("../fixtures/claude/healthy/progress-as-link/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, newline)
	lines[0], lines[1] = []byte("{torn\n"), []byte("}\n")
	opts := lint.Options{Agent: "claude", For: map[string]string{"claude": "2.1.2"}}
	choice := Choice{Only: []lint.Fix{lint.Exact, lint.Recovered}}
	out, _, err := repairAs(bytes.Join(lines, nil), opts, choice)
	if err != nil {
		t.Fatal(err)
	}
	if again, _, err := repairAs(out, opts, choice); err != nil || !bytes.Equal(again, out) {
		t.Errorf("a second repair changes the copy (%v)", err)
	}
}
