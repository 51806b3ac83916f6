package home

import (
	"errors"
	"testing"
)

// TestRivals: a run of hist with another state directory is kept off, too.
func TestRivals(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // a process that is ended leaves its lock's file
	cmd, _, end := play(t, "lock:"+home+":"+idA, nil)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	_, err := Lock(home, idA)
	if b := (*Busy)(nil); !errors.As(err, &b) || b.PID != cmd.Process.Pid {
		t.Errorf("locked twice: %v", err)
	}
	free, err := Lock(home, idB)
	if err != nil {
		t.Fatal(err)
	}
	free()
	end()
	release, err := Lock(home, idA)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if _, err := Lock(home, idA); !errors.Is(err, ErrBusy) {
		t.Errorf("locked twice by one process: %v", err)
	}
	release()
	if release, err = Lock(home, idA); err != nil {
		t.Fatal(err)
	}
	release()
}

// TestRivalOfSomebodyElse: a user whom the home is nothing to can't keep its owner from a repair.
func TestRivalOfSomebodyElse(t *testing.T) {
	home := t.TempDir()
	asNobody(t, home)
	_, _, end := play(t, "name:"+home+":"+idA, nobody)
	defer end()
	release, err := Lock(home, idA)
	if err != nil {
		t.Fatal(err)
	}
	release()
}
