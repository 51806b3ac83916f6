package codex_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/testkit/testfile"
)

const rulesDir = "../../../fixtures/codex/rules"

// measuredRows is docs/dev/codex-behaviour.md: by version and row, what the client does before and after a repair.
func measuredRows(t *testing.T) (versions []string, rows map[string]map[string][2]string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/dev/codex-behaviour.md")
	if err != nil {
		t.Fatal(err)
	}
	rows = map[string]map[string][2]string{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		switch {
		case !strings.HasPrefix(line, "| "):
		case versions == nil:
			versions = cells[1:]
		default:
			for i, v := range versions {
				if rows[v] == nil {
					rows[v] = map[string][2]string{}
				}
				before, after, changed := strings.Cut(cells[i+1], " → ")
				if !changed {
					after = before
				}
				rows[v][cells[0]] = [2]string{before, after}
			}
		}
	}
	return versions, rows
}

// TestSentAgainstClients holds what hist says is sent against what real clients sent of every damaged session of the fixtures, as it is
// and repaired.
func TestSentAgainstClients(t *testing.T) {
	versions, rows := measuredRows(t)
	right, of := map[string]int{}, map[string]int{}
	for _, rule := range testfile.Entries(t, rulesDir) {
		for _, name := range testfile.Entries(t, filepath.Join(rulesDir, rule)) {
			path := filepath.Join(rulesDir, rule, name)
			if !strings.HasPrefix(name, "bad") || filepath.Ext(name) != ".jsonl" {
				continue
			}
			row := rule + strings.Replace(strings.TrimPrefix(testfile.Stem(path), "bad"), "-", ": ", 1)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts := [2][]byte{text, text}
			if repaired, err := os.ReadFile(strings.TrimSuffix(path, ".jsonl") + ".repaired"); err == nil {
				texts[1] = repaired
			}
			for _, version := range versions {
				cell, ok := rows[version][row]
				for i, text := range texts {
					if !ok {
						continue
					}
					key := version + [...]string{" as it is", " repaired"}[i]
					of[key]++
					got := behaviour(t, text, version)
					if got == cell[i] {
						right[key]++
					} else {
						t.Logf("%s, %s: the client %s, the reader %s", row, key, cell[i], got)
					}
				}
			}
		}
	}
	floor := map[string]int{
		"0.79.0 as it is": 296, "0.79.0 repaired": 297, "0.114.0 as it is": 291, "0.114.0 repaired": 295,
		"0.145.0 as it is": 292, "0.145.0 repaired": 295, "0.169.0 as it is": 298, "0.169.0 repaired": 299,
	}
	for key, n := range of {
		if right[key] < floor[key] || n < 300 {
			t.Errorf("%s: %d of %d sessions as the client sends them, want %d of 300", key, right[key], n, floor[key])
		}
	}
}

func behaviour(t *testing.T, text []byte, version string) string {
	t.Helper()
	sent, err := codex.Agent.ReadSent(text, agent.ReadAt{}, version)
	if err != nil {
		t.Fatal(err)
	}
	if sent.Refused != "" {
		return "refused"
	}
	items, aborted := 0, 0
	for i := range sent.Items {
		item := &sent.Items[i]
		if item.Made == "aborted" || item.Kind == session.OutputItem && gjson.GetBytes(item.Content, "output").Str == "aborted" {
			aborted++
		} else {
			items++
		}
	}
	if version == "0.169.0" { // it adds one, and one more in code mode
		items++
		if bytes.Contains(text, []byte(`"name":"exec"`)) {
			items++
		}
	}
	if aborted > 0 {
		return fmt.Sprintf("%d, %d aborted", items, aborted)
	}
	return strconv.Itoa(items)
}
