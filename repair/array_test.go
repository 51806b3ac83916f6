package repair

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestArray: a recording whose lines were made one JSON array gets back the very bytes that its client wrote, of each agent, on
// one line or laid out, and lint says one thing of it.
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
		for _, text := range [][]byte{compact, laid.Bytes()} {
			opts := lint.Options{Name: lint.NameOf(filepath.Base(path), false)}
			res, err := lint.Session(t.Context(), bytes.NewReader(text), opts)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			told := 0
			for _, f := range res.Findings {
				switch {
				case f.Rule.Name == "not-object" && f.Impact == lint.Blocks && f.Fix == lint.Exact:
					told++
				case f.Impact != lint.Notes:
					t.Errorf("%s: line %d: %s", path, f.Pos.Line, f.Message)
				}
			}
			if told != 1 {
				t.Errorf("%s: told %d times", path, told)
			}
			out, rep, err := repairAs(text, opts, Choice{Rules: []string{"not-object"}})
			if err != nil || !bytes.Equal(out, sound) || rep.Fix != "exact" {
				t.Errorf("%s: the repaired copy is not what the client wrote (%v)", path, err)
			}
		}
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
	} {
		res, err := lint.Session(t.Context(), strings.NewReader(text), lint.Options{Agent: "claude"})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range res.Findings {
			if strings.Contains(f.Message, "array") {
				t.Errorf("%q: %s", text, f.Message)
			}
		}
	}
}
