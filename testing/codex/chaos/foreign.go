package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"unicode/utf16"
)

// spoiler is a session's file that is damaged, and the source of what is drawn.
type spoiler struct {
	rng   *rand.Rand
	text  []byte
	lines [][]byte // with their newlines
}

func newSpoiler(rng *rand.Rand, text []byte) *spoiler {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return &spoiler{rng: rng, text: bytes.Clone(text), lines: lines}
}

// below is a number from 0 on that is less than n; 0 of nothing.
func (s *spoiler) below(n int) int { return s.rng.IntN(max(1, n)) }

// at is the place of a byte behind the header, which is seldom what is hit.
func (s *spoiler) at() int {
	first := len(s.lines[0])
	return first + s.below(len(s.text)-first)
}

// line is the index of a line behind the header.
func (s *spoiler) line() int { return 1 + s.below(len(s.lines)-1) }

// run is a range of at most so many lines behind the header.
func (s *spoiler) run(most int) (from, to int) {
	from = s.line()
	return from, min(from+1+s.rng.IntN(most), len(s.lines))
}

// join puts lines together.
func join(parts ...[][]byte) []byte { return bytes.Join(slices.Concat(parts...), nil) }

// foreign are the ways in which spoil damages a file with -foreign: what failing disks put where something else was, and what other
// programs and people make of a session. Each begins its words with the name by which its results are added up.
var foreign = []func(*spoiler) ([]byte, string){
	stale, swappedBlocks, garbage, flipped, overwritten, interleaved, lostBytes, addedBytes, movedLines, sorted, without, beginning,
	folded, shortened, recoded, laidOut, spelled, unescaped, conflicted, mixedIn, otherHeader, several,
}

// block is the range of a block of a file system that is not the file's first.
func (s *spoiler) block() (from, to int) {
	size := []int{512, 4096}[s.rng.IntN(2)]
	from = max(s.at()&^(size-1), min(size, len(s.text)))
	return from, min(from+size, len(s.text))
}

// stale has a block hold what another place of the file holds: a write that went astray, or one that was never done.
func stale(s *spoiler) ([]byte, string) {
	from, to := s.block()
	other := s.at() &^ 511
	n := copy(s.text[from:to], bytes.Clone(s.text[other:]))
	return s.text, fmt.Sprintf("stale bytes %d to %d, of %d", from, from+n, other)
}

func swappedBlocks(s *spoiler) ([]byte, string) {
	from, to := s.block()
	other := s.at() &^ 511
	n := min(to-from, len(s.text)-other)
	held := bytes.Clone(s.text[from : from+n])
	copy(s.text[from:from+n], s.text[other:other+n])
	copy(s.text[other:], held)
	return s.text, fmt.Sprintf("swapped %d bytes at %d and %d", n, from, other)
}

// garbage fills a block with bytes that no text has.
func garbage(s *spoiler) ([]byte, string) {
	from, to := s.block()
	for i := from; i < to; i++ {
		s.text[i] = byte(s.rng.IntN(256))
	}
	return s.text, fmt.Sprintf("garbage from %d to %d", from, to)
}

func flipped(s *spoiler) ([]byte, string) {
	n := 1 + s.rng.IntN(3)
	for range n {
		s.text[s.at()] ^= 1 << s.rng.IntN(7)
	}
	return s.text, fmt.Sprintf("flipped %d bits", n)
}

// overwritten has a second writer, who does not append, write a line where others stand.
func overwritten(s *spoiler) ([]byte, string) {
	at, line := s.at(), s.lines[s.line()]
	n := copy(s.text[at:], bytes.Clone(line))
	return s.text, fmt.Sprintf("overwritten %d bytes at %d with another line", n, at)
}

// interleaved has one writer's line come into the middle of another's.
func interleaved(s *spoiler) ([]byte, string) {
	n := s.below(len(s.lines) - 1)
	first, second := s.lines[n], s.lines[min(n+1, len(s.lines)-1)]
	cut := 1 + s.below(len(first)-1)
	return join(s.lines[:n], [][]byte{first[:cut], second, first[cut:]}, s.lines[min(n+2, len(s.lines)):]),
		fmt.Sprintf("interleaved lines %d and %d after %d bytes", n+1, n+2, cut)
}

