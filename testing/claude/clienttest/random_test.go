package clienttest

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/lint"
)

var (
	random = flag.Int("random", 0, "drive the real client through so many sessions that are damaged at random")
	seed   = flag.Uint64("seed", 1, "with -random: the first seed; a session hangs on its seed alone")
	large  = flag.Bool("large", false, "with -random: the first way in which a session is damaged concerns much of it")
)

// sources are the scenarios whose recordings are damaged at random.
var sources = []string{
	"resumed", "resumed2", "continued", "clean", "thinking", "redacted", "image", "compact", "compact_auto", "todo", "tool_error", "subagent",
	"subagent_bg", "background", "bigout", "checkpoint", "interactive_rewind",
}

// TestRandomDamage has the real client resume sessions that were damaged at random, each in up to three ways, as they are and
// repaired: nothing may be sent less, twice or out of order for the repair, be refused, or go unnamed.
func TestRandomDamage(t *testing.T) {
	if *random == 0 {
		t.Skip("without -random")
	}
	for _, version := range strings.Split(*versions, ",") {
		t.Run(version, func(t *testing.T) {
			resume := modelled(version)
			if !*model {
				bin, err := Find(version)
				if err != nil {
					t.Skip(err)
				}
				h, err := NewHome(bin, t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				defer h.Close()
				resume = func(t *testing.T, id string, data []byte) (items, breaches []string, ok bool) {
					return resumed(t, h, id, data)
				}
			}
			sum := atRandom(t, cmp.Or(*written, version), version, resume, *seed, *random)
			t.Logf("%s: %.0f sessions, history sent %.3f before, %.3f after; %.3f could be had back, %.1f %% of it was", version, sum.cases,
				sum.before/sum.cases, sum.after/sum.cases, sum.possible/sum.cases, 100*sum.after/sum.possible)
		})
	}
}

// TestFixedSeeds is TestRandomDamage with a model of the newest client, for the same few sessions of each writer in every run.
func TestFixedSeeds(t *testing.T) {
	for _, writer := range []string{"1.0.17", "2.0.29", "2.1.2", "2.1.100", "2.1.215", "2.1.330"} {
		t.Run(writer, func(t *testing.T) {
			sum := atRandom(t, writer, Newest, modelled(Newest), 5001, 40)
			if sum.after < 0.98*sum.possible {
				t.Errorf("%.3f of the history is sent after the repairs, of %.3f that could be", sum.after/sum.cases, sum.possible/sum.cases)
			}
		})
	}
}

// atRandom drives a client through so many sessions of a writer, from a seed on.
func atRandom(t *testing.T, writer, version string, resume func(*testing.T, string, []byte) (items, breaches []string, ok bool), seed uint64, count int) (sum tally) {
	t.Helper()
	sound := map[string][2][]string{} // what is sent of a scenario, and the rules that it breaks
	for n := range uint64(count) {
		d := damagedAtRandom(t, writer, seed+n)
		if _, ok := sound[d.scenario]; !ok {
			items, own, ok := resume(t, d.id, d.sound.Bytes())
			if !ok {
				t.Fatalf("%s is not resumed", d.scenario)
			}
			sound[d.scenario] = [2][]string{items, own}
		}
		sum.add(d.drive(t, version, resume, sound[d.scenario][0], sound[d.scenario][1]))
	}
	return sum
}

// victimAtRandom is a session that was damaged in ways that a seed has chosen.
type victimAtRandom struct {
	seed     uint64
	scenario string
	id       string
	sound    Session
	data     []byte
	ways     []string
	more     []string       // items that a second writer has added
	times    map[string]int // how often the sound session says what; nil until asked for
}

func damagedAtRandom(t *testing.T, version string, seed uint64) victimAtRandom {
	r := rand.New(rand.NewPCG(seed, 0))
	var have []string
	for _, s := range sources {
		if found, _ := filepath.Glob(filepath.Join(fixtures, version, s, "*.jsonl")); len(found) > 0 {
			have = append(have, s)
		}
	}
	v := victimAtRandom{seed: seed, scenario: have[r.IntN(len(have))]}
	v.sound, v.id = recording(t, version, v.scenario)
	s := slices.Clone(v.sound)
	if r.IntN(3) == 0 {
		s = v.second(s, r)
	}
	for n := range 1 + r.IntN(3) {
		way := randomWays[r.IntN(len(randomWays))]
		if *large && n == 0 {
			way = largeWays[r.IntN(len(largeWays))]
		}
		i := r.IntN(len(s))
		if out := way.do(s, i, r); out != nil {
			v.ways = append(v.ways, fmt.Sprintf("%s@%d", way.name, i+1))
			s = Lines(out.Bytes())
		}
	}
	v.data = s.Bytes()
	return v
}

// second has a second client play a turn behind the end of some turn; its records stand among those of the first.
func (v *victimAtRandom) second(s Session, r *rand.Rand) Session {
	var ends []int
	for i, l := range s {
		if isText(l) && !gjson.GetBytes(l, "isSidechain").Bool() && get(l, "message.stop_reason") != "tool_use" {
			ends = append(ends, i)
		}
	}
	if len(ends) == 0 {
		return s
	}
	at := ends[r.IntN(len(ends))]
	p, a := branch(s[at], time.Duration(r.IntN(3))*20*time.Second, "9")
	if model := get(s[at], "message.model"); model != "" && model != "<synthetic>" { // it leaves out what another model has thought
		a = Set(a, "message", "model", `"`+model+`"`)
	}
	first := at + 1 + r.IntN(len(s)-at)
	then := first + r.IntN(len(s)-first+1)
	out := slices.Insert(slices.Clone(s), then, a)
	if r.IntN(2) == 0 && strings.HasPrefix(get(s[at], "version"), "2.1.3") {
		out = slices.Insert(out, then+1, []byte(fmt.Sprintf(`{"type":"last-prompt","lastPrompt":"branch prompt","leafUuid":%q,"sessionId":%q}`, get(a, "uuid"), get(s[at], "sessionId"))))
	}
	out = slices.Insert(out, first, p)
	v.more = []string{"text user branch prompt", "text assistant branch answer"}
	v.ways = append(v.ways, fmt.Sprintf("second@%d:%d,%d", at+1, first+1, then+2))
	return out
}

// drive resumes the session as it is and repaired, and says what the repair got wrong.
func (v *victimAtRandom) drive(t *testing.T, version string, resume func(*testing.T, string, []byte) (items, breaches []string, ok bool), whole, own []string) outcomes {
	t.Helper()
	whole = append(slices.Clone(whole), v.more...)
	var opts lint.Options
	if wrote := get(v.sound[v.sound.first()], "version"); wrote != version && version == "2.1.2" {
		opts.For = map[string]string{"claude": version} // who resumes a session with an older client than the newest says so
	}
	found := lintText(t, v.data, opts)
	fixed, _ := mend(t, v.data, opts)
	before, breaches, ok := resume(t, v.id, v.data)
	after := before
	c := outcomes{before: outcome{Share(before, whole), breaches, ok}, possible: Share(v.possible(whole), whole)}
	c.after = c.before
	if string(fixed) != string(v.data) {
		after, breaches, ok = resume(t, v.id, fixed)
		c.after = outcome{Share(after, whole), breaches, ok}
	}
	var wrong []string
	say := func(is bool, what string) {
		if is {
			wrong = append(wrong, what)
		}
	}
	say(!c.after.resumed && c.possible > 0, "not resumed")
	say(c.after.share < c.before.share, "worse")
	for _, b := range c.after.breaches {
		say(!slices.Contains(own, b), "400 "+b)
	}
	say(c.before.share < c.possible && !slices.ContainsFunc(found, func(f lint.Finding) bool { return f.Impact != lint.Notes }), "unnamed")
	once := slices.DeleteFunc(slices.Clone(whole[:len(whole)-len(v.more)]), func(item string) bool { return v.saidAgain(item) })
	say(outOfOrder(after, once) && !outOfOrder(before, once), "order")
	say(sentTwice(after, append(once, v.more...), before), "twice")
	say(c.after.share < c.possible-0.001, "short")
	t.Logf("%d %s %s: %s → %s of %.2f %s", v.seed, v.scenario, strings.Join(v.ways, " "), c.before, c.after, c.possible, strings.Join(wrong, ", "))
	for _, w := range wrong {
		if w != "short" {
			t.Errorf("%d: %s", v.seed, w)
		}
	}
	if len(wrong) > 0 && *keep != "" {
		v.keepFor(t, version, fixed, append([]string{strings.Join(v.ways, " ") + ": " + strings.Join(wrong, ", ")}, v.missing(before, after, whole, found)...))
	}
	c.possible = max(c.possible, c.after.share)
	return c
}

// saidAgain says whether the sound session says the same more than once, as in front of a compaction and behind it: if the compaction
// is lost, both are sent.
func (v *victimAtRandom) saidAgain(item string) bool {
	if v.times == nil {
		ids := map[string]bool{}
		for _, l := range v.sound {
			ids[get(l, "uuid")] = true
		}
		v.times = map[string]int{}
		for _, i := range itemsOf(v.sound, ids) {
			v.times[i]++
		}
	}
	return v.times[item] > 1
}

// possible are the items that the damaged session still holds. Records that are not sent of the sound one do not count, as those in
// front of a compaction: what they say may be said again behind it, in the same words. Nor do two thoughts without words, which have
// one signature in the recordings, count as one that is there twice.
func (v victimAtRandom) possible(whole []string) (list []string) {
	sent := Sent(v.sound)
	unsent := map[string]bool{}
	for _, l := range v.sound {
		if inTree(l) && !sent[get(l, "uuid")] {
			unsent[string(l)] = true
		}
	}
	hay := slices.DeleteFunc(Lines(v.data), func(l []byte) bool { return unsent[string(l)] }).Bytes()
	blank := strings.Count(string(hay), `"thinking":""`)
	for _, item := range Possible(hay, whole) {
		if kind, rest, _ := strings.Cut(item, " "); kind == "thinking" && strings.HasSuffix(rest, " ") {
			if blank--; blank < 0 {
				continue
			}
		}
		list = append(list, item)
	}
	return list
}

// missing is what stands in the damaged session, or was sent of it, and is not sent of the repaired one; what was found; and what is sent.
func (v victimAtRandom) missing(before, after, whole []string, found []lint.Finding) (list []string) {
	for _, item := range intersect(v.possible(whole), whole) {
		if !slices.Contains(after, item) {
			list = append(list, "possible, not sent: "+item)
		}
	}
	for _, item := range before {
		if !slices.Contains(after, item) {
			list = append(list, "sent before: "+item)
		}
	}
	for i := range found {
		list = append(list, fmt.Sprintf("%v %s %s %s: %s", found[i].Pos, found[i].Rule.Name, found[i].Impact, found[i].Fix, found[i].Message))
	}
	return append(append(list, "sent of the repaired session:"), after...)
}

// keepFor writes a session that went wrong beside what was found out about it.
func (v victimAtRandom) keepFor(t *testing.T, version string, fixed []byte, notes []string) {
	t.Helper()
	base := fmt.Sprintf("%s-%d", version, v.seed)
	for ext, data := range map[string][]byte{".jsonl": v.data, ".fixed": fixed, ".sound": v.sound.Bytes(), ".txt": []byte(clip(notes))} {
		keepFile(t, base+ext, data)
	}
}

// clip is a list with a line for each item, long ones shortened.
func clip(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		if len(l) > 300 {
			l = l[:300]
		}
		b.WriteString(strings.ReplaceAll(l, "\n", "⏎") + "\n")
	}
	return b.String()
}

// intersect are the items of part that whole has, each no more often than it stands there.
func intersect(part, whole []string) (list []string) {
	left := map[string]int{}
	for _, item := range whole {
		left[item]++
	}
	for _, item := range part {
		if left[item] > 0 {
			left[item]--
			list = append(list, item)
		}
	}
	return list
}

// outOfOrder says whether texts are sent in another order than they have in whole.
func outOfOrder(sent, whole []string) bool {
	last := 0
	for _, item := range sent {
		i := slices.Index(whole, item)
		if i < 0 || !strings.HasPrefix(item, "text ") || slices.Index(whole[i+1:], item) >= 0 {
			continue
		}
		if i < last {
			return true
		}
		last = i
	}
	return false
}

// sentTwice says whether anything is sent more often than it stands in whole, and than before.
func sentTwice(sent, whole, before []string) bool {
	left := map[string]int{}
	for _, item := range whole {
		left[item]++
	}
	was := map[string]int{}
	for _, item := range before {
		was[item]++
	}
	for _, item := range sent {
		left[item]--
		was[item]--
		if left[item] == -1 && slices.Contains(whole, item) && was[item] < 0 {
			return true
		}
	}
	return false
}
