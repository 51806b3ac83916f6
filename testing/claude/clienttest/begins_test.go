package clienttest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/claude/reader"
)

// TestWhereVersionsBegin: a front end wrote the progress of a turn behind its answer, and nothing names the end. What each version sent of
// that file was measured, of one whose late records have earlier times than the answer, of one in which the answer stands last, and of one
// that ends in progress.
func TestWhereVersionsBegin(t *testing.T) {
	data, err := os.ReadFile("../../../fixtures/claude/rules/lost-branch/bad-late-progress.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s := Lines(data)
	answer, tail := s[7], s[8:]
	earlier := slices.Clone(s)
	for i, l := range tail {
		earlier[8+i] = Set(l, "", "timestamp", `"2026-11-20T10:04:2`+string(rune('0'+i))+`.000Z"`)
	}
	files := []Session{s, earlier, append(append(slices.Clone(s[:7]), tail...), answer), s[:11]}
	for version, sends := range map[string]string{
		"2.1.2": "-+-+", "2.1.30": "-+--", "2.1.78": "-+--", "2.1.100": "-+-+", "2.1.215": "--++", "2.1.332": "--++",
	} {
		for i, f := range files {
			sent := strings.Contains(strings.Join(sentItems(reader.Sent(f.Bytes(), version, nil)), "\n"), "Four geese.")
			if sent != (sends[i] == '+') {
				t.Errorf("%s, file %d: the answer is sent: %v", version, i, sent)
			}
		}
	}
}