func lostBytes(s *spoiler) ([]byte, string) {
	at := s.at()
	to := min(at+1+s.rng.IntN(60), len(s.text))
	return slices.Concat(s.text[:at], s.text[to:]), fmt.Sprintf("fewer bytes: %d to %d are gone", at, to)
}

// typed is what people and programs leave in a file that they did not mean to change.
var typed = []string{"\"", "}", ",", "\n", "\\", "<<<", "what?", "\x1b[0m", "\x00", "é", "\r\n"}

func addedBytes(s *spoiler) ([]byte, string) {
	at := s.at()
	word := typed[s.rng.IntN(len(typed))]
	return slices.Concat(s.text[:at], []byte(word), s.text[at:]), fmt.Sprintf("more bytes: %q at %d", word, at)
}

// movedLines puts some lines at another place.
func movedLines(s *spoiler) ([]byte, string) {
	from, to := s.run(3)
	rest := slices.Concat(s.lines[:from], s.lines[to:])
	at := 1 + s.below(len(rest)-1)
	return join(rest[:at], s.lines[from:to], rest[at:]), fmt.Sprintf("moved lines %d to %d behind line %d", from+1, to, at)
}

// sorted is what tools make of a file that they take for a list.
func sorted(s *spoiler) ([]byte, string) {
	lines := slices.Clone(s.lines)
	switch s.rng.IntN(3) {
	case 0:
		slices.Reverse(lines)
		return join(lines), "sorted backward"
	case 1: // by what stands behind the time
		slices.SortStableFunc(lines[1:], func(a, b []byte) int { return bytes.Compare(a[min(45, len(a)):], b[min(45, len(b)):]) })
		return join(lines), "sorted by what follows the time"
	}
	slices.SortFunc(lines, bytes.Compare)
	return join(slices.CompactFunc(lines, bytes.Equal)), "sorted"
}

// without takes out what a search for a word finds, or leaves that only.
func without(s *spoiler) ([]byte, string) {
	word := []string{
		`"type":"reasoning"`, `"type":"event_msg"`, `"type":"turn_context"`, `_output"`, `"role":"user"`, `"role":"assistant"`,
		`"type":"custom_tool_call"`, `"type":"task_`, `"type":"world_state"`,
	}[s.rng.IntN(9)]
	lines := slices.DeleteFunc(slices.Clone(s.lines[1:]), func(line []byte) bool { return bytes.Contains(line, []byte(word)) })
	return join(s.lines[:1], lines), "without lines with " + word
}

// beginning is lost where a log is rotated, or only the end of a file is copied.
func beginning(s *spoiler) ([]byte, string) {
	if s.rng.IntN(2) == 0 {
		n := s.line()
		return join(s.lines[n:]), fmt.Sprintf("beginning lost: %d lines", n)
	}
	at := s.at()
	return s.text[at:], fmt.Sprintf("beginning lost: %d bytes", at)
}

// folded has long lines wrapped, as a terminal or a mail does.
func folded(s *spoiler) ([]byte, string) {
	width := []int{76, 998, 4096}[s.rng.IntN(3)]
	var out []byte
	for _, line := range s.lines {
		for len(line) > width+1 {
			out = append(append(out, line[:width]...), '\n')
			line = line[width:]
		}
		out = append(out, line...)
	}
	return out, fmt.Sprintf("folded at %d", width)
}

// shortened has long lines cut, as loggers do.
func shortened(s *spoiler) ([]byte, string) {
	most := []int{1024, 2048, 8192}[s.rng.IntN(3)]
	lines := slices.Clone(s.lines)
	for i, line := range lines[1:] {
		if len(line) > most {
			lines[i+1] = append(bytes.Clone(line[:most-1]), '\n')
		}
	}
	return join(lines), fmt.Sprintf("shortened to %d bytes a line", most)
}

// recoded is what editors and shells of another system write.
func recoded(s *spoiler) ([]byte, string) {
	switch s.rng.IntN(3) {
	case 0:
		return bytes.ReplaceAll(s.text, []byte("\n"), []byte("\r\n")), "recoded with CRLF"
	case 1:
		return append([]byte("\xef\xbb\xbf"), s.text...), "recoded with a byte order mark"
	}
	out := []byte("\xff\xfe")
	for _, u := range utf16.Encode([]rune(string(bytes.ReplaceAll(s.text, []byte("\n"), []byte("\r\n"))))) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out, "recoded as UTF-16"
}

