package repair

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/testkit"
	"github.com/hist-cli/hist/internal/testkit/testhome"
	"github.com/hist-cli/hist/lint"
)

// TestAllSettle: each repair comes to an end, also one that may not mend all, and a second one changes nothing.
func TestAllSettle(t *testing.T) {
	exact := Choice{Only: []lint.Fix{lint.Exact}}
	for _, c := range []struct {
		name, fixture string
		damage        func(lines [][]byte) [][]byte
		choice        Choice
	}{
		{"a search whose item stands far from its event", "healthy/search/session", func(lines [][]byte) [][]byte {
			lines[12], lines[17] = lines[17], lines[12]
			return lines
		}, Choice{}},
		{"a search's event twice", "healthy/search/session", func(lines [][]byte) [][]byte {
			return slices.Insert(lines, 17, lines[17])
		}, Choice{}},
		{"a command's event that names no command, between two dead lines", "rules/lost-pair/bad", func(lines [][]byte) [][]byte {
			for i := range lines {
				lines[i] = bytes.Replace(lines[i], []byte(`"command":`), []byte(`"comand":`), 1)
			}
			return lines
		}, Choice{}},
		{"a torn prompt whose event names the kind of its words wrongly", "rules/bad-json/bad-torn-prompt", func(lines [][]byte) [][]byte {
			lines[5] = bytes.Replace(lines[5], []byte(`"type":"text"`), []byte(`"typ":"text"`), 1)
			return lines
		}, Choice{}},
		{"a dead line and a compaction between a call and its output", "rules/undecryptable/bad-compaction-strip", func(lines [][]byte) [][]byte {
			call := slices.IndexFunc(lines, func(l []byte) bool { return bytes.Contains(l, []byte(`"id":"fc_2"`)) })
			mark := slices.IndexFunc(lines, func(l []byte) bool { return bytes.Contains(l, []byte(`"type":"compacted"`)) })
			lines = slices.Insert(lines, call+4, lines[call+1]) // with the event of the call twice
			lines = slices.Insert(lines, call+1, lines[mark])
			return slices.Insert(lines, mark+5, []byte("garbage\n"))
		}, Choice{}},
		{"a laid out record behind which one is lost", "rules/lost-message/bad-paginated-answer", func(lines [][]byte) [][]byte {
			lines[9] = laidOut(lines[9])
			return lines
		}, exact},
		{"two turns that lack their answers behind one dead line", "rules/not-object/ok", func(lines [][]byte) [][]byte {
			return [][]byte{lines[0], []byte("}\n"), ended("one"), ended("two")}
		}, Choice{Only: []lint.Fix{lint.Exact, lint.Recovered}}},
	} {
		text, err := os.ReadFile("../fixtures/codex/" + c.fixture + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.Join(c.damage(bytes.SplitAfter(text, newline)), nil)
		out, _, err := repairText(text, "", c.choice)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if again, _, err := repairText(out, "", c.choice); err != nil || !bytes.Equal(out, again) {
			t.Errorf("%s: a second repair changes the copy (%v)", c.name, err)
		}
	}
}

// ended is the event of a turn's end with the turn's last answer.
func ended(answer string) []byte {
	return []byte(`{"timestamp":"2026-11-18T09:30:02.000Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"` + answer + `","last_agent_message":"` + answer + `"}}` + "\n")
}

// TestHomesSettle: what only the home of a session tells is mended together with what hides it, and a second repair changes
// nothing.
func TestHomesSettle(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, c := range []struct {
		name, archive string
		damage        func(lines [][]byte) [][]byte
		choice        Choice
	}{
		{
			"a fork whose header stands on its second line, and whose parent lacks what it inherits", "broken-lineage/bad-inside-a-line",
			func(lines [][]byte) [][]byte {
				lines[0], lines[1] = lines[1], lines[0]
				return lines
			},
			Choice{},
		},
		{
			"a turn whose end only the database holds, which is not asked", "lost-records/bad-running-two",
			func(lines [][]byte) [][]byte {
				lines[4], lines[6] = append([]byte("\x00"), lines[4]...), bytes.Replace(lines[6], []byte(`{"`), []byte("{\x01\""), 1)
				return lines
			},
			Choice{Only: []lint.Fix{lint.Exact}},
		},
	} {
		for _, mode := range []Mode{NewThread, InPlace} {
			home := t.TempDir()
			if err := testhome.Unpack("../fixtures/codex/rules/"+c.archive+".txtar", home); err != nil {
				t.Fatal(err)
			}
			rollouts, err := rolloutsIn(home)
			if err != nil || len(rollouts) == 0 {
				t.Fatal("no sessions", err)
			}
			path := rollouts[len(rollouts)-1] // a fork comes behind its parent
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text = bytes.Join(c.damage(bytes.SplitAfter(text, newline)), nil)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			m := mutant{choice: c.choice}
			first, err := restedRepair(t, m, home, path, mode)
			if err != nil {
				t.Errorf("%s, %s: %v", c.name, mode, err)
				continue
			}
			if len(first.Edits) == 0 {
				t.Errorf("%s, %s: nothing was mended", c.name, mode)
			}
			if again, err := restedRepair(t, m, home, first.Target, InPlace); err != nil || len(again.Edits) > 0 {
				t.Errorf("%s, %s: a second repair makes %d edits (%v)", c.name, mode, len(again.Edits), err)
			}
		}
	}
}

// restedRepair is repairInHome of a session that nobody writes.
func restedRepair(t *testing.T, m mutant, home, path string, mode Mode) (*Report, error) {
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	return repairInHome(t, m, home, path, mode)
}

// TestManyFindingsSettle: of a session with more findings than are listed, each change is told under the rule that made it.
func TestManyFindingsSettle(t *testing.T) {
	if !*testkit.Long {
		t.Skip("repairs 33 000 turns in two passes")
	}
	const n = 33_000 // turns without a prompt, each with a call that has no output; that some never end is a note
	var turns strings.Builder
	for i := range n {
		fmt.Fprintf(&turns, probeTurn+probeCall, i, i)
	}
	text := fmt.Sprintf(probeHeader, "") + turns.String()
	_, rep, err := repairText([]byte(text), "", Choice{})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]int{}
	for _, e := range rep.Edits {
		for _, rule := range append(e.Also, e.Rule) {
			told[rule]++
		}
	}
	if told["lost-message"] != n || told["call-without-output"] != n {
		t.Errorf("%d turns without a prompt, each with a call without output: %v", n, told)
	}
}

