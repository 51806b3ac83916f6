package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/hist-cli/hist/internal/testkit"
)

// TestMoveKilled kills a repair that moves a database away after each of its steps. What is left is settled by an undo, and by
// another repair and the undo of both: the database, and what lies beside it, come back whole.
func TestMoveKilled(t *testing.T) {
	args := []string{"repair", "--in-place", "--yes", "--move-databases"}
	files := map[string][]byte{"": bytes.Repeat([]byte("this is no database. "), 40), "-wal": []byte("newer"), "-shm": []byte("index of it")}
	home := func(t *testing.T) *crashHome {
		h := newCrashHome(t)
		for suffix, text := range files {
			if err := os.WriteFile(filepath.Join(h.dir, "goals_1.sqlite"+suffix), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return h
	}
	whole := home(t)
	counted := filepath.Join(t.TempDir(), "steps")
	if code, out, _ := whole.hist(t, []string{dieAt + "=0", countSteps + "=" + counted}, args...); code != ExitOK {
		t.Fatalf("exit %d: %s", code, out)
	}
	text, err := os.ReadFile(counted)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := strconv.Atoi(string(text))
	if err != nil || steps < 23 {
		t.Fatalf("%s steps (%v)", text, err)
	}
	for at := 1; at <= steps; at += testkit.Stride(7) {
		for _, again := range []bool{false, true} {
			h := home(t)
			if _, out, killed := h.hist(t, []string{dieAt + "=" + strconv.Itoa(at)}, args...); !killed {
				t.Fatalf("step %d: was not killed: %s", at, out)
			}
			log := ""
			if again {
				_, log, _ = h.hist(t, nil, args...)
			}
			for range 3 { // of two runs, the first may have left only part to take back
				_, out, _ := h.hist(t, nil, "undo")
				log += out
			}
			if !bytes.Equal(h.bytes(t), h.before) {
				t.Errorf("step %d, again %v: the session is not as it was\n%s", at, again, log)
			}
			for suffix, want := range files {
				// SQLite makes the index anew when the database is looked at.
				if got, _ := os.ReadFile(filepath.Join(h.dir, "goals_1.sqlite"+suffix)); !bytes.Equal(got, want) && (suffix != "-shm" || len(got) == 0) {
					t.Errorf("step %d, again %v: goals_1.sqlite%s has %d of %d bytes\n%s", at, again, suffix, len(got), len(want), log)
				}
			}
		}
	}
}

// TestMoveInUse: as long as a process has any database of the home open, none is moved.
func TestMoveInUse(t *testing.T) {
	h := newCrashHome(t)
	broken := filepath.Join(h.dir, "goals_1.sqlite")
	if err := os.WriteFile(broken, bytes.Repeat([]byte("this is no database. "), 40), 0o600); err != nil {
		t.Fatal(err)
	}
	open, err := os.Open(filepath.Join(h.dir, "thread_history_1.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if code, out, _ := h.hist(t, nil, "repair", "--in-place", "--yes", "--move-databases"); code != ExitInUse {
		t.Errorf("exit %d: %s", code, out)
	}
	if _, err := os.Stat(broken); err != nil {
		t.Error(err)
	}
}
