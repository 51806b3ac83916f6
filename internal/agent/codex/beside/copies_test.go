package beside

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/testkit/testhome"
	"github.com/hist-cli/hist/lint"
)

// TestCopies takes what a session has lost from each place in which a copy of it may lie, and from none whose records
// around the hole are others.
func TestCopies(t *testing.T) {
	for _, c := range []struct {
		name  string
		place func(t *testing.T, dir, base string, whole []byte) (older []string)
		from  string // how the source in the finding begins; "": nothing is taken
	}{
		{"the archive", func(t *testing.T, dir, base string, whole []byte) []string {
			return write(t, nil, filepath.Join(dir, "archived_sessions", base), whole)
		}, "archived_sessions/"},
		{"its compressed twin", func(t *testing.T, dir, base string, whole []byte) []string {
			return write(t, nil, filepath.Join(dir, "sessions/2026/11/18", base+".zst"), compressed(t, whole))
		}, "sessions/2026/11/18/"},
		{"what a repair kept", func(t *testing.T, dir, _ string, whole []byte) []string {
			kept := filepath.Join(dir, "kept", "original")
			return write(t, []string{kept}, kept, whole)
		}, "kept/original"},
		{"a copy with a doubled block", func(t *testing.T, dir, base string, whole []byte) []string {
			at := bytes.Index(whole, []byte(`{"timestamp":"2026-11-18T09:30:01.781Z"`))
			end := at + bytes.IndexByte(whole[at:], '\n') + 1
			return write(t, nil, filepath.Join(dir, "archived_sessions", base), bytes.Join([][]byte{whole[:end], whole[at:end], whole[end:]}, nil))
		}, "archived_sessions/"},
		{"another course of events in front of the hole", func(t *testing.T, dir, base string, whole []byte) []string {
			return write(t, nil, filepath.Join(dir, "archived_sessions", base), bytes.Replace(whole, []byte("09:30:01.644Z"), []byte("09:30:05.644Z"), 1))
		}, ""},
		{"another course of events behind the hole", func(t *testing.T, dir, base string, whole []byte) []string {
			return write(t, nil, filepath.Join(dir, "archived_sessions", base), bytes.Replace(whole, []byte("09:30:02.192Z"), []byte("09:30:09.192Z"), 1))
		}, ""},
		{"a copy that is damaged at the same place", func(t *testing.T, dir, base string, whole []byte) []string {
			return write(t, nil, filepath.Join(dir, "archived_sessions", base), bytes.Replace(whole, []byte(`{"timestamp":"2026-11-18T09:30:01.781Z"`), []byte("~~~"), 1))
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := testhome.Unpack(filepath.Join(fixtures, "codex/rules/lost-records/bad-archived.txtar"), dir); err != nil {
				t.Fatal(err)
			}
			copied := onlyFile(t, dir, "archived_sessions/*.jsonl")
			whole, err := os.ReadFile(copied)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(copied); err != nil {
				t.Fatal(err)
			}
			base := filepath.Base(copied)
			older := c.place(t, dir, base, whole)
			src := openSource(t, filepath.Join(dir, "sessions/2026/11/18", base))
			kept := func(ctx context.Context, _, home, base string) check.Kept {
				return Kept(ctx, home, base, func() []string { return older }, NewForks())
			}
			res, err := lint.Source(context.Background(), src, lint.Options{Name: lint.NameOf(src.Name, true), Home: dir, Kept: kept})
			if err != nil {
				t.Fatal(err)
			}
			found, told := "", ""
			if f := lostRecords(res.Findings); f != nil {
				found, told = f.Source, f.Message
			}
			if c.from == "" && found != "" || c.from != "" && !strings.HasPrefix(found, c.from) {
				t.Errorf("taken from %q, want %q", found, c.from)
			}
			if found != "" && !strings.HasPrefix(told, "3 records ") {
				t.Errorf("%q, and three are lost", told)
			}
		})
	}
}

// TestHalfAPair: the half of a pair that a session without numbers has lost is taken from a backup, and nothing else that somebody may have
// taken out on purpose.
func TestHalfAPair(t *testing.T) {
	for part, want := range map[string]string{`"function_call_output","call_id":"call_1"`: "a record ", `"type":"function_call","name":"exec_command"`: "a record ", `"type":"reasoning"`: ""} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		recorded := onlyFile(t, fixtures, "codex/0.114.0/clean/*.jsonl")
		whole, err := os.ReadFile(recorded)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(whole, []byte(part))
		if at < 0 {
			t.Fatal(part)
		}
		start, end := bytes.LastIndexByte(whole[:at], '\n')+1, at+bytes.IndexByte(whole[at:], '\n')+1
		path := filepath.Join(dir, "sessions/2026/11/20", filepath.Base(recorded))
		write(t, nil, path+".bak", whole)
		write(t, nil, path, append(bytes.Clone(whole[:start]), whole[end:]...))
		told := ""
		if f := lostRecords(lintOpened(t, openSource(t, path), dir).Findings); f != nil {
			told = f.Message
		}
		if want == "" && told != "" || !strings.HasPrefix(told, want) {
			t.Errorf("without %s: %q, want %q", part, told, want)
		}
	}
}

// TestPairsOfHealthy: of a healthy session no pair is broken, so that nothing else in the home is read for it. Of one that was rolled back, or
// begins with a part of another, that may be.
func TestPairsOfHealthy(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(fixtures, "codex/healthy/*/*.jsonl"))
	if err != nil || len(paths) < 10 {
		t.Fatal(len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c := newCopies("", "", home.FileName{}, nil, nil)
		for line := range bytes.Lines(text) {
			if rec := c.decode(line); rec != nil {
				c.pairs.see(rec)
			}
		}
		if name := filepath.Base(filepath.Dir(path)); c.pairs.broken() && !strings.HasPrefix(name, "rolled-back") && !strings.HasPrefix(name, "subagent-prefix") {
			t.Errorf("%s: half pairs: %v", path, c.pairs.halves)
		}
	}
}

