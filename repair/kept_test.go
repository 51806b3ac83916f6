package repair

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
func asides(t testing.TB, text, aside []byte) map[int64][]byte {
	t.Helper()
	kept := map[int64][]byte{}
	for len(aside) > 0 {
		var line, offset int64
		var size int
		head, rest, _ := bytes.Cut(aside, newline)
		if _, err := fmt.Sscanf(string(head), "# line %d, byte %d, %d bytes", &line, &offset, &size); err != nil {
			t.Fatalf("the set-aside file says %q: %v", head, err)
		}
		raw := rest[:size]
		if from := text[offset:]; !bytes.HasPrefix(from, raw) && !bytes.Contains(bytes.ReplaceAll(from, []byte{0}, nil), raw) {
			t.Errorf("what was set aside of line %d does not stand behind byte %d: %q", line, offset, raw)
		}
		if n := int64(1 + bytes.Count(text[:offset], newline)); n != line {
			t.Errorf("byte %d is on line %d, not %d", offset, n, line)
		}
		for i, l := range bytes.Split(raw, newline) {
			n := line + int64(i)
			kept[n] = append(append(kept[n], l...), '\n')
		}
		aside = rest[size+1:]
	}
	return kept
}

// unkept is a line of the session of which something is neither in the copy nor set aside; 0 if there is none. A line
// that is told as exactly re-encoded must have each of its words in the copy.
func unkept(t testing.TB, text []byte, k keptRepair) (line int64, word string) {
	t.Helper()
	kept := asides(t, text, k.aside)
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
				return n, string(word)
			}
		}
	}
	return 0, ""
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
	n := int64(3000)
	if testing.Short() {
		n = 300
	}
	if *mutants > 0 {
		n = int64(*mutants)
	}
	for _, s := range stocks(t) {
		t.Run(s.agent, func(t *testing.T) { everyByteIsKept(t, s, n) })
	}
}

func everyByteIsKept(t *testing.T, s *stock, n int64) {
	several := 0
	for seed := *firstSeed; seed < *firstSeed+n; seed++ {
		m := s.mutant(seed)
		k, err := repairKept(t, m.text, m.opts, m.choice)
		if err != nil || k.encoding != normalize.UTF8 {
			continue // TestNoRefusals counts those
		}
		if k.passes {
			several++
		}
		if line, word := unkept(t, m.text, k); line > 0 {
			t.Errorf("seed %d: %s: %q of line %d is lost", seed, m, word, line)
		}
	}
	t.Logf("%d of %d took several passes", several, n)
	if several == 0 && n >= 3000 { // a few hundred may hold none
		t.Error("no repair took several passes: that way was not tried")
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
	if line, word := unkept(t, text, k); line > 0 || !bytes.Contains(k.aside, []byte(`\ud83d`)) {
		t.Errorf("%q of line %d is lost; set aside: %s", word, line, k.aside)
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
	if line, word := unkept(t, text, k); line > 0 || !bytes.Contains(k.aside, []byte("\n "+zeros)) {
		t.Errorf("%q of line %d is lost; set aside: %q", word, line, k.aside)
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
		if line, word := unkept(t, []byte(text), k); line > 0 {
			t.Errorf("%s: %q of line %d is lost", name, word, line)
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
