package repair

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// keptRepair is a repair whose set-aside file is kept in memory.
type keptRepair struct {
	out, aside []byte
	rep        *Report
	encoding   normalize.Encoding
	passes     bool // it took more than one
}

func repairKept(t testing.TB, text []byte, opts lint.Options, choice Choice) (k keptRepair, err error) {
	t.Helper()
	src, err := source.Stdin(bytes.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	opts.Mend = choice.Allows
	w := &job{Job: Job{Source: src, Lint: opts, Choice: choice, Mode: ToStream}}
	defer func() { w.passes.close() }()
	if err := w.look(t.Context()); err != nil {
		return k, err
	}
	var aside bytes.Buffer
	path := filepath.Join(t.TempDir(), "copy")
	err = w.attempt(t.Context(), "", func() error {
		var out bytes.Buffer
		aside.Reset()
		if err := w.fill(t.Context(), &out, &aside); err != nil {
			return err
		}
		k.out = out.Bytes()
		if err := os.WriteFile(path, k.out, 0o600); err != nil {
			return err
		}
		return w.verify(t.Context(), path, false)
	})
	if err != nil {
		return k, err
	}
	k.aside, k.rep, k.encoding, k.passes = aside.Bytes(), w.report(nil), w.found.Summary.Encoding, w.passes != nil
	return k, nil
}

// asides reads a set-aside file: the bytes that were kept of each line. Each must stand where it is said to have stood.
func asides(text, aside []byte) (kept map[int64][]byte, err error) {
	kept = map[int64][]byte{}
	for len(aside) > 0 {
		var line, offset int64
		var size int
		head, rest, _ := bytes.Cut(aside, newline)
		if _, err := fmt.Sscanf(string(head), "# line %d, byte %d, %d bytes", &line, &offset, &size); err != nil {
			return nil, fmt.Errorf("the set-aside file says %q: %w", head, err)
		}
		raw := rest[:size]
		if from := text[offset:]; !bytes.HasPrefix(from, raw) && !bytes.Contains(bytes.ReplaceAll(from, []byte{0}, nil), raw) {
			return nil, &broken{"what was set aside stood elsewhere", fmt.Sprintf("of line %d, behind byte %d: %q", line, offset, raw)}
		}
		if n := int64(1 + bytes.Count(text[:offset], newline)); n != line {
			return nil, &broken{"what was set aside stood elsewhere", fmt.Sprintf("byte %d is on line %d, not %d", offset, n, line)}
		}
		for i, l := range bytes.Split(raw, newline) {
			n := line + int64(i)
			kept[n] = append(append(kept[n], l...), '\n')
		}
		aside = rest[size+1:]
	}
	return kept, nil
}

// allKept is an error if something of the session is neither in the copy nor set aside. A line that is told as exactly
// re-encoded must have each of its words in the copy.
func allKept(text []byte, k keptRepair) error {
	kept, err := asides(text, k.aside)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, l := range bytes.Split(k.out, newline) {
		have[unnumbered(l)] = true
	}
	for i, l := range bytes.Split(text, newline) {
		n := int64(i + 1)
		if have[unnumbered(l)] || bytes.Contains(kept[n], l) {
			continue
		}
		all := append(bytes.Clone(k.out), kept[n]...)
		for _, word := range words(l) {
			if _, err := strconv.Atoi(string(word)); err == nil {
				continue // an ordinal: that those follow is told as one range
			}
			if !bytes.Contains(all, word) {
				return &broken{"a byte is lost", fmt.Sprintf("%q of line %d", word, n)}
			}
		}
	}
	return nil
}

// words are the parts of a line that no re-encoding changes.
func words(line []byte) [][]byte {
	return bytes.FieldsFunc(line, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"\,:{}[]`, c)
	})
}

// TestEveryByteIsKept: whatever a repair changes, each byte of the session is in the copy, or set aside under its line and
// place, or told as exactly re-encoded.
func TestEveryByteIsKept(t *testing.T) {
	for _, s := range stocks(t) {
		t.Run(s.agent, func(t *testing.T) {
			var several atomic.Int64
			tried := eachMutant(t, s, 3000, func(m mutant) error {
				k, err := repairKept(t, m.text, m.opts, m.choice)
				if err != nil || k.encoding != normalize.UTF8 {
					return nil // TestNoRefusals counts those
				}
				if k.passes {
					several.Add(1)
				}
				return allKept(m.text, k)
			})
			t.Logf("%d of %d took several passes", several.Load(), tried)
			if several.Load() == 0 && tried >= 3000 { // a few hundred may hold none
				t.Error("no repair took several passes: that way was not tried")
			}
		})
	}
}

