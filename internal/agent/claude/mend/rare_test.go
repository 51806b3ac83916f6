package mend_test

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/internal/agent/claude/mend"
	"github.com/hist-cli/hist/lint"
)

// TestRareIsOwn: what one record has, no other has by that, nor one of another session.
func TestRareIsOwn(t *testing.T) {
	linted := 0
	err := filepath.WalkDir("../../../../fixtures/claude", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		if _, err := lint.File(t.Context(), path, lint.Options{}); err == nil {
			linted++
		}
		if !mend.NothingWritten() {
			t.Fatalf("%s: a record was given what none has", path)
		}
		return nil
	})
	if err != nil || linted < 100 {
		t.Fatalf("%d sessions linted, %v", linted, err)
	}
}