// TestTornInFork: a fork's record that is cut is not put back a second time from its parent, whose record has another time.
func TestTornInFork(t *testing.T) {
	dir, path, text := legacyFork(t, "ok-legacy-fork")
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[13] = lines[13][:200] // an answer, inside its text's line; the next record stands on the same line
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := lostRecords(lintOpened(t, openSource(t, path), dir).Findings); f != nil {
		t.Errorf("%+v", f)
	}
}

// TestEventOfFork: an answer's event that was cut too early to be closed comes back from the parent, and no second one is written for
// the item behind it.
func TestEventOfFork(t *testing.T) {
	dir, path, text := legacyFork(t, "ok-legacy-fork")
	text = bytes.Replace(text, []byte(`"originator":"clienttest"`), []byte(`"originator":"codex_exec"`), 1) // which is known to write events
	lines := bytes.SplitAfter(text, []byte("\n"))
	const event = 12
	_, words, shown := bytes.Cut(lines[event], []byte(`"type":"agent_message","message":"`))
	if !shown {
		t.Fatalf("%s", lines[event])
	}
	lines[event] = append(lines[event][:len(lines[event])-len(words)+3:len(lines[event])-len(words)+3], '\n')
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if found := lintOpened(t, openSource(t, path), dir).Findings; len(found) != 1 || found[0].Rule.Name != "bad-json" || found[0].Source == "" {
		t.Errorf("%+v", found)
	}
}

// TestCopyAndParent: what a fork has lost comes back from a copy and from its parent at once; a second repair would find it else.
func TestCopyAndParent(t *testing.T) {
	dir, path, text := legacyFork(t, "bad-legacy-fork")
	lost := func() (places []int64) {
		for _, f := range lintOpened(t, openSource(t, path), dir).Findings {
			if f.Rule.Name == "lost-records" {
				places = append(places, f.Pos.Line)
			}
		}
		return places
	}
	parents := lost()
	write(t, nil, filepath.Join(dir, "archived_sessions", filepath.Base(path)), text)
	lines := bytes.SplitAfter(text, []byte("\n"))
	gone := len(lines) - 4 // behind all that it inherits
	lines[gone] = append(bytes.Repeat([]byte{0}, 600), '\n')
	write(t, nil, path, bytes.Join(lines, nil))
	if both := lost(); len(parents) != 1 || len(both) != 2 || both[0] != parents[0] {
		t.Errorf("records are lost behind %v, and behind %v in a copy", parents, both)
	}
}

// legacyFork unpacks a home with a fork of a legacy session, and its parent.
func legacyFork(t *testing.T, fixture string) (dir, path string, text []byte) {
	t.Helper()
	t.Setenv("CODEX_SQLITE_HOME", "")
	dir = t.TempDir()
	if err := testhome.Unpack(filepath.Join(fixtures, "codex/rules/lost-records", fixture+".txtar"), dir); err != nil {
		t.Fatal(err)
	}
	path = onlyFile(t, dir, "sessions/*/*/*/*01-05-58*.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return dir, path, text
}

func write(t *testing.T, older []string, path string, text []byte) []string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return older
}

func compressed(t *testing.T, text []byte) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return enc.EncodeAll(text, nil)
}

// TestTwinOfRepaired: where nothing looks damaged, what a second file of the session has more is what was lost, unless hist has taken
// it out.
func TestTwinOfRepaired(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	for _, repaired := range []bool{false, true} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := testhome.Unpack(filepath.Join(fixtures, "codex/rules/lost-records/bad-twin.txtar"), dir); err != nil {
			t.Fatal(err)
		}
		path := onlyFile(t, dir, "sessions/*/*/*/*.jsonl")
		older := func() []string {
			if repaired {
				return []string{filepath.Join(dir, "kept", "original")}
			}
			return nil
		}
		by := func(ctx context.Context, _, home, base string) check.Kept {
			return Kept(ctx, home, base, older, NewForks())
		}
		src := openSource(t, path)
		res, err := lint.Source(t.Context(), src, lint.Options{Name: lint.NameOf(src.Name, true), Home: dir, Kept: by})
		if err != nil {
			t.Fatal(err)
		}
		if found := lostRecords(res.Findings); (found == nil) != repaired {
			t.Errorf("repaired %v: found %+v", repaired, found)
		}
	}
}

// TestComparedOnce: a file that is near the session in two ways, as the one with its name and as one with its thread, is read once.
func TestComparedOnce(t *testing.T) {
	dir := t.TempDir()
	if err := testhome.Unpack(filepath.Join(fixtures, "codex/rules/lost-records/bad-archived.txtar"), dir); err != nil {
		t.Fatal(err)
	}
	path := onlyFile(t, dir, "sessions/2026/11/18/*.jsonl")
	name, ok := home.ParseName(filepath.Base(path))
	if !ok {
		t.Fatal(path)
	}
	c := newCopies(dir, filepath.Base(path), name, nil, NewForks())
	c.any = true
	of, ok := headerOf(t.Context(), path)
	if !ok || len(c.forks.copies(t.Context(), dir, name)) == 0 {
		t.Fatal("the file is not one with the session's thread")
	}
	times := map[string]int{}
	for _, one := range c.candidates(t.Context(), of) {
		if times[one.path]++; times[one.path] > 1 {
			t.Errorf("%s is compared again", one.path)
		}
	}
	if times[path] != 1 {
		t.Errorf("compared: %v", times)
	}
}
