package work

import (
	"context"
	"sync"
)

// Each calls do for all items, for up to workers of them at once, and calls took with the results in the order of the items.
// The first error ends it.
func Each[T, R any](ctx context.Context, workers int, items []T, do func(context.Context, T) (R, error), took func(R) error) error {
	return Stream(ctx, workers, func(each func(T) error) error {
		for _, item := range items {
			if err := each(item); err != nil {
				return err
			}
		}
		return nil
	}, do, took)
}

// Stream is Each for items that come one by one. Only a few per worker are in progress or wait for took at any time, so that
// memory does not grow with their number, nor because one takes long.
func Stream[T, R any](ctx context.Context, workers int, items func(each func(T) error) error, do func(context.Context, T) (R, error), took func(R) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	type outcome struct {
		res R
		err error
	}
	slots := make(chan chan outcome, 4*workers)
	free := make(chan struct{}, workers)
	var listErr error
	var running sync.WaitGroup
	running.Go(func() {
		defer close(slots)
		listErr = items(func(item T) error {
			select {
			case free <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			slot := make(chan outcome, 1)
			running.Go(func() {
				defer func() { <-free }()
				res, err := do(ctx, item)
				slot <- outcome{res, err}
			})
			select {
			case slots <- slot:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	err := func() error {
		for slot := range slots {
			o := <-slot
			if o.err != nil {
				return o.err
			}
			if err := took(o.res); err != nil {
				return err
			}
		}
		return nil
	}()
	stop()
	for range slots { // let the listing end
	}
	running.Wait()
	if err == nil {
		err = listErr
	}
	return err
}
