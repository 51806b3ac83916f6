package lint

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"
)

// TestTimeout: lint returns when its context ends, whatever it is doing.
func TestTimeout(t *testing.T) {
	never, _ := io.Pipe()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := Session(ctx, never, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
