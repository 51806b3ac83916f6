package content

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// TestOnlyBlock: a message's only block has the members that the scanner tells, or it is cut by itself.
func TestOnlyBlock(t *testing.T) {
	blocks := []string{
		`{"type":"text","text":"words"}`, `{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls","type":"text"},"caller":{"type":"direct"}}`,
		`{"tool_use_id":"toolu_1","type":"tool_result","content":[{"type":"text","text":"a"}],"is_error":false}`,
		`{"type":"thinking","thinking":"","signature":"abc="}`, `{}`, `"words"`, `7`, `{"type":"image","source":{"type":"base64","data":"aaaa"}}`,
	}
	pieces := []string{
		`"type":"text",`, `,"id":"x"`, `"\u0074ype":"text",`, ` `, `,`, `{`, `}`, `"`, `[`, `]`, `,"caller":null`, `"text":"",`, `"citations":[],`, `,"":0`, "\n", `\`, `"input":{},`,
		`},{"type":"text","text":"more"`, `"content":[`, `"message":{"content":[{"type":"text"}]},`,
	}
	r := rand.New(rand.NewPCG(1, 2))
	scanner, rec := jsonl.NewScanner(format.Shape), session.Record{Spans: make([]jsonl.Span, format.FieldCount)}
	var parts format.Cutter
	only := 0
	for range 200_000 {
		line := `{"type":"user","message":{"role":"user","content":[` + blocks[r.IntN(len(blocks))] + `]},"uuid":"u"}`
		for range r.IntN(3) {
			at := r.IntN(len(line))
			line = line[:at] + pieces[r.IntN(len(pieces))] + line[at+r.IntN(2):]
		}
		rec.Raw = []byte(line)
		if v := scanner.Scan(rec.Raw, rec.Spans); v.Fault != jsonl.None {
			continue
		}
		raw := format.Field(&rec, format.FieldContent)
		if !format.Begins(raw, '[') {
			continue
		}
		got := parts.Only(&rec)
		if got == nil {
			continue
		}
		only++
		want := parts.Cut(raw[1:])
		slices.SortFunc(got.Members, func(a, b format.Entry) int { return cmp.Compare(a.At, b.At) })
		if string(got.Text)+"]" != string(raw[1:]) || string(want.Text) != string(got.Text) || got.Keys != want.Keys || !slices.Equal(got.Members, want.Members) {
			t.Fatalf("%s: %+v\nwant %+v", line, got, want)
		}
		parts.Done()
	}
	if only < 10_000 {
		t.Errorf("only %d messages had one block that was not cut by itself", only)
	}
	line := `{"message":{"content":[` + strings.Join(blocks[:2], ",") + `]}}`
	rec.Raw = []byte(line)
	if scanner.Scan(rec.Raw, rec.Spans); parts.Only(&rec) != nil {
		t.Error("one of two blocks is taken for the only one")
	}
}
