package repair

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// damagedCopy writes a session of Claude Code into a folder of a home under another name.
const damagedCopy = "a0000004-3973-497c-a741-270f52afcea0.jsonl"

// TestSiblingGivesBack: whatever one record of a session is gone or was overwritten, a copy of the session beside it gives
// the record back whole; nothing stands in for it, and nothing intact is taken out.
func TestSiblingGivesBack(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	const name = "9bcf69c6-3973-497c-a741-270f52afcea0.jsonl"
	text, err := os.ReadFile(filepath.Join("../fixtures/claude/2.1.330/resumed2", name))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	ways := []struct {
		name   string
		damage func(line []byte) []byte // nil: the line is gone
		most   int                      // findings
	}{
		{"gone", func([]byte) []byte { return nil }, 1},
		{"zeros in the middle", func(l []byte) []byte {
			n := min(512, len(l)-2)
			at := (len(l) - n) / 2
			return slices.Concat(l[:at], make([]byte, n), l[at+n:])
		}, 3},
		{"cut short", func(l []byte) []byte { return l[:len(l)*2/3] }, 2},
	}
	home := t.TempDir()
	folder := filepath.Join(home, "projects", "-demo")
	put(t, filepath.Join(folder, name), text)
	path := filepath.Join(folder, damagedCopy)
	records := 0
	for i, line := range lines {
		if !gjson.GetBytes(line, "parentUuid").Exists() {
			continue // bookkeeping names nothing by which it could be found
		}
		records++
		for _, w := range ways {
			damaged := slices.Clone(lines)
			if damaged[i] = w.damage(line); damaged[i] == nil {
				damaged = slices.Delete(damaged, i, i+1)
			}
			put(t, path, joined(damaged))
			found := damages(t, path)
			if len(found) == 0 || len(found) > w.most {
				t.Errorf("line %d, %s: %d findings, want 1 to %d: %v", i+1, w.name, len(found), w.most, found)
			}
			rep, err := repairInPlace(t, home, path)
			if err != nil {
				t.Errorf("line %d, %s: %v", i+1, w.name, err)
				continue
			}
			if h := rep.History; h.After != h.Items || h.Told > 0 {
				t.Errorf("line %d, %s: %d of %d items, %d stood in", i+1, w.name, h.After, h.Items, h.Told)
			}
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(sorted(after), sorted(text)) {
				t.Errorf("line %d, %s: the records are not those of the sibling", i+1, w.name)
			}
			if left := damages(t, path); len(left) > 0 {
				t.Errorf("line %d, %s: after the repair: %s", i+1, w.name, left)
			}
			if again, err := repairInPlace(t, home, path); err != nil || again.Run != "" {
				t.Errorf("line %d, %s: a second repair changes something (%v)", i+1, w.name, err)
			}
		}
	}
	if records != 30 {
		t.Errorf("%d records were tried", records)
	}
}

// linesOf are the lines of a file.
func linesOf(t *testing.T, path string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSuffix(text, newline), newline)
}

func joined(lines [][]byte) []byte { return append(bytes.Join(lines, []byte("\n")), '\n') }

func sorted(text []byte) []string {
	var list []string
	for line := range bytes.Lines(text) {
		list = append(list, string(line))
	}
	slices.Sort(list)
	return list
}