// TestMovedStandIn: bytes that a stand-in replaces are kept though their record only moves, and the report says so.
func TestMovedStandIn(t *testing.T) {
	text := []byte(`{"timestamp":"2026-11-18T09:30:00.100Z","type":"event_msg","payload":{"type":"user_message","message":"q","images":[]}}
{"timestamp":"2026-11-18T09:30:00.000Z","type":"session_meta","payload":{"id":"01a1edfd-e191-74b0-9003-79b97f4a7c15","timestamp":"2026-11-18T09:30:00.000Z","cwd":"/home/dev/\ud83d","originator":"codex_exec","cli_version":"0.114.0","source":"exec","model_provider":"openai"}}
`)
	k, err := repairKept(t, text, lint.Options{}, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if err := allKept(text, k); err != nil || !bytes.Contains(k.aside, []byte(`\ud83d`)) {
		t.Errorf("%v; set aside: %s", err, k.aside)
	}
	if len(k.rep.Edits) == 0 || k.rep.Fix != lint.StandIn.String() {
		t.Errorf("the report names the fix %q: %+v", k.rep.Fix, k.rep.Edits)
	}
	for _, e := range k.rep.Edits {
		if e.Line == 2 && e.Fix != lint.StandIn.String() {
			t.Errorf("line 2: fix %s", e.Fix)
		}
	}
}

// TestBlanksBesideNULs: blanks in front of NULs and behind them are set aside with them, each at its own place.
func TestBlanksBesideNULs(t *testing.T) {
	header := `{"timestamp":"2026-11-18T09:30:00.000Z","type":"session_meta","payload":{"id":"01a1edfd-e191-74b0-9003-79b97f4a7c15","timestamp":"2026-11-18T09:30:00.000Z","cwd":"/home/dev/notes","originator":"codex_exec","cli_version":"0.114.0","source":"exec","model_provider":"openai"}}` + "\n"
	zeros := strings.Repeat("\x00", 100)
	text := []byte(header + " " + zeros + `  "content": [` + zeros + " \t\n")
	k, err := repairKept(t, text, lint.Options{}, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if err := allKept(text, k); err != nil || !bytes.Contains(k.aside, []byte("\n "+zeros)) {
		t.Errorf("%v; set aside: %q", err, k.aside)
	}
}

// TestPiecesKeepTheirPlace: what is set aside of a line beside its records is kept with the offset that it had.
func TestPiecesKeepTheirPlace(t *testing.T) {
	sound, err := os.ReadFile("../fixtures/claude/rules/lost-result/ok.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	zeros := strings.Repeat("\x00", 100)
	lines := bytes.SplitAfterN(sound, newline, 4)
	text := slices.Concat(lines[0], bytes.TrimSpace(lines[1]), []byte(zeros), bytes.TrimSpace(lines[2]), []byte(zeros+"\n"), lines[3])
	k, err := repairKept(t, text, lint.Options{}, Choice{})
	if err != nil || !bytes.Equal(k.out, sound) {
		t.Fatalf("%v, or another session:\n%s", err, k.out)
	}
	for _, at := range []int{bytes.Index(text, []byte(zeros)), bytes.LastIndex(text, []byte(zeros))} {
		head := fmt.Sprintf("# line 2, byte %d, %d bytes\n", at, len(zeros))
		if !bytes.Contains(k.aside, []byte(head)) {
			t.Errorf("%q is not in %q", head, k.aside)
		}
	}
}

// TestSettles: damage that one pass does not mend, since its own mends bring more to light.
func TestSettles(t *testing.T) {
	header := `{"timestamp":"2026-11-18T09:30:00.000Z","type":"session_meta","payload":{%s"id":"01a1edfd-e191-74b0-9003-79b97f4a7c15","timestamp":"2026-11-18T09:30:00.000Z","cwd":"/home/dev/notes","originator":"codex_exec","cli_version":"0.114.0","source":"exec","model_provider":"%s"}}` + "\n"
	message := `{"timestamp":"2026-11-18T09:30:01.000Z","type":"response_item","payload":{"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"same"}]}}` + "\n"
	call := `{"timestamp":"2026-11-18T09:30:00.500Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"c1"}}` + "\n"
	output := `{"timestamp":"2026-11-18T09:30:00.600Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"ok"}}` + "\n"
	for name, text := range map[string]string{
		"one member of a header twice, one value bad": fmt.Sprintf(header, `"source":[],`, "openai") + message,
		"twins that a removal makes":                  fmt.Sprintf(header, "", "openrouter") + call + output + message + output + message,
		"a block of records twice":                    fmt.Sprintf(header, "", "openai") + call + output + message + call + output + message,
	} {
		k, err := repairKept(t, []byte(text), lint.Options{}, Choice{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := allKept([]byte(text), k); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if again, _, err := repairText(k.out, "", Choice{}); err != nil || !bytes.Equal(again, k.out) {
			t.Errorf("%s: a second repair changes the copy (%v)", name, err)
		}
	}
}

// TestLineMaps composes maps of lines as following each line through both copies would.
func TestLineMaps(t *testing.T) {
	for seed := range int64(300) {
		rng := rand.New(rand.NewSource(seed))
		pass := func(lines int64) (m lineMap, out int64) {
			for from := int64(1); from <= lines; from++ {
				switch rng.Intn(4) {
				case 0: // gone
				case 1:
					out++ // made
					fallthrough
				default:
					out++
					m.add(out, from, 1)
				}
			}
			return m, out
		}
		one, lines := pass(40)
		two, _ := pass(lines)
		at := func(m lineMap) map[int64]int64 {
			all := map[int64]int64{}
			for _, r := range m {
				for i := range r.n {
					all[r.copied+i] = r.from + i
				}
			}
			return all
		}
		want, first := map[int64]int64{}, at(one)
		for copied, from := range at(two) {
			if was, ok := first[from]; ok {
				want[copied] = was
			}
		}
		if got := at(one.then(two)); !maps.Equal(got, want) {
			t.Fatalf("seed %d: %v then %v is %v, want %v", seed, one, two, got, want)
		}
	}
}
