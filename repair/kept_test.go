package repair

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

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
func allKept(text, out, aside []byte) error {
	kept, err := asides(text, aside)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, l := range bytes.Split(out, newline) {
		have[unnumbered(l)] = true
	}
	for i, l := range bytes.Split(text, newline) {
		n := int64(i + 1)
		if have[unnumbered(l)] || bytes.Contains(kept[n], l) {
			continue
		}
		all := append(bytes.Clone(out), kept[n]...)
		for _, word := range words(l) {
			if _, err := strconv.Atoi(string(word)); err == nil {
				continue // an ordinal: that those follow is told as one range
			}
			if !bytes.Contains(all, word) && !bytes.Contains(all, asTime(word)) {
				return &broken{"a byte is lost", fmt.Sprintf("%q of line %d", word, n)}
			}
		}
	}
	return nil
}

// asTime is the moment that a number of seconds means, as a copy writes it: that a number became one is told as exactly re-encoded.
// A word that is no such number is itself.
func asTime(word []byte) []byte {
	seconds, err := strconv.ParseFloat(string(word), 64)
	if err != nil || !bytes.ContainsRune(word, '.') {
		return word
	}
	return time.UnixMicro(int64(math.Round(seconds*1e6))).UTC().AppendFormat(nil, "2006-01-02T15:04:05.000")
}

// words are the parts of a line that no re-encoding changes.
func words(line []byte) [][]byte {
	return bytes.FieldsFunc(line, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"\,:{}[]`, c)
	})
}