// TestManyCompactionsSettle: of a session with more compactions than a repair makes passes, all without a summary, the client
// sends everything again.
func TestManyCompactionsSettle(t *testing.T) {
	const n = 40
	text := []byte(compactions(3*n + 2))
	copied, rep, err := repairText(text, "", Choice{})
	if err != nil {
		t.Fatal(err)
	}
	after, err := lint.Session(t.Context(), bytes.NewReader(copied), lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if after.Summary.Seen != 2*n+2 || bytes.Contains(copied, []byte("compact_boundary")) {
		t.Errorf("%d of %d items are sent, with %d edits", after.Summary.Seen, 2*n+2, len(rep.Edits))
	}
}

// TestSameCallStaysOut: a call that was written twice, which the client has noted as the session's end, is not put back from
// the session itself by a repair of its copy.
func TestSameCallStaysOut(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	text := tree(5, works, func(i int, r *treeRecord) bool {
		switch i {
		case 3:
			r.role, r.content = "user", `"again"`
		case 4:
			r.role, r.content, r.msg = "assistant", tellsCall("toolu_1"), "msg_"+id(1)
		}
		return true
	}) + `{"type":"last-prompt","lastPrompt":"again","leafUuid":"` + id(4) + `","sessionId":"7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11"}` + "\n"
	home := t.TempDir()
	project := filepath.Join(home, "projects", "-home-dev-demo")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	m := mutant{text: []byte(text), opts: lint.Options{Agent: "claude"}}
	m.opts.Mend = m.choice.Allows
	if err := inItsHome(t, m, home, filepath.Join(project, treeName(0))); err != nil {
		t.Fatal(err)
	}
}
