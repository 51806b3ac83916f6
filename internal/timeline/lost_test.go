package timeline

import (
	"bytes"
	"flag"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/testkit/testhome"
)

var update = flag.Bool("update", false, "rewrite the golden files in fixtures/codex/rules/context-lost")

// TestLost: the homes in fixtures/codex/rules/context-lost called bad*.txtar show the rule as their golden file says, those
// called ok*.txtar do not.
func TestLost(t *testing.T) {
	archives, err := filepath.Glob("../../fixtures/codex/rules/context-lost/*.txtar")
	if err != nil || len(archives) < 5 {
		t.Fatal(archives, err)
	}
	for _, archive := range archives {
		dir := t.TempDir()
		if err := testhome.Unpack(archive, dir); err != nil {
			t.Fatal(err)
		}
		var paths []string
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var list []*Glance
		for _, p := range paths {
			list = append(list, look(t, p, LookOptions{Content: true}))
		}
		lost := Lost(t.Context(), list)
		got := ""
		for _, p := range paths {
			for _, f := range lost[p] {
				got += strings.TrimPrefix(p, dir) + ": " + f.Message + "\n"
			}
		}
		golden := strings.TrimSuffix(archive, ".txtar") + ".out"
		if *update && got != "" {
			write(t, golden, []byte(got))
		}
		want, err := os.ReadFile(golden)
		if isBad := strings.HasPrefix(filepath.Base(archive), "bad"); isBad != (err == nil) || string(want) != got {
			t.Errorf("%s: got %q, want %q (%v)", archive, got, want, err)
		}
	}
}

// TestLostOfMany: threads that all ran at the same time, as copies of one do, are not compared in pairs.
func TestLostOfMany(t *testing.T) {
	began := time.Date(2026, 11, 18, 9, 30, 0, 0, time.UTC)
	var list []*Glance
	for range 60_000 {
		s := &Glance{Created: began}
		s.Turn.Last = began.Add(time.Minute)
		list = append(list, s)
	}
	start := time.Now()
	if found := Lost(t.Context(), list); len(found) > 0 {
		t.Error(found)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestReplaced: each thread is compared with the newest that had ended when it began, as a look at all pairs finds it.
func TestReplaced(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 2000 {
		threads := make([]*Glance, rng.Intn(12))
		at := time.Date(2026, 11, 18, 9, 30, 0, 0, time.UTC)
		for i := range threads {
			at = at.Add(time.Duration(rng.Intn(3)) * time.Second)
			threads[i] = &Glance{Created: at}
			threads[i].Turn.Last = at.Add(time.Duration(rng.Intn(8)-1) * time.Second)
		}
		var want, got [][2]*Glance
		for i, fresh := range threads {
			for j := i - 1; j >= 0; j-- {
				if !threads[j].Turn.Last.After(fresh.Created) {
					want = append(want, [2]*Glance{threads[j], fresh})
					break
				}
			}
		}
		replaced(threads, func(lost, fresh *Glance) { got = append(got, [2]*Glance{lost, fresh}) })
		if !slices.Equal(want, got) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

// TestOnlyWhatIsCompared: what Lost compares is the same where only that is asked for.
func TestOnlyWhatIsCompared(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../../fixtures", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		want, err := Look(t.Context(), path, LookOptions{Content: true})
		got, err2 := Look(t.Context(), path, LookOptions{Content: true, Lost: true})
		if (err == nil) != (err2 == nil) {
			t.Errorf("%s: %v, and %v", path, err, err2)
		}
		if err != nil || err2 != nil {
			return nil
		}
		seen++
		if prompt := want.First; asks(t.Context(), got, prompt) != (prompt != "") {
			t.Errorf("%s: it does not ask %q", path, prompt)
		}
		if again(t, path) || strings.Contains(path, "two-writers") { // of these only the whole shows which turn is the last
			return nil
		}
		if WentWrong(got) != WentWrong(want) || !got.Turn.Last.Equal(want.Turn.Last) || WentWrong(want) && (got.Turn.State != want.Turn.State || got.Turn.Prompt != want.Turn.Prompt) {
			t.Errorf("%s: the last turn is %+v, want %+v", path, got.Turn, want.Turn)
		}
		if got.Thread != want.Thread || got.Header != want.Header || !got.Created.Equal(want.Created) || (got.CWD == "") != (want.CWD == "") {
			t.Errorf("%s:\n%+v, want\n%+v", path, got, want)
		}
		return nil
	})
	if err != nil || seen < 500 {
		t.Errorf("%d sessions, %v", seen, err)
	}
}

// again says whether a record of a tree is in a file twice, byte for byte.
func again(t *testing.T, path string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte(`"uuid":`)) {
			if seen[string(line)] {
				return true
			}
			seen[string(line)] = true
		}
	}
	return false
}
