package source

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestDo(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	never := make(chan struct{})
	if _, err := Promptly(ctx, func() (int, error) { <-never; return 1, nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if n, err := Promptly(ctx, func() (int, error) { return 2, nil }); n != 2 || err != nil {
		t.Error(n, err) // what was done in time is not thrown away
	}
	defer func() {
		if p := recover(); p != "x" {
			t.Error(p)
		}
	}()
	Promptly(t.Context(), func() (int, error) { panic("x") })
}
