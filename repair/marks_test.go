package repair

import (
	"bytes"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/lint"
)

// rawMember is a member of a line as it stands there.
func rawMember(line []byte, name string) string { return gjson.GetBytes(line, name).Raw }

// TestAroundAMark: records that hang, or seem to hang, on both sides of a compaction's mark are mended for good.
func TestAroundAMark(t *testing.T) {
	standIns := Choice{Only: []lint.Fix{lint.StandIn, lint.SetAside}}
	for name, test := range map[string]struct {
		session string
		damage  func(lines [][]byte)
		choice  Choice
		target  string // the client's version
	}{
		"a prompt that was compacted names the summary": {"healthy/compacted-in-a-terminal/session.jsonl", func(lines [][]byte) {
			const prompt, summary = 14, 25
			lines[prompt] = set(lines[prompt], "parentUuid", rawMember(lines[summary], "uuid"))
		}, Choice{}, ""},
		"an answer that was compacted names the summary": {"rules/record-order/bad-mark.jsonl", func(lines [][]byte) {
			const answer, summary = 5, 12
			lines[answer] = set(lines[answer], "parentUuid", rawMember(lines[summary], "uuid"))
		}, Choice{}, ""},
		"so does a prompt, and the mark another record": {"rules/lost-branch/bad-compacted.jsonl", func(lines [][]byte) {
			const first, prompt, mark, summary = 0, 7, 11, 12
			lines[prompt] = set(lines[prompt], "parentUuid", rawMember(lines[summary], "uuid"))
			lines[mark] = set(lines[mark], "logicalParentUuid", rawMember(lines[first], "uuid"))
		}, Choice{}, ""},
		"so does a prompt an answer whose own prompt is lost": {"rules/lost-branch/bad-compacted-both-go-on.jsonl", func(lines [][]byte) {
			const prompt, answer = 2, 9
			lines[prompt] = set(lines[prompt], "parentUuid", rawMember(lines[answer], "uuid"))
			lines[answer] = set(lines[answer], "parentUuid", quoted(lostID))
		}, Choice{}, ""},
		"what was kept hangs behind the mark, and has no time": {"rules/record-order/bad-mark.jsonl", func(lines [][]byte) {
			const answer, prompt, summary = 8, 10, 12
			lines[prompt] = set(lines[prompt], "parentUuid", rawMember(lines[answer], "uuid"))
			lines[answer] = set(lines[answer], "timestamp", `""`)
			lines[answer] = set(lines[answer], "parentUuid", rawMember(lines[summary], "uuid"))
		}, Choice{}, ""},
		"the mark names a record in front of what was kept": {"rules/lost-branch/bad-compacted.jsonl", func(lines [][]byte) {
			const prompt, mark, last = 7, 11, 16
			lines[mark] = set(lines[mark], "logicalParentUuid", rawMember(lines[prompt], "uuid"))
			lines[last] = nil
		}, Choice{}, ""},
		"the mark names the prompt of a turn in front of it": {"rules/lost-branch/bad-compacted-beside.jsonl", func(lines [][]byte) {
			const prompt, mark = 0, 4
			lines[mark] = set(lines[mark], "logicalParentUuid", rawMember(lines[prompt], "uuid"))
		}, Choice{}, ""},
		"so it does where another client went on behind that": {"rules/lost-branch/bad-compacted.jsonl", func(lines [][]byte) {
			const prompt, mark = 0, 11
			lines[mark] = set(lines[mark], "logicalParentUuid", rawMember(lines[prompt], "uuid"))
			without("compactMetadata")(nil, lines, mark)
		}, Choice{}, ""},
		"another client's turn in front of it has lost its parent": {"rules/lost-branch/bad-compacted.jsonl", func(lines [][]byte) {
			const prompt = 10
			lines[prompt] = set(lines[prompt], "parentUuid", quoted(lostID))
		}, Choice{}, ""},
		"or names none": {"rules/lost-branch/bad-compacted.jsonl", func(lines [][]byte) {
			const prompt = 10
			lines[prompt] = set(lines[prompt], "parentUuid", "null")
		}, Choice{}, ""},
		"calls on both sides have one id": {"rules/broken-parent/bad-after-resume.jsonl", func(lines [][]byte) {
			const call, later = 1, 7
			lines[call] = set(lines[call], "message.content.0.id", rawMember(lines[later], "message.content.0.id"))
		}, standIns, "2.1.2"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := linesOf(t, "../fixtures/claude/"+test.session)
			m := mutant{whole: joined(lines), choice: test.choice, opts: lint.Options{Agent: "claude", Mend: test.choice.Allows}}
			if test.target != "" {
				m.opts.For = map[string]string{"claude": test.target}
			}
			test.damage(lines)
			m.text = joined(lines)
			out, _, err := repairAs(m.text, m.opts, m.choice)
			if err != nil {
				t.Fatal(err)
			}
			if sent, whole := requestOf(t, out).Own(), requestOf(t, mendedWhole(t, m)).Own(); sent != whole {
				t.Errorf("the client sends %d items of the repaired session, %d of the one that was damaged", sent, whole)
			}
			if err := laws(t, m); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestChainedFarApart: calls that name one answer, though another stands between, do not run beside one another; their outputs are
// not hung behind each other.
func TestChainedFarApart(t *testing.T) {
	const call, later = 6, 20
	lines := linesOf(t, "../fixtures/claude/2.1.100/hooks/88b34f9f-7ae6-4786-b7c5-1cd408128193.jsonl")
	m := mutant{whole: joined(lines), opts: lint.Options{Agent: "claude", ChainParallel: true, Mend: Choice{}.Allows}}
	lines[later] = set(lines[later], "message.id", rawMember(lines[call], "message.id"))
	m.text = joined(lines)
	if err := laws(t, m); err != nil {
		t.Error(err)
	}
}

// TestParentTakenOut: a prompt that says nothing of a parent has lost that; one that begins anew says that it has none.
func TestParentTakenOut(t *testing.T) {
	const prompt = 73
	lines := linesOf(t, "../fixtures/claude/healthy/terminal-2.1/session.jsonl")
	m := mutant{whole: joined(lines), opts: lint.Options{Agent: "claude", Mend: Choice{}.Allows}}
	without("parentUuid")(nil, lines, prompt)
	out, _, err := repairAs(joined(lines), m.opts, m.choice)
	if err != nil {
		t.Fatal(err)
	}
	if sent, whole := requestOf(t, out).Own(), requestOf(t, mendedWhole(t, m)).Own(); sent != whole {
		t.Errorf("the client sends %d items, %d of the session that was damaged", sent, whole)
	}
}

// TestNothingToKeep: a session whose only record the API refuses and nothing mends is left as it is, and the report says why.
func TestNothingToKeep(t *testing.T) {
	lines := linesOf(t, "../fixtures/claude/rules/broken-parent/bad-end-on-a-helper.jsonl")[:1]
	m := mutant{whole: joined(lines), opts: lint.Options{Agent: "claude", Mend: Choice{}.Allows}}
	without("message")(nil, lines, 0)
	m.text = joined(append(lines, []byte("[17]")))
	out, rep, err := repairAs(m.text, m.opts, m.choice)
	if err != nil || !bytes.Equal(out, m.text) || !slices.Contains(rep.Notes, leavesAll) || rep.Resume != nil {
		t.Error(err, rep)
	}
	if err := laws(t, m); err != nil {
		t.Error(err)
	}
}
