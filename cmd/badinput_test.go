//go:build unix

package cmd

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// child is a hist process of its own.
func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Args = append([]string{"hist"}, args...)
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "CODEX_HOME="+t.TempDir(), peakFile+"="+filepath.Join(t.TempDir(), "peak"))
	return c
}

// exitCode runs the process to its end and returns its exit code and what it said on both streams.
func exitCode(t *testing.T, c *exec.Cmd) (int, string) {
	t.Helper()
	out, err := c.CombinedOutput()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

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

const (
	header  = `{"timestamp":"2026-11-20T10:00:00.000Z","type":"session_meta","payload":{"id":"019a0000-0000-7000-8000-000000000001","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/home/dev/demo","originator":"codex_exec","cli_version":"0.114.0"}}` + "\n"
	call    = `{"timestamp":"2026-11-20T10:00:01.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"echo\"}","call_id":"call_%d"}}` + "\n"
	message = `{"timestamp":"2026-11-20T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"assistant","id":"msg_%d","content":[{"type":"output_text","text":"%s"}]}}` + "\n"
	output  = `{"timestamp":"2026-11-20T10:00:02.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_%d","output":"%s"}}` + "\n"
)

// writeSession writes about so many bytes of an ordinary session; every hundredth call lacks its output if damaged.
func writeSession(w io.Writer, size int64, damaged bool) error {
	b := bufio.NewWriterSize(w, 1<<20)
	b.WriteString(header)
	words := strings.Repeat(`some words of an output, \"quoted\"\n`, 60)
	for n, written := 0, int64(0); written < size; n++ {
		k, _ := fmt.Fprintf(b, call, n)
		if !damaged || n%100 != 0 {
			m, err := fmt.Fprintf(b, output, n, words)
			if err != nil {
				return err
			}
			k += m
		}
		written += int64(k)
	}
	return b.Flush()
}

func sessionFile(t *testing.T, size int64, damaged bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(writeSession(f, size, damaged), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func sum(t *testing.T, path string) [32]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(b)
}

// alone fails if anything but the named files lies beside a session: a temporary file left behind.
func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// withRace says whether the test binary, which the children are, looks for races: then it takes several times the memory.
func withRace() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// A long session is linted in little memory, through a pipe, too. What is kept is some fifty bytes a call.
func TestConstantMemory(t *testing.T) {
	for name, records := range map[string]string{"messages": message, "calls": call + output} {
		t.Run(name, func(t *testing.T) {
			size := int64(1 << 30)
			if testing.Short() || withRace() {
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
	if testing.Short() || withRace() {
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
	if testing.Short() || withRace() {
		t.Skip("reads a gigabyte twice")
	}
	for _, mib := range []int64{96, 1 << 10} {
		path := repeated(t, "", "[", int(mib), "")
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
			if code, out := exitCode(t, c); code != ExitFindings || !strings.Contains(out, "no-header") {
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
	if code, out := exitCode(t, child(t, "repair", "--in-place", path)); code != ExitOK || !strings.Contains(out, "1 set aside") {
		t.Errorf("exit %d: %s", code, out)
	}
	if sum(t, path) == before {
		t.Error("nothing was repaired")
	}
	alone(t, path)
}

// pipe hides that a stream is a file, so that a child gets it through a pipe.
func pipe(f io.Reader) io.Reader { return struct{ io.Reader }{f} }

// A line of 300 MB is a record like any other.
func TestHugeLine(t *testing.T) {
	if testing.Short() {
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

// A file that grows while it is read is read as it was when it was opened.
func TestGrowingFile(t *testing.T) {
	path := sessionFile(t, 32<<20, false)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
				fmt.Fprintln(f, `{"timestamp":"2026-11-20T10:00:03.000Z","type":"event_msg","payload":{"type":"token_count"}}`) //nolint:errcheck // only growth matters
			}
		}
	}()
	code, out := exitCode(t, child(t, "lint", path))
	close(done)
	<-stopped
	f.Close()
	if code != ExitOK {
		t.Errorf("exit %d: %s", code, out)
	}
}

// A session that another process holds open is not replaced.
func TestInUse(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who has a file open")
	}
	path := sessionFile(t, 1<<16, true)
	before := sum(t, path)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	code, out := exitCode(t, child(t, "repair", "--in-place", path))
	f.Close()
	if code != ExitInUse || !strings.Contains(out, "open") {
		t.Errorf("exit %d: %s", code, out)
	}
	if sum(t, path) != before {
		t.Error("the session changed")
	}
	if code, out := exitCode(t, child(t, "repair", "--in-place", path)); code != ExitOK {
		t.Errorf("once it is closed: exit %d: %s", code, out)
	}
	alone(t, path)
}

// A disk that is full, told by a limit on what may be written: the session is as it was, and nothing is left behind.
func TestFullDisk(t *testing.T) {
	path := sessionFile(t, 4<<20, true)
	before := sum(t, path)
	for _, args := range [][]string{{"--in-place"}, {}} {
		hist := child(t, append([]string{"repair", path}, args...)...)
		c := exec.Command("sh", "-c", `trap "" XFSZ; ulimit -f 1000; exec -a hist "$0" "$@"`)
		c.Path, _ = exec.LookPath("bash")
		c.Args = append([]string{"bash", "-c", `trap "" XFSZ; ulimit -f 1000; exec -a hist "$0" "$@"`, hist.Path}, hist.Args[1:]...)
		c.Env = hist.Env
		if code, out := exitCode(t, c); code != ExitIO || !strings.Contains(out, "file too large") {
			t.Errorf("%v: exit %d: %s", args, code, out)
		}
		if sum(t, path) != before {
			t.Error("the session changed")
		}
		alone(t, path)
	}
}

// An interrupt in the middle of writing leaves everything as it was.
func TestInterrupt(t *testing.T) {
	path := sessionFile(t, 96<<20, true)
	before := sum(t, path)
	for _, args := range [][]string{{"--in-place"}, {}, {"--output", filepath.Join(filepath.Dir(path), "out.jsonl")}} {
		c := child(t, append([]string{"repair", path}, args...)...)
		var out strings.Builder
		c.Stderr = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		seen := false
		for deadline := time.Now().Add(30 * time.Second); !seen && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			entries, err := os.ReadDir(filepath.Dir(path))
			if err != nil {
				t.Fatal(err)
			}
			seen = len(entries) > 1
		}
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		err := c.Wait()
		if !seen || err == nil {
			t.Fatalf("%v: the interrupt came too late: temporary file seen: %v, %v", args, seen, err)
		}
		if !strings.Contains(out.String(), "interrupted; nothing that was under way has been changed") {
			t.Errorf("%v: %s", args, out.String())
		}
		if sum(t, path) != before {
			t.Error("the session changed")
		}
		alone(t, path)
		noRecord(t, c)
	}
}

// noRecord fails if a child has left the record of a run.
func noRecord(t *testing.T, c *exec.Cmd) {
	t.Helper()
	for _, v := range c.Env {
		if state, ok := strings.CutPrefix(v, "XDG_STATE_HOME="); ok {
			if runs, err := os.ReadDir(filepath.Join(state, "hist", "runs")); err == nil && len(runs) > 0 {
				t.Errorf("a record of nothing is left: %v", runs)
			}
		}
	}
}

// A session that somebody goes on writing, opening it anew for each line, is not replaced, and no line is lost.
func TestRepairOfGrowingFile(t *testing.T) {
	path := sessionFile(t, 32<<20, true)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const line = `{"timestamp":"2026-11-20T10:00:03.000Z","type":"event_msg","payload":{"type":"token_count"}}` + "\n"
	done, stopped := make(chan struct{}), make(chan struct{})
	lines := 0
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					continue // held off while it is replaced
				}
				if n, _ := io.WriteString(f, line); n > 0 {
					lines++
				}
				f.Close()
			}
		}
	}()
	code, out := exitCode(t, child(t, "repair", "--in-place", path))
	close(done)
	<-stopped
	if code != ExitInUse {
		t.Errorf("exit %d: %s", code, out)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := append(before, strings.Repeat(line, lines)...); !bytes.Equal(after, want) {
		t.Errorf("%d bytes, want %d", len(after), len(want))
	}
	alone(t, path)
}

// Of two repairs in place at once one wins; the other is refused, or finds nothing left to do.
func TestTwoAtOnce(t *testing.T) {
	path := sessionFile(t, 8<<20, true)
	a, b := child(t, "repair", "--in-place", path), child(t, "repair", "--in-place", path)
	if err := errors.Join(a.Start(), b.Start()); err != nil {
		t.Fatal(err)
	}
	a.Wait() //nolint:errcheck // the exit codes say it
	b.Wait() //nolint:errcheck
	codes := [2]int{a.ProcessState.ExitCode(), b.ProcessState.ExitCode()}
	for _, code := range codes {
		if code != ExitOK && code != ExitInUse {
			t.Errorf("exit codes %v", codes)
		}
	}
	if codes[0] != ExitOK && codes[1] != ExitOK {
		t.Errorf("neither has won: %v", codes)
	}
	if code, out := exitCode(t, child(t, "lint", path)); code != ExitOK {
		t.Errorf("exit %d: %s", code, out)
	}
	alone(t, path)
}

// asNobody lets the process run as a user that owns nothing.
func asNobody(t *testing.T, c *exec.Cmd) *exec.Cmd {
	t.Helper()
	if os.Getuid() != 0 {
		return c
	}
	const nobody = 65534
	state, agent := openTemp(t), openTemp(t)
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "CODEX_HOME="+agent)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true}}
	// The test binary itself may lie where nobody may look.
	bin := filepath.Join(openTemp(t), "hist")
	b, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, b, 0o755); err != nil {
		t.Fatal(err)
	}
	c.Path = bin
	return c
}

