package repair

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit/testhome"
	"github.com/hist-cli/hist/lint"
)

// TestClaudeHomes repairs the first file of each home of Claude Code, which has lost something that stands beside it: the result is the golden
// file, and nothing is left to mend. In a home whose name begins with ok, nothing is found.
func TestClaudeHomes(t *testing.T) {
	archives, err := filepath.Glob("../fixtures/claude/homes/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no homes", err)
	}
	for _, archive := range archives {
		name := strings.TrimSuffix(archive, ".txtar")
		t.Run(filepath.Base(name), func(t *testing.T) {
			home, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := testhome.Unpack(archive, home); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(home, firstOf(t, archive))
			faults := faultsIn(t, path, home)
			if strings.HasPrefix(filepath.Base(name), "ok") {
				if faults != "" {
					t.Error("found in a healthy home: ", faults)
				}
				return
			}
			if faults == "" {
				t.Error("nothing is found")
			}
			out := repairedAt(t, path, home)
			if *update {
				if err := os.WriteFile(name+".repaired", out, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(name + ".repaired"); err != nil || !bytes.Equal(out, want) {
				t.Errorf("%s.repaired: the repaired session is another now (%v):\n%s", name, err, out)
			}
			if err := os.WriteFile(path, out, 0o600); err != nil {
				t.Fatal(err)
			}
			if left := faultsIn(t, path, home); left != "" {
				t.Error("left after the repair: ", left)
			}
		})
	}
}

// firstOf is the path of an archive's first file.
func firstOf(t *testing.T, archive string) string {
	t.Helper()
	text, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	_, from, _ := strings.Cut(string(text), "-- ")
	path, _, _ := strings.Cut(from, " --\n")
	return path
}

// repairedAt is a session as a repair makes it, in its home.
func repairedAt(t *testing.T, path, home string) []byte {
	t.Helper()
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var out bytes.Buffer
	if _, err := Do(context.Background(), Job{Source: src, Lint: lint.Options{Name: lint.NameOf(path, true), Home: home, Path: path}, Mode: ToStream, Stream: &out, Home: home}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// faultsIn tells what is wrong with a session in its home, notes aside.
func faultsIn(t *testing.T, path, home string) (list string) {
	t.Helper()
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	res, err := lint.Source(context.Background(), src, lint.Options{Name: lint.NameOf(path, true), Home: home, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Findings {
		if f.Impact != lint.Notes {
			list += f.Rule.Name + " at line " + f.Pos.String() + ": " + f.Message + "\n"
		}
	}
	return list
}
