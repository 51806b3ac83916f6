package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

var errBroken = errors.New("broken")

// TestAhead: lines, verdicts, spans and the error are those that a Reader and a Scanner give, whatever the sizes.
func TestAhead(t *testing.T) {
	shape, err := Compile("type", "payload.id")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewSource(1))
	for range 300 {
		var text bytes.Buffer
		for range rng.Intn(60) {
			switch rng.Intn(5) {
			case 0:
				text.WriteString(strings.Repeat("x", rng.Intn(300)))
			default:
				fmt.Fprintf(&text, `{"type":"t%d","payload":{"id":"%s"}}`, rng.Intn(9), strings.Repeat("i", rng.Intn(90)))
			}
			if rng.Intn(20) > 0 {
				text.WriteByte('\n')
			}
		}
		buffer, scanners := 16+rng.Intn(400), 1+rng.Intn(3)
		var in io.Reader = bytes.NewReader(text.Bytes())
		if rng.Intn(3) == 0 {
			in = io.MultiReader(in, iotest.ErrReader(errBroken))
		}
		again := io.Reader(bytes.NewReader(text.Bytes()))
		if _, ok := in.(*bytes.Reader); !ok {
			again = io.MultiReader(again, iotest.ErrReader(errBroken))
		}
		one, scanner, spans := newReader(in, buffer), NewScanner(shape), make([]Span, 2)
		a := NewAhead(newReader(again, buffer), NewScanner(shape), scanners, func() Maker[string] {
			return func(line []byte, s *Scanned[string]) { s.Made = string(line) }
		})
		for {
			want, wantErr := one.Next()
			var got Line
			scanned, gotErr := a.Next(&got)
			if wantErr != gotErr || !reflect.DeepEqual(want, got) && !(len(want.Raw) == 0 && len(got.Raw) == 0 && want.Number == got.Number && want.Offset == got.Offset) {
				t.Fatalf("%q: %+v %v, want %+v %v", text.String(), got, gotErr, want, wantErr)
			}
			if wantErr != nil {
				break
			}
			verdict := scanner.Scan(want.Raw, spans)
			if scanned == nil || scanned.Verdict != verdict || !reflect.DeepEqual(scanned.Spans, spans) || scanned.Made != string(want.Raw) {
				t.Fatalf("%q: %+v, want %+v %+v", want.Raw, scanned, verdict, spans)
			}
		}
		if _, err := a.Next(new(Line)); err == nil {
			t.Error("there is more behind the end")
		}
		a.Close()
	}
}

// TestAheadClosed: closed in the middle, wherever that is, all that was begun ends.
func TestAheadClosed(t *testing.T) {
	shape, err := Compile("type")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("{}\n", 500) + strings.Repeat("y", 900) + "\n" + strings.Repeat("{}\n", 500)
	for stop := 0; stop < 1000; stop += 37 {
		a := NewAhead(newReader(strings.NewReader(text), 64), NewScanner(shape), 2, func() Maker[struct{}] {
			return func([]byte, *Scanned[struct{}]) {}
		})
		for range stop {
			if _, err := a.Next(new(Line)); err != nil {
				t.Fatal(err)
			}
		}
		closed := make(chan struct{})
		go func() { a.Close(); close(closed) }()
		select {
		case <-closed:
		case <-time.After(10 * time.Second):
			t.Fatalf("closing after %d lines hangs", stop)
		}
	}
}
