package clienttest

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/testing/operate"
)

var operateAll = flag.Bool("operate-all", false, "TestOperations takes every recording of the newest client, and not only one")

// TestOperations: of what hist's operations make of a session, the newest client sends what they promise.
func TestOperations(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real clients; left out by -short")
	}
	clientsSince(t, Newest, func(t *testing.T, bin Binary) {
		paths, err := filepath.Glob("../../../fixtures/codex/" + Newest + "/*/*.jsonl")
		if err != nil || len(paths) == 0 {
			t.Fatal("no recordings", err)
		}
		for _, path := range paths {
			scenario := filepath.Base(filepath.Dir(path))
			if !*operateAll && scenario != "compact" {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(scenario, func(t *testing.T) {
				operate.Try(t, operate.Session{
					Path: path, Secret: secretIn(string(text)), Earlier: earlier(string(text)),
					Sent: func(ctx context.Context, path string) (first, next []string, err error) {
						return Requests(ctx, bin, t.TempDir(), path)
					},
				})
			})
		}
	})
}

// earlier is a rollout up to the end of the last turn but one, "" if it has only one.
func earlier(text string) []byte {
	start := strings.LastIndex(text, `"type":"task_started"`)
	end := strings.LastIndex(text[:max(0, start)], `"type":"task_complete"`)
	if end < 0 {
		return nil
	}
	return []byte(text[:end+strings.IndexByte(text[end:], '\n')+1])
}

// secretIn is a word that recordings hold.
func secretIn(text string) string {
	words := []string{"Summary of", "After compaction", "All done", "echo one"}
	return words[max(0, slices.IndexFunc(words, func(w string) bool { return strings.Contains(text, w) }))]
}