// openTemp is a temporary directory that everybody may use.
func openTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hist-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A file or directory that may not be read is told, and the others are read.
func TestUnreadable(t *testing.T) {
	dir := openTemp(t)
	for _, name := range []string{"closed.jsonl", "open.jsonl", "sub/in.jsonl"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(header), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(filepath.Join(dir, "closed.jsonl"), 0), os.Chmod(filepath.Join(dir, "sub"), 0)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(dir, "sub"), 0o755)
	code, out := exitCode(t, asNobody(t, child(t, "lint", dir)))
	if code != ExitIO || !strings.Contains(out, "closed.jsonl: permission denied") || !strings.Contains(out, "sub: permission denied") || !strings.Contains(out, "1 session: ") {
		t.Errorf("exit %d: %s", code, out)
	}
	code, out = exitCode(t, asNobody(t, child(t, "repair", filepath.Join(dir, "closed.jsonl"))))
	if code != ExitIO || !strings.Contains(out, "permission denied") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// In a directory that may not be written to, nothing is repaired in place nor beside, and a copy elsewhere is.
func TestReadOnlyDirectory(t *testing.T) {
	dir, elsewhere := openTemp(t), openTemp(t)
	path := filepath.Join(dir, "s.jsonl")
	if err := os.WriteFile(path, []byte(header+fmt.Sprintf(call, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	before := sum(t, path)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	const closed = "its directory must be writable; write to another one"
	for _, try := range []struct {
		args []string
		want string
	}{
		{[]string{"repair", path}, closed},
		{[]string{"repair", "--in-place", path}, "it belongs to another user"},
		{[]string{"repair", "-o", filepath.Join(dir, "x.jsonl"), path}, closed},
	} {
		c := asNobody(t, child(t, try.args...))
		code, out := exitCode(t, c)
		if code != ExitIO || !strings.Contains(out, try.want) {
			t.Errorf("%v: exit %d: %s", try.args, code, out)
		}
		noRecord(t, c)
		if sum(t, path) != before {
			t.Error("the session changed")
		}
		alone(t, path)
	}
	if code, out := exitCode(t, asNobody(t, child(t, "repair", "-o", elsewhere, path))); code != ExitOK {
		t.Errorf("exit %d: %s", code, out)
	}
}

// A disk that really is full: a small tmpfs in a mount namespace of its own.
func TestFullFileSystem(t *testing.T) {
	unshare, err := exec.LookPath("unshare")
	if err != nil || os.Getuid() != 0 {
		t.Skip("needs root and unshare")
	}
	script := `set -e
mount -t tmpfs -o size=3m none "$1"
cp "$2" "$1/s.jsonl"
exec 3>&1
code=0; bash -c 'exec -a hist "$0" "$@"' "$0" repair $3 "$1/s.jsonl" >&3 2>&1 || code=$?
cmp "$2" "$1/s.jsonl"
test "$(ls -A "$1")" = s.jsonl
exit $code`
	path := sessionFile(t, 2<<20, true)
	if out, err := exec.Command(unshare, "-m", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespaces here: %s", out)
	}
	for _, mode := range []string{"--in-place", "--color=never"} {
		hist := child(t)
		c := exec.Command(unshare, "-m", "bash", "-c", script, hist.Path, t.TempDir(), path, mode)
		c.Env = hist.Env
		if code, out := exitCode(t, c); code != ExitIO || !strings.Contains(out, "no space left on device") {
			t.Errorf("%s: exit %d: %s", mode, code, out)
		}
	}
}

// An interrupt ends a process that waits for input which never comes.
func TestInterruptWaiting(t *testing.T) {
	for _, args := range [][]string{{"lint", "-"}, {"repair", "-"}} {
		c := child(t, args...)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var out strings.Builder
		c.Stderr = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, header); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond) // a signal before the handler stands would end it, too
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(10*time.Second, func() { c.Process.Kill() })
		c.Wait() //nolint:errcheck // the exit code says it
		if !kill.Stop() {
			t.Fatalf("%v: it did not end", args)
		}
		if code := c.ProcessState.ExitCode(); code != ExitIO || !strings.Contains(out.String(), "interrupted") {
			t.Errorf("%v: exit %d: %s", args, code, out.String())
		}
	}
}

// A zstd file cut in half says so; what came before the cut is read and repaired. Cut before anything can be decoded
// there is nothing to repair.
func TestHalfZstd(t *testing.T) {
	var b bytes.Buffer
	enc, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(writeNoise(enc, 2<<20), enc.Close()); err != nil {
		t.Fatal(err)
	}
	cut := func(t *testing.T, size int) string {
		path := filepath.Join(t.TempDir(), "s.jsonl.zst")
		if err := os.WriteFile(path, b.Bytes()[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		code, out := exitCode(t, child(t, "lint", path))
		if code != ExitFindings || !strings.Contains(out, "corrupt-zst") {
			t.Errorf("exit %d: %s", code, out)
		}
		return path
	}
	t.Run("half", func(t *testing.T) {
		path := cut(t, b.Len()/2)
		before := sum(t, path)
		copied := filepath.Join(t.TempDir(), "out.jsonl")
		for _, args := range [][]string{{"repair", "-o", copied, path}, {"lint", copied}} {
			if code, out := exitCode(t, child(t, args...)); code != ExitOK {
				t.Errorf("%v: exit %d: %s", args, code, out)
			}
		}
		if sum(t, path) != before {
			t.Error("the session changed")
		}
	})
	t.Run("head", func(t *testing.T) {
		path := cut(t, 900)
		before := sum(t, path)
		for _, args := range [][]string{{"repair", path}, {"repair", "--in-place", path}} {
			c := child(t, args...)
			if code, out := exitCode(t, c); code != ExitFindings && code != ExitIO {
				t.Errorf("%v: exit %d: %s", args, code, out)
			}
			if sum(t, path) != before {
				t.Errorf("%v: the session changed", args)
			}
			alone(t, path)
			noRecord(t, c)
		}
	})
}

// writeNoise writes a session whose outputs don't compress.
func writeNoise(w io.Writer, size int) error {
	if _, err := io.WriteString(w, header); err != nil {
		return err
	}
	random := rand.NewChaCha8([32]byte{1})
	for n := 0; n*4000 < size; n++ {
		noise := make([]byte, 2000)
		random.Read(noise) //nolint:errcheck // never fails
		if _, err := fmt.Fprintf(w, call+output, n, n, hex.EncodeToString(noise)); err != nil {
			return err
		}
	}
	return nil
}
