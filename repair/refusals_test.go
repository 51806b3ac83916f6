package repair

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/testkit"
	"github.com/hist-cli/hist/lint"
)

var (
	mutants   = flag.Int("mutants", 0, "how many damaged sessions of each agent TestMutants repairs; 0: a few hundred, or thousand with -long")
	firstSeed = flag.Int64("seed", 0, "the seed of the first of them")
)

// stock is what the mutants of an agent are made of: recordings, and the fixtures of the rules, which are damaged already.
type stock struct {
	agent    string
	patterns []string
	most     int // bytes of a session
	ways     []way
	versions []string // of the client that some are to be repaired for

	all    map[string][]byte
	weighs map[string]uint64 // a hash of each name
}

// stocks are all that there are.
func stocks(t testing.TB) []*stock {
	t.Helper()
	all := []*stock{{
		agent: "codex", ways: rolloutBreaks, most: 1 << 30, versions: []string{"0.58.0", "0.145.0", "0.153.0"},
		patterns: []string{"*/*/rollout-*.jsonl", "rules/*/*.jsonl", "healthy/*/session.jsonl"},
	}, {
		agent: "claude", ways: treeBreaks, most: 200_000, versions: []string{"1.0.128", "2.1.2", "2.1.100"},
		patterns: []string{"[0-9]*/*/*.jsonl", "rules/*/*.jsonl", "healthy/*/session.jsonl"},
	}}
	for _, s := range all {
		s.all = map[string][]byte{}
		for _, pattern := range s.patterns {
			paths, err := filepath.Glob(filepath.Join("../fixtures", s.agent, pattern))
			if err != nil || len(paths) == 0 {
				t.Fatalf("no fixtures: %v", err)
			}
			for _, p := range paths {
				text, err := os.ReadFile(p)
				if err != nil {
					t.Fatal(err)
				}
				if len(text) <= s.most {
					s.all[p] = text
				}
			}
		}
		s.weighs = map[string]uint64{}
		for name := range s.all {
			h := fnv.New64a()
			h.Write([]byte(name))
			s.weighs[name] = h.Sum64()
		}
	}
	return all
}

// pick is the session that a seed damages: of all the one that weighs most with that seed. So a session that is added later
// takes some seeds for itself and leaves the mutants of all others what they were.
func (s *stock) pick(seed int64) (name string) {
	var most uint64
	for n, w := range s.weighs {
		if w = mixed(w + mixed(uint64(seed))); w >= most {
			most, name = w, n
		}
	}
	return name
}

// mixed spreads what two numbers differ in over all bits; it is the last step of splitmix64.
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// mutant is a session that was damaged at random, and what a repair of it is asked for.
type mutant struct {
	seed      int64
	name, how string
	whole     []byte // the session that was damaged
	text      []byte
	choice    Choice
	opts      lint.Options
}

// mutant damages a session in one way (two of three seeds) or in up to five ways at once. Some are repaired under
// other choices and conditions than the usual ones.
func (s *stock) mutant(seed int64) mutant {
	rng := rand.New(rand.NewSource(seed))
	m := mutant{seed: seed, name: s.pick(seed)}
	m.whole = s.all[m.name]
	m.text, m.how = s.damaged(rng, m.name)
	m.opts.Name = lint.NameOf(filepath.Base(m.name), false)
	switch rng.Intn(9) {
	case 0, 1, 2:
		m.opts.Provider = "openrouter"
	case 3:
		m.opts.KeepOrphans, m.opts.ChainParallel = true, strings.Contains(m.name, "/claude/")
	case 4:
		m.opts.StripEncrypted = true
	case 5:
		m.opts.For = map[string]string{s.agent: s.versions[rng.Intn(3)]}
	}
	if rng.Intn(4) == 0 {
		if n := rng.Intn(len(choices) + 3); n < len(choices) {
			m.choice = choices[n].choice
		} else {
			for range n - len(choices) + 1 {
				m.choice.Rules = append(m.choice.Rules, lint.Rules[rng.Intn(len(lint.Rules))].Name)
			}
		}
	}
	m.opts.Mend, m.opts.Agent = m.choice.Allows, s.agent
	return m
}

