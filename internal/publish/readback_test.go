package publish

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadBack: the check reads what was written while more is being written, all of it, and also at places that it has read before.
func TestReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	part := bytes.Repeat([]byte("0123456789abcdef"), bufferSize/8) // twice what is collected before it is written
	seen := make(chan bool)
	err := Write(ctx, Target{Path: path}, func(w io.Writer) error {
		for range 3 {
			if _, err := w.Write(part); err != nil {
				return err
			}
			<-seen // the rest is written when the check has read this
		}
		_, err := io.WriteString(w, "the end")
		return err
	}, Checks{Read: func(back io.Reader) error {
		got := make([]byte, len(part))
		for n := range 3 {
			if _, err := io.ReadFull(back, got); err != nil || !bytes.Equal(got, part) {
				t.Errorf("part %d is read as %d bytes, %v", n, len(got), err)
			}
			seen <- true
		}
		if _, err := back.(io.ReaderAt).ReadAt(got[:5], 10); err != nil || string(got[:5]) != "abcde" {
			t.Errorf("at a place: %q, %v", got[:5], err)
		}
		rest, err := io.ReadAll(back)
		if err != nil || string(rest) != "the end" {
			t.Errorf("the rest is %q, %v", rest, err)
		}
		return nil
	}})
	if info, serr := os.Stat(path); err != nil || serr != nil || info.Size() != int64(3*len(part)+len("the end")) {
		t.Error(err, serr, info)
	}
}

// TestReadBackFails: nothing is published if the check fails, early or at the end, and later checks are not made; if writing fails,
// reading ends with an error.
func TestReadBackFails(t *testing.T) {
	boom, bang := errors.New("boom"), errors.New("bang")
	big := strings.Repeat("x", 3*bufferSize)
	for name, c := range map[string]struct {
		fill func(io.Writer) error
		read func(io.Reader) error
		want error
	}{
		"early":      {text(big), func(io.Reader) error { return boom }, boom},
		"at the end": {text(big), func(r io.Reader) error { _, err := io.Copy(io.Discard, r); return errors.Join(err, boom) }, boom},
		"both": {func(w io.Writer) error { io.WriteString(w, big); return bang }, func(r io.Reader) error {
			if _, err := io.Copy(io.Discard, r); err == nil {
				t.Error("a file that was given up has an end")
			}
			return boom
		}, bang},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			err := Write(ctx, Target{Path: filepath.Join(dir, "a")}, c.fill, Checks{Read: c.read, Content: func(string) error {
				t.Error("the content was checked")
				return nil
			}})
			if !errors.Is(err, c.want) || errors.Is(err, boom) != errors.Is(c.want, boom) {
				t.Errorf("got %v", err)
			}
			only(t, dir)
		})
	}
}

// TestReadBackShort: bytes that were written and are not in the file are an error.
func TestReadBackShort(t *testing.T) {
	dir := t.TempDir()
	cut := make(chan bool)
	err := Write(ctx, Target{Path: filepath.Join(dir, "a")}, func(w io.Writer) error {
		defer close(cut)
		made, err := filepath.Glob(filepath.Join(dir, ".hist-*"))
		if err != nil || len(made) != 1 {
			t.Fatal(made, err)
		}
		_, err = w.Write(make([]byte, 2*bufferSize)) // at once, because it is more than is collected
		return errors.Join(err, os.Truncate(made[0], bufferSize))
	}, Checks{Read: func(back io.Reader) error {
		<-cut
		_, err := io.Copy(io.Discard, back)
		return err
	}})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	only(t, dir)
}