// TestMovedStandIn: bytes that a stand-in replaces are kept though their record only moves, and the report says so.
func TestMovedStandIn(t *testing.T) {
	text := []byte(`{"timestamp":"2026-11-18T09:30:00.100Z","type":"event_msg","payload":{"type":"user_message","message":"q","images":[]}}
{"timestamp":"2026-11-18T09:30:00.000Z","type":"session_meta","payload":{"id":"01a1edfd-e191-74b0-9003-79b97f4a7c15","timestamp":"2026-11-18T09:30:00.000Z","cwd":"/home/dev/\ud83d","originator":"codex_exec","cli_version":"0.114.0","source":"exec","model_provider":"openai"}}
`)
	out, aside, rep, err := repairKept(text, lint.Options{}, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if err := allKept(text, out, aside); err != nil || !bytes.Contains(aside, []byte(`\ud83d`)) {
		t.Errorf("%v; set aside: %s", err, aside)
	}
	if len(rep.Edits) == 0 || rep.Fix != lint.StandIn.String() {
		t.Errorf("the report names the fix %q: %+v", rep.Fix, rep.Edits)
	}
	for _, e := range rep.Edits {
		if e.Line == 2 && e.Fix != lint.StandIn.String() {
			t.Errorf("line 2: fix %s", e.Fix)
		}
	}
}

// TestKeyTwiceInAMendedRecord: a record that is put together again has both members of a key that stands in it twice.
func TestKeyTwiceInAMendedRecord(t *testing.T) {
	const answer = 10
	lines := linesOf(t, "../fixtures/codex/rules/pretty-printed/ok.jsonl")
	twice := bytes.Replace(lines[answer], []byte(`"type":`), []byte(`"type":"the first of two","type":`), 1)
	for how, damaged := range map[string][]byte{
		"laid out": []byte(strings.TrimSpace(gjson.GetBytes(twice, "@pretty").Raw)),
		"broken":   bytes.Replace(twice, []byte(`"payload"`), []byte("\n"+`"payload"`), 1),
	} {
		lines[answer] = damaged
		text := joined(lines)
		out, aside, _, err := repairKept(text, lint.Options{}, Choice{})
		if err != nil || bytes.Equal(out, text) || bytes.Count(out, newline) != len(lines) {
			t.Errorf("%s: %v, not mended:\n%s", how, err, out)
		}
		if err := allKept(text, out, aside); err != nil {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// TestBlanksBesideNULs: blanks in front of NULs and behind them are set aside with them, each at its own place.
func TestBlanksBesideNULs(t *testing.T) {
	header := `{"timestamp":"2026-11-18T09:30:00.000Z","type":"session_meta","payload":{"id":"01a1edfd-e191-74b0-9003-79b97f4a7c15","timestamp":"2026-11-18T09:30:00.000Z","cwd":"/home/dev/notes","originator":"codex_exec","cli_version":"0.114.0","source":"exec","model_provider":"openai"}}` + "\n"
	zeros := strings.Repeat("\x00", 100)
	text := []byte(header + " " + zeros + `  "content": [` + zeros + " \t\n")
	out, aside, _, err := repairKept(text, lint.Options{}, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if err := allKept(text, out, aside); err != nil || !bytes.Contains(aside, []byte("\n "+zeros)) {
		t.Errorf("%v; set aside: %q", err, aside)
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
	out, aside, _, err := repairKept(text, lint.Options{}, Choice{})
	if err != nil || !bytes.Equal(out, sound) {
		t.Fatalf("%v, or another session:\n%s", err, out)
	}
	for _, at := range []int{bytes.Index(text, []byte(zeros)), bytes.LastIndex(text, []byte(zeros))} {
		head := fmt.Sprintf("# line 2, byte %d, %d bytes\n", at, len(zeros))
		if !bytes.Contains(aside, []byte(head)) {
			t.Errorf("%q is not in %q", head, aside)
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
		out, aside, _, err := repairKept([]byte(text), lint.Options{}, Choice{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := allKept([]byte(text), out, aside); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if again, _, err := repairText(out, "", Choice{}); err != nil || !bytes.Equal(again, out) {
			t.Errorf("%s: a second repair changes the copy (%v)", name, err)
		}
	}
}

// TestPieces: what is left of a session after two passes is what following each line through both copies finds.
func TestPieces(t *testing.T) {
	for seed := range int64(300) {
		rng := rand.New(rand.NewSource(seed))
		pass := func(lines int64) (m pieces, out int64) {
			for from := int64(1); from <= lines; from++ {
				switch rng.Intn(4) {
				case 0: // gone
				case 1:
					out++ // made
					fallthrough
				default:
					out++
					m.add(piece{copied: out, from: from, n: 1, tied: rng.Intn(3) == 0})
				}
			}
			return m, out
		}
		one, lines := pass(40)
		two, _ := pass(lines)
		at := func(m pieces) map[int64]piece {
			all := map[int64]piece{}
			for _, p := range m {
				for i := range int64(p.n) {
					all[p.copied+i] = piece{from: p.from + i, tied: p.tied}
				}
			}
			return all
		}
		want, first := map[int64]piece{}, at(one)
		for copied, p := range at(two) {
			if was, ok := first[p.from]; ok {
				want[copied] = piece{from: was.from, tied: was.tied || p.tied}
			}
		}
		if got := at(one.then(two)); !maps.Equal(got, want) {
			t.Fatalf("seed %d: %v then %v is %v, want %v", seed, one, two, got, want)
		}
	}
}

// TestTied: of two texts side by side, a line that no pass has touched must be the same in both; a tied one may differ. A newline that the
// session lacks at its end is not one of its bytes.
func TestTied(t *testing.T) {
	side := func(text string) *source.Source {
		s, err := source.Stdin(strings.NewReader(text), "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	was, is := side("a\nb\nc"), side("a\nB\nc\n")
	s := settled{text: is, pieces: pieces{{copied: 1, from: 1, n: 3}}}
	if _, err := s.write(t.Context(), was, io.Discard, nil); !errors.Is(err, ErrVerify) || !strings.Contains(err.Error(), "line 2") {
		t.Error(err)
	}
	s.pieces = pieces{{copied: 1, from: 1, n: 1}, {copied: 2, from: 2, n: 2, tied: true}}
	made, err := s.write(t.Context(), was, io.Discard, nil)
	if err != nil || made.renumbered != (span{1, 2, 2}) || made.Totals.Untouched != 2 || made.from != 2 {
		t.Errorf("%+v, %v", made, err)
	}
	s = settled{text: side("a\nb\nc\n"), pieces: pieces{{copied: 1, from: 1, n: 3}}}
	var copied bytes.Buffer
	made, err = s.write(t.Context(), was, &copied, nil)
	if err != nil || copied.String() != "a\nb\nc\n" || made.from != 5 || made.Totals.Untouched != 3 {
		t.Errorf("%q, %+v, %v", copied.Bytes(), made, err)
	}
}
