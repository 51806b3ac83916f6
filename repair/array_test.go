package repair

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// TestArray: a recording whose lines were made one JSON array, of records or of texts, or put into an object as one, or that was made one text, gets back the very bytes that its client
// wrote, of each agent, on one line or laid out, and lint says one thing of it.
func TestArray(t *testing.T) {
	paths, err := filepath.Glob("../fixtures/*/*/clean/*.jsonl")
	if err != nil || len(paths) < 8 {
		t.Fatalf("%d recordings: %v", len(paths), err)
	}
	for _, path := range paths {
		sound, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		compact := arrayOf(sound)
		var laid bytes.Buffer
		if err := json.Indent(&laid, compact, "", "  "); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		wrapped := slices.Concat([]byte(`{"messages":`), bytes.TrimSpace(compact), []byte("}\n"))
		var wrappedLaid bytes.Buffer
		if err := json.Indent(&wrappedLaid, wrapped, "", "\t"); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var texts []string
		for line := range strings.Lines(string(sound)) {
			texts = append(texts, line)
		}
		inTexts, err := json.Marshal(texts)
		if err != nil {
			t.Fatal(err)
		}
		inText, err := json.Marshal(string(sound))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{compact, laid.Bytes(), wrapped, wrappedLaid.Bytes(), inTexts, append(inText, '\n')} {
			if f := getsBack(t, path, sound, text, "not-object"); f.Impact != lint.Blocks {
				t.Errorf("%s: %s", path, f.Impact)
			}
		}
	}
}

// TestTextCut: of a file that was made one text, and cut off or very long, all whole lines are had back.
func TestTextCut(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	sound, err := os.ReadFile("../fixtures/claude/healthy/two-prompts/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(string(sound))
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(bytes.TrimSpace(sound), '\n') + 1
	for cut := len(text) - 1; cut > len(text)-64; cut-- {
		out, _, _, err := repairKept(text[:cut], lint.Options{Agent: "claude"}, Choice{})
		if err != nil || !bytes.HasPrefix(out, sound[:last]) {
			t.Fatalf("cut at byte %d: %v\n%s", cut, err, out)
		}
	}
	const pair = `\ud83c\udf3f` // one character
	for k := range len(pair) + 1 {
		out, _, _, err := repairKept(append(bytes.Clone(text[:len(text)-40]), pair[:k]...), lint.Options{Agent: "claude"}, Choice{})
		if err != nil || !bytes.HasPrefix(out, sound[:last]) {
			t.Errorf("cut behind %s: %v\n%s", pair[:k], err, out)
		}
	}
	long := bytes.Replace(sound, []byte(`"content":"`), append([]byte(`"content":"`), bytes.Repeat([]byte("w "), 9<<20)...), 1)
	if text, err = json.Marshal(string(long)); err != nil {
		t.Fatal(err)
	}
	if out, _, _, err := repairKept(text, lint.Options{Agent: "claude"}, Choice{}); err != nil || !bytes.Equal(out, long) {
		t.Errorf("a text of %d bytes: %d are had back: %v", len(text), len(out), err)
	}
}

// arrayOf is a session whose lines were made one array.
func arrayOf(sound []byte) []byte {
	lines := bytes.Split(bytes.TrimRight(sound, "\n"), []byte("\n"))
	return append(append([]byte("["), bytes.Join(lines, []byte(","))...), "]\n"...)
}

// TestArrayNot: what is left of a record whose start is lost, and lines between brackets, are no array of the whole file.
func TestArrayNot(t *testing.T) {
	const record = `{"parentUuid":null,"type":"user","message":{"role":"user","content":"one"},"uuid":"u1"}` + "\n"
	for _, text := range []string{
		`[{"type":"text","text":"yes"}]},"uuid":"a0"}` + "\n" + record, "[\n" + record + record + "]\n", "[]\n" + record, "[1,2]\n" + record, "[" + record,
		`{"content":[{"type":"text","id":"1","text":"yes"}]}` + "\n" + record, `{"messages":[{"role":"user","content":"one"}]}` + "\n",
		`{"messages":[` + strings.TrimSpace(record) + `],"more":1}` + "\n", `{"messages":[` + strings.TrimSpace(record) + "]}\n" + record,
	} {
		res, err := lint.Session(t.Context(), strings.NewReader(text), lint.Options{Agent: "claude"})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range res.Findings {
			if strings.Contains(f.Message, "array") || strings.Contains(f.Message, "list of the records") {
				t.Errorf("%q: %s", text, f.Message)
			}
		}
	}
}

// TestArraysOnLines: of a file with an array on each line, the pieces of a damaged line are read a second time as they were at first,
// though by itself the line is an array.
func TestArraysOnLines(t *testing.T) {
	line, err := os.ReadFile("../fixtures/codex/rules/not-object/bad-array.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	line = bytes.Replace(line, []byte("response_item"), []byte("response\xaaitem"), 1)
	text := bytes.Repeat(line, 2)
	src, err := source.Stdin(bytes.NewReader(text), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dec := all.Named("codex").Decoder
	in := normalize.New(bytes.NewReader(text), normalize.Options{Decoder: dec})
	again := &evidenceReader{dec: dec, src: src, enc: in.Encoding()}
	defer again.close()
	parts := 0
	for {
		rec, err := in.Next()
		if err != nil || rec.Pos.Line > 1 {
			break
		}
		parts++
		got, err := again.record(t.Context(), lint.Ref{Pos: rec.Pos, Size: int64(len(line))})
		if err != nil || !bytes.Equal(got, rec.Raw) {
			t.Errorf("%s: %q (%v), at first %q", rec.Pos, got, err, rec.Raw)
		}
	}
	if parts < 2 {
		t.Errorf("the line has %d parts", parts)
	}
}
