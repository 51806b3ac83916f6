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

var operateAll = flag.Bool("operate-all", false, "TestRealClientOperations takes every recording of the two newest clients, and not only one")

// TestRealClientOperations: of what hist's operations make of a session, the newest client sends what they promise.
func TestRealClientOperations(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real clients; left out by -short")
	}
	bin, err := Find(Newest)
	if err != nil {
		t.Skip(err)
	}
	var paths []string
	for _, version := range []string{"2.1.330", Newest} {
		list, err := filepath.Glob(filepath.Join(fixtures, version, "*", "*.jsonl"))
		if err != nil || len(list) == 0 {
			t.Fatal("no recordings", err)
		}
		paths = append(paths, list...)
	}
	for _, path := range paths {
		if !*operateAll && !strings.Contains(path, "/2.1.330/compact_auto/") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimPrefix(filepath.Dir(path), fixtures+"/"), func(t *testing.T) {
			operate.Try(t, operate.Session{
				Path: path, Secret: secretIn(string(text)), Earlier: earlier(Lines(text)),
				Sent: func(ctx context.Context, path string) (first, next []string, err error) {
					return Requests(ctx, bin, t.TempDir(), path)
				},
			})
		})
	}
}

// earlier is a session up to its last prompt, nil if it has only one.
func earlier(s Session) []byte {
	at := s.find(-1, isPrompt)
	if at < 0 || s.find(0, isPrompt) == at {
		return nil
	}
	return s[:at].Bytes()
}

// secretIn is a word that recordings hold.
func secretIn(text string) string {
	words := []string{"go on", "All done", "echo one"}
	return words[max(0, slices.IndexFunc(words, func(w string) bool { return strings.Contains(text, w) }))]
}