// damaged damages the session with a name at random, and says how.
func (s *stock) damaged(rng *rand.Rand, name string) (text []byte, how string) {
	return s.broken(rng, s.all[name])
}

// broken damages a session at random, and says how.
func (s *stock) broken(rng *rand.Rand, text []byte) (_ []byte, how string) {
	ways := 1
	if rng.Intn(3) == 0 {
		ways = 2 + rng.Intn(4)
	}
	for range ways {
		var way string
		text, way = break1(rng, text, s.ways)
		how += "; " + way
	}
	return text, how
}

func (m mutant) String() string {
	o := m.opts
	return fmt.Sprintf("%s%s: %+v, provider %q, keep orphans %v, chain %v, strip %v, for %q", m.name, m.how, m.choice, o.Provider, o.KeepOrphans, o.ChainParallel, o.StripEncrypted, o.For)
}

// TestHiddenDamageIsTold: what was mended had hidden damage that nothing mends, and the report says that it is left.
func TestHiddenDamageIsTold(t *testing.T) {
	text, err := os.ReadFile("../fixtures/claude/0.2.126/torn_append/aa01bce2-977a-42ad-8e40-2f135532d7cd.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"content":[{"type"`), []byte("\"content\":[{\"\u2028type\""), 1)
	m := mutant{text: text, opts: lint.Options{Agent: "claude"}, choice: Choice{Only: []lint.Fix{lint.Exact, lint.Recovered}}}
	m.opts.Mend = m.choice.Allows
	if err := laws(t, m); err != nil {
		t.Error(err)
	}
}

