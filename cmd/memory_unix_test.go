//go:build unix

package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/testkit"
)

// peak is the most memory that a finished child has had resident, in MiB.
func peak(t *testing.T, c *exec.Cmd) int64 {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the peak of memory is read from Linux's /proc")
	}
	for _, v := range c.Env {
		if path, ok := strings.CutPrefix(v, peakFile+"="); ok {
			kib, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			n, err := strconv.ParseInt(string(kib), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n >> 10
		}
	}
	t.Fatal("the child was not asked for its peak of memory")
	return 0
}

// A long session is linted in little memory, through a pipe, too. What is kept is some fifty bytes a call.
func TestConstantMemory(t *testing.T) {
	for name, records := range map[string]string{"messages": message, "calls": call + output} {
		t.Run(name, func(t *testing.T) {
			size := int64(1 << 30)
			if !*testkit.Long || withRace() {
				size = 64 << 20
			}
			// On a busy machine the collector comes late: the least of three peaks counts.
			got := int64(1 << 30)
			for try := 0; try < 3 && got > 64; try++ {
				got = min(got, lintStream(t, size, records))
			}
			if got > 64 && !withRace() {
				t.Errorf("%d MiB resident for %d MiB of session", got, size>>20)
			}
		})
	}
}

// TestLongLinesInARow: of very long lines one is held at a time, though lines are read ahead.
func TestLongLinesInARow(t *testing.T) {
	if !*testkit.Long || withRace() {
		t.Skip("writes 400 MB")
	}
	const size = 100 << 20
	path := filepath.Join(openTemp(t), "s.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeRecords(f, 4<<20, message); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, strings.Repeat(" ", 20<<20)) // a blank line of any length is a note
	long := strings.Repeat("x", size)
	for n := range 4 {
		if _, err := fmt.Fprintf(f, message, 1000000+n, long); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	c := child(t, "lint", path)
	if code, out := exitCode(t, c); code != ExitOK {
		t.Fatalf("exit %d: %s", code, out)
	}
	if got := peak(t, c); got > size>>20+64 {
		t.Errorf("%d MiB resident for lines of %d MiB", got, size>>20)
	}
}

// lintStream lints a session that comes through a pipe, and returns the peak of memory in MiB.
func lintStream(t *testing.T, size int64, records string) int64 {
	t.Helper()
	start := time.Now()
	c := child(t, "lint", "-")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		writeRecords(in, size, records) //nolint:errcheck // a broken pipe shows as the exit code
		in.Close()
	}()
	if code, out := exitCode(t, c); code != ExitOK {
		t.Fatalf("exit %d: %s", code, out)
	}
	got := peak(t, c)
	t.Logf("%d MiB resident for %d MiB of session, %.1f s", got, size>>20, time.Since(start).Seconds())
	return got
}

// writeRecords writes about so many bytes of a session in which the records come again and again; each %d in them is
// a number that does not.
func writeRecords(w io.Writer, size int64, records string) error {
	b := bufio.NewWriterSize(w, 1<<20)
	b.WriteString(header)
	words := strings.Repeat(`some words of an output, \"quoted\"\n`, 60)
	pieces := strings.Split(strings.ReplaceAll(records, "%s", words), "%d")
	for n, written := 0, 0; int64(written) < size; n++ {
		number := strconv.Itoa(n)
		for i, p := range pieces {
			if i > 0 {
				b.WriteString(number)
			}
			if _, err := b.WriteString(p); err != nil {
				return err
			}
			written += len(p)
		}
	}
	return b.Flush()
}

// repeated writes a file of a head, so many MiB of one byte, and a tail. It is written in pieces: on Linux a child's
// peak of memory counts what its parent had resident.
func repeated(t *testing.T, head, piece string, mib int, tail string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(f, head)
	block := bytes.Repeat([]byte(piece), 1<<20)
	for range mib {
		if err == nil {
			_, err = f.Write(block)
		}
	}
	if err == nil {
		_, err = io.WriteString(f, tail)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// margin is what a process may have resident beside the longest line, in MiB.
const margin = 128

// A line of opening brackets must not crash a reader that recurses, nor cost much more than itself: from a file and
// through a pipe.
func TestLineOfBrackets(t *testing.T) {
	if withRace() {
		t.Skip("a binary that looks for races takes more memory")
	}
	for _, mib := range testkit.Sample([]int64{96, 1 << 10}, 2, 0) {
		path := repeated(t, header, "[", int(mib), "")
		for _, name := range []string{path, "-"} {
			start := time.Now()
			c := child(t, "lint", name)
			if name == "-" {
				f, err := os.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				c.Stdin = pipe(f)
			}
			if code, out := exitCode(t, c); code != ExitFindings || !strings.Contains(out, "s.jsonl:2: ") && !strings.Contains(out, "-:2: ") {
				t.Fatalf("%s: exit %d: %s", name, code, out)
			}
			got := peak(t, c)
			t.Logf("%s: %d MiB resident for a line of %d, %.1f s", name, got, mib, time.Since(start).Seconds())
			if got > mib+mib/8+margin { // a bit a bracket
				t.Errorf("%s: %d MiB resident for a line of %d", name, got, mib)
			}
		}
	}
}

// Nor does repair crash on it.
func TestRepairOfBrackets(t *testing.T) {
	path := repeated(t, header, "[", 16, "\n"+fmt.Sprintf(call, 1))
	before := sum(t, path)
	if code, out := exitCode(t, child(t, "repair", "--in-place", path)); code != ExitOK || !strings.Contains(out, "1 taken out") {
		t.Errorf("exit %d: %s", code, out)
	}
	if sum(t, path) == before {
		t.Error("nothing was repaired")
	}
	alone(t, path)
}

// A line of 300 MB is a record like any other.
func TestHugeLine(t *testing.T) {
	if !*testkit.Long {
		t.Skip("writes 300 megabytes")
	}
	if withRace() {
		t.Skip("a binary that looks for races takes more memory")
	}
	path := repeated(t, header+`{"timestamp":"2026-11-20T10:00:03.000Z","type":"event_msg","payload":{"type":"token_count","note":"`, "A", 300, "\"}}\n"+fmt.Sprintf(call, 1))
	c := child(t, "lint", "--notes", path)
	if code, out := exitCode(t, c); code != ExitFindings || !strings.Contains(out, "huge-line") || !strings.Contains(out, "call_1") {
		t.Fatalf("exit %d: %s", code, out)
	}
	if got := peak(t, c); got > 300+margin {
		t.Errorf("lint: %d MiB resident for a line of 300", got)
	}
	c = child(t, "repair", "--in-place", path)
	if code, out := exitCode(t, c); code != ExitOK || !strings.Contains(out, "3 untouched") {
		t.Fatalf("exit %d: %s", code, out)
	}
	// The copy is written and read back while the line of the original is still held.
	if got := peak(t, c); got > 2*300+margin {
		t.Errorf("repair: %d MiB resident for a line of 300", got)
	}
	alone(t, path)
}

// A finding for each of very many lines would take hundreds of times their length.
func TestManyDeadLines(t *testing.T) {
	if !*testkit.Long {
		t.Skip("a million findings, twice")
	}
	path := repeated(t, header, "1\nx\n", 1, "")
	for _, args := range [][]string{{"lint", path}, {"repair", "--dry-run", path}} {
		c := child(t, args...)
		if code, out := exitCode(t, c); !strings.Contains(out, "up to line") && !strings.Contains(out, "more lines") {
			t.Fatalf("%s: exit %d: %.300s", args[0], code, out)
		}
		if got := peak(t, c); got > margin && !withRace() {
			t.Errorf("%s: %d MiB resident for 4 MiB of dead lines", args[0], got)
		}
	}
}

// TestRepairMemory: what a repair holds of the session, of its copy and of thousands of edits stays below 256 MiB and 100 bytes a record of
// the larger of the two.
func TestRepairMemory(t *testing.T) {
	if !*testkit.Long || withRace() {
		t.Skip("repairs large sessions; a binary that looks for races takes more memory")
	}
	sibling := func(b *bufio.Writer, n int) {
		parent := "null"
		if n > 0 {
			parent = `"00000000-0000-4000-8000-000000000000"`
		}
		fmt.Fprintf(b, `{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/x","sessionId":"2412e574-5c4d-409b-b0ed-a2d74877dfad","version":"2.1.2","type":"assistant","uuid":"%08x-0000-4000-8000-000000000000","timestamp":"2026-11-20T19:53:52.000Z","message":{"id":"m%d","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{}}]}}`+"\n", parent, n, n, n)
	}
	damaged := func(b *bufio.Writer, n int) {
		if n == 0 {
			io.WriteString(b, header+"dead\n") //nolint:errcheck // Flush tells
		}
		fmt.Fprintf(b, message, n, strings.Repeat("a word ", 150))
	}
	opened := func(b *bufio.Writer, n int) {
		if n == 0 {
			io.WriteString(b, header) //nolint:errcheck // Flush tells
		}
		fmt.Fprintf(b, call, n)
	}
	for name, c := range map[string]struct {
		write func(b *bufio.Writer, n int)
		n     int
	}{
		"calls without output":   {opened, 200_000},
		"siblings":               {sibling, 100_000},
		"one edit in many bytes": {damaged, 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(openTemp(t), "s.jsonl")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			b := bufio.NewWriter(f)
			for n := range c.n {
				c.write(b, n)
			}
			if err := errors.Join(b.Flush(), f.Close()); err != nil {
				t.Fatal(err)
			}
			// On a busy machine the collector comes late: the least of three peaks counts.
			most, got := int64(256+2*c.n*100>>20), int64(1<<30)
			for try := 0; try < 3 && got > most; try++ {
				child := child(t, "repair", "-o", filepath.Join(t.TempDir(), "copy.jsonl"), path)
				if code, out := exitCode(t, child); code != ExitOK && code != ExitFindings {
					t.Fatalf("exit %d: %.300s", code, out)
				}
				got = min(got, peak(t, child))
			}
			if t.Logf("%d MiB resident", got); got > most {
				t.Errorf("%d MiB resident, more than %d", got, most)
			}
		})
	}
}
