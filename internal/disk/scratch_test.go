package disk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestDir: a directory is made once for each state, stays while somebody uses it, and none is left at the end.
func TestDir(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp) // on Windows
	made := 0
	take := func(ctx context.Context, state string) (string, func()) {
		t.Helper()
		path, release, err := Scratch(ctx, "name", state, func(dir string) error {
			made++
			return os.WriteFile(filepath.Join(dir, "state"), []byte(state), 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
		return path, release
	}
	holds := func(path, state string) {
		t.Helper()
		if text, err := os.ReadFile(filepath.Join(path, "state")); string(text) != state {
			t.Errorf("%q, %v, want %q", text, err, state)
		}
	}
	left := func(want int) {
		t.Helper()
		if list, err := os.ReadDir(tmp); len(list) != want {
			t.Errorf("%d directories are left, %v, want %d", len(list), err, want)
		}
	}

	alone, release := take(t.Context(), "old")
	holds(alone, "old")
	release()
	left(0)

	ctx, remove := WithScratch(t.Context())
	first, release1 := take(ctx, "old")
	release1()
	second, release2 := take(ctx, "old")
	if first != second || made != 2 {
		t.Errorf("%s and %s, made %d times", first, second, made)
	}
	third, release3 := take(ctx, "new")
	holds(second, "old") // it is still used
	holds(third, "new")
	left(2)
	release2()
	left(1)
	release3()
	left(1)
	remove()
	left(0)
}

// TestDirFails: what can't be made leaves nothing, and is not tried again in the same state.
func TestDirFails(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp)
	ctx, remove := WithScratch(t.Context())
	defer remove()
	boom, tried := errors.New("boom"), 0
	for range 2 {
		if _, _, err := Scratch(ctx, "name", "old", func(string) error { tried++; return boom }); !errors.Is(err, boom) {
			t.Error(err)
		}
	}
	if _, _, err := Scratch(t.Context(), "name", "old", func(string) error { return boom }); !errors.Is(err, boom) || tried != 1 {
		t.Errorf("%v, tried %d times", err, tried)
	}
	if list, _ := os.ReadDir(tmp); len(list) > 0 {
		t.Errorf("%s is left", list[0].Name())
	}
}
