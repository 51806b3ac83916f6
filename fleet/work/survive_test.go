package work

import (
	"strings"
	"testing"
)

// TestSurvived: a panic gives the object an error row and does not end the shard.
func TestSurvived(t *testing.T) {
	if err := survived(func() error { panic("slice bounds out of range") }); err == nil || !strings.Contains(err.Error(), "a bug of hist's: slice bounds") {
		t.Errorf("got %v", err)
	}
	if err := survived(func() error { return errRefused }); err != errRefused { //nolint:errorlint // the very same
		t.Errorf("got %v", err)
	}
}