// TestPiecesAreSound: what an unreadable line still holds is not put back where the client could read it there no better.
func TestPiecesAreSound(t *testing.T) {
	text, err := os.ReadFile("../fixtures/claude/2.1.100/subagents_parallel/217655ed-9064-4496-aa6c-b9928e6236c1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	const output = " to continue this agent"
	for what, damaged := range map[string][]byte{
		"half a surrogate": bytes.Replace(text, []byte(output), []byte(` \udc3d`), 1),
		"no UTF-8":         bytes.Replace(text, []byte(output), []byte(" \xe9"), 1),
	} {
		m := mutant{text: damaged, opts: lint.Options{Agent: "claude"}, choice: Choice{Only: []lint.Fix{lint.Exact, lint.Recovered}}}
		m.opts.Mend = m.choice.Allows
		if out, _, err := repairAs(m.text, m.opts, m.choice); bytes.Equal(damaged, text) || err != nil || bytes.Count(out, []byte("\n")) != bytes.Count(text, []byte("\n")) {
			t.Errorf("%s: %d lines of %d, %v", what, bytes.Count(out, []byte("\n")), bytes.Count(text, []byte("\n")), err)
		}
	}
}

// TestSwappedMessages: an answer that hist has put back behind its event is no copy of where it stands by mistake.
func TestSwappedMessages(t *testing.T) {
	lines := linesOf(t, "../fixtures/codex/rules/stale-wake/ok.jsonl")
	const prompt, answer = 3, 27
	lines[prompt], lines[answer] = lines[answer], lines[prompt]
	if _, _, err := repairAs(joined(lines), lint.Options{Mend: Choice{}.Allows}, Choice{}); err != nil {
		t.Error(err)
	}
}

// TestMovedAnswer: an answer that stands far in front of its event, and is put back behind it, was not written there a second time.
func TestMovedAnswer(t *testing.T) {
	lines := linesOf(t, "../fixtures/codex/rules/stale-wake/ok.jsonl")
	const firstPrompt, answer = 4, 27
	moved := slices.Insert(slices.Delete(slices.Clone(lines), answer, answer+1), firstPrompt+1, lines[answer])
	if _, _, err := repairAs(joined(moved), lint.Options{Mend: Choice{}.Allows}, Choice{}); err != nil {
		t.Error(err)
	}
}

// TestTwoLostPrompts: two turns that get the same words at the same time for their lost prompts are no block that was written twice.
func TestTwoLostPrompts(t *testing.T) {
	lines := linesOf(t, "../fixtures/codex/healthy/legacy-fork/session.jsonl")
	const start, prompt, output, answer = 3, 5, 17, 18
	damaged := slices.Insert(slices.Clone(lines), output, lines[start])
	damaged = slices.Insert(damaged, prompt, lines[answer])
	if _, _, err := repairAs(joined(damaged), lint.Options{Mend: Choice{}.Allows}, Choice{}); err != nil {
		t.Error(err)
	}
}

// TestNumberOnALeftLine: a record whose number is given anew does not get that of the record on a line in front, which stays unreadable.
func TestNumberOnALeftLine(t *testing.T) {
	lines := linesOf(t, "../fixtures/codex/rules/ordinal-duplicate/bad-key-twice.jsonl")
	const event = 17
	lines[event] = append(make([]byte, 100), lines[event]...)
	m := mutant{text: joined(lines), choice: Choice{Only: []lint.Fix{lint.Exact, lint.Recovered}}, opts: lint.Options{For: map[string]string{"codex": "0.145.0"}}}
	m.opts.Mend = m.choice.Allows
	if _, _, err := repairAs(m.text, m.opts, m.choice); err != nil {
		t.Error(err)
	}
}

// TestLostCallWithALongID: an output whose call_id the API refuses has lost its call. The call that stands in for it has the id that the
// output is given instead.
func TestLostCallWithALongID(t *testing.T) {
	lines := linesOf(t, "../fixtures/codex/rules/refused/bad-long-call-id.jsonl")
	m := mutant{whole: joined(lines), opts: lint.Options{Agent: "codex", Mend: Choice{}.Allows}}
	call := slices.IndexFunc(lines, func(l []byte) bool { return bytes.Contains(l, []byte(`"function_call"`)) })
	m.text = joined(slices.Delete(lines, call, call+1))
	if _, rep, err := repairAs(m.text, m.opts, m.choice); err != nil || len(rep.Notes) > 0 {
		t.Error(err, rep.Notes)
	}
	if err := laws(t, m); err != nil {
		t.Error(err)
	}
}

// TestKeptBehindItsMark: what was compacted, and hangs on the mark of that compaction by mistake, does not become its own parent where
// the mark is taken out, wherever in the file it stands.
func TestKeptBehindItsMark(t *testing.T) {
	const answer, mark, prompt = 8, 10, 11
	for _, moved := range []bool{false, true} {
		lines := linesOf(t, "../fixtures/claude/rules/lost-summary/bad-kept.jsonl")
		m := mutant{whole: joined(lines), opts: lint.Options{Agent: "claude", Mend: Choice{}.Allows}}
		whole := lines[answer]
		lines[answer] = set(whole, "parentUuid", gjson.GetBytes(lines[mark], "uuid").Raw)
		if moved {
			lines = slices.Insert(slices.Delete(slices.Clone(lines), answer, answer+1), prompt, lines[answer])
		}
		m.text = joined(lines)
		if err := laws(t, m); err != nil {
			t.Errorf("moved %v: %v", moved, err)
		}
		if out, _, err := repairAs(m.text, m.opts, m.choice); err != nil || !moved && !bytes.Contains(out, whole) {
			t.Errorf("moved %v: the answer does not hang where it did, %v", moved, err)
		}
	}
}

// TestCutBehindACompaction: the last line is of what was compacted, and was cut inside its time. The time that it gets is not later than
// that of the message with which the conversation ends: clients up to 2.1.2 would begin there, and no pass settled it.
func TestCutBehindACompaction(t *testing.T) {
	text := bytes.TrimSpace(joined(linesOf(t, "../fixtures/claude/rules/wrong-leaf/bad-behind-a-compaction.jsonl")))
	cut := bytes.LastIndex(text, []byte(`:01:09.000Z"}`))
	if _, _, err := repairAs(text[:cut], lint.Options{Agent: "claude", Mend: Choice{}.Allows}, Choice{}); err != nil || cut < 0 {
		t.Error(err)
	}
}

// TestManyJumpsOfTheClock: each second answer has a time that is hours ahead, as of a machine whose clock jumps. Clients up to 2.1.2
// begin at one of these; one repair puts all of them right.
func TestManyJumpsOfTheClock(t *testing.T) {
	text := changed(says, jumps)(120)
	out, _, err := repairAs([]byte(text), lint.Options{Agent: "claude", Mend: Choice{}.Allows}, Choice{})
	if err != nil || bytes.Equal(out, []byte(text)) {
		t.Error(err, len(out))
	}
}

// TestMarkOfAnotherRecord: what was written before a compaction is no other client's turn, though its mark names an older record.
func TestMarkOfAnotherRecord(t *testing.T) {
	lines := linesOf(t, "../fixtures/claude/healthy/compacted-in-a-terminal/session.jsonl")
	const early, attachment, mark, late = 5, 7, 24, 26
	lines[early], lines[late] = lines[late], lines[early]
	lines[mark] = set(lines[mark], "logicalParentUuid", gjson.GetBytes(lines[attachment], "uuid").Raw)
	if _, _, err := repairAs(joined(lines), lint.Options{Agent: "claude", Mend: Choice{}.Allows}, Choice{}); err != nil {
		t.Error(err)
	}
}

// TestOutputOfAnotherWriting: where a client has written the history a second time, under new ids, the output of a call that one
// writing has lost is not hung on the other one's call, which has its own.
func TestOutputOfAnotherWriting(t *testing.T) {
	const first, second, answer = 2, 9, 5
	for how, damage := range map[string]func(lines [][]byte){
		"the first call": func(lines [][]byte) { lines[first] = set(lines[first], "message.content.0.id", `""`) },
		"the second call": func(lines [][]byte) {
			lines[second] = set(lines[second], "message", gjson.GetBytes(lines[answer], "message").Raw)
		},
	} {
		lines := linesOf(t, "../fixtures/claude/healthy/written-anew/session.jsonl")
		m := mutant{whole: joined(lines), opts: lint.Options{Agent: "claude", Mend: Choice{}.Allows}}
		damage(lines)
		m.text = joined(lines)
		if err := laws(t, m); err != nil {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// TestBeginningMadeReadable: where the record can be read again with which the conversation begins, what stands in front of it is not lost: it
// was sent only because what hangs on that record hung on nothing.
func TestBeginningMadeReadable(t *testing.T) {
	const last = 20
	lines := linesOf(t, "../fixtures/claude/healthy/terminal-commands-1.0.17/session.jsonl")
	m := mutant{whole: joined(lines), opts: lint.Options{Agent: "claude", Mend: Choice{}.Allows}}
	lines[last] = bytes.Replace(lines[last], []byte(`"uuid":`), []byte(`"id":`), 1)
	m.text = joined(lines)
	out, rep, err := repairAs(m.text, m.opts, m.choice)
	if err != nil || bytes.Equal(out, m.text) || len(rep.Notes) > 0 {
		t.Error(err, rep.Notes)
	}

	const prompt = 3
	lines = linesOf(t, "../fixtures/claude/healthy/rewind-to-the-start-of-an-interrupted-answer/session.jsonl")
	for i := range lines {
		if i >= prompt {
			lines[i] = bytes.TrimSpace([]byte(gjson.GetBytes(lines[i], "@pretty").Raw))
		}
	}
	m = mutant{text: joined(lines), opts: lint.Options{Agent: "claude", Mend: Choice{}.Allows, For: map[string]string{"claude": "1.0.128"}}}
	if out, rep, err := repairAs(m.text, m.opts, m.choice); err != nil || bytes.Count(out, newline) != len(lines) || len(rep.Notes) > 0 {
		t.Error(err, rep.Notes)
	}
}

// TestTwoRulesLoseTogether: where either of two rules takes an answer from the conversation, both are left out, and the rest is mended.
func TestTwoRulesLoseTogether(t *testing.T) {
	text, err := os.ReadFile("testdata/two-rules-lose-together.jsonl") // a session, torn and shuffled
	if err != nil {
		t.Fatal(err)
	}
	_, rep, err := repairAs(text, lint.Options{Agent: "claude", Mend: Choice{}.Allows}, Choice{})
	if err != nil || !leftOut(rep, "bad-json") || !leftOut(rep, "lost-call") || len(rep.Edits) == 0 {
		t.Error(err, rep)
	}
}

// TestWithoutAnEnd: where two mends undo each other, one is left out, the report says so, and the rest is mended.
func TestWithoutAnEnd(t *testing.T) {
	const answer = 6
	lines := linesOf(t, "../fixtures/claude/rules/duplicate-result/bad-interrupted-elsewhere.jsonl")
	m := mutant{whole: joined(lines), opts: lint.Options{Agent: "claude", Mend: Choice{}.Allows, For: map[string]string{"claude": "2.1.100"}}}
	lines[answer] = bytes.Replace(lines[answer], []byte(`"message"`), append([]byte(`"m`), append(make([]byte, 147), `essage"`...)...), 1)
	m.text = joined(lines)
	_, rep, err := repairAs(m.text, m.opts, m.choice)
	if err != nil || !leftOut(rep, "broken-parent") || !slices.ContainsFunc(rep.Edits, func(e Entry) bool { return e.Rule == "lost-branch" }) {
		t.Error(err, rep)
	}
	if err := laws(t, m); err != nil {
		t.Error(err)
	}
}

// TestLinesOfAGap: the lines around one that is not the same in session and copy.
func TestLinesOfAGap(t *testing.T) {
	lines := pieces{{from: 3, copied: 2, n: 2}, {from: 9, copied: 5, n: 1}}
	for line, want := range map[int64][4]int64{1: {1, 2, 1, 1}, 4: {5, 4, 4, 1}, 6: {10, math.MaxInt64, 6, math.MaxInt64}} {
		from, n, copied, nCopied := lines.gap(line)
		if got := [4]int64{from, n, copied, nCopied}; got != want {
			t.Errorf("line %d: %v, want %v", line, got, want)
		}
	}
	if got := linesIn([]byte("a\nb\nc"), 2, 5); string(got) != "b\nc" {
		t.Errorf("%q", got)
	}
}

// eachMutant tries a law on n mutants, a tenth of them without -long, or as many as -mutants says, and counts the ways in which it does not hold. It returns
// how many it has tried.
func eachMutant(t *testing.T, s *stock, n int64, law func(m mutant) error) int64 {
	t.Helper()
	if n = int64(testkit.Times(int(n), 10)); *mutants > 0 {
		n = int64(*mutants)
	}
	var lock sync.Mutex
	against := map[string]int{}
	seeds := make(chan int64)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := range seeds {
				m := s.mutant(seed)
				err := holds(law, m)
				if err == nil {
					continue
				}
				what := "other"
				var b *broken
				switch {
				case errors.As(err, &b):
					what = b.law
				case errors.Is(err, ErrVerify):
					what = failsCheck
				}
				lock.Lock()
				against[what]++
				lock.Unlock()
				t.Errorf("seed %d: %s: %v", seed, m, err)
			}
		})
	}
	for seed := *firstSeed; seed < *firstSeed+n; seed++ {
		seeds <- seed
	}
	close(seeds)
	workers.Wait()
	t.Logf("%d mutants, broken: %v", n, against)
	return n
}

// holds tries a law on a mutant. A panic is a way in which it does not hold.
func holds(law func(m mutant) error, m mutant) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &broken{"panic", fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
	}()
	return law(m)
}