// damages are the findings in a file that are more than notes.
func damages(t *testing.T, path string) (list []string) {
	t.Helper()
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	res, err := lint.Source(context.Background(), src, lint.Options{Name: lint.NameOf(path, true)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Impact != lint.Notes {
			list = append(list, f.Pos.String()+": "+f.Rule.Name+": "+f.Message)
		}
	}
	return list
}

// TestSiblingOfRenamedRecords: a record that stands in the file under an id that is not its own is not put back from a copy
// where it has its own.
func TestSiblingOfRenamedRecords(t *testing.T) {
	folder := "../fixtures/claude/rules/reused-uuid"
	beside := damages(t, filepath.Join(folder, "bad.jsonl"))
	alone := filepath.Join(t.TempDir(), damagedCopy)
	text, err := os.ReadFile(filepath.Join(folder, "bad.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, alone, text)
	if want := damages(t, alone); len(want) == 0 || !slices.Equal(beside, want) {
		t.Errorf("beside the sound session: %s, alone: %s", beside, want)
	}
}

// TestSiblingsThatLackIt: a record that says nothing in one copy of the session is taken from the next one, and one that the
// session is said to end with is put back though what names it is laid out for people.
func TestSiblingsThatLackIt(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	sound, err := os.ReadFile("../fixtures/claude/rules/lost-call/ok.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(sound, newline), newline)
	end, named := len(lines)-2, len(lines)-1
	for name, damage := range map[string]func(lines [][]byte) [][]byte{
		"gone":                    func(l [][]byte) [][]byte { return slices.Delete(l, end, named) },
		"gone, its name laid out": func(l [][]byte) [][]byte { return append(l[:end:end], bytes.TrimSuffix(laidOut(l[named]), newline)) },
		"without words":           func(l [][]byte) [][]byte { l[end] = set(l[end], "message.content", "null"); return l },
	} {
		home := t.TempDir()
		folder := filepath.Join(home, "projects", "-demo")
		empty := slices.Clone(lines)
		empty[end] = set(empty[end], "message.content", "[]")
		put(t, filepath.Join(folder, treeName(1)), joined(empty))
		put(t, filepath.Join(folder, treeName(2)), sound)
		path := filepath.Join(folder, treeName(3))
		put(t, path, joined(damage(slices.Clone(lines))))
		if _, err := repairInPlace(t, home, path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, sound) {
			t.Errorf("%s: the session is not what it was (%v):\n%s", name, err, after)
		}
	}
}

// TestSiblingOfRenamedCall: where a repair has given an output without an id one, and a call with it, the copy that it made gives
// the session the call, and its output that id.
func TestSiblingOfRenamedCall(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	lines := linesOf(t, "../fixtures/claude/rules/lost-call/ok.jsonl")
	const output = 4 // of Read, which tells all of its call
	lines[output-1] = set(lines[output-1], "message.content", `[{"type":"text","text":"I read it."}]`)
	lines[output] = set(lines[output], "message.content.0.tool_use_id", `""`)
	damaged := joined(lines)
	home := t.TempDir()
	folder := filepath.Join(home, "projects", "-demo")
	path := filepath.Join(folder, treeName(0))
	put(t, path, damaged)
	if err := inItsHome(t, mutant{text: damaged, opts: lint.Options{Agent: "claude", Mend: Choice{}.Allows}}, home, path); err != nil {
		t.Fatal(err)
	}
	copies, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(copies) != 2 {
		t.Fatal(copies, err)
	}
	mended, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range copies {
		if text, err := os.ReadFile(other); err != nil || !bytes.Equal(text, mended) {
			t.Errorf("what was restored is not the copy: %v\n%s\n%s", err, text, mended)
		}
	}
}

// TestSiblingOfSharedID: a record without a message whose id a later record has, too, is taken out at once, though a copy
// of the session shows that nothing hangs on it.
func TestSiblingOfSharedID(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	sound, err := os.ReadFile("../fixtures/claude/rules/lost-call/ok.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	prompt := sound[:bytes.IndexByte(sound, '\n')]
	drop := func(line []byte, key string) []byte { return session.Splice(line, session.DropMember(line, "", key)) }
	untimed := drop(prompt, "timestamp")
	damaged := joined([][]byte{drop(untimed, "message"), untimed})
	home := t.TempDir()
	folder := filepath.Join(home, "projects", "-demo")
	path := filepath.Join(folder, treeName(0))
	put(t, path, damaged)
	put(t, filepath.Join(folder, treeName(1)), sound)
	if err := inItsHome(t, mutant{text: damaged, opts: lint.Options{Agent: "claude", Mend: Choice{}.Allows}}, home, path); err != nil {
		t.Fatal(err)
	}
}

// TestSiblingOfCutCall: an id that two calls have is told though one of them was cut off, and only a copy has it.
func TestSiblingOfCutCall(t *testing.T) {
	lines := linesOf(t, "../fixtures/claude/rules/lost-call/ok.jsonl")
	const first, call, words = 1, 3, "I read it."
	content, id := gjson.GetBytes(lines[call], "message.content.0"), gjson.GetBytes(lines[first], "message.content.0.id").Raw
	lines[call] = set(lines[call], "message.content", `[{"type":"text","text":"`+words+`"},`+string(set([]byte(content.Raw), "id", id))+`]`)
	lines[call+1] = set(lines[call+1], "message.content.0.tool_use_id", id)
	folder := t.TempDir()
	put(t, filepath.Join(folder, treeName(1)), joined(lines))
	lines[call], _, _ = bytes.Cut(lines[call], []byte(words))
	path := filepath.Join(folder, treeName(0))
	put(t, path, joined(lines))
	if found := damages(t, path); !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, "duplicate-call-id") }) {
		t.Errorf("the id that two calls have is not told: %q", found)
	}
}
