package repair

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testhome"
	"github.com/hist-cli/hist/lint"
)

// TestHomeFixtures repairs the session of each home that holds what its file has lost, records or its header: the result is
// the golden file, has nothing left to mend, and what stands in the file is still there.
func TestHomeFixtures(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	var homes []string
	for _, pattern := range []string{"lost-records/*", "no-header/home*", "no-header/ok-*", "broken-lineage/*"} {
		found, err := filepath.Glob("../fixtures/codex/rules/" + pattern + ".txtar")
		if err != nil || len(found) == 0 {
			t.Fatal("no homes", err)
		}
		homes = append(homes, found...)
	}
	for _, archive := range homes {
		name := strings.TrimSuffix(archive, ".txtar")
		t.Run(filepath.Base(name), func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := testhome.Unpack(archive, dir); err != nil {
				t.Fatal(err)
			}
			paths, _ := filepath.Glob(filepath.Join(dir, "sessions/*/*/*/*.jsonl"))
			if paths[0] = paths[len(paths)-1]; strings.Contains(name, "lost-records") { // a fork comes behind its parent
				paths, _ = filepath.Glob(filepath.Join(dir, "sessions/*/*/*/*.jsonl"))
			}
			src, err := source.Open(paths[0])
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			var out bytes.Buffer
			rep, err := Do(context.Background(), Job{
				Source: src, Lint: lint.Options{Name: lint.NameOf(paths[0], true), Home: dir}, Mode: ToStream, Stream: &out, Home: dir,
			})
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(filepath.Base(name), "ok") {
				if rep.Totals.Added != 0 {
					t.Errorf("%d records were added to a healthy session", rep.Totals.Added)
				}
				return
			}
			if *update {
				if err := os.WriteFile(name+".repaired", out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name + ".repaired")
			if err != nil || !bytes.Equal(out.Bytes(), want) {
				t.Errorf("%s.repaired: the repaired session is another now (%v):\n%s", name, err, out.Bytes())
			}
			res, err := lint.Session(context.Background(), bytes.NewReader(out.Bytes()), lint.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range res.Findings {
				if f.Impact != lint.Notes {
					t.Errorf("left after the repair: line %d: %s", f.Pos.Line, f.Message)
				}
			}
		})
	}
}
