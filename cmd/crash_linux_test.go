package cmd

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/testkit"
	"github.com/hist-cli/hist/internal/testkit/testhome"
)

// dieAt names the variable that tells a child after which of its steps to die, counted from 1; 0 only counts them
// into the file that countSteps names.
const (
	dieAt      = "HIST_TEST_DIE_AT"
	countSteps = "HIST_TEST_COUNT_STEPS"
)

// appendAt names the variable with a step and a file, to which a client appends a line then.
const appendAt = "HIST_TEST_APPEND_AT"

// appended is that line.
const appended = `{"type":"written-by-a-client-meanwhile"}` + "\n"

// watchSteps makes this process die where the variable says, or write what a client writes.
func watchSteps() {
	at, err := strconv.Atoi(os.Getenv(dieAt))
	if step, path, ok := strings.Cut(os.Getenv(appendAt), " "); ok {
		var steps atomic.Int64
		publish.ObserveSteps(func(string) {
			if _, err := os.Stat(path); err == nil && strconv.FormatInt(steps.Add(1), 10) == step {
				appendAsClient(path)
			}
		})
		return
	}
	if err != nil {
		return
	}
	var steps atomic.Int64 // some are made side by side
	publish.ObserveSteps(func(string) {
		n := int(steps.Add(1))
		if n == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL) //nolint:errcheck // nothing is left to tell
			select {}
		}
		if at == 0 {
			os.WriteFile(os.Getenv(countSteps), []byte(strconv.Itoa(n)), 0o600) //nolint:errcheck // its reader sees to it
		}
	})
}

// appendAsClient writes what a client writes to a file. Where this process has a lease on the file, whoever opens it waits until that is
// given up: then another process does, and the test waits for that.
func appendAsClient(path string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|syscall.O_NONBLOCK, 0)
	if err == nil {
		f.WriteString(appended) //nolint:errcheck // its reader sees to it
		f.Close()
		return
	}
	c := exec.Command("sh", "-c", `printf %s "$2" >> "$1"`, "sh", path, appended)
	c.Stdout = os.Stdout // the test reads that to its end
	c.Start()            //nolint:errcheck // what is written is looked at
}

// crashHome is a home with a damaged session, of which the client's database holds a view.
type crashHome struct {
	dir, state, session string
	before              []byte
}

func newCrashHome(t *testing.T) *crashHome {
	t.Helper()
	h := &crashHome{dir: t.TempDir(), state: t.TempDir()}
	if err := testhome.Unpack("testdata/damaged-home.txtar", h.dir); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(h.dir, "sessions/*/*/*/*.jsonl"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	h.session = found[0]
	h.before = h.bytes(t)
	return h
}

func (h *crashHome) bytes(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(h.session)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// hist runs the program in the home.
func (h *crashHome) hist(t *testing.T, env []string, args ...string) (code int, out string, killed bool) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Args = append([]string{"hist"}, args...)
	c.Env = append(append(os.Environ(), "XDG_STATE_HOME="+h.state, "CODEX_HOME="+h.dir, "CODEX_SQLITE_HOME="), env...)
	text, err := c.CombinedOutput()
	if ee, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	} else if ok && ee.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return -1, string(text), true
	}
	return c.ProcessState.ExitCode(), string(text), false
}

// view is how many rows the client's view of the session has.
func (h *crashHome) view(t *testing.T) (rows int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(h.dir, "thread_history_1.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var check string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&check); err != nil || check != "ok" {
		t.Errorf("the database is damaged: %s (%v)", check, err)
	}
	if err := db.QueryRow("SELECT (SELECT count(*) FROM thread_turns) + (SELECT count(*) FROM thread_history_projection_state)").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestRepairKilled kills `hist repair --in-place` after each of its steps. Afterwards the session is the old one or the
// new one, whole; of the new one there is no stale view; and both a second repair and an undo settle what is left.
func TestRepairKilled(t *testing.T) {
	repair := []string{"repair", "--in-place", "--yes"}
	whole := newCrashHome(t)
	counted := filepath.Join(t.TempDir(), "steps")
	if code, out, _ := whole.hist(t, []string{dieAt + "=0", countSteps + "=" + counted}, repair...); code != ExitOK {
		t.Fatalf("exit %d: %s", code, out)
	}
	after := whole.bytes(t)
	text, err := os.ReadFile(counted)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := strconv.Atoi(string(text))
	if err != nil || steps < 20 || bytes.Equal(after, whole.before) || whole.view(t) != 0 {
		t.Fatalf("%s steps, %d rows left", text, whole.view(t))
	}
	for at := 1; at <= steps; at += testkit.Stride(5) {
		t.Run(strconv.Itoa(at), func(t *testing.T) {
			for _, settle := range []string{"repair", "undo"} {
				h := newCrashHome(t)
				if _, out, killed := h.hist(t, []string{dieAt + "=" + strconv.Itoa(at)}, repair...); !killed {
					t.Fatalf("was not killed: %s", out)
				}
				now := h.bytes(t)
				isOld, isNew := bytes.Equal(now, h.before), bytes.Equal(now, after)
				if rows := h.view(t); !isOld && !isNew || isNew && rows != 0 || rows != 0 && rows != 2 {
					t.Fatalf("after the crash: old %v, new %v, %d rows", isOld, isNew, rows)
				}
				h.settle(t, settle, isNew, after)
			}
		})
	}
}

// settle repairs once more, or takes back what was done, and looks at the session and for what is left lying about.
func (h *crashHome) settle(t *testing.T, how string, isNew bool, after []byte) {
	t.Helper()
	want, args := after, []string{"repair", "--in-place", "--yes"}
	if how == "undo" {
		want, args = h.before, []string{"undo"}
	}
	code, out, _ := h.hist(t, nil, args...)
	// Before the record names what the client's database held there is nothing to take back.
	if nothing := how == "undo" && !isNew && code == ExitIO && strings.Contains(out, "nothing to undo"); code != ExitOK && !nothing {
		t.Errorf("%s: exit %d: %s", how, code, out)
	}
	if rows := h.view(t); how == "undo" && rows != 2 {
		t.Errorf("%s: %d of 2 rows of the client's view", how, rows)
	}
	if !bytes.Equal(h.bytes(t), want) {
		t.Errorf("%s: the session is not what it should be", how)
	}
	// A temporary file may lie there until it is old enough to be nobody's; no client takes it for a session.
	left, err := filepath.Glob(filepath.Join(filepath.Dir(h.session), "[^.]*"))
	if err != nil || len(left) != 1 {
		t.Errorf("%s: the client would see %v (%v)", how, left, err)
	}
	if how == "repair" {
		if code, out, _ := h.hist(t, nil, "lint"); code != ExitOK || !strings.Contains(out, "no damage was found") {
			t.Errorf("lint afterwards: exit %d: %s", code, out)
		}
	}
}