// laidOut is what a formatter makes of some lines, or of all.
func laidOut(s *spoiler) ([]byte, string) {
	from, to := s.run(4)
	if s.rng.IntN(2) == 0 {
		from, to = 0, len(s.lines)
	}
	indent := []string{"  ", "\t"}[s.rng.IntN(2)]
	var out bytes.Buffer
	for i, line := range s.lines {
		if i < from || i >= to || json.Indent(&out, line, "", indent) != nil {
			out.Write(line)
		}
	}
	return out.Bytes(), fmt.Sprintf("laid out: lines %d to %d", from+1, to)
}

// spelled is what a program writes that decodes and encodes each line: keys in their order, other escapes, another space.
func spelled(s *spoiler) ([]byte, string) {
	var out bytes.Buffer
	for _, line := range s.lines {
		var v any
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.UseNumber()
		if dec.Decode(&v) != nil {
			out.Write(line)
			continue
		}
		text, err := json.Marshal(v)
		if err != nil {
			text = bytes.TrimSpace(line)
		}
		out.Write(append(text, '\n'))
	}
	return out.Bytes(), "spelled anew"
}

var escape = regexp.MustCompile(`\\([n"\\/t])`)

// unescaped has a shell print a line, which takes its escapes for its own.
func unescaped(s *spoiler) ([]byte, string) {
	n := s.line()
	for try := 0; try < 50 && !escape.Match(s.lines[n]); try++ {
		n = s.line()
	}
	plain := escape.ReplaceAllFunc(s.lines[n], func(m []byte) []byte {
		switch m[1] {
		case 'n':
			return []byte("\n")
		case 't':
			return []byte("\t")
		}
		return m[1:]
	})
	return join(s.lines[:n], [][]byte{plain}, s.lines[n+1:]), fmt.Sprintf("unescaped line %d", n+1)
}

// conflicted is what a merge leaves: the sides end at different lines, or each has its own.
func conflicted(s *spoiler) ([]byte, string) {
	from, to := s.line(), s.line()
	from, to = min(from, to), max(from, to)
	ours, theirs := s.lines[from:to], s.lines[from:]
	if s.rng.IntN(2) == 0 {
		theirs = s.lines[to:]
	}
	return join(s.lines[:from], [][]byte{[]byte("<<<<<<< HEAD\n")}, ours, [][]byte{[]byte("=======\n")}, theirs,
		[][]byte{[]byte(">>>>>>> origin/main\n")}), fmt.Sprintf("conflicted from line %d, the other side from line %d on", from+1, len(s.lines)-len(theirs)+1)
}

// mixedIn has what another program prints stand between the lines, or in one.
func mixedIn(s *spoiler) ([]byte, string) {
	words := []byte("2026-01-02T03:04:05Z  WARN codex_core: stream disconnected\n")
	if s.rng.IntN(2) == 0 {
		n := s.line()
		return join(s.lines[:n], [][]byte{words}, s.lines[n:]), fmt.Sprintf("mixed in: a line in front of line %d", n+1)
	}
	at := s.at()
	return slices.Concat(s.text[:at], words, s.text[at:]), fmt.Sprintf("mixed in: a line at byte %d", at)
}

var headerID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// otherHeader has the header of another session in place of its own.
func otherHeader(s *spoiler) ([]byte, string) {
	id := headerID.Find(s.lines[0])
	if id == nil {
		return join(s.lines[1:]), "other header: none"
	}
	other := bytes.Clone(id)
	other[len(other)-1] = "0123456789abcdef"[(bytes.IndexByte([]byte("0123456789abcdef"), other[len(other)-1])+1)%16]
	header := bytes.ReplaceAll(s.lines[0], id, other)
	if s.rng.IntN(2) == 0 {
		return join([][]byte{header}, s.lines[1:]), "other header: of another id"
	}
	n := s.line()
	return join(s.lines[:n], [][]byte{header}, s.lines[n:]), fmt.Sprintf("other header: in front of line %d", n+1)
}

// several are three or four damages.
func several(s *spoiler) (text []byte, what string) {
	n := 3 + s.rng.IntN(2)
	text = s.text
	for range n {
		if bytes.Count(text, []byte("\n")) > 3 {
			var one string
			text, one = spoil(s.rng, text, s.rng.IntN(damages))
			what += ", " + one
		}
	}
	return text, "several" + what
}
