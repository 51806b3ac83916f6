package runs

import (
	"os"
	"testing"

	"github.com/hist-cli/hist/internal/publish"
)

// TestRemove: a record whose removal is cut off is none any more, and the next removal takes what is left of it.
func TestRemove(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	one, err := New("test")
	if err != nil {
		t.Fatal(err)
	}
	type cutOff struct{}
	publish.ObserveSteps(func(step string) {
		if step == "leaving" {
			panic(cutOff{})
		}
	})
	func() {
		defer func() {
			if r := recover(); r != (cutOff{}) {
				t.Errorf("it was not cut off: %v", r)
			}
		}()
		t.Error(Remove(one.Manifest.Run))
	}()
	publish.ObserveSteps(nil)
	if list, err := List(); len(list) != 0 || err != nil {
		t.Errorf("%d runs, %v", len(list), err)
	}
	if err := RemoveRest(); err != nil {
		t.Error(err)
	}
	root, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(root); len(left) > 0 || err != nil {
		t.Errorf("left is %v, %v", left, err)
	}
}
